"""ollm/chat/send with tools: who is offered which, and what the client hears of their calls."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from ollm_lsp.core.events import Finished, FinishReason, TextDelta, ToolCalled
from ollm_lsp.core.fit import any_object
from ollm_lsp.core.memory_store import MemoryStore
from ollm_lsp.core.model import Capabilities, ModelId
from ollm_lsp.core.tool import ToolCall
from ollm_lsp.lsp.handlers.chat import send
from ollm_lsp.lsp.protocol import ChatSendParams
from ollm_lsp.lsp.session import Session
from ollm_lsp.settings.defaults import default_settings
from ollm_lsp.settings.layers import Resolution
from ollm_lsp.settings.resolved import ChatSettings
from tests.support.scripted_provider import ScriptedProvider
from tests.support.tools import FakeTool

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from ollm_lsp.core.ports import Fits

CALLED = [ToolCalled(ToolCall("call_0", "read", {"path": "a"})), Finished(FinishReason.TOOL_USE)]
DONE = [TextDelta("done"), Finished(FinishReason.STOP)]


class Editor:
    """The client's end, the services of a session, and a writer that is never behind."""

    def __init__(self, provider: ScriptedProvider, chat: ChatSettings) -> None:
        settings = default_settings(embedded_available=False)
        self._resolution = Resolution(replace(settings, model=ModelId("scripted", "m"), chat=chat))
        self._provider = provider
        self._store = MemoryStore(lambda: 0.0)
        self.told: list[tuple[str, Any]] = []

    def notify(self, method: str, params: dict[str, Any]) -> None:
        self.told.append((method, params))

    def write(self, data: bytes) -> None:
        pass

    async def drain(self) -> None:
        pass

    async def settings(self) -> Resolution:
        return self._resolution

    @asynccontextmanager
    async def provider(self, name: str) -> AsyncGenerator[ScriptedProvider]:
        assert name == "scripted"
        yield self._provider

    async def store(self, *, is_kept: bool) -> MemoryStore:
        assert is_kept
        return self._store

    async def fits(self) -> Fits:
        return any_object

    def values(self, token: str) -> list[dict[str, Any]]:
        return [params["value"] for _, params in self.told if params.get("token") == token]


async def sent(
    *,
    chat: ChatSettings | None = None,
    tools: bool | None = None,
    can: bool = True,
    script: ScriptedProvider | None = None,
) -> tuple[ScriptedProvider, Editor, dict[str, Any]]:
    provider = script or ScriptedProvider(*DONE, capabilities=Capabilities(tools=can))
    editor = Editor(provider, chat or ChatSettings())
    session = Session(cast("Any", editor), cast("Any", editor), cast("Any", editor))
    session.tools = (FakeTool(),)
    params = ChatSendParams("why?", tools=tools, work_done_token="w", partial_result_token="p")
    return provider, editor, await send(session, params)


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


@pytest.mark.prop("lsp-3")
async def test_the_client_hears_of_each_call_until_it_has_a_result() -> None:
    script = ScriptedProvider(*CALLED, then=[DONE], capabilities=Capabilities(tools=True))
    _, editor, result = await sent(script=script)
    calls = [value for value in editor.values("p") if value["type"] == "toolCall"]
    assert [call["status"] for call in calls] == ["pending", "running", "completed"]
    assert {call["id"] for call in calls} == {f"{result['responseId']}.1.1"}
    assert (calls[-1]["title"], calls[-1]["result"]) == ("read a", "text")
    assert [value["number"] for value in editor.values("p") if value["type"] == "turn"] == [1, 2]
    assert editor.values("p")[-1] == {"type": "finished", "reason": "stop"}
    assert "read a" in [value.get("message") for value in editor.values("w")]
    assert (result["text"], result["finishReason"]) == ("done", "stop")


@pytest.mark.prop("core-9")
async def test_the_settings_limit_the_turns() -> None:
    script = ScriptedProvider(*CALLED, capabilities=Capabilities(tools=True))
    provider, editor, result = await sent(script=script, chat=ChatSettings(max_turns=2))
    assert len(provider.requests) == 2
    assert result["finishReason"] == "max_turns"
    assert editor.values("p")[-1] == {"type": "finished", "reason": "max_turns"}
