"""ollm/chat/send: tools, for models that can call them and for others, and conversations that become too long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ollm_lsp.core.errors import ContextOverflow
from ollm_lsp.core.events import Finished, FinishReason, TextDelta, ToolCalled, UsageReported
from ollm_lsp.core.model import Capabilities
from ollm_lsp.core.tool import ToolCall
from ollm_lsp.core.usage import Usage
from ollm_lsp.lsp.capabilities import ClientCapabilities
from ollm_lsp.lsp.handlers.chat import send
from ollm_lsp.lsp.protocol import ChatSendParams
from ollm_lsp.settings.resolved import ChatSettings
from tests.support.scripted_provider import ScriptedProvider
from tests.support.session import Peer
from tests.support.tools import FakeTool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.conversation import Response
    from tests.support.scripted_provider import Step

CALLED = [ToolCalled(ToolCall("call_0", "read", {"path": "a"})), Finished(FinishReason.TOOL_USE)]
DONE = [TextDelta("done"), Finished(FinishReason.STOP)]


async def sent(
    *,
    chat: ChatSettings | None = None,
    tools: bool | None = None,
    can: bool = True,
    script: ScriptedProvider | None = None,
) -> tuple[ScriptedProvider, Peer, dict[str, Any]]:
    provider = script or ScriptedProvider(*DONE, capabilities=Capabilities(tools=can))
    peer = Peer(provider, chat)
    session = peer.session
    peer.offered = (FakeTool(),)
    params = ChatSendParams("why?", tools=tools, work_done_token="w", partial_result_token="p")
    return provider, peer, await send(session, params)


@pytest.mark.parametrize(
    ("options", "offered"),
    [
        ({}, ["read"]),
        ({"tools": True}, ["read"]),
        ({"tools": False}, []),
        ({"chat": ChatSettings(tools=False)}, []),
        ({"chat": ChatSettings(tools=False), "tools": True}, []),
        ({"can": False}, []),
    ],
)
async def test_the_tools_of_the_session_are_offered_unless_somebody_switched_them_off(
    options: dict[str, Any], offered: list[str]
) -> None:
    provider, _, _ = await sent(**options)
    assert [tool.name for tool in provider.requests[0].tools] == offered


async def test_the_status_tells_how_full_the_context_was_in_the_newest_turn() -> None:
    first, then = (UsageReported(Usage(tokens, 10)) for tokens in (3000, 3200))
    script = ScriptedProvider(first, *CALLED, then=[[then, *DONE]], capabilities=Capabilities(tools=True))
    peer = Peer(script)
    peer.offered, session = (FakeTool(),), peer.session
    session.client = ClientCapabilities(status=True)
    await send(session, ChatSendParams("why?", partial_result_token="p"))
    usage = [value for value in peer.values("p") if value["type"] == "usage"]
    filled = [told["contextTokens"] for _, told in peer.told if "contextTokens" in told]
    assert [one["contextTokens"] for one in usage] == [3010, 3210]
    assert filled[-1] == 3210


@pytest.mark.prop("lsp-3")
async def test_the_client_hears_of_each_call_until_it_has_a_result() -> None:
    script = ScriptedProvider(*CALLED, then=[DONE], capabilities=Capabilities(tools=True))
    _, peer, result = await sent(script=script)
    calls = [value for value in peer.values("p") if value["type"] == "toolCall"]
    assert [call["status"] for call in calls] == ["pending", "running", "completed"]
    assert {call["id"] for call in calls} == {f"{result['responseId']}.1.1"}
    assert (calls[-1]["title"], calls[-1]["result"]) == ("read a", "text")
    assert [value["number"] for value in peer.values("p") if value["type"] == "turn"] == [1, 2]
    assert peer.values("p")[-1] == {"type": "finished", "reason": "stop"}
    assert "read a" in [value.get("message") for value in peer.values("w")]
    assert (result["text"], result["finishReason"]) == ("done", "stop")


@pytest.mark.prop("core-9")
async def test_the_settings_limit_the_turns() -> None:
    script = ScriptedProvider(*CALLED, capabilities=Capabilities(tools=True))
    provider, peer, result = await sent(script=script, chat=ChatSettings(max_turns=2))
    assert len(provider.requests) == 2
    assert result["finishReason"] == "max_turns"
    assert peer.values("p")[-1] == {"type": "finished", "reason": "max_turns"}


@pytest.mark.prop("core-17")
async def test_a_model_without_tools_reads_about_them_and_is_read_for_calls() -> None:
    action = [TextDelta('Thought: hm\nAction: read\nAction Input: {"path": "a"}\n'), Finished(FinishReason.STOP)]
    answer = [TextDelta("Final Answer: done"), Finished(FinishReason.STOP)]
    provider, peer, result = await sent(script=ScriptedProvider(*action, then=[answer]))
    assert "Does read." in provider.requests[0].messages[0].text
    assert provider.requests[1].messages[-1].text == "Observation: text"
    assert "hm" in "".join(value["text"] for value in peer.values("p") if value["type"] == "reasoning")
    assert (result["text"], result["finishReason"]) == ("done", "stop")


async def test_a_call_that_was_written_as_text_is_run() -> None:
    written = [TextDelta('{"name": "Read", "arguments": {"path": "a"}}'), Finished(FinishReason.STOP)]
    script = ScriptedProvider(*written, then=[DONE], capabilities=Capabilities(tools=True))
    provider, peer, result = await sent(script=script)
    assert [value["status"] for value in peer.values("p") if value["type"] == "toolCall"][-1] == "completed"
    assert len(provider.requests) == 2
    assert result["text"] == "done"


SUMMARY = [TextDelta("They spoke."), Finished(FinishReason.STOP)]
LONG = [TextDelta("word " * 220), Finished(FinishReason.STOP)]


class Talk:
    """Several messages in one conversation, with a model that reads 1,000 tokens."""

    def __init__(self, *scripts: Sequence[Step], chat: ChatSettings | None = None) -> None:
        window = Capabilities(context_window=1_000)
        self.provider = ScriptedProvider(*scripts[0], then=scripts[1:], capabilities=window)
        self.peer = Peer(self.provider, chat)
        self.session = self.peer.session
        self.conversation_id: str | None = None

    async def say(self, text: str, parent_id: str | None = None) -> dict[str, Any]:
        params = ChatSendParams(text, self.conversation_id, parent_id, work_done_token="w", partial_result_token="p")
        result = await send(self.session, params)
        self.conversation_id = result["conversationId"]
        return result

    @property
    def warnings(self) -> list[str]:
        return [value["code"] for value in self.peer.values("p") if value["type"] == "warning"]

    async def kept(self) -> list[Response]:
        assert self.conversation_id is not None
        record = await (await self.session.store()).load(self.conversation_id)
        assert record is not None
        return [kept.response for kept in record.responses]


@pytest.mark.prop("eng-3")
async def test_a_conversation_that_becomes_too_long_goes_on_from_a_summary() -> None:
    talk = Talk(LONG, LONG, SUMMARY, DONE, DONE)
    for number in range(2):
        await talk.say(f"question {number}")
    assert talk.warnings == []
    await talk.say("go on")
    assert talk.warnings == ["compacted"]
    *_, summarising, asked = talk.provider.requests
    assert "question 0" in summarising.messages[-1].text
    texts = [message.text for message in asked.messages]
    assert "They spoke." in texts[1]
    assert texts[-1] == "go on"
    assert not any("question 0" in text for text in texts)
    *_, recap, response = await talk.kept()
    assert (recap.is_recap, response.parent_id) == (True, recap.id)
    await talk.say("and on")
    assert "They spoke." in talk.provider.requests[-1].messages[1].text
    assert talk.warnings == ["compacted"]


async def test_who_switched_compaction_off_is_told_when_it_is_too_long() -> None:
    talk = Talk(LONG, LONG, LONG, LONG, chat=ChatSettings(auto_compact=False))
    for number in range(3):
        await talk.say(f"question {number}")
    with pytest.raises(ContextOverflow, match="1,000"):
        await talk.say("more " * 100)
    assert "compacted" not in talk.warnings


@pytest.mark.prop("eng-3")
async def test_compacting_by_hand_adds_a_recap_and_asks_nothing_else() -> None:
    talk = Talk(LONG, LONG, SUMMARY, DONE)
    first = await talk.say("question 0")
    await talk.say("question 1")
    result = await talk.say(" /compact ")
    assert len(talk.provider.requests) == 3
    assert "was summarised" in result["text"]
    assert [value for value in talk.peer.values("p") if value["type"] == "text"][-1]["text"] == result["text"]
    assert talk.peer.values("p")[-1] == {"type": "finished", "reason": "stop"}
    assert (await talk.kept())[-1].id == result["responseId"]
    assert "Summarising the conversation" in [value.get("message") for value in talk.peer.values("w")]
    await talk.say("go on")
    assert "They spoke." in talk.provider.requests[-1].messages[1].text
    await talk.say("back", parent_id=first["responseId"])
    history = [message.text for message in talk.provider.requests[-1].messages[1:]]
    assert history == ["question 0", "word " * 220, "back"]


async def test_compacting_what_is_short_changes_nothing_and_says_so() -> None:
    talk = Talk(DONE)
    await talk.say("question")
    result = await talk.say("/compact")
    assert result["text"].startswith("Nothing was changed: ")
    assert len(await talk.kept()) == 1
    assert len(talk.provider.requests) == 1


@pytest.mark.parametrize(
    ("asked", "local", "summarises"),
    [
        ("scripted:m", [SUMMARY], "local"),
        ("local:other", [LONG, LONG, SUMMARY], "local"),
        (None, [DONE], "scripted"),
    ],
    ids=["elsewhere", "here", "no model here"],
)
async def test_a_summary_is_written_on_this_machine_where_that_can_be(
    asked: str | None, local: list[list[Step]], summarises: str
) -> None:
    talk = Talk(LONG, LONG, SUMMARY)
    here = ScriptedProvider(*local[0], then=local[1:], capabilities=Capabilities(context_window=1_000))
    talk.peer.add_local(here, is_default=asked is not None)
    model = asked or "scripted:m"
    for text in ("question 0", "question 1", "/compact"):
        params = ChatSendParams(text, talk.conversation_id, model=model)
        talk.conversation_id = (await send(talk.session, params))["conversationId"]
    summary = (await talk.kept())[-1]
    assert summary.is_recap
    assert summary.model.provider == summarises
