"""A real LSP client and the real server with an Ollama whose answers the official client's types accept."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from tests.support.editor import Refused, editor, environment
from tests.support.fake_ollama import Die, FakeOllama, Model, Say, Think, words
from tests.support.lsp_client import lsp_client, send, until, values

if TYPE_CHECKING:
    from pathlib import Path

MODEL = Model("qwen3-coder:30b", context_length=32768, capabilities=("completion", "tools", "thinking"))


def settings(fake: FakeOllama, model: str = MODEL.name) -> str:
    return f"model: 'ollama:{model}'\nproviders: {{ollama: {{type: ollama, baseUrl: '{fake.url}'}}}}\n"


async def test_text_and_thoughts_stream_and_usage_is_reported(tmp_path: Path) -> None:
    answer = [Think("Hm, "), Think("easy."), *words("It adds two numbers.")]
    async with (
        FakeOllama([MODEL], lambda _: answer) as fake,
        lsp_client(environment(tmp_path, settings(fake))) as client,
    ):
        client.text_document_did_open(
            lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem("file:///a.py", "python", 1, "a + b\n"))
        )
        result = await send(client, "ollm/chat/send", {"text": "Why?", "partialResultToken": "events"})
        events = values(client, "events")
        assert "".join(event["text"] for event in events if event["type"] == "reasoning") == "Hm, easy."
        assert "".join(event["text"] for event in events if event["type"] == "text") == "It adds two numbers."
        assert result.text == "It adds two numbers."
        assert result.model == f"ollama:{MODEL.name}"
        (usage,) = [event for event in events if event["type"] == "usage"]
        assert usage["outputTokens"] > 0
        assert usage["contextLimit"] == 32768
        (body,) = fake.bodies()
        assert [message["role"] for message in body["messages"]] == ["system", "user"]
        assert "a + b" in body["messages"][1]["content"]
        assert body["messages"][1]["content"].endswith("Why?")
        assert body["options"]["num_ctx"] == 8192


@pytest.mark.threat("F35")
async def test_cancelling_closes_the_connection_to_ollama(tmp_path: Path) -> None:
    pace = asyncio.Semaphore(3)
    async with (
        FakeOllama([MODEL], lambda _: words("one two three four five six"), pace) as fake,
        lsp_client(environment(tmp_path, settings(fake))) as client,
    ):
        answer = send(client, "ollm/chat/send", {"text": "Count.", "partialResultToken": "events"}, "r1")
        await until(client, "events", "text")
        client.cancel_request(lsp.CancelParams(id="r1"))
        with pytest.raises(JsonRpcException) as refusal:
            await answer
        assert refusal.value.code == -32800
        assert fake.http.requests[-1].path == "/api/chat"
        await asyncio.wait_for(fake.http.responders[-1].gone.wait(), 10)


async def test_a_conversation_is_continued_and_branched_and_old_buffers_are_not_sent_again(tmp_path: Path) -> None:
    def echo(body: dict[str, Any]) -> list[Any]:
        return [Say(f"answer {len(body['messages'])}")]

    async with FakeOllama([MODEL], echo) as fake, editor(environment(tmp_path, settings(fake))) as server:
        await server.initialize()
        server.open("file:///a.py", "first text\n")
        first = await server.chat("one")
        change = {"textDocument": {"uri": "file:///a.py", "version": 2}, "contentChanges": [{"text": "second text\n"}]}
        server.notify("textDocument/didChange", change)
        second = await server.chat("two", conversationId=first["conversationId"])
        branch = await server.chat("three", conversationId=first["conversationId"], parentId=first["responseId"])
        assert second["conversationId"] == branch["conversationId"] == first["conversationId"]
        sent = [[message["content"] for message in body["messages"][1:]] for body in fake.bodies()]
        assert sent[1][:2] == ["one", "answer 2"]
        assert "second text" in sent[1][2]
        assert sent[2][:2] == ["one", "answer 2"]
        assert sent[2][2].endswith("three")
        assert "first text" not in str(sent[1:])


async def test_the_status_tells_the_model_and_whether_it_is_busy(tmp_path: Path) -> None:
    async with FakeOllama([MODEL]) as fake, editor(environment(tmp_path, settings(fake))) as server:
        await server.initialize(initializationOptions={"clientCapabilities": {"status": True}})
        await server.until(lambda: server.notified("ollm/status"))
        await server.chat("hello")
        await server.until(lambda: server.notified("ollm/status")[-1].get("contextLimit"))
        states = [status["busy"] for status in server.notified("ollm/status")]
        assert states[0] is False
        assert True in states
        assert states[-1] is False
        assert all(status["model"] == f"ollama:{MODEL.name}" for status in server.notified("ollm/status"))


@pytest.mark.prop("eng-4")
async def test_a_chat_without_a_model_has_the_one_of_the_settings(tmp_path: Path) -> None:
    other = Model("other:1b")
    async with FakeOllama([MODEL, other]) as fake, editor(environment(tmp_path, settings(fake))) as server:
        await server.initialize()
        assert (await server.chat("hello"))["model"] == f"ollama:{MODEL.name}"
        assert (await server.chat("hello", model=f"ollama:{other.name}"))["model"] == f"ollama:{other.name}"
        assert [body["model"] for body in fake.bodies()] == [MODEL.name, other.name]
        with pytest.raises(Refused) as refused:
            await server.chat("hello", model="nobody:m")
        assert refused.value.data["code"] == "settings"
        assert "ollama" in refused.value.data["remedy"]


async def test_a_missing_model_is_an_error_that_names_those_there_are(tmp_path: Path) -> None:
    async with (
        FakeOllama([MODEL]) as fake,
        lsp_client(environment(tmp_path, settings(fake, "llama9"))) as client,
    ):
        with pytest.raises(JsonRpcException) as refusal:
            await send(client, "ollm/chat/send", {"text": "Hello"})
        data: Any = refusal.value.data
        assert data["code"] == "model_not_found"
        assert MODEL.name in data["remedy"]
        assert "models pull ollama:llama9" in data["remedy"]


@pytest.mark.threat("F9")
async def test_an_ollama_that_dies_in_mid_answer_leaves_the_beginning_and_an_error(tmp_path: Path) -> None:
    answers: list[list[Any]] = [[Say("It "), Say("adds"), Die()], words("All of it.")]
    async with (
        FakeOllama([MODEL], lambda _: answers.pop(0)) as fake,
        editor(environment(tmp_path, settings(fake))) as server,
    ):
        await server.initialize()
        first = server.start_request("ollm/chat/send", {"text": "Why?", "partialResultToken": "t"})[1]
        with pytest.raises(Refused) as refusal:
            await first
        assert refusal.value.data["code"] == "incomplete"
        assert [event["type"] for event in server.progress["t"]][-2:] == ["error", "finished"]
        assert "".join(event.get("text", "") for event in server.progress["t"]) == "It adds"


async def test_changed_settings_take_effect_with_the_next_chat(tmp_path: Path) -> None:
    async with FakeOllama([MODEL, Model("other:1b")]) as fake, editor(environment(tmp_path, settings(fake))) as server:
        await server.initialize()
        assert (await server.chat("one"))["model"] == f"ollama:{MODEL.name}"
        (tmp_path / "config.yaml").write_text(settings(fake, "other:1b"))
        assert (await server.chat("two"))["model"] == "ollama:other:1b"
        assert (await server.chat("three", model=f"ollama:{MODEL.name}"))["model"] == f"ollama:{MODEL.name}"
