"""Conversations through the real server: kept, resumed, branched, renamed, deleted, or not kept at all."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.editor import Editor, Refused, editor, environment
from tests.support.fake_ollama import FakeOllama, Model, Say, words

if TYPE_CHECKING:
    from pathlib import Path

MODEL = Model("qwen3-coder:30b", context_length=32768)
KEY = "sk-canary-0123456789abcdef"


def settings(fake: FakeOllama) -> str:
    return f"model: 'ollama:{MODEL.name}'\nproviders: {{ollama: {{type: ollama, baseUrl: '{fake.url}'}}}}\n"


def count_messages(body: dict[str, Any]) -> list[Any]:
    return [Say(f"answer {len(body['messages'])}")]


async def conversations(server: Editor) -> list[dict[str, Any]]:
    return (await server.request("ollm/chat/list"))["conversations"]


def warnings(server: Editor) -> list[str]:
    return [event["message"] for event in server.progress["events"] if event["type"] == "warning"]


async def refusal(server: Editor, method: str, **params: Any) -> str:
    with pytest.raises(Refused) as refused:
        await server.request(method, params)
    assert refused.value.data["remedy"]
    return refused.value.data["code"]


@pytest.mark.prop("eng-3")
async def test_a_conversation_is_resumed_branched_renamed_and_deleted_by_the_next_server(tmp_path: Path) -> None:
    async with FakeOllama([MODEL], count_messages) as fake:
        environ = environment(tmp_path, settings(fake))
        async with editor(environ) as server:
            await server.initialize()
            first = await server.chat("How are\nyou?")
            chosen = first["conversationId"]
            second = await server.chat("two", conversationId=chosen)
            await server.chat("another conversation")
        async with editor(environ) as server:
            await server.initialize()
            newest, oldest = await conversations(server)
            assert newest["title"] == "another conversation"
            assert (oldest["id"], oldest["title"], oldest["responses"]) == (chosen, "How are you?", 2)
            assert oldest["model"] == f"ollama:{MODEL.name}"
            third = await server.chat("three", conversationId=chosen)
            branch = await server.chat("four", conversationId=chosen, parentId=first["responseId"])
            sent = [[message["content"] for message in body["messages"][1:]] for body in fake.bodies()[-2:]]
            assert sent[0] == ["How are\nyou?", "answer 2", "two", "answer 4", "three"]
            assert sent[1] == ["How are\nyou?", "answer 2", "four"]

            kept = await server.request("ollm/chat/get", {"conversationId": chosen})
            results = [first, second, third, branch]
            assert [response["id"] for response in kept["responses"]] == [each["responseId"] for each in results]
            parents = [None, first["responseId"], second["responseId"], first["responseId"]]
            assert [response["parentId"] for response in kept["responses"]] == parents
            for response, result in zip(kept["responses"], results, strict=True):
                assert response["items"] == [{"type": "text", "text": result["text"]}]
                assert all(response[name] == result[name] for name in ("model", "usage", "cost", "finishReason"))
                assert response["began"] <= response["ended"]

            await server.request("ollm/chat/rename", {"conversationId": chosen, "title": "Well?"})
            assert [line["title"] for line in await conversations(server)] == ["Well?", "another conversation"]
            await server.request("ollm/chat/delete", {"conversationId": chosen})
            assert [line["title"] for line in await conversations(server)] == ["another conversation"]
            for method in ("get", "delete", "rename", "send"):
                params = {"conversationId": chosen, "title": "x", "text": "x"}
                assert await refusal(server, f"ollm/chat/{method}", **params) == "conversation_not_found"


@pytest.mark.threat("F45")
@pytest.mark.prop("eng-3")
async def test_two_servers_at_once_see_each_others_responses(tmp_path: Path) -> None:
    async with FakeOllama([MODEL], count_messages) as fake:
        environ = environment(tmp_path, settings(fake))
        async with editor(environ) as one, editor(environ) as other:
            for server in (one, other):
                await server.initialize()
            first = await one.chat("one")
            chosen = first["conversationId"]
            second = await other.chat("two", conversationId=chosen)
            third = await one.chat("three", conversationId=chosen, parentId=second["responseId"])
            assert third["text"] == "answer 6"
            assert len(await conversations(other)) == 1


@pytest.mark.prop("eng-3")
@pytest.mark.prop("core-5")
async def test_a_cancelled_answer_is_kept_and_an_answering_conversation_cannot_be_deleted(tmp_path: Path) -> None:
    pace = asyncio.Semaphore(3)
    async with FakeOllama([MODEL], lambda _: words("one two three four"), pace) as fake:
        environ = environment(tmp_path, settings(fake))
        async with editor(environ) as server:
            await server.initialize()
            number, answer = server.start_request("ollm/chat/send", {"text": "Count.", "partialResultToken": "t"})
            await server.until(lambda: any(event["type"] == "text" for event in server.progress["t"]))
            chosen = server.progress["t"][0]["conversationId"]
            assert await refusal(server, "ollm/chat/delete", conversationId=chosen) == "busy"
            server.notify("$/cancelRequest", {"id": number})
            with pytest.raises(Refused):
                await answer
            heard = "".join(event.get("text", "") for event in server.progress["t"])
        async with editor(environ) as server:
            await server.initialize()
            (response,) = (await server.request("ollm/chat/get", {"conversationId": chosen}))["responses"]
            assert response["finishReason"] == "cancelled"
            assert response["items"] == [{"type": "text", "text": heard}]


@pytest.mark.prop("eng-3")
async def test_conversations_that_shall_not_be_kept_last_as_long_as_the_server(tmp_path: Path) -> None:
    async with FakeOllama([MODEL], count_messages) as fake:
        async with editor(environment(tmp_path, settings(fake))) as server:
            await server.initialize(initializationOptions={"chat": {"keepConversations": False}})
            chosen = (await server.chat("one"))["conversationId"]
            assert (await server.chat("two", conversationId=chosen))["text"] == "answer 4"
            await server.request("ollm/chat/rename", {"conversationId": chosen, "title": "Mine"})
            assert [line["title"] for line in await conversations(server)] == ["Mine"]
            await server.request("ollm/chat/delete", {"conversationId": chosen})
            assert await conversations(server) == []
            assert await refusal(server, "ollm/chat/send", text="x", conversationId=chosen) == "conversation_not_found"
        assert not list((tmp_path / "state").glob("conversations*"))


@pytest.mark.threat("F46")
@pytest.mark.prop("eng-3")
@pytest.mark.parametrize("trouble", ["newer", "damaged"])
async def test_a_store_that_cannot_be_used_is_one_warning_and_chats_go_on(tmp_path: Path, trouble: str) -> None:
    path = tmp_path / "state" / "conversations.db"
    path.parent.mkdir()
    if trouble == "damaged":
        path.write_bytes(b"nonsense" * 1000)
    else:
        with closing(sqlite3.connect(path)) as file:
            file.execute("PRAGMA user_version = 1000")
    async with FakeOllama([MODEL], count_messages) as fake, editor(environment(tmp_path, settings(fake))) as server:
        await server.initialize()
        chosen = (await server.chat("one"))["conversationId"]
        assert (await server.chat("two", conversationId=chosen))["text"] == "answer 4"
        (warning,) = warnings(server)
        assert "not being kept" in warning
        assert await refusal(server, "ollm/chat/list") == "store"
        path.unlink()
        await server.chat("three", conversationId=chosen)
        (line,) = await conversations(server)
        assert (line["title"], line["responses"]) == ("three", 1)
        assert len(warnings(server)) == 1


@pytest.mark.threat("T4")
@pytest.mark.prop("krk-41")
async def test_the_providers_key_is_not_in_the_file(tmp_path: Path) -> None:
    async with FakeOllama([MODEL], lambda _: words(f"Your key is {KEY} today")) as fake:
        more = settings(fake).replace("baseUrl", "apiKey: '${OLLAMA_API_KEY}', baseUrl")
        async with editor(environment(tmp_path, more, OLLAMA_API_KEY=KEY)) as server:
            await server.initialize()
            await server.chat(f"Is it {KEY}?")
            (line,) = await conversations(server)
            assert line["title"] == "Is it ***?"
            for file in (tmp_path / "state").glob("conversations*"):
                assert KEY.encode() not in file.read_bytes()
