"""Streams of every wire, told well, cut, and harmed: never a crash, a hang, or half an answer taken for a whole one."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ollm_lsp.core.control_sequences import plain
from ollm_lsp.core.errors import ProviderError
from ollm_lsp.core.events import Finished, FinishReason, ReasoningDelta, TextDelta, ToolCalled
from ollm_lsp.providers.wire.faults import MAX_CALLS
from tests.torture.dialects import BY_NAME, DIALECTS, WHOLE, Told
from tests.torture.hang import Hang, limit
from tests.torture.mutations import harm_bytes, harm_frames
from tests.torture.rendering import render
from tests.torture.run import Tally
from tests.torture.shrink import shrink_bytes
from tests.torture.story import story

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ollm_lsp.core.events import ProviderEvent
    from tests.torture.dialects import Dialect
    from tests.torture.rendering import Stream
    from tests.torture.run import Run
    from tests.torture.story import Story

SHORT = 4096
"""A limit of lines that some streams meet."""
RECORDINGS = Path(__file__).parents[1] / "recordings"
FOLDERS = {
    "ollama": "ollama_chat",
    "openai": "openai_chat",
    "anthropic": "anthropic_messages",
    "google": "google_generate",
    "claude": "agents/claude",
    "gemini": "agents/gemini",
    "codex": "agents/codex",
}


@dataclass(frozen=True)
class Outcome:
    """The events, and the error when there was one."""

    events: tuple[ProviderEvent, ...]
    error: type[ProviderError] | None = None

    @property
    def is_complete(self) -> bool:
        return any(isinstance(event, Finished) for event in self.events)


def play(dialect: Dialect, chunks: Iterable[bytes], most: int = WHOLE) -> Outcome:
    """What a provider makes of it; whatever is not an error of ours goes on up."""
    answer = dialect.read(most)
    events: list[ProviderEvent] = []
    try:
        for chunk in chunks:
            events.extend(answer.feed(chunk))
            if answer.finished:
                return Outcome(tuple(events))
        events.extend(answer.close())
    except ProviderError as error:
        return Outcome(tuple(events), type(error))
    return Outcome(tuple(events))


def complaint(dialect: Dialect, raw: bytes, most: int = WHOLE, seed: int = 0) -> str | None:
    """What is wrong with how any bytes at all are read, in one line; nothing when nothing is."""
    try:
        with limit():
            whole = play(dialect, [raw], most)
            parts = play(dialect, _chunks(raw, random.Random(seed)), most)
    except Hang as hang:
        return f"hang: {hang}"
    except Exception as error:  # noqa: BLE001 (that is what is looked for)
        return f"crash: {type(error).__name__}: {error}"
    ends = [event for event in whole.events if isinstance(event, Finished)]
    calls = [event for event in whole.events if isinstance(event, ToolCalled)]
    if len(ends) > 1 or (ends and whole.events[-1] is not ends[0]):
        return "an answer ended more than once, or went on after its end"
    if (whole.error is None) is not bool(ends):
        return "neither an end nor an error, or both"
    if whole.error and calls:
        return "a tool was called in an answer that failed"
    if len(calls) > MAX_CALLS:
        return f"{len(calls)} tools were called"
    if ends and not dialect.sign.search(raw) and b"\\u" not in raw:
        return "complete without a terminal signal"
    if most == WHOLE and parts != whole:
        return f"read otherwise when it is cut otherwise: {whole} and {parts}"[:2000]
    if sum(len(event.text) for event in whole.events if isinstance(event, TextDelta)) > 2 * len(raw):
        return "more text than bytes"
    return None


def misread(dialect: Dialect, told: Story, stream: Stream, cut_at: int) -> str | None:
    """What is wrong with how a story is read, whole and broken off."""
    whole = play(dialect, [stream.raw])
    if whole.error is not None:
        return f"an honest answer was refused: {whole.error.__name__}"
    said = "".join(event.text for event in whole.events if isinstance(event, TextDelta))
    thought = "".join(event.text for event in whole.events if isinstance(event, ReasoningDelta))
    if dialect.is_agent:
        # Between messages of an agent a paragraph ends; its control characters are left out.
        if _bare(said) != _bare(plain(told.said)):
            return f"the deltas are not the text: {said!r} and {told.said!r}"
    else:
        calls = [
            (event.call.name, dict(event.call.arguments)) for event in whole.events if isinstance(event, ToolCalled)
        ]
        if (said, thought) != (told.said, told.thought):
            return f"the deltas are not the text: {said!r} and {told.said!r}, {thought!r} and {told.thought!r}"
        if calls != [(call.name, call.arguments) for call in told.calls]:
            return f"other calls: {calls}"
        reason = (
            FinishReason.TOOL_USE if told.calls else FinishReason.LENGTH if told.is_cut_by_limit else FinishReason.STOP
        )
        if whole.events[-1] != Finished(reason):
            return f"another end: {whole.events[-1]}"
    broken = play(dialect, [stream.raw[: min(cut_at, stream.complete_at - 1)]])
    if broken.is_complete or broken.error is None:
        return f"a cut answer was taken for complete (byte {cut_at} of {stream.complete_at})"
    return None


def fuzz(run: Run) -> Tally:
    """All streams of a run: a third honest, a third with harmed values, a third with harmed bytes."""
    tally, chance = Tally("streams"), run.chance("streams")
    recordings = {name: _recordings(folder) for name, folder in FOLDERS.items()}
    for number in range(run.size.streams):
        dialect = DIALECTS[number % len(DIALECTS)]
        told_story = story(chance)
        told = dialect.tell(told_story, chance)
        kind = chance.randrange(3)
        most = SHORT if chance.random() < 0.1 else WHOLE
        stream = render(told, dialect, chance)
        why: str | None = None
        if kind == 0:
            raw = stream.raw
            tally.count("cut")
            with limit():
                why = misread(dialect, told_story, stream, chance.randint(0, stream.complete_at))
        elif kind == 1:
            frames = harm_frames(told.frames, chance)
            raw = render(Told(frames, -1), dialect, chance).raw
        else:
            known = recordings.get(dialect.name)
            raw = harm_bytes(chance.choice(known) if known and chance.random() < 0.3 else stream.raw, chance)
        seed = chance.randrange(1 << 30)
        why = why or complaint(dialect, raw, most, seed)
        tally.count("streams")
        if why:
            small = (
                raw
                if kind == 0
                else shrink_bytes(raw, lambda less, d=dialect, m=most, s=seed: bool(complaint(d, less, m, s)))
            )
            case = {"wire": dialect.name, "raw": small.decode("latin-1"), "limit": most, "seed": seed}
            path = run.keep("stream", case)
            tally.fail(f"{dialect.name} ({path.name}): {complaint(dialect, small, most, seed) or why}")
            if tally.is_enough:
                break
    return tally


def replay(case: dict[str, object]) -> str | None:
    """Play a kept case once more."""
    wire, raw, most, seed = (case[key] for key in ("wire", "raw", "limit", "seed"))
    return complaint(BY_NAME[str(wire)], str(raw).encode("latin-1"), int(str(most)), int(str(seed)))


def _bare(text: str) -> str:
    return "".join(text.split())


def _chunks(raw: bytes, chance: random.Random) -> list[bytes]:
    if len(raw) < 200 and chance.random() < 0.5:
        return [raw[at : at + 1] for at in range(len(raw))]
    cuts = sorted({0, len(raw), *(chance.randint(0, len(raw)) for _ in range(chance.randint(1, 8)))})
    return [raw[start:end] for start, end in itertools.pairwise(cuts)]


def _recordings(folder: str) -> list[bytes]:
    paths = sorted((RECORDINGS / folder).iterdir())
    return [path.read_bytes() for path in paths if path.suffix in (".sse", ".ndjson") and path.stat().st_size < 20_000]
