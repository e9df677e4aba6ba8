"""kill -9 of the server at any moment of a conversation: the next server has all that was acknowledged, and goes on."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.editor import Editor, editor, environment
from tests.support.fake_ollama import FakeOllama, Think, words
from tests.support.kills import KILLS, moments, pause

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

pytestmark = pytest.mark.torture

CHATS = 3
KILLS_OF_ONE = 10
"""How many servers die over one conversation: a longer one would not fit into the model's context."""
ANSWER = "It adds the two numbers and returns their sum to the caller ."


class Witness:
    """What the client was told of one conversation, over the lives of many servers."""

    def __init__(self) -> None:
        self.conversation_id: str | None = None
        self.started: list[str] = []
        self.acknowledged: dict[str, dict[str, Any]] = {}

    def hear(self, server: Editor) -> None:
        """Take down everything that a server said before it died."""
        for values in server.progress.values():
            for value in values:
                if value.get("type") == "started":
                    self.conversation_id = value["conversationId"]
                    self.started.append(value["responseId"])
        for message in server.responses:
            result: Any = message.get("result")
            if result and "responseId" in result:
                self.acknowledged[result["responseId"]] = result

    async def check(self, server: Editor) -> dict[str, Any]:
        """Compare with what a new server has: its responses by id."""
        if self.conversation_id is None:
            return {}
        record = await server.request("ollm/chat/get", {"conversationId": self.conversation_id})
        kept: dict[str, Any] = {response["id"]: response for response in record["responses"]}
        assert len(kept) == len(record["responses"])
        assert set(self.started) <= set(kept)
        for response_id, result in self.acknowledged.items():
            response = kept[response_id]
            assert text_of(response) == result["text"] == ANSWER
            assert all(response[name] == result[name] for name in ("usage", "cost", "finishReason", "model"))
        for response in kept.values():
            if response["finishReason"] == "stop":
                assert text_of(response) == ANSWER
                assert response["usage"]["outputTokens"] > 0
            else:
                assert response["finishReason"] == "error"
                assert "ended" not in response
                assert ANSWER.startswith(text_of(response))
        return kept


def text_of(response: dict[str, Any]) -> str:
    return "".join(item["text"] for item in response["items"] if item["type"] == "text")


async def talk(server: Editor, conversation_id: str | None) -> None:
    for number in range(CHATS):
        known = {} if conversation_id is None else {"conversationId": conversation_id}
        result = await server.chat(f"question {number}", f"chat {number}", **known)
        conversation_id = result["conversationId"]


async def die(server: Editor, conversation_id: str | None, chance: Random) -> None:
    """Talk until the server has said a random number of things, then kill it."""
    enough = chance.randint(2, 60)
    talking = asyncio.ensure_future(talk(server, conversation_id))
    reached = asyncio.ensure_future(
        server.until(lambda: len(server.responses) + sum(map(len, server.progress.values())) >= enough)
    )
    await asyncio.wait([talking, reached], return_when=asyncio.FIRST_COMPLETED)
    await asyncio.to_thread(pause, chance)
    await server.kill()
    for task in (talking, reached):
        task.cancel()
    await asyncio.gather(talking, reached, return_exceptions=True)


@pytest.mark.threat("F43", "F44")
@pytest.mark.prop("eng-3")
@pytest.mark.timeout(1800)
async def test_after_any_kill_everything_acknowledged_is_there(tmp_path: Path) -> None:
    histories: list[list[str]] = []

    def answer(body: dict[str, Any]) -> list[Any]:
        histories.append([message["role"] for message in body["messages"]])
        return [Think("Hm, "), Think("easy. "), *words(ANSWER)]

    chance, witness, witnesses = moments(2), Witness(), list[Witness]()
    async with FakeOllama(answer=answer) as fake:
        model = f"model: 'ollama:smollm2:135m'\nproviders: {{ollama: {{type: ollama, baseUrl: '{fake.url}'}}}}\n"
        environ = environment(tmp_path, model)
        for number in range(KILLS):
            async with editor(environ) as server:
                await server.initialize()
                await witness.check(server)
                if number % KILLS_OF_ONE == 0:
                    witnesses.append(witness := Witness())
                await die(server, witness.conversation_id, chance)
                witness.hear(server)
            with closing(sqlite3.connect(tmp_path / "state" / "conversations.db")) as file:
                assert file.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        async with editor(environ) as server:
            await server.initialize()
            listed = {line["id"]: line for line in (await server.request("ollm/chat/list"))["conversations"]}
            assert any(witness.acknowledged for witness in witnesses)
            for witness in witnesses:
                if witness.conversation_id is not None:
                    responses = await witness.check(server)
                    assert listed[witness.conversation_id]["responses"] == len(responses)
                    last = await server.chat("And now?", conversationId=witness.conversation_id)
                    assert last["text"] == ANSWER
    for roles in histories:
        assert roles[0] == "system"
        assert roles[1::2] == ["user"] * len(roles[1::2])
        assert roles[2::2] == ["assistant"] * len(roles[2::2])
