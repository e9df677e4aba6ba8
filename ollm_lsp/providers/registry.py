"""The providers that exist, by name."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias, assert_never

from ollm_lsp.core.errors import SettingsError
from ollm_lsp.settings.address import is_loopback
from ollm_lsp.settings.resolved import (
    AnthropicSettings,
    EmbeddedSettings,
    GoogleSettings,
    OllamaSettings,
    OpenAISettings,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping
    from pathlib import Path

    from ollm_lsp.core.ports import Provider
    from ollm_lsp.settings.resolved import ProviderSettings

Build: TypeAlias = "Callable[[ProviderSettings], Provider]"
Load: TypeAlias = "Callable[[ProviderSettings], None]"


@dataclass(slots=True)
class _Entry:
    settings: ProviderSettings
    provider: Provider | None = None
    users: int = 0


class Registry:
    """Providers by name, each built when it is first used."""

    def __init__(self, build: Build, default: str | None = None, load: Load = lambda _: None) -> None:
        self.default = default
        self._build = build
        self._load = load
        self._entries: dict[str, _Entry] = {}
        self._retired: list[_Entry] = []

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._entries)

    def register(self, settings: ProviderSettings) -> None:
        if settings.name in self._entries:
            raise SettingsError(
                f"There are two providers named '{settings.name}'.", remedy="Give each provider a name of its own."
            )
        self._entries[settings.name] = _Entry(settings)

    async def update(self, settings: Mapping[str, ProviderSettings]) -> None:
        """Follow changed settings: a provider whose settings stay the same stays, with its connections."""
        for name, entry in list(self._entries.items()):
            if settings.get(name) != entry.settings:
                self._retired.append(self._entries.pop(name))
        for name, wanted in settings.items():
            if name not in self._entries:
                self.register(wanted)
        await self._bury()

    @asynccontextmanager
    async def lease(self, name: str | None = None) -> AsyncGenerator[Provider]:
        """Use a provider, the default one without a name. It is not closed while it is used."""
        entry = self._entry(name)
        entry.users += 1
        try:
            if entry.provider is None:
                # In a thread, because HTTP takes long to import; made here, because two may have waited for it.
                await asyncio.to_thread(self._load, entry.settings)
                entry.provider = entry.provider or self._build(entry.settings)
            yield entry.provider
        finally:
            entry.users -= 1
            await self._bury()

    async def close(self) -> None:
        entries = (*self._entries.values(), *self._retired)
        self._entries.clear()
        # What is still being built is closed by its user.
        self._retired = [entry for entry in entries if entry.provider is None]
        for entry in entries:
            if entry.provider is not None:
                await entry.provider.close()

    async def _bury(self) -> None:
        idle = [entry for entry in self._retired if not entry.users]
        self._retired = [entry for entry in self._retired if entry.users]
        for entry in idle:
            if entry.provider is not None:
                await entry.provider.close()

    def _entry(self, name: str | None) -> _Entry:
        wanted = name or self.default
        if wanted is None:
            raise SettingsError("No provider was named and there is no default.", remedy="Set `model` in the settings.")
        try:
            return self._entries[wanted]
        except KeyError:
            known = ", ".join(self._entries) or "none"
            raise SettingsError(
                f"There is no provider '{wanted}'.",
                remedy=f"Add it under `providers` in ~/.ollm/config.yaml, or use one of: {known}.",
            ) from None


def load(settings: ProviderSettings) -> None:
    """Import the modules of a provider: the slow part of building it."""
    import_module(f"ollm_lsp.providers.{_module(settings)}")
    if not isinstance(settings, EmbeddedSettings) and not is_loopback(settings.base_url):
        import_module("ollm_lsp.providers.prices")


def _module(settings: ProviderSettings) -> str:
    match settings:
        case OllamaSettings():
            return "ollama"
        case OpenAISettings():
            return "openai"
        case AnthropicSettings():
            return "anthropic"
        case GoogleSettings():
            return "google"
        case EmbeddedSettings():
            return "embedded"
        case _:
            assert_never(settings)


def build(settings: ProviderSettings, state: Path) -> Provider:
    """The provider for its settings."""
    # ruff: noqa: PLC0415 (see `load`)
    match settings:
        case OllamaSettings():
            from ollm_lsp.providers.ollama import OllamaProvider

            return OllamaProvider(settings)
        case OpenAISettings():
            from ollm_lsp.providers.openai import OpenAIProvider

            return OpenAIProvider(settings)
        case AnthropicSettings():
            from ollm_lsp.providers.anthropic import AnthropicProvider

            return AnthropicProvider(settings)
        case GoogleSettings():
            from ollm_lsp.providers.google import GoogleProvider

            return GoogleProvider(settings)
        case EmbeddedSettings():
            from ollm_lsp.providers.embedded import EmbeddedProvider

            return EmbeddedProvider(settings, state)
        case _:
            assert_never(settings)
