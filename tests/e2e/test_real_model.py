"""A real LSP client, the real server, a real llama.cpp with a real model, over real HTTP."""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import TYPE_CHECKING

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from ollm_lsp.core.chat_file import parse
from ollm_lsp.providers.model_process import ModelProcess
from tests.support.chat_client import ChatClient
from tests.support.editor import editor, environment
from tests.support.fake_ollama import FakeOllama
from tests.support.lsp_client import lsp_client, send, until, values
from tests.support.relay import relay

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

# A small model sometimes finds no end.
SETTINGS = """
model: "llama:smollm2"
providers:
  llama:
    type: openai
    baseUrl: "http://127.0.0.1:{port}/v1"
    apiKey: "${{OLLM_TEST_KEY}}"
    contextWindow: 8192
    extra: {{ max_tokens: 500 }}
"""
LONG = "Count from one to five hundred in words, one number per line."


@pytest.fixture
async def llama(real_model_path: Path, tmp_path: Path) -> AsyncGenerator[ModelProcess]:
    process = await ModelProcess.launch(real_model_path, context=8192, threads=1, log=tmp_path / "llama.log")
    yield process
    await process.close()


def user(tmp_path: Path, process: ModelProcess, port: int) -> dict[str, str]:
    return environment(tmp_path, SETTINGS.format(port=port), OLLM_TEST_KEY=process.key)


@pytest.mark.prop("lsp-1")
@pytest.mark.prop("lsp-2")
async def test_an_answer_about_an_unsaved_buffer_streams_and_usage_is_reported(
    llama: ModelProcess, tmp_path: Path
) -> None:
    on_disk = tmp_path / "sample.py"
    on_disk.write_text("print('saved')\n")
    async with relay(llama.port) as wire, lsp_client(user(tmp_path, llama, wire.port)) as client:
        uri = on_disk.as_uri()
        client.text_document_did_open(
            lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, "python", 1, "print('unsaved')\n"))
        )
        # By the name that the server lists, so that its own tokenizer can be asked.
        listed = (await send(client, "ollm/models/list", {"provider": "llama"})).models[0].id
        params = {
            "text": "What does this program print? Answer in one short sentence.",
            "model": listed,
            "context": {"uri": uri},
            "partialResultToken": "events",
            "workDoneToken": "work",
        }
        preview = await send(client, "ollm/context/preview", {"text": params["text"], "uri": uri, "model": listed})
        result = await send(client, "ollm/chat/send", params)
        events = values(client, "events")
        kinds = [event["type"] for event in events]
        assert kinds[:2] == ["started", "turn"]
        assert kinds[-1] == "finished"
        assert kinds.count("finished") == 1
        deltas = [event["text"] for event in events if event["type"] == "text"]
        assert len(deltas) > 3
        assert "".join(deltas) == result.text
        assert events[-1]["reason"] == result.finishReason == "stop"
        (usage,) = [event for event in events if event["type"] == "usage"]
        assert usage["outputTokens"] >= len(deltas)
        assert usage["inputTokens"] > 30
        assert (preview.totalTokens, preview.isEstimate) == (usage["inputTokens"], False)
        assert usage["cost"] == {"amount": 0.0, "currency": "USD", "known": True}
        assert result.usage.outputTokens == usage["outputTokens"]
        requests = b"".join(link.sent for link in wire.links)
        assert b"unsaved" in requests
        assert b"'saved'" not in requests
        reports = [value["kind"] for value in values(client, "work")]
        assert (reports[0], reports[-1]) == ("begin", "end")
        messages = [value.get("message", "") for value in values(client, "work")]
        assert "Waiting for the first token" in messages
        assert any("token" in message and message[0].isdigit() for message in messages)


@pytest.mark.threat("F35")
@pytest.mark.prop("core-5")
async def test_cancelling_stops_the_stream_within_200_ms_and_the_backend_sees_it(
    llama: ModelProcess, tmp_path: Path
) -> None:
    delays: list[float] = []
    async with relay(llama.port) as wire, lsp_client(user(tmp_path, llama, wire.port)) as client:
        for attempt in range(3):
            token, number = f"events-{attempt}", f"request-{attempt}"
            params = {"text": LONG, "partialResultToken": token}
            answer = send(client, "ollm/chat/send", params, number)
            await until(client, token, "text")
            pressed = perf_counter()
            client.cancel_request(lsp.CancelParams(id=number))
            with pytest.raises(JsonRpcException) as refusal:
                await answer
            delays.append(perf_counter() - pressed)
            assert refusal.value.code == -32800
            await asyncio.wait_for(wire.links[-1].hung_up.wait(), 10)
            events = values(client, token)
            assert events[-1] == {"type": "finished", "reason": "cancelled"}
        # The best of three: a busy machine may delay one, a server that waits for the answer delays all.
        assert min(delays) < 0.2


@pytest.mark.prop("core-34")
async def test_the_cancel_button_keeps_what_came_and_the_conversation_goes_on(
    llama: ModelProcess, tmp_path: Path
) -> None:
    async with relay(llama.port) as wire, lsp_client(user(tmp_path, llama, wire.port)) as client:
        answer = send(client, "ollm/chat/send", {"text": LONG, "partialResultToken": "events", "workDoneToken": "work"})
        await until(client, "events", "text")
        client.window_work_done_progress_cancel(lsp.WorkDoneProgressCancelParams(token="work"))
        result = await answer
        assert result.finishReason == "cancelled"
        assert result.text
        await asyncio.wait_for(wire.links[-1].hung_up.wait(), 10)
        again = await send(
            client,
            "ollm/chat/send",
            {"text": "Thank you. Say only: done.", "conversationId": result.conversationId},
        )
        assert again.finishReason in {"stop", "length"}
        assert LONG.encode() in wire.links[-1].sent
        assert result.text.split("\n")[0].encode() in wire.links[-1].sent


@pytest.mark.threat("F48")
async def test_a_plug_pulled_in_mid_stream_is_one_clear_error_and_the_next_chat_works(
    llama: ModelProcess, tmp_path: Path
) -> None:
    async with relay(llama.port) as wire, lsp_client(user(tmp_path, llama, wire.port)) as client:
        answer = send(client, "ollm/chat/send", {"text": LONG, "partialResultToken": "events"})
        await until(client, "events", "text")
        wire.links[-1].pull_the_plug()
        with pytest.raises(JsonRpcException) as refusal:
            await answer
        assert refusal.value.code == -32803
        events = values(client, "events")
        assert [event["type"] for event in events[-2:]] == ["error", "finished"]
        assert events[-2]["code"] == "incomplete"
        assert events[-2]["remedy"]
        assert (await send(client, "ollm/chat/send", {"text": "Say hi."})).text


@pytest.mark.prop("lsp-1")
async def test_a_chat_in_a_file_is_answered_by_the_real_model(llama: ModelProcess, tmp_path: Path) -> None:
    async with editor(user(tmp_path, llama, llama.port)) as running:
        client = ChatClient(running, FakeOllama(), tmp_path, "helix")
        await client.start()
        uri = client.open("a.ollm.md", "## You\n\nWhat is the capital of France? Answer in one word.\n")
        result = await client.send(uri)
        asked, said, following = parse(client.text(uri)).messages
        assert asked.text.startswith("What is the capital")
        assert said.text.split() == result["text"].split()
        assert said.text
        assert following.text == ""
        client.type(uri, len(client.text(uri)) - 1, "And of Italy?")
        again = await client.send(uri)
        assert again["conversationId"] == result["conversationId"]
        assert parse(client.text(uri)).messages[3].text.split() == again["text"].split()
