"""The briefing: all that an external provider is told of a task, as Markdown that the user can read first. Pure.

The goal is always there and always whole. Everything else goes in by its worth, as far as the provider can read: why it
is asked, what failed, what the editor shows, what was said. The history itself stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ollm_lsp.core.errors import ContextOverflow
from ollm_lsp.core.tokens import CHARS_PER_TOKEN, estimate_text
from ollm_lsp.core.tool import ToolCall, ToolResult
from ollm_lsp.core.transcript import transcript, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ollm_lsp.core.messages import Message

MOST_FAILURES: Final = 5
LONGEST_FAILURE: Final = 600
_CUT: Final = "\n[…]"
_LEAST: Final = 40
"""Characters below which a section would tell nothing."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Something of the editor: a file, what changed in it, diagnostics. `source` is where it is from."""

    source: str
    text: str


@dataclass(frozen=True, slots=True)
class Matters:
    """What could be told. The history may begin with a summary of what was before it."""

    goal: str
    reason: str = ""
    history: tuple[Message, ...] = ()
    pieces: tuple[Piece, ...] = ()
    note: str = ""
    """Why something is missing, where something is."""


@dataclass(frozen=True, slots=True)
class Briefing:
    """The text, and from where it has what: for people who decide whether it may be shared."""

    text: str
    shared: tuple[str, ...] = field(default=())

    @property
    def tokens(self) -> int:
        return estimate_text(self.text)


def brief(matters: Matters, limit: int, *, inherits: bool = True) -> Briefing:
    """All that fits into so many tokens; raises `ContextOverflow` when not even the goal does."""
    if estimate_text(matters.goal) > limit:
        raise ContextOverflow(
            f"The prompt has about {estimate_text(matters.goal):,} tokens, and {limit:,} fit.",
            remedy="Shorten it, or choose a provider that reads more.",
        )
    if not inherits or not _has_more(matters):
        return Briefing(matters.goal, ("your prompt",))
    sections = _Sections(matters.goal, limit * CHARS_PER_TOKEN)
    sections.add("Why you are asked", matters.reason, share=1)
    sections.add("What is missing here", matters.note, share=1)
    failed = "\n\n".join(_failures(matters.history))
    sections.add("What failed", failed, share=1 / 4, shared="tool calls that failed")
    sections.add_pieces("What the editor shows", matters.pieces, share=2 / 3)
    said = f"{len(matters.history)} message{'s' if len(matters.history) > 1 else ''} of this conversation"
    sections.add_transcript("What was said before", matters.history, shared=said)
    return sections.briefing


def _has_more(matters: Matters) -> bool:
    return bool(matters.reason or matters.note or matters.history or matters.pieces)


class _Sections:
    """Sections in the room that is left, each for itself: one that does not fit is cut or left out."""

    def __init__(self, goal: str, room: int) -> None:
        # Where its heading does not fit any more, the goal stands alone.
        headed = f"# The task\n\n{goal}\n"
        self._texts = [headed if len(headed) <= room else goal]
        self._left = room - len(self._texts[0])
        self._shared = ["your prompt"]

    @property
    def briefing(self) -> Briefing:
        return Briefing("".join(self._texts), tuple(self._shared))

    def add(self, title: str, text: str, *, share: float, shared: str = "") -> None:
        head = _head(title)
        room = int(self._left * share) - len(head) - 1
        if text and room >= _LEAST:
            cut = text if len(text) <= room else text[: room - len(_CUT)] + _CUT
            self._take(f"{head}{cut}\n")
            self._shared += [shared] if shared else []

    def add_pieces(self, title: str, pieces: Sequence[Piece], *, share: float) -> None:
        room = int(self._left * share) - len(_head(title))
        fitting: list[Piece] = []
        for piece in pieces:
            if len(piece.text) <= room:
                room -= len(piece.text)
                fitting.append(piece)
        if fitting:
            self._take(_head(title) + "".join(piece.text for piece in fitting))
            self._shared += dict.fromkeys(piece.source for piece in fitting)

    def add_transcript(self, title: str, messages: Sequence[Message], *, shared: str) -> None:
        room = self._left - len(_head(title)) - 1
        if not messages or room < _LEAST:
            return
        text = transcript(messages, room // CHARS_PER_TOKEN)
        if len(text) > room:  # the newest is what counts
            text = _CUT.lstrip() + text[len(text) - room + len(_CUT) :]
        self._take(f"{_head(title)}{text}\n")
        self._shared.append(shared)

    def _take(self, text: str) -> None:
        self._texts.append(text)
        self._left -= len(text)


def _head(title: str) -> str:
    return f"\n## {title}\n\n"


def _failures(history: Sequence[Message]) -> Iterator[str]:
    """The newest tool calls that failed, the newest last."""
    calls = {part.id: part for message in history for part in message.parts if isinstance(part, ToolCall)}
    failed = [part for message in history for part in message.parts if isinstance(part, ToolResult) and part.is_error]
    for result in failed[-MOST_FAILURES:]:
        call = calls.get(result.call_id)
        told = result.text[:LONGEST_FAILURE] + (_CUT if len(result.text) > LONGEST_FAILURE else "")
        yield f"{words(call) if call else f'[{result.name}]'}\n{told}"
