"""The composition root: the one place that sees every layer and wires it."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import logging
import os
from contextlib import asynccontextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from ollm_lsp.core.finding import Finding
    from ollm_lsp.core.ports import Fits, GrantStore, Kraken, Ledger, ProposalStore, Provider, ResponseStore
    from ollm_lsp.kraken.health import HealthBook
    from ollm_lsp.kraken.hooks import Hooks
    from ollm_lsp.providers.external import Externals
    from ollm_lsp.providers.registry import Registry
    from ollm_lsp.settings.layers import Resolution
    from ollm_lsp.settings.resolved import Settings
    from ollm_lsp.settings.source import SettingsSource
    from ollm_lsp.store.before_images import BeforeImages
    from ollm_lsp.store.grants import SqliteGrants
    from ollm_lsp.store.ledger import SqliteLedger
    from ollm_lsp.tools.toolset import Toolset

# Imports inside functions keep start-up fast: what `initialize` does not need is loaded when it is first used.
# ruff: noqa: PLC0415


class App:
    """Settings, providers and the store, each made on first use."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._environ = os.environ if environ is None else environ
        self._editor: Mapping[str, Any] = {}
        self._folders: Sequence[Path] = ()
        self._is_narrowed = True
        self._reading = asyncio.Lock()
        self._next_reading: asyncio.Task[Resolution] | None = None

    @cached_property
    def source(self) -> SettingsSource:
        from ollm_lsp.settings.source import SettingsSource, user_file_path

        return SettingsSource(
            user_file_path(self._environ, Path.home()),
            embedded_available=importlib.util.find_spec("xllamacpp") is not None,
        )

    @cached_property
    def state(self) -> Path:
        from ollm_lsp.processes.register import register
        from ollm_lsp.store.places import keep_private, state_directory

        state = state_directory(self._environ)
        keep_private(state)
        register.place = state / "processes"
        return state

    @cached_property
    def registry(self) -> Registry:
        from ollm_lsp.providers.registry import Registry, build, load

        return Registry(partial(build, state=self.state), load=load)

    def narrow(self, editor: Mapping[str, Any], folders: Sequence[Path]) -> None:
        self._editor, self._folders = editor, folders
        self._is_narrowed = False

    async def settings(self) -> Resolution:
        # Those who ask during one reading share the next: a hundred chats at once would wait for a hundred of them.
        if self._next_reading is None:
            self._next_reading = asyncio.ensure_future(self._read())
        return await asyncio.shield(self._next_reading)

    async def _read(self) -> Resolution:
        async with self._reading:
            self._next_reading = None
            resolution = await asyncio.to_thread(self._read_settings)
            self.registry.default = resolution.settings.model.provider
            await self.registry.update(resolution.settings.providers)
            await self._follow(resolution.settings)
        return resolution

    async def _follow(self, settings: Settings) -> None:
        """Whoever has no external providers loads nothing of them."""
        if settings.kraken.entries or "_externals" in self.__dict__:
            await asyncio.to_thread(importlib.import_module, "ollm_lsp.providers.external")
            await self._externals.update(settings.kraken, self._folders, settings.context.exclude)

    def _read_settings(self) -> Resolution:
        if not self._is_narrowed:
            self._is_narrowed = True
            self.source.set_editor(self._editor)
            self.source.set_folders(self._folders)
        return self.source.current()

    @asynccontextmanager
    async def provider(self, name: str) -> AsyncGenerator[Provider]:
        async with self.registry.lease(name) as provider:
            yield provider

    async def store(self, *, is_kept: bool) -> ResponseStore:
        if not is_kept:
            return self._memory
        if "_kept" not in self.__dict__:
            # In a thread: others shall not wait while SQLite is loaded.
            await asyncio.to_thread(importlib.import_module, "ollm_lsp.store.response_store")
        return self._kept

    @cached_property
    def _kept(self) -> ResponseStore:
        from ollm_lsp.store.response_store import SqliteStore

        return SqliteStore(self.state / "conversations.db")

    @cached_property
    def _memory(self) -> ResponseStore:
        from time import time

        from ollm_lsp.core.memory_store import MemoryStore

        return MemoryStore(time)

    async def toolset(self) -> Toolset:
        if "_toolset" not in self.__dict__:
            await asyncio.to_thread(importlib.import_module, "ollm_lsp.tools.toolset")
        return self._toolset

    @cached_property
    def _toolset(self) -> Toolset:
        from ollm_lsp.tools.toolset import Toolset

        return Toolset(self._grants, self._proposals, [self.state, self.source.user_file.parent])

    @cached_property
    def _grants(self) -> SqliteGrants:
        from ollm_lsp.store.grants import SqliteGrants

        return SqliteGrants(self.state / "permissions.db")

    @cached_property
    def _proposals(self) -> BeforeImages:
        from ollm_lsp.store.before_images import BeforeImages

        return BeforeImages(self.state / "proposals.db")

    async def proposals(self) -> ProposalStore:
        return self._proposals

    async def settings_file(self) -> str:
        from ollm_lsp.settings.starter import provide

        return await asyncio.to_thread(provide, self.source.user_file)

    def examine(self) -> AsyncGenerator[Finding]:
        from ollm_lsp.checkup import examine

        return examine(self, self.source.user_file, self.state)

    async def kraken(self) -> Kraken:
        from ollm_lsp.kraken.overview import Overview

        settings = (await self.settings()).settings.kraken
        return Overview(settings, self._health, await self.ledger())

    @asynccontextmanager
    async def external(self, name: str, *, is_trusted: bool) -> AsyncGenerator[Provider]:
        settings = (await self.settings()).settings.kraken
        entry = settings.entries.get(name)
        if entry is None or not settings.enabled or not settings.policies.allows(name):
            from ollm_lsp.core.errors import SettingsError

            raise SettingsError(f"The external provider '{name}' cannot be used.", remedy="See `/kraken status`.")
        async with self._externals.lease(entry, is_trusted=is_trusted) as provider:
            yield provider

    async def hooks(self) -> Hooks:
        from ollm_lsp.kraken.hooks import Hooks
        from ollm_lsp.tools.programs import environment, found
        from ollm_lsp.tools.roots import Roots

        settings = (await self.settings()).settings.kraken.hooks
        roots = Roots(self._folders)
        home = Path(self._environ.get("HOME") or Path.home())
        find = partial(found, roots=roots, source=self._environ)
        return Hooks(settings, find, environment(roots, self._environ), home)

    async def grants(self) -> GrantStore:
        return self._grants

    async def ledger(self) -> Ledger:
        if "_ledger" not in self.__dict__:
            await asyncio.to_thread(importlib.import_module, "ollm_lsp.store.ledger")
        return self._ledger

    @cached_property
    def _ledger(self) -> SqliteLedger:
        from ollm_lsp.store.ledger import SqliteLedger

        return SqliteLedger(self.state / "ledger.db")

    @cached_property
    def _externals(self) -> Externals:
        from ollm_lsp.providers.external import Externals

        return Externals(self.state, self._environ)

    @cached_property
    def _health(self) -> HealthBook:
        from ollm_lsp.kraken.health import HealthBook

        return HealthBook(self._externals.check)

    async def keep_text(self, text: str) -> str:
        from ollm_lsp.store.texts import keep

        return await asyncio.to_thread(keep, self.state, text)

    async def keep_chat(self, text: str) -> str:
        from ollm_lsp.store.texts import keep_chat

        return await asyncio.to_thread(keep_chat, self.state, text)

    async def fits(self) -> Fits:
        schema = await asyncio.to_thread(importlib.import_module, "ollm_lsp.tools.schema")
        return schema.fits

    async def sweep(self) -> None:
        from ollm_lsp.processes.register import register
        from ollm_lsp.providers import fetch_folder
        from ollm_lsp.store import leftovers

        await asyncio.to_thread(fetch_folder.sweep, self.state / "models")
        await asyncio.to_thread(leftovers.sweep, self.state / "agents" / "hiding")
        if ended := await register.sweep():
            logging.getLogger(__name__).warning("Ended %d programs that a killed server had left.", ended)

    async def close(self) -> None:
        if "registry" in self.__dict__:
            await self.registry.close()
        for name in ("_health", "_externals", "_kept", "_grants", "_proposals", "_ledger"):
            if name in self.__dict__:
                await getattr(self, name).close()


def serve() -> int:
    """Run the language server on standard input and output."""
    from ollm_lsp.lsp.lazy_types import import_types

    import_types()
    from ollm_lsp.lsp.log import configure
    from ollm_lsp.lsp.server import serve

    configure()
    return serve(App())
