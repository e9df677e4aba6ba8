"""ripgrep as the engine of a search: without its configuration, and without anything that runs other programs (T18)."""

from __future__ import annotations

import os
import re
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from ollm_lsp.core.errors import UnreadableFile
from ollm_lsp.core.lines import split
from ollm_lsp.core.visible import visible
from ollm_lsp.processes import child
from ollm_lsp.tools.search import Found
from ollm_lsp.tools.watch import in_thread

if TYPE_CHECKING:
    from asyncio import StreamReader
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from ollm_lsp.tools.roots import Place
    from ollm_lsp.tools.search import Query

MAX_COLUMNS = 1_000
MAX_COUNT = 100
"""Lines of one file, so that it does not keep the others back."""
MAX_COUNT_IN_TEXTS = 1_000
_TIME_LIMIT = 30.0
_PIECE = 1 << 16
_LONGEST_RECORD = 1 << 16
_SAFE = ("--no-config", "--no-pre", "--no-search-zip", "--no-follow", "--engine=default", "--color=never")
_SHAPE = ("--line-number", "--no-heading", "--no-column", "--no-context-separator")
_SHORT = (f"--max-columns={MAX_COLUMNS}", "--max-columns-preview", "--no-messages")
_RULES = ("--hidden", "--glob=!.git", "--no-require-git", "--no-ignore-parent", "--no-ignore-dot")
_MORE_RULES = ("--no-ignore-exclude", "--no-ignore-global", "--max-filesize=10M")
_PLAIN_NAME = re.compile(r"[\w.*?-]+", re.ASCII)


class Ripgrep:
    """One program of that name."""

    def __init__(self, program: Path, env: Mapping[str, str]) -> None:
        self._program = program
        self._env = env

    async def in_files(self, query: Query, top: Place) -> AsyncGenerator[Found]:
        path = str(top.path)
        argv = [*self._argv(query), *_RULES, *_MORE_RULES, *_types(query), f"--max-count={MAX_COUNT}"]
        argv += ["--with-filename", "--null", "--", query.text, path]
        async with child.started(argv, cwd=_nowhere(), env=self._env, guarded=False) as process:
            if process.stdout is None or process.stderr is None:
                raise AssertionError("both pipes were asked for")
            async for name, line, beginning in _records(process.stdout, os.fsencode(path)):
                yield Found(top.below(*_names(name)), line, beginning)
            await _judge(await child.exited(process), process.stderr, query)

    async def in_texts(self, query: Query, texts: Sequence[str]) -> Sequence[tuple[int, int]]:
        """All texts as one, so that one process is enough."""
        joined, ends = await in_thread(lambda _: _joined(texts), _TIME_LIMIT)
        argv = [
            *self._argv(query),
            f"--max-count={MAX_COUNT_IN_TEXTS}",
            "--text",
            "--no-filename",
            "--",
            query.text,
            "-",
        ]
        async with child.started(argv, cwd=_nowhere(), env=self._env, feed=joined, guarded=False) as process:
            if process.stdout is None or process.stderr is None:
                raise AssertionError("both pipes were asked for")
            output = await process.stdout.read()
            await _judge(await child.exited(process), process.stderr, query)
        return [_in_text(int(record.partition(b":")[0]), ends) for record in output.split(b"\n") if record]

    def _argv(self, query: Query) -> list[str]:
        kind = [] if query.is_regex else ["--fixed-strings"]
        case = "--ignore-case" if query.ignores_case else "--case-sensitive"
        return [str(self._program), *_SAFE, *_SHAPE, *_SHORT, *kind, case]


def _joined(texts: Sequence[str]) -> tuple[bytes, list[int]]:
    """One text of all lines, and where in it each of the texts ends."""
    lines = [[line.rstrip("\r\n") for line in split(text)] for text in texts]
    joined = "".join(f"{line}\n" for text in lines for line in text)
    return joined.encode(errors="replace"), list(accumulate(map(len, lines)))


async def _records(stream: StreamReader, top: bytes) -> AsyncGenerator[tuple[bytes, int, str]]:
    r"""Each `path NUL line : text \n`. What ripgrep says about binary files has no NUL and is passed over."""
    held = b""
    while piece := await stream.read(_PIECE):
        records, held = _taken(held + piece)
        for record in records:
            path, _, rest = record.partition(b"\0")
            path = path[path.rfind(b"\n" + top) + 1 :]  # a message about another file may stand before it
            number, _, text = rest.partition(b":")
            if path.startswith(top) and number.isdigit():
                yield path[len(top) :], int(number), text.decode(errors="replace")


def _taken(data: bytes) -> tuple[list[bytes], bytes]:
    r"""The whole records, and the rest. A name may hold a `\n`, so only the first one after a NUL ends a record."""
    records: list[bytes] = []
    at = 0
    while (nul := data.find(b"\0", at)) >= 0 and (end := data.find(b"\n", nul)) >= 0:
        records.append(data[at:end])
        at = end + 1
    return records, data[at:][-_LONGEST_RECORD:]


async def _judge(status: int, errors: StreamReader, query: Query) -> None:
    """Say what ripgrep says, if it could not begin. That nothing was found, or a file not read, is no failure."""
    if status not in (0, 1):
        said = (await errors.read(2_000)).decode(errors="replace")
        if said.strip():
            told = visible(" ".join(said.split()))
            raise UnreadableFile(
                f"ripgrep cannot search for '{visible(query.text[:200])}': {told[:500]}",
                remedy="Write another pattern, or search for a plain text without regex.",
            )


def _types(query: Query) -> list[str]:
    """Let ripgrep pass over other names by itself, where it surely means the same as we do.

    A type is used because a glob would bring back what .gitignore leaves out.
    """
    names = query.files.last_names if query.files else []
    if not names or not all(_PLAIN_NAME.fullmatch(name) and "**" not in name for name in names):
        return []
    return [*(f"--type-add=ours:{_any_case(name)}" for name in names), "--type=ours"]


def _any_case(name: str) -> str:
    return "".join(f"[{letter.lower()}{letter.upper()}]" if letter.isalpha() else letter for letter in name)


def _names(path: bytes) -> list[str]:
    return [name for name in os.fsdecode(path).replace(os.sep, "/").split("/") if name]


def _in_text(line: int, ends: Sequence[int]) -> tuple[int, int]:
    index = next(index for index, end in enumerate(ends) if line <= end)
    return index, line - (ends[index - 1] if index else 0)


def _nowhere() -> Path:
    """A folder that is surely none of the workspace's."""
    return Path(Path.cwd().anchor)
