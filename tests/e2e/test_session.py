"""What must hold between several messages of one session."""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.test_faults import install_model
from tests.support.editor import Refused, editor, environment
from tests.support.fake_ollama import FakeOllama, words
from tests.support.http_server import HttpServer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.http_server import Request, Responder


def settings(fake: FakeOllama) -> str:
    return f"model: 'ollama:smollm2:135m'\nproviders: {{ollama: {{type: ollama, baseUrl: '{fake.url}'}}}}\n"


@pytest.mark.threat("F41")
async def test_shutdown_right_after_the_first_chat_stops_it(tmp_path: Path) -> None:
    pace = asyncio.Semaphore(0)
    async with (
        FakeOllama(answer=lambda _: words("one two three"), pace=pace) as fake,
        editor(environment(tmp_path, settings(fake))) as server,
    ):
        await server.initialize()
        _, chat = server.start_request("ollm/chat/send", {"text": "x", "partialResultToken": "t"})
        assert await server.request("shutdown") is None
        with pytest.raises(Refused) as refusal:
            await chat
        assert refusal.value.code == -32800
        server.notify("exit")
        assert await server.wait() == 0


async def test_the_first_chat_waits_for_the_editors_settings_and_they_can_be_unset(tmp_path: Path) -> None:
    sections: list[dict[str, Any]] = [{"context": {"openBuffers": False}, "chat": {"systemPrompt": "PIRATE"}}, {}]
    async with FakeOllama() as fake, editor(environment(tmp_path, settings(fake))) as server:
        server.answer["workspace/configuration"] = lambda _: {"result": [sections.pop(0)]}
        await server.initialize(capabilities={"workspace": {"configuration": True}})
        server.open("file:///a.py", "PRIVATE TEXT")
        await server.chat("hello")
        assert "PRIVATE" not in str(fake.bodies()[0])
        assert "PIRATE" in str(fake.bodies()[0])
        server.notify("workspace/didChangeConfiguration", {"settings": None})
        await server.chat("hello")
        assert "PIRATE" not in str(fake.bodies()[1])
        assert "PRIVATE TEXT" in str(fake.bodies()[1])


async def test_two_chats_on_one_progress_token_are_both_stopped_by_its_button(tmp_path: Path) -> None:
    pace = asyncio.Semaphore(0)
    async with (
        FakeOllama(answer=lambda _: words("one two three"), pace=pace) as fake,
        editor(environment(tmp_path, settings(fake))) as server,
    ):
        await server.initialize()
        chats = [
            server.start_request("ollm/chat/send", {"text": "x", "partialResultToken": name, "workDoneToken": "w"})[1]
            for name in ("a", "b")
        ]
        for name in ("a", "b"):
            await server.until(lambda name=name: any(event["type"] == "turn" for event in server.progress[name]))
        server.notify("window/workDoneProgress/cancel", {"token": "w"})
        results = await asyncio.gather(*chats)
        assert [result["finishReason"] for result in results] == ["cancelled", "cancelled"]


@pytest.mark.threat("F26")
@pytest.mark.parametrize(
    "uri", ["file://[x/a.py", "file:///a%00b.py", "http://[", "::", "file:", "%zz", "file:///C#/x"]
)
async def test_an_odd_address_breaks_nothing(tmp_path: Path, uri: str) -> None:
    async with FakeOllama() as fake, editor(environment(tmp_path, settings(fake))) as server:
        result = await server.initialize(rootUri=uri)
        assert result["serverInfo"]["name"] == "ollm-lsp"
        server.open(uri, "odd text")
        assert (await server.chat("hello", context={"uri": uri}))["text"]
        assert "odd text" in str(fake.bodies()[0])


@pytest.mark.threat("F26")
async def test_a_hash_in_a_path_does_not_hide_an_excluded_file(tmp_path: Path) -> None:
    async with FakeOllama() as fake, editor(environment(tmp_path, settings(fake))) as server:
        await server.initialize()
        server.open("file:///p/C#/.env", "KEY=1")
        server.open("file:///p/why?/.env.local", "KEY=2")
        await server.chat("hello")
        assert "KEY" not in str(fake.bodies())


@pytest.mark.threat("T4")
@pytest.mark.prop("krk-41")
async def test_a_key_that_a_server_echoes_at_the_cut_of_a_message_is_hidden_whole(tmp_path: Path) -> None:
    key = "sk-CANARY-0123456789abcdefghij"
    paddings: list[int] = []

    async def echo(_request: Request, responder: Responder) -> None:
        await responder.json(401, {"error": {"message": "x" * paddings[-1] + f" {key} is wrong"}})

    async with HttpServer(echo) as http:
        config = (
            "model: p:m\nproviders: {p: {type: openai, contextWindow: 9000, apiKey: '${OLLM_TEST_KEY}', "
            f"baseUrl: '{http.url}/v1'}}}}\n"
        )
        async with editor(environment(tmp_path, config, OLLM_TEST_KEY=key)) as server:
            await server.initialize()
            for padding in range(140, 205, 4):
                paddings.append(padding)
                with pytest.raises(Refused) as refusal:
                    await server.chat("hello")
                assert refusal.value.data["code"] == "authentication"
                assert "CANARY" not in refusal.value.message
            assert "CANARY" not in str(server.progress)


async def test_cancelling_while_the_prompt_is_read_frees_the_embedded_model(
    real_model_path: Path, tmp_path: Path
) -> None:
    install_model(tmp_path, real_model_path)
    async with editor(environment(tmp_path)) as server:
        await server.initialize()
        before = perf_counter()
        await server.chat("Say hi.")
        usual = perf_counter() - before
        server.open("file:///long.txt", "The quick brown fox jumps over the lazy dog. " * 500, "plaintext")
        number, chat = server.start_request("ollm/chat/send", {"text": "Why?", "workDoneToken": "w"})
        await server.until(lambda: any("Waiting" in value.get("message", "") for value in server.progress["w"]))
        server.notify("$/cancelRequest", {"id": number})
        with pytest.raises(Refused):
            await chat
        server.notify("textDocument/didClose", {"textDocument": {"uri": "file:///long.txt"}})
        before = perf_counter()
        await server.chat("Say hi.")
        # The whole prompt takes half a minute; loading the model, which the first chat did too, a second or two.
        assert perf_counter() - before < max(10.0, 5 * usual)
