"""The fake Ollama beside the real one: the same questions get answers of the same shape. Run by `make test-ollama`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import pytest_asyncio

from ollm_lsp.core.events import Warned
from ollm_lsp.core.foreign_json import list_in, object_in
from ollm_lsp.core.messages import Message
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.providers.ollama import OllamaProvider
from ollm_lsp.settings.resolved import OllamaSettings
from tests.providers.listening import hear
from tests.support.fake_ollama import FakeOllama, Model
from tests.support.real_ollama import CONTEXT, NAME, real_ollama

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUESTION = [{"role": "user", "content": "Say hello."}]
LONG = [{"role": "user", "content": "word " * 3000}]
CHAT: dict[str, Any] = {"model": NAME, "messages": QUESTION, "options": {"num_predict": 4, "temperature": 0}}
# What of the real answer depends on the model's file, and what the fake leaves out because nobody reads it.
OWN = {"model_info", "tensors", "license", "system"}


class Both:
    """One client for each of the two."""

    def __init__(self, real: httpx.AsyncClient, fake: httpx.AsyncClient) -> None:
        self.real = real
        self.fake = fake

    async def ask(self, method: str, path: str, **more: Any) -> tuple[httpx.Response, httpx.Response]:
        return await self.real.request(method, path, **more), await self.fake.request(method, path, **more)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def both(
    request: pytest.FixtureRequest, real_model_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[Both]:
    if "ollama" not in (request.config.getoption("backend") or []):
        pytest.skip("needs a real Ollama: make test-ollama")
    with real_ollama(real_model_path, tmp_path_factory.mktemp("ollama")) as port:
        url = f"http://127.0.0.1:{port}"
        async with (
            FakeOllama([Model(NAME, CONTEXT)]) as fake,
            httpx.AsyncClient(base_url=url, timeout=120, trust_env=False) as real_client,
            httpx.AsyncClient(base_url=fake.url, timeout=120, trust_env=False) as fake_client,
        ):
            yield Both(real_client, fake_client)


def shape(value: Any) -> Any:
    """The keys of a value and the types of what they hold; of a list, its first element's."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in object_in(value).items() if key not in OWN}
    if isinstance(value, list):
        return [shape(inner) for inner in list_in(value)[:1]]
    return type(value).__name__


def same(answers: tuple[httpx.Response, httpx.Response]) -> None:
    """Status, content type and shape of the body."""
    real, fake = answers
    assert real.status_code == fake.status_code
    assert real.headers["content-type"] == fake.headers["content-type"]
    real_lines, fake_lines = ([json.loads(line) for line in answer.text.splitlines()] for answer in answers)
    assert shape(real_lines[0]) == shape(fake_lines[0])
    assert shape(real_lines[-1]) == shape(fake_lines[-1])


async def test_the_version_and_the_list_have_the_same_shape(both: Both) -> None:
    same(await both.ask("GET", "/api/version"))
    same(await both.ask("GET", "/api/tags"))


async def test_a_model_is_shown_in_the_same_shape(both: Both) -> None:
    answers = await both.ask("POST", "/api/show", json={"model": NAME})
    same(answers)
    real, fake = (answer.json() for answer in answers)
    assert real["capabilities"] == fake["capabilities"] == ["completion", "tools"]
    shared = set(fake["model_info"]) & set(real["model_info"])
    assert {"general.architecture", "general.parameter_count", "llama.block_count", "llama.context_length"} <= shared
    assert real["model_info"]["llama.context_length"] == fake["model_info"]["llama.context_length"] == CONTEXT


@pytest.mark.parametrize("stream", [True, False])
async def test_a_chat_has_the_same_shape(stream: bool, both: Both) -> None:
    answers = await both.ask("POST", "/api/chat", json=CHAT | {"stream": stream})
    same(answers)
    for answer in answers:
        last = json.loads(answer.text.splitlines()[-1])
        assert (last["done"], last["model"]) == (True, NAME)


async def test_the_token_limit_has_the_same_reason(both: Both) -> None:
    real, fake = await both.ask("POST", "/api/chat", json=CHAT | {"stream": False, "options": {"num_predict": 2}})
    assert real.json()["done_reason"] == fake.json()["done_reason"] == "length"
    assert real.json()["eval_count"] == 2


async def test_a_chat_without_messages_loads_the_model(both: Both) -> None:
    same(await both.ask("POST", "/api/chat", json={"model": NAME, "stream": False}))


async def test_a_prompt_that_is_too_long_is_cut_in_silence(both: Both) -> None:
    options = {"num_ctx": 256, "num_predict": 1}
    body = CHAT | {"messages": [*QUESTION, *LONG], "options": options, "stream": False}
    for answer in await both.ask("POST", "/api/chat", json=body):
        assert answer.status_code == 200
        assert answer.json()["prompt_eval_count"] <= 256


async def test_the_user_hears_of_a_prompt_that_the_real_one_cuts(both: Both) -> None:
    settings = OllamaSettings("ollama", str(both.real.base_url), extra={"options": {"num_ctx": 256}})
    ollama = OllamaProvider(settings)
    try:
        heard = await hear(ollama.stream(ChatRequest(NAME, (Message.user("word " * 3000),), max_tokens=1)))
    finally:
        await ollama.close()
    assert heard.error is None
    assert [event.code for event in heard.events if isinstance(event, Warned)] == ["prompt_cut"]


@pytest.mark.parametrize(
    ("path", "content", "words"),
    [
        ("/api/chat", '{"model": "absent", "messages": []}', ("model", "absent", "not found")),
        ("/api/show", '{"model": "absent"}', ("model", "absent", "not found")),
        ("/api/chat", "{}", ("model is required",)),
        ("/api/show", "{}", ("model is required",)),
        ("/api/chat", "{", ()),
    ],
)
async def test_a_refusal_has_the_same_status_and_meaning(
    path: str, content: str, words: tuple[str, ...], both: Both
) -> None:
    answers = await both.ask("POST", path, content=content)
    same(answers)
    for answer in answers:
        # Versions differ in quotes and advice.
        assert all(word in answer.json()["error"] for word in words)


async def test_an_unknown_path_is_not_found(both: Both) -> None:
    real, fake = await both.ask("GET", "/api/unknown")
    assert (real.status_code, real.text) == (fake.status_code, fake.text)
