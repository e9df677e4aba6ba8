"""A session of the server without its process: the client's end, the services, and a writer that is never behind."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ollm_lsp.core.errors import SettingsError
from ollm_lsp.core.fit import any_object
from ollm_lsp.core.kraken import KrakenProvider, KrakenStatus
from ollm_lsp.core.memory_store import MemoryStore
from ollm_lsp.core.model import ModelId
from ollm_lsp.kraken.hooks import Hooks
from ollm_lsp.lsp.session import Session
from ollm_lsp.settings.defaults import default_settings
from ollm_lsp.settings.kraken_settings import HooksSettings
from ollm_lsp.settings.layers import Resolution
from ollm_lsp.settings.resolved import ChatSettings, OllamaSettings, OpenAISettings
from ollm_lsp.tools.toolset import Toolset
from tests.support.memory_ledger import MemoryLedger

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    from ollm_lsp.core.ledger import LedgerLine
    from ollm_lsp.core.ports import Fits, Kraken, Ledger, Provider, Tool
    from ollm_lsp.tools.sendable import Sendable
    from ollm_lsp.tools.toolset import Desk
    from ollm_lsp.tools.workspace import Workspace


class NoKraken:
    """A Kraken without providers: it has nothing to tell, and was never released."""

    async def status(self) -> KrakenStatus:
        return KrakenStatus()

    async def providers(self) -> Sequence[KrakenProvider]:
        return ()

    async def history(self, limit: int | None = None) -> Sequence[LedgerLine]:  # noqa: ARG002 (part of the contract)
        return ()


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
        self.external: Kraken = NoKraken()
        self.book: Ledger = MemoryLedger()
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

    def know_elsewhere(self) -> None:
        """Let the settings name the provider that is not on this machine."""
        settings = self._resolution.settings
        there = OpenAISettings("scripted", "https://example.org/v1")
        self._resolution = Resolution(replace(settings, providers={**settings.providers, "scripted": there}))

    def change(self, **settings: Any) -> None:
        """Let some of the settings be others."""
        self._resolution = Resolution(replace(self._resolution.settings, **settings))

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
        if name not in self._providers:
            raise SettingsError(f"There is no provider {name}.", remedy="Add it.")
        yield self._providers[name]

    async def store(self, *, is_kept: bool) -> MemoryStore:
        assert is_kept
        return self._store

    async def kraken(self) -> Kraken:
        return self.external

    async def ledger(self) -> Ledger:
        return self.book

    async def hooks(self) -> Hooks:
        return Hooks(HooksSettings(), lambda _: None, {}, Path("/"))

    async def settings_file(self) -> str:
        return "file:///home/me/.ollm/config.yaml"

    async def fits(self) -> Fits:
        return any_object

    async def toolset(self) -> Toolset:
        return cast("Any", self)

    def workspace(self, desk: Desk) -> Workspace:
        return Toolset().workspace(desk)

    def sendable(self, desk: Desk) -> Sendable:
        return Toolset().sendable(desk)

    def tools(self, desk: Desk) -> tuple[Tool, ...]:
        assert desk.conversation_id
        return self.offered
