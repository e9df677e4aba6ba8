"""The embedded model: llama.cpp in a child process of our own, started on first use and ended when idle."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ollm_lsp.core.completion import collect
from ollm_lsp.core.errors import ConnectionFailed, IncompleteAnswer, ServerFailed, SettingsError
from ollm_lsp.core.events import Activity
from ollm_lsp.core.model import Capabilities, ModelId, ModelInfo
from ollm_lsp.core.usage import FREE
from ollm_lsp.providers import model_file
from ollm_lsp.providers.model_process import ModelProcess
from ollm_lsp.providers.openai import OpenAIProvider
from ollm_lsp.settings.resolved import OpenAISettings
from ollm_lsp.settings.secrets import Secret

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from pathlib import Path

    from ollm_lsp.core.completion import Completion
    from ollm_lsp.core.events import ProviderEvent
    from ollm_lsp.core.request import ChatRequest
    from ollm_lsp.core.usage import Cost, Usage
    from ollm_lsp.settings.resolved import EmbeddedSettings


@dataclass(frozen=True, slots=True)
class _Running:
    process: ModelProcess
    provider: OpenAIProvider

    async def close(self) -> None:
        await self.provider.close()
        await self.process.close()


class EmbeddedProvider:
    """A model that needs no server of the user's."""

    def __init__(self, settings: EmbeddedSettings, state: Path) -> None:
        self.name = settings.name
        self._settings = settings
        self._folder = state / "models"
        self._log = state / "embedded.log"
        self._running: _Running | None = None
        self._starting = asyncio.Lock()
        self._launching: asyncio.Task[None] | None = None
        self._is_closed = False
        self._active = 0
        self._farewell: asyncio.TimerHandle | None = None
        self._leaving: asyncio.Task[None] | None = None

    @property
    def _model(self) -> Path:
        return self._settings.model_path or self._folder / model_file.FILE_NAME

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ProviderEvent]:
        self._active += 1
        try:
            for may_retry in (True, False):
                async with aclosing(self._start()) as activities:
                    async for activity in activities:
                        yield activity
                running = self._running
                if running is None:
                    raise _stopped("was ended")
                running.process.trim_log()
                has_spoken = False
                try:
                    async with aclosing(running.provider.stream(request)) as events:
                        async for event in events:
                            has_spoken = True
                            yield event
                except (IncompleteAnswer, ConnectionFailed):
                    how = await running.process.ended()
                    if how is None:
                        raise
                    # A process that died while nobody looked is no failure of this chat.
                    if has_spoken or not may_retry:
                        raise _stopped(how) from None
                else:
                    return
        finally:
            self._active -= 1
            self._leave_when_idle()

    async def complete(self, request: ChatRequest) -> Completion:
        return await collect(self.stream(request))

    async def capabilities(self, model: str) -> Capabilities:  # noqa: ARG002 (there is only one)
        return Capabilities(context_window=self._settings.context_window)

    async def count(self, request: ChatRequest) -> int | None:
        """The tokens of a request; nothing before the model is up, which a count is not worth."""
        if self._running is None or not self._running.process.alive:
            return None
        return await self._running.provider.count(request)

    def cost(self, model: str, usage: Usage) -> Cost:  # noqa: ARG002 (part of the contract)
        return FREE

    async def models(self) -> Sequence[ModelInfo]:
        own = self._settings.model_path
        name = own.stem if own else model_file.MODEL_NAME
        if own is not None:
            self._check_file()
        try:
            size = self._model.stat().st_size
        except OSError:
            size = model_file.FILE_SIZE
        return [ModelInfo(ModelId(self.name, name), await self.capabilities(name), size)]

    async def close(self) -> None:
        self._is_closed = True
        if self._farewell is not None:
            self._farewell.cancel()
        if self._launching is not None:
            self._launching.cancel()
            await asyncio.wait([self._launching])
        running, self._running = self._running, None
        if running is not None:
            await running.close()
        if self._leaving is not None:
            await self._leaving

    async def _start(self) -> AsyncGenerator[Activity]:
        """Bring the model up. The first chat that needs it does the work; cancelling that chat ends the work."""
        if self._farewell is not None:
            self._farewell.cancel()
        if self._starting.locked():
            yield Activity("Waiting for the embedded model")
        async with self._starting:
            self._refuse_when_closed()
            if self._running is not None and self._running.process.alive:
                return
            if self._running is not None:
                await self._running.close()
                self._running = None
            if self._settings.model_path is None and not self._model.exists():
                async with aclosing(model_file.fetch(self._folder)) as activities:
                    async for activity in activities:
                        yield activity
                        self._refuse_when_closed()
            yield Activity("Loading the model")
            self._refuse_when_closed()
            # A task of its own, so that `close` can end it without ending the chat that waits.
            launching = self._launching = asyncio.ensure_future(self._launch())
            try:
                await asyncio.wait([launching])
            finally:
                launching.cancel()
                await asyncio.wait([launching])
            self._refuse_when_closed()
            launching.result()
        yield Activity("Waiting for the first token")

    def _refuse_when_closed(self) -> None:
        if self._is_closed:
            raise _stopped("was ended")

    async def _launch(self) -> None:
        self._check_file()
        settings = self._settings
        process = await ModelProcess.launch(
            self._model, context=settings.context_window, threads=settings.threads, log=self._log
        )
        address = OpenAISettings(
            name=self.name,
            base_url=f"http://127.0.0.1:{process.port}/v1",
            api_key=Secret(process.key),
            limits=settings.limits,
            max_retries=0,
        )
        self._running = _Running(process, OpenAIProvider(address))

    def _check_file(self) -> None:
        if not self._model.is_file():
            raise SettingsError(
                f"There is no model file {self._model}.",
                remedy=f"Correct providers.{self.name}.modelPath in ~/.ollm/config.yaml, or remove it to use SmolLM2.",
            )

    def _leave_when_idle(self) -> None:
        if self._active or self._running is None:
            return
        if self._farewell is not None:
            self._farewell.cancel()
        self._farewell = asyncio.get_running_loop().call_later(self._settings.idle_timeout, self._leave)

    def _leave(self) -> None:
        if self._running is not None and not self._active:
            self._leaving = asyncio.ensure_future(self._running.close())
            self._running = None


def _stopped(how: str) -> ServerFailed:
    return ServerFailed(
        f"The embedded model's process {how}.",
        remedy="Send the message again to start it anew; if it happens again, try a smaller model or context.",
    )
