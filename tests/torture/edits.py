"""Random edits in all three encodings, in the buffer itself and in the running server, against a plain reference."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from ollm_lsp.lsp.buffer import Position, PositionEncoding, Range, TextBuffer
from tests.support.kraken import LocalModel
from tests.torture.messages import victim
from tests.torture.reference_buffer import ReferenceBuffer
from tests.torture.run import Tally
from tests.torture.shrink import shrink

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from tests.torture.run import Run

PIECES = (
    "", "a", "xyz", "é", "中", "😀", "e\u0301", "\n", "\r", "\r\n", "\n\n", "\r\r\n", "\u2028", "\x85", "\x0c", "\t",
    "ab\ncd", "😀\r",
)  # fmt: skip
HALVES = ("\ud83d", "\ude00")
LONGEST = 60
"""Edits of one document."""
URI = "file:///torture/edited.txt"
Edit = tuple[tuple[int, int], tuple[int, int], str]


def _text(chance: random.Random, *, has_halves: bool) -> str:
    return "".join(chance.choices(PIECES + (HALVES if has_halves else ()), k=chance.randint(0, 4)))


def _edits(chance: random.Random, number: int, *, has_halves: bool) -> list[Edit]:
    def place() -> tuple[int, int]:
        return chance.choice((0, 0, 1, 2, 3, 5, 9, -1, 2**31 - 1)), chance.choice((0, 0, 1, 2, 3, 4, 7, -1, 2**31 - 1))

    made: list[Edit] = []
    for _ in range(number):
        start = place()
        made.append((start, start if chance.random() < 0.4 else place(), _text(chance, has_halves=has_halves)))
    return made


def complaint(encoding: str, text: str, edits: Sequence[object]) -> str | None:
    """What is wrong with the buffer after these edits."""
    reference, buffer = ReferenceBuffer(text, encoding), TextBuffer(text, PositionEncoding(encoding))
    for edit in edits:
        start, end, fresh = _read(edit)
        reference.edit(start, end, fresh)
        try:
            buffer.edit(Range(Position(*start), Position(*end)), fresh)
        except Exception as error:  # noqa: BLE001 (that is what is looked for)
            return f"crash: {type(error).__name__}: {error}"
        if buffer.text != reference.text:
            return f"{buffer.text!r} is not {reference.text!r}"
        if list(buffer.lines) != list(TextBuffer(reference.text, PositionEncoding(encoding)).lines):
            return f"the lines of {reference.text!r} are {buffer.lines}"
        if buffer.length != len(reference.text):
            return f"the length of {reference.text!r} is {buffer.length}"
    return None


def _read(edit: Any) -> Edit:
    (line, character), (last, end), text = edit
    return (line, character), (last, end), text


def fuzz(run: Run) -> Tally:
    """Most edits on the buffer itself, and a tenth of them through the server."""
    tally, chance = Tally("edits"), run.chance("edits")
    while tally.counts.get("edits", 0) < run.size.edits and not tally.is_enough:
        encoding = chance.choice(("utf-8", "utf-16", "utf-32"))
        text = _text(chance, has_halves=True) * chance.choice((1, 3))
        edits = _edits(chance, chance.randint(1, LONGEST), has_halves=True)
        tally.count("edits", len(edits))
        if why := complaint(encoding, text, edits):
            small = shrink(edits, lambda fewer, e=encoding, t=text: bool(complaint(e, t, fewer)))
            path = run.keep("edits", {"encoding": encoding, "text": text, "edits": small})
            tally.fail(f"({path.name}) {why}")
    asyncio.run(_through_the_server(run, tally))
    return tally


async def _through_the_server(run: Run, tally: Tally) -> None:
    """The editor's changes, many in one message or one in many; what a question would bring along is the witness."""
    chance = run.chance("edits through the server")
    async with LocalModel() as model:
        for encoding in ("utf-8", "utf-16", "utf-32"):
            async with victim(model, chance, starts=False) as target:
                server = target.server
                await server.initialize(capabilities={"general": {"positionEncodings": [encoding]}})
                done = 0
                while done < run.size.edits // 30:
                    reference = ReferenceBuffer("begin " + _text(chance, has_halves=False), encoding)
                    server.open(URI, reference.text, "plaintext")
                    edits = _edits(chance, chance.randint(1, LONGEST), has_halves=False)
                    done += len(edits)
                    version = 1
                    while edits:
                        many = chance.randint(1, 5)
                        now, edits = edits[:many], edits[many:]
                        for edit in now:
                            reference.edit(*edit)
                        version += 1
                        document = {"uri": URI, "version": version}
                        server.notify(
                            "textDocument/didChange",
                            {"textDocument": document, "contentChanges": [_wire(edit) for edit in now]},
                        )
                    # Whatever the edits left, there is something to see, and something that nobody else says.
                    end: Edit = ((0, 0), (0, 0), "seen ")
                    reference.edit(*end)
                    document = {"uri": URI, "version": version + 1}
                    server.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [_wire(end)]})
                    preview = await server.request("ollm/context/preview", {"text": "?", "uri": URI})
                    tally.count("previews")
                    if not _is_in(reference.text, preview):
                        tally.fail(f"{encoding}: the server has not {reference.text!r} but {preview['parts']}"[:800])
                        if tally.is_enough:
                            return
                    server.notify("textDocument/didClose", {"textDocument": {"uri": URI}})
                tally.count("edits by didChange", done)


def _wire(edit: Edit) -> dict[str, Any]:
    start, end, text = edit
    sides = ({"line": line, "character": character} for line, character in (start, end))
    return {"range": dict(zip(("start", "end"), sides, strict=True)), "text": text}


def _is_in(text: str, preview: dict[str, Any]) -> bool:
    shown = "".join(part["text"] for part in preview["parts"])
    return text.strip() in shown


def replay(case: dict[str, Any]) -> str | None:
    """Make the edits of a kept case once more."""
    return complaint(case["encoding"], case["text"], case["edits"])
