"""The servers of the contract suite, each started once, when the first test needs it."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Self

from tests.support.fake_ollama import Call, FakeOllama, Model, words
from tests.support.litellm_proxy import litellm_proxy
from tests.support.llmock import llmock
from tests.support.real_ollama import real_ollama
from tests.support.tool_llama import tool_llama

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any

    from tests.support.fake_ollama import Step
    from tests.support.llmock import LLMock


class Servers:
    """Starts servers, and ends them all together."""

    def __init__(self, model: Path, folder: Path) -> None:
        self.model = model
        self.folder = folder
        self._stack = AsyncExitStack()
        self._llama = self._ollama = self._litellm = 0
        self._llmock: LLMock | None = None
        self._fake: FakeOllama | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def llama(self) -> int:
        self._llama = self._llama or self._stack.enter_context(tool_llama(self.model))
        return self._llama

    async def llmock(self) -> LLMock:
        self._llmock = self._llmock or self._stack.enter_context(llmock())
        return self._llmock

    async def ollama(self) -> int:
        self._ollama = self._ollama or self._stack.enter_context(real_ollama(self.model, self.folder))
        return self._ollama

    async def litellm(self) -> int:
        """In front of the same llama.cpp."""
        llama = await self.llama()
        self._litellm = self._litellm or self._stack.enter_context(litellm_proxy(llama, self.folder))
        return self._litellm

    async def fake_ollama(self) -> FakeOllama:
        if self._fake is None:
            seeing = Model("smollm2:135m", capabilities=("completion", "tools", "vision"))
            self._fake = await self._stack.enter_async_context(FakeOllama([seeing], _answer))
        return self._fake


def _answer(request: dict[str, Any]) -> Sequence[Step]:
    """A model that calls the first tool once, and otherwise repeats the whole conversation."""
    messages = request["messages"]
    if request.get("tools") and messages[-1]["role"] != "tool":
        function = request["tools"][0]["function"]
        properties: dict[str, Any] = function["parameters"]["properties"]
        return [Call(function["name"], {name: schema["enum"][0] for name, schema in properties.items()})]
    return words("You said: " + " ".join(message.get("content", "") for message in messages))
