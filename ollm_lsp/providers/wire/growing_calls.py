"""Tool calls that a stream brings in pieces, as the Chat Completions format has them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.errors import InvalidMessage
from ollm_lsp.core.foreign_json import JsonError, decode_arguments, object_in, text_in
from ollm_lsp.core.tool import ToolCall
from ollm_lsp.providers.wire.faults import MAX_CALLS, malformed, unreadable_call

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(slots=True)
class _GrowingCall:
    index: int
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list[str])

    def goes_on_with(self, call_id: str, name: str) -> bool:
        """Whether a piece belongs to this call. Some servers give every call the same index, or none.

        Then another id tells that it does not, or the end of the arguments; but only a piece with a name can begin a
        call, because others give every piece a new id.
        """
        if not name or (call_id and call_id == self.id):
            return True
        is_closed = bool(self.arguments) and self.arguments[-1].rstrip().endswith("}")
        return not is_closed and not (call_id and self.id)


class GrowingCalls:
    """Puts the pieces together; falsy while there are none."""

    def __init__(self) -> None:
        self._calls: list[_GrowingCall] = []

    def __bool__(self) -> bool:
        return bool(self._calls)

    def grow(self, piece: dict[str, Any]) -> int:
        """Add a piece, and tell how many characters it brought."""
        function = object_in(piece.get("function"))
        call_id, name, arguments = text_in(piece.get("id")), text_in(function.get("name")), function.get("arguments")
        if isinstance(arguments, dict):
            arguments = json.dumps(arguments)
        arguments = text_in(arguments)
        call = self._call_of(piece.get("index"), call_id, name)
        call.id = call.id or call_id
        call.name += name
        if arguments:
            call.arguments.append(arguments)
        return len(name) + len(arguments)

    def complete(self) -> Iterator[ToolCall]:
        """The calls in the order of their indices; raises when one of them cannot be read."""
        for number, call in enumerate(sorted(self._calls, key=lambda call: call.index)):
            yield _complete(number, call)

    def _call_of(self, index: Any, call_id: str, name: str) -> _GrowingCall:
        """The call that a piece belongs to: by its index, and by its id where several have that index."""
        known = [call for call in self._calls if type(index) is not int or call.index == index]
        known = [call for call in known if call_id and call.id == call_id] or known[-1:]
        if known and known[-1].goes_on_with(call_id, name):
            return known[-1]
        if len(self._calls) == MAX_CALLS:
            raise malformed(name, f"more than {MAX_CALLS} tool calls")
        self._calls.append(_GrowingCall(index if type(index) is int else len(self._calls)))
        return self._calls[-1]


def _complete(number: int, call: _GrowingCall) -> ToolCall:
    text = "".join(call.arguments) or "{}"
    try:
        return ToolCall(call.id or f"call_{number}", call.name, decode_arguments(text))
    except (JsonError, InvalidMessage) as error:
        raise unreadable_call(call.name, text, str(error)) from None
