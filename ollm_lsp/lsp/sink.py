"""A chat's events on their way to the client: deltas are joined per turn of the event loop, not by a timer.

A key that comes in several deltas is hidden as well: the end of a text that may become one waits for what follows it.
"""

from __future__ import annotations

import asyncio
import json
from json.encoder import encode_basestring_ascii
from time import monotonic
from typing import TYPE_CHECKING

from ollm_lsp.core.control_sequences import powerless
from ollm_lsp.core.events import ReasoningDelta, TextDelta
from ollm_lsp.lsp import to_wire
from ollm_lsp.settings.redactor import redactor

if TYPE_CHECKING:
    from collections.abc import Callable

    from ollm_lsp.core.events import ChatEvent
    from ollm_lsp.lsp.rpc import Rpc
    from ollm_lsp.lsp.standard import Token
    from ollm_lsp.lsp.stdio import Writer

TURN = 0.0005
"""Seconds after which a stream that is read as fast as it comes lets others run."""


class EventSink:
    """Sends chat events on a partial result token. Text, the frequent kind, is written from a byte template."""

    def __init__(self, rpc: Rpc, writer: Writer, token: Token | None, observe: Callable[[ChatEvent], None]) -> None:
        self._rpc = rpc
        self._writer = writer
        self._token = token
        self._observe = observe
        self._loop = asyncio.get_running_loop()
        self._head = (
            f'{{"jsonrpc":"2.0","method":"$/progress","params":{{"token":{json.dumps(token)},"value":{{"type":"'
        )
        self._kind = ""
        self._deltas: list[str] = []
        self._waiting = ""
        self._turned = monotonic()

    def emit(self, event: ChatEvent) -> None:
        self._observe(event)
        if self._token is None:
            return
        if isinstance(event, TextDelta):
            self._grow("text", event.text)
        elif isinstance(event, ReasoningDelta):
            self._grow("reasoning", event.text)
        elif (value := to_wire.chat_event(event)) is not None:
            self._flush_all()
            self._rpc.notify("$/progress", {"token": self._token, "value": value})

    async def drain(self) -> None:
        await self._writer.drain()
        if monotonic() - self._turned > TURN:
            await asyncio.sleep(0)
            self._turned = monotonic()

    def _grow(self, kind: str, delta: str) -> None:
        if kind != self._kind:
            self._flush_all()
            self._kind = kind
        if not self._deltas:
            self._loop.call_soon(self._flush)
        self._deltas.append(delta)

    def _flush(self) -> None:
        if self._deltas:
            text, self._waiting = redactor.split(self._waiting + powerless("".join(self._deltas)))
            self._deltas.clear()
            self._write(text)

    def _flush_all(self) -> None:
        """Nothing more comes of this text: what waits is no secret."""
        self._flush()
        text, self._waiting = redactor.redact(self._waiting), ""
        self._write(text)

    def _write(self, text: str) -> None:
        if not text:
            return
        body = f'{self._head}{self._kind}","text":{encode_basestring_ascii(text)}}}}}}}'.encode("ascii")
        self._writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
