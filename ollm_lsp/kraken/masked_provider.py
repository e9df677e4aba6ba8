"""A provider that never reads a secret: what it is sent is masked, and what it says is restored."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from ollm_lsp.core.events import ReasoningDelta, TextDelta, ToolCalled, ToolChanged
from ollm_lsp.core.messages import Message, Reasoning, Role, Text
from ollm_lsp.core.provider_around import ProviderAround
from ollm_lsp.core.tokens import text_of
from ollm_lsp.core.tool import ToolCall, ToolResult
from ollm_lsp.kraken.mask import CLOSE, EXPLANATION, OPEN

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from ollm_lsp.core.events import ProviderEvent
    from ollm_lsp.core.messages import Part
    from ollm_lsp.core.ports import Provider
    from ollm_lsp.core.request import ChatRequest
    from ollm_lsp.kraken.mask import Mask

_LONGEST: Final = 16
"""Characters of a placeholder at most; what is longer and still open is none."""


class MaskedProvider(ProviderAround):
    """In everything the provider inside, but for the secrets. What tools give on the way is looked through as well."""

    def __init__(self, inner: Provider, mask: Mask) -> None:
        super().__init__(inner)
        self._mask = mask

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ProviderEvent]:
        texts = {str(at): "\n".join(map(text_of, message.parts)) for at, message in enumerate(request.messages)}
        self._mask = mask = await asyncio.to_thread(self._mask.and_over, texts)
        masked = replace(request, messages=tuple(_masked(message, mask) for message in request.messages))
        growing = _Growing(mask)
        async with aclosing(self._inner.stream(masked)) as events:
            async for event in events:
                for restored in growing.feed(event):
                    yield restored


class _Growing:
    """Restores events. The end of a text that may become a placeholder waits for what follows it."""

    def __init__(self, mask: Mask) -> None:
        self._mask = mask
        self._kind: type[TextDelta | ReasoningDelta] = TextDelta
        self._held = ""

    def feed(self, event: ProviderEvent) -> list[ProviderEvent]:
        if not isinstance(event, TextDelta | ReasoningDelta):
            return [*self._rest(), self._restored(event)]
        before = self._rest() if type(event) is not self._kind else []
        self._kind = type(event)
        text = self._held + event.text
        at = text.rfind(OPEN)
        is_open = at >= 0 and CLOSE not in text[at:] and len(text) - at < _LONGEST
        whole, self._held = (text[:at], text[at:]) if is_open else (text, "")
        return [*before, self._kind(self._mask.restore(whole))] if whole else before

    def _rest(self) -> list[ProviderEvent]:
        held, self._held = self._held, ""
        return [self._kind(held)] if held else []

    def _restored(self, event: ProviderEvent) -> ProviderEvent:
        match event:
            case ToolCalled(call):
                return ToolCalled(_call(call, self._mask.restore))
            case ToolChanged():
                restore = self._mask.restore
                edits = tuple(
                    replace(edit, before=edit.before and restore(edit.before), after=edit.after and restore(edit.after))
                    for edit in event.edits
                )
                result = event.result and replace(event.result, text=restore(event.result.text))
                call = _call(event.call, restore)
                return replace(event, call=call, title=restore(event.title), result=result, edits=edits)
            case _:
                return event


def _masked(message: Message, mask: Mask) -> Message:
    """The explanation of the placeholders shows one, which has to stay as it is."""
    if message.role is not Role.SYSTEM:
        return _mapped(message, mask.mask)
    return _mapped(message, lambda text: EXPLANATION.join(map(mask.mask, text.split(EXPLANATION))))


def _mapped(message: Message, change: Callable[[str], str]) -> Message:
    return Message(message.role, tuple(_part(part, change) for part in message.parts))


def _part(part: Part, change: Callable[[str], str]) -> Part:
    match part:
        case Text(text):
            return Text(change(text))
        case Reasoning(signature=None):
            return Reasoning(change(part.text))
        case ToolCall():
            return _call(part, change)
        case ToolResult():
            return replace(part, text=change(part.text))
        case _:
            return part  # an image, or thoughts that have to go back as they came


def _call(call: ToolCall, change: Callable[[str], str]) -> ToolCall:
    return replace(call, arguments=_json(call.arguments, change))


def _json(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_json(one, change) for one in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {key: _json(one, change) for key, one in cast("dict[str, Any]", value).items()}
    return value
