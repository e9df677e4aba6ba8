"""Tools that do what a test tells them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from ollm_lsp.core.tool import Location, ToolKind, ToolSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.foreign_json import JsonObject
    from ollm_lsp.core.ports import ToolRun

PATH: dict[str, Any] = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


class FakeTool:
    """Returns a value, raises an exception, or does what an async function of arguments and run does."""

    def __init__(
        self,
        name: str = "read",
        does: Any = "text",
        *,
        kind: ToolKind = ToolKind.READ,
    ) -> None:
        self.spec = ToolSpec(name, f"Does {name}.", PATH)
        self.kind = kind
        self.started = 0
        self.cancelled = 0
        self.running = asyncio.Event()
        self._does = does

    def title(self, arguments: JsonObject) -> str:
        return f"{self.spec.name} {arguments['path']}"

    def locations(self, arguments: JsonObject) -> Sequence[Location]:
        return [Location(f"file:///{arguments['path']}", 1)]

    async def run(self, arguments: JsonObject, run: ToolRun) -> Any:
        self.started += 1
        self.running.set()
        try:
            if callable(self._does):
                return await cast("Any", self._does)(arguments, run)
            if isinstance(self._does, BaseException):
                raise self._does
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return self._does


async def forever(arguments: JsonObject, run: ToolRun) -> object:
    """Hangs, and ends when it is told to."""
    return await asyncio.Event().wait()


class Stubborn:
    """Hangs, and does not end when it is told to, but when the test opens the gate."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.told = asyncio.Event()
        self.ended = asyncio.Event()

    async def __call__(self, arguments: JsonObject, run: ToolRun) -> object:  # noqa: ARG002 (part of the contract)
        try:
            while not self.gate.is_set():
                try:
                    await self.gate.wait()
                except asyncio.CancelledError:
                    self.told.set()
        finally:
            self.ended.set()
        return "too late"


async def asking(arguments: JsonObject, run: ToolRun) -> object:
    """Asks the user, who never answers."""
    with run.asking():
        return await asyncio.Event().wait()
