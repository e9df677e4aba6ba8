"""A CLI agent that runs on another machine, behind a proxy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ollm_lsp.core.errors import SettingsError
from ollm_lsp.core.model import Capabilities
from ollm_lsp.providers.agents.catalogue import described
from ollm_lsp.providers.agents.prompt import prompt
from ollm_lsp.providers.http_provider import Exchange, HttpProvider
from ollm_lsp.providers.wire import agent_proxy
from ollm_lsp.settings.address import base_url, is_loopback
from ollm_lsp.settings.resolved import HttpSettings, TimeLimits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.model import ModelInfo
    from ollm_lsp.core.request import ChatRequest
    from ollm_lsp.settings.secrets import Secret


@dataclass(frozen=True, slots=True)
class ProxySettings:
    """A proxy as the user wants it. All of it is from the user's own file, for it decides where their code goes."""

    name: str
    tool: str
    proxy_url: str
    api_key: Secret | None = None
    timeout: float = 600.0
    idle: float | None = None
    context_window: int | None = None
    allow_insecure: bool = False


class ProxyAgent(HttpProvider):
    """`POST {proxyUrl}/execute`, answered by the agent's events."""

    when_down = "Start the proxy, or correct its proxyUrl in ~/.ollm/config.yaml."
    key_header = "X-API-Key"

    def __init__(self, settings: ProxySettings) -> None:
        address = base_url(settings.proxy_url)
        if address.startswith("http:") and not is_loopback(address) and not settings.allow_insecure:
            raise SettingsError(
                "The proxy's address is plain http, which everybody on the way can read.",
                remedy="Write https://, or allowInsecure: true if you trust the network.",
            )
        self.agent = described(settings.tool)
        self._window = settings.context_window or self.agent.context_window
        idle = self.agent.idle_limit if settings.idle is None else settings.idle
        limits = TimeLimits(first_token=idle, idle=idle, total=settings.timeout)
        # A run costs money from its beginning, so it is never sent again.
        super().__init__(HttpSettings(settings.name, address, api_key=settings.api_key, max_retries=0, limits=limits))

    async def _exchange(self, request: ChatRequest) -> Exchange:
        request.check(await self.capabilities(request.model))
        self.agent.argv(request.model, folder=".")  # which refuses what cannot be a model
        body = agent_proxy.encode(self.agent.tool, request.model, prompt(request.messages).decode())
        return Exchange("/execute", body, agent_proxy.EventLines, agent_proxy.Decoder)

    async def capabilities(self, model: str) -> Capabilities:  # noqa: ARG002 (those of its models are the same)
        return Capabilities(reasoning=True, context_window=self._window, extensions=("agent",))

    async def models(self) -> Sequence[ModelInfo]:
        """A proxy does not tell."""
        return ()
