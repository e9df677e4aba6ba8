"""A provider whose changes come home: what it wanted to change, or wrote into its answer as edits, is proposed."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ollm_lsp.core.edit_blocks import MalformedEdit, edits_in
from ollm_lsp.core.events import Finished, FinishReason, TextDelta, ToolChanged
from ollm_lsp.core.provider_around import ProviderAround
from ollm_lsp.core.tool import ToolCall, ToolKind, ToolResult, ToolStatus
from ollm_lsp.core.visible import visible_name

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable

    from ollm_lsp.core.events import ProviderEvent
    from ollm_lsp.core.foreign_edit import ForeignEdit, Landed
    from ollm_lsp.core.ports import Provider
    from ollm_lsp.core.request import ChatRequest

_ID: Final = "homecoming"


class HomecomingProvider(ProviderAround):
    """For agents, which change nothing themselves. The answer ends when the user has decided, and says what they did.

    `land` proposes edits in the user's editor.
    """

    def __init__(self, inner: Provider, land: Callable[[Iterable[ForeignEdit]], Awaitable[Landed]]) -> None:
        super().__init__(inner)
        self._land = land

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ProviderEvent]:
        text: list[str] = []
        acts: dict[str, ToolChanged] = {}
        finished: Finished | None = None
        async with aclosing(self._inner.stream(request)) as events:
            async for event in events:
                match event:
                    case Finished():
                        # Held back, so that whoever counts the cost has ended before the user is asked.
                        finished = event
                        continue
                    case TextDelta(said):
                        text.append(said)
                    case ToolChanged() if event.edits:
                        acts[event.id] = event
                    case _:
                        pass
                yield event
        if finished is None:
            return
        async for event in self._homecoming("".join(text), acts, finished.reason):
            yield event
        yield finished

    async def _homecoming(
        self, text: str, acts: dict[str, ToolChanged], reason: FinishReason
    ) -> AsyncGenerator[ProviderEvent]:
        edits = [edit for act in acts.values() for edit in act.edits if edit.after is not None or _is_removal(edit)]
        own = {edit.path: None for act in acts.values() if act.status is ToolStatus.COMPLETED for edit in act.edits}
        if own:
            yield _note(f"{self.name} says that it changed these itself, outside of the editor: {_named(own)}.")
        try:
            edits += edits_in(text)
        except MalformedEdit as problem:
            yield _note(f"Its changes are not proposed, because they cannot be understood. {problem}")
            return
        if not edits:
            return
        if reason is not FinishReason.STOP:
            yield _note("Its changes are not proposed, because the answer was cut short.")
            return
        paths = _named(edit.path for edit in edits)
        call = ToolCall(_ID, "propose_changes", {"paths": list(dict.fromkeys(edit.path for edit in edits))})
        waiting = ToolChanged(_ID, call, ToolKind.EDIT, f"Propose changes: {paths}", (), ToolStatus.AWAITING_PERMISSION)
        yield waiting
        landed = await self._land(edits)
        told = str(landed) or f"Nothing to change: {paths}."
        status = ToolStatus.DENIED if landed.missed else ToolStatus.COMPLETED
        result = ToolResult(_ID, call.name, told, is_error=bool(landed.missed))
        yield replace(waiting, status=status, result=result)
        yield _note(told)


def _is_removal(edit: ForeignEdit) -> bool:
    return edit.kind is ToolKind.DELETE


def _named(paths: Iterable[str]) -> str:
    return ", ".join(visible_name(path) for path in dict.fromkeys(paths))


def _note(text: str) -> TextDelta:
    """A line of ours behind the answer, which also the local model reads later."""
    return TextDelta(f"\n\n*{text}*")
