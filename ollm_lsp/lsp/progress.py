"""Work-done progress: what keeps the user waiting."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcException

if TYPE_CHECKING:
    from ollm_lsp.lsp.rpc import Rpc
    from ollm_lsp.lsp.standard import Token

CREATE_TIME = 5.0
"""Seconds that a client has to accept a progress of ours; some announce the capability and never answer."""
_numbers = count(1)


class WorkDone:
    """One progress in the client, on its own token or on one that the server creates."""

    def __init__(self, rpc: Rpc, token: Token | None, *, may_create: bool) -> None:
        self._rpc = rpc
        self._begun = False
        self._last: dict[str, Any] = {}
        self._creating: asyncio.Task[None] | None = None
        self._may_create = may_create and token is None
        self.token = token if token is not None else f"ollm-{next(_numbers)}" if may_create else None

    def begin(self, title: str, percentage: int | None = None) -> None:
        """Start with a percentage where there will be some: clients may ignore those that come unannounced."""
        begin: dict[str, Any] = {"kind": "begin", "title": title, "cancellable": True}
        if percentage is not None:
            begin["percentage"] = percentage
        if self._may_create:
            self._creating = asyncio.ensure_future(self._create(begin))
        elif self.token is not None:
            self._begin(begin)

    def report(self, message: str, percentage: int | None = None) -> None:
        report: dict[str, Any] = {"kind": "report", "message": message, "cancellable": True}
        if percentage is not None:
            report["percentage"] = percentage
        if report != self._last and self._begun:
            self._send(report)
        self._last = report

    async def end(self, message: str) -> None:
        if self._creating is not None:
            self._creating.cancel()
            with suppress(asyncio.CancelledError):
                await self._creating
        if self._begun:
            self._send({"kind": "end", "message": message})

    async def _create(self, begin: dict[str, Any]) -> None:
        """Ask the client for a progress, without keeping the work waiting for the answer."""
        try:
            await self._rpc.ask("window/workDoneProgress/create", {"token": self.token}, timeout=CREATE_TIME)
        except (TimeoutError, JsonRpcException):
            logging.getLogger(__name__).info("The client does not show progress.")
        else:
            self._begin(begin)

    def _begin(self, begin: dict[str, Any]) -> None:
        self._send(begin)
        self._begun = True
        if self._last:
            self._send(self._last)

    def _send(self, value: dict[str, Any]) -> None:
        self._rpc.notify("$/progress", {"token": self.token, "value": value})
