"""The external providers: vendors' models and CLI agents by the names of the settings, and how each of them is."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

from ollm_lsp.core.errors import AuthenticationFailed, LoginRequired, OllmError, ProviderError, TimedOut
from ollm_lsp.core.kraken import KrakenKind, KrakenProvider
from ollm_lsp.core.ports import ListsModels
from ollm_lsp.core.provider_around import ProviderAround
from ollm_lsp.providers.agents.cli_agent import AgentSettings, CliAgent, Workplace
from ollm_lsp.providers.agents.description import OWN_CHOICE
from ollm_lsp.providers.agents.proxy_agent import ProxyAgent, ProxySettings
from ollm_lsp.providers.registry import Registry, build, load
from ollm_lsp.settings.address import is_loopback
from ollm_lsp.settings.kraken_settings import ApiSettings, CliAgentSettings
from ollm_lsp.settings.resolved import AnthropicSettings, GoogleSettings, HttpSettings, OpenAISettings

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence
    from pathlib import Path

    from ollm_lsp.core.ports import Provider
    from ollm_lsp.core.usage import Cost, Usage
    from ollm_lsp.settings.kraken_settings import KrakenEntry, KrakenSettings

CHECK_TIME: Final = 5.0
"""Seconds in which a vendor has to answer a check."""
_NO_LIST: Final = (404, 405, 501)
"""What servers say that are there and do not tell their models."""


_VENDORS: Final[Mapping[type, str]] = {
    OpenAISettings: "openai",
    AnthropicSettings: "anthropic",
    GoogleSettings: "google",
}


class _Gateway(ProviderAround):
    """An external provider on this machine passes requests on, as LiteLLM does: it costs what the vendor takes."""

    def __init__(self, inner: Provider, vendor: str) -> None:
        super().__init__(inner)
        self._vendor = vendor

    def cost(self, model: str, usage: Usage) -> Cost:
        from ollm_lsp.providers.prices import cost_by  # noqa: PLC0415 (the prices of all vendors take long to import)

        return cost_by(self._vendor, model, usage)


class Externals:
    """Each built when it is first used, apart from the user's own providers: no model can be named to reach one."""

    def __init__(self, state: Path, environ: Mapping[str, str]) -> None:
        self._state = state
        self._environ = environ
        self._vendors = Registry(partial(build, state=state), load=load)
        self._agents: dict[tuple[CliAgentSettings, Workplace], CliAgent | ProxyAgent] = {}
        self._folders: tuple[Path, ...] = ()
        self._exclude: tuple[str, ...] = ()

    async def update(self, settings: KrakenSettings, folders: Sequence[Path], exclude: tuple[str, ...] = ()) -> None:
        """Follow changed settings and folders; agents shall not read what is excluded."""
        self._folders, self._exclude = tuple(folders), exclude
        vendors = settings.api.values() if settings.enabled else ()
        await self._vendors.update({entry.provider.name: entry.provider for entry in vendors})

    @asynccontextmanager
    async def lease(self, entry: KrakenEntry, *, is_trusted: bool) -> AsyncGenerator[Provider]:
        """Use one of them. An agent works only in a workspace that the user trusts."""
        if isinstance(entry, ApiSettings):
            async with self._vendors.lease(entry.provider.name) as provider:
                yield _Gateway(provider, _VENDORS.get(type(entry.provider), "")) if _is_here(entry) else provider
        else:
            yield self._agent(entry, is_trusted=is_trusted)

    async def check(self, entry: KrakenEntry) -> KrakenProvider:
        """Whether one can be used now: its program, version and login, or its key and whether its vendor answers."""
        try:
            if isinstance(entry, ApiSettings):
                return await self._check_vendor(entry)
            return await self._check_agent(entry)
        except OllmError as error:
            needs_login = isinstance(error, AuthenticationFailed | LoginRequired)
            return _described(
                entry, problem=error.message, remedy=error.remedy, needs_login=needs_login, code=error.code
            )

    async def close(self) -> None:
        await self._vendors.close()
        for agent in self._agents.values():
            await agent.close()

    async def _check_vendor(self, entry: ApiSettings) -> KrakenProvider:
        try:
            async with asyncio.timeout(CHECK_TIME), self._vendors.lease(entry.provider.name) as provider:
                if isinstance(provider, ListsModels):
                    await provider.models()
                window = (await provider.capabilities(entry.model)).context_window
        except TimeoutError:
            problem = f"It does not answer within {CHECK_TIME:g} seconds."
            remedy = "Look at your network, and try again."
            return _described(entry, problem=problem, remedy=remedy, code=TimedOut.code)
        except ProviderError as error:
            if error.status not in _NO_LIST:
                raise
            window = None
        return _described(entry, window=window)

    async def _check_agent(self, entry: CliAgentSettings) -> KrakenProvider:
        agent = self._agent(entry, is_trusted=False)
        window = (await agent.capabilities(entry.model or OWN_CHOICE)).context_window
        if isinstance(agent, ProxyAgent):
            return _described(entry, window=window)
        health = await agent.health()
        return _described(
            entry,
            version=health.version,
            problem=health.error,
            remedy=health.remedy,
            needs_login=health.auth_required,
            code=health.code,
            window=window,
        )

    def _agent(self, entry: CliAgentSettings, *, is_trusted: bool) -> CliAgent | ProxyAgent:
        key = entry, Workplace(self._folders, self._state, is_trusted, self._exclude)
        if key not in self._agents:
            self._agents[key] = self._made(*key)
        return self._agents[key]

    def _made(self, entry: CliAgentSettings, workplace: Workplace) -> CliAgent | ProxyAgent:
        if entry.proxy_url is not None:
            # Whether plain http is allowed was settled with the settings.
            return ProxyAgent(
                ProxySettings(
                    entry.name,
                    entry.tool,
                    entry.proxy_url,
                    entry.proxy_api_key,
                    entry.timeout,
                    entry.idle_timeout,
                    allow_insecure=True,
                )
            )
        path = None if entry.path is None else str(entry.path)
        settings = AgentSettings(entry.name, entry.tool, path, entry.timeout, entry.idle_timeout)
        return CliAgent(settings, workplace, self._environ)


def _is_here(entry: ApiSettings) -> bool:
    return not isinstance(entry.provider, HttpSettings) or is_loopback(entry.provider.base_url)


def _described(
    entry: KrakenEntry,
    *,
    problem: str | None = None,
    remedy: str | None = None,
    needs_login: bool = False,
    code: str | None = None,
    version: str | None = None,
    window: int | None = None,
) -> KrakenProvider:
    return KrakenProvider(
        entry.name,
        KrakenKind.API if isinstance(entry, ApiSettings) else KrakenKind.CLI,
        entry.model or OWN_CHOICE,
        is_available=problem is None,
        version=version,
        needs_login=needs_login,
        problem=problem,
        remedy=remedy,
        context_window=window,
        code=code,
    )
