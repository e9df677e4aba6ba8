"""A session of the server without its process: the client's end, the services, and a writer that is never behind."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from ollm_lsp.core.fit import any_object
from ollm_lsp.core.memory_store import MemoryStore
from ollm_lsp.core.model import ModelId
from ollm_lsp.lsp.session import Session
from ollm_lsp.settings.defaults import default_settings
from ollm_lsp.settings.layers import Resolution
from ollm_lsp.settings.resolved import ChatSettings, OllamaSettings

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from ollm_lsp.core.ports import Fits, Provider, Tool
    from ollm_lsp.tools.toolset import Desk, Toolset


class Peer:
    """Hears everything that the session tells, and gives it what the composition root would."""

    def __init__(self, provider: Provider, chat: ChatSettings | None = None) -> None:
        settings = default_settings(embedded_available=False)
        model = ModelId("scripted", "m")
        self._resolution = Resolution(replace(settings, model=model, chat=chat or ChatSettings()))
        self._providers = {"scripted": provider}
        self._store = MemoryStore(lambda: 0.0)
        self._heard = asyncio.Event()
        self.told: list[tuple[str, Any]] = []
        self.offered: tuple[Tool, ...] = ()
        """The tools of every chat."""

    @property
    def session(self) -> Session:
        return Session(cast("Any", self), cast("Any", self), cast("Any", self))

    def add_local(self, provider: Provider, *, is_default: bool) -> None:
        """Add a provider on this machine."""
        settings = self._resolution.settings
        if is_default:
            here = OllamaSettings("local", "http://127.0.0.1:11434")
            settings = replace(settings, model=ModelId("local", "m"), providers={**settings.providers, "local": here})
        self._resolution = Resolution(settings)
        self._providers["local"] = provider

    # The client

    def notify(self, method: str, params: dict[str, Any]) -> None:
        self.told.append((method, params))
        self._heard.set()

    def write(self, data: bytes) -> None:
        message = json.loads(data.partition(b"\r\n\r\n")[2])
        self.notify(message["method"], message["params"])

    async def drain(self) -> None:
        await asyncio.sleep(0)

    def values(self, token: str) -> list[dict[str, Any]]:
        """What was told on a progress."""
        return [params["value"] for _, params in self.told if params.get("token") == token]

    async def until(self, token: str, wanted: Callable[[dict[str, Any]], bool]) -> None:
        """Wait for a value on a progress."""
        while not any(map(wanted, self.values(token))):
            self._heard.clear()
            await self._heard.wait()

    # The services

    async def settings(self) -> Resolution:
        return self._resolution

    @asynccontextmanager
    async def provider(self, name: str) -> AsyncGenerator[Provider]:
        yield self._providers[name]

    async def store(self, *, is_kept: bool) -> MemoryStore:
        assert is_kept
        return self._store

    async def fits(self) -> Fits:
        return any_object

    async def toolset(self) -> Toolset:
        return cast("Any", self)

    def tools(self, desk: Desk) -> tuple[Tool, ...]:
        assert desk.conversation_id
        return self.offered
