"""What all providers with an address share: one exchange per answer, sent again when a failure is passing."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ollm_lsp.core.completion import collect
from ollm_lsp.core.errors import ModelNotFound, ProviderError
from ollm_lsp.core.events import is_speech
from ollm_lsp.core.foreign_json import object_in
from ollm_lsp.core.usage import FREE
from ollm_lsp.providers import retries
from ollm_lsp.providers.http import Endpoint
from ollm_lsp.settings.address import is_loopback

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping, Sequence

    from ollm_lsp.core.completion import Completion
    from ollm_lsp.core.events import ProviderEvent
    from ollm_lsp.core.model import Capabilities, ModelInfo
    from ollm_lsp.core.request import ChatRequest
    from ollm_lsp.core.usage import Cost, Usage
    from ollm_lsp.providers.wire.codec import Decoder, Framer
    from ollm_lsp.settings.resolved import HttpSettings

SHOWN = 10
"""How many of the available models an error names."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request on the wire, and how its answer is read; every attempt reads anew."""

    path: str
    body: Mapping[str, Any]
    framer: Callable[[], Framer[Any]]
    decoder: Callable[[], Decoder[Any]]


class HttpProvider(ABC):
    """A provider behind an endpoint. A subclass says what goes over the wire, and which models there are."""

    when_down: str = "See whether the address is right and the network is up."
    key_header: ClassVar[str] = "Authorization"
    headers: ClassVar[Mapping[str, str]] = {}

    def __init__(self, settings: HttpSettings) -> None:
        self.name = settings.name
        self._settings = settings
        self._endpoint = Endpoint(settings, when_down=self.when_down, key_header=self.key_header, headers=self.headers)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ProviderEvent]:
        exchange: Exchange | None = None
        attempt = 0
        while True:
            has_spoken = False
            try:
                exchange = exchange or await self._exchange(request)
                async with aclosing(self._send(exchange)) as events:
                    async for event in events:
                        has_spoken = has_spoken or is_speech(event)
                        yield event
            except ModelNotFound as error:
                raise error if error.available else await self._missing(request.model, error) from None
            except ProviderError as error:
                attempt += 1
                wait = None
                if not has_spoken and attempt <= self._settings.max_retries:
                    wait = retries.wait_before(attempt, error)
                if wait is None:
                    raise
                warning = retries.warning(attempt, self._settings.max_retries, wait, error)
            else:
                return
            yield warning
            await asyncio.sleep(wait)

    async def complete(self, request: ChatRequest) -> Completion:
        return await collect(self.stream(request))

    def cost(self, model: str, usage: Usage) -> Cost:
        if is_loopback(self._settings.base_url):
            return FREE
        from ollm_lsp.providers.prices import cost_at  # noqa: PLC0415 (the prices of all vendors take long to import)

        return cost_at(self._settings.base_url, model, usage)

    async def close(self) -> None:
        await self._endpoint.close()

    @abstractmethod
    async def capabilities(self, model: str) -> Capabilities: ...

    @abstractmethod
    async def models(self) -> Sequence[ModelInfo]: ...

    @abstractmethod
    async def _exchange(self, request: ChatRequest) -> Exchange: ...

    def _send(self, exchange: Exchange) -> AsyncGenerator[ProviderEvent]:
        body = _with_extra(exchange.body, self._settings.extra)
        return self._endpoint.stream(exchange.path, body, exchange.framer(), exchange.decoder())

    def _how_to_get(self, model: str) -> str:  # noqa: ARG002 (for subclasses that can fetch models)
        """What a user can do about a model that is not there."""
        return ""

    async def _missing(self, model: str, error: ModelNotFound) -> ModelNotFound:
        """The error with what there is instead; as it was when the server tells nothing else."""
        try:
            available = [info.id.name for info in await self.models()]
        except ProviderError:
            return error
        if model in available:
            return error
        has = f"{', '.join(available[:SHOWN])}{', …' if available[SHOWN:] else ''}"
        remedies = (f"It has: {has}." if has else "", self._how_to_get(model))
        return ModelNotFound(
            f"{self._endpoint.base_url} has no model '{model}'.",
            remedy=" ".join(filter(None, remedies)) or error.remedy,
            status=error.status,
            available=available,
        )


def _with_extra(body: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """The user's own parameters win; where both sides have an object, it is filled from both."""
    merged = dict(body)
    for key, value in extra.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _with_extra(object_in(merged[key]), object_in(value)) if both else value
    return merged
