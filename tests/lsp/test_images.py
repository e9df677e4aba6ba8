"""A model reads a picture of the workspace: it is shown to one that sees, and described to one that does not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from ollm_lsp.core.events import Finished, FinishReason, TextDelta, ToolCalled
from ollm_lsp.core.messages import Image, Role
from ollm_lsp.core.model import Capabilities
from ollm_lsp.core.sight import NOT_SHOWN
from ollm_lsp.core.tokens import IMAGE_TOKENS
from ollm_lsp.core.tool import ToolCall, ToolResult
from ollm_lsp.lsp.handlers.chat import send
from ollm_lsp.lsp.protocol import ChatSendParams
from ollm_lsp.tools.toolset import Toolset
from tests.support.pictures import png
from tests.support.scripted_provider import ScriptedProvider
from tests.support.session import Peer

if TYPE_CHECKING:
    from pathlib import Path

    from ollm_lsp.core.request import ChatRequest
    from tests.support.scripted_provider import Step

CALLED: list[Step] = [
    ToolCalled(ToolCall("call_0", "read_file", {"path": "logo.png"})),
    Finished(FinishReason.TOOL_USE),
]
DONE: list[Step] = [TextDelta("It is red."), Finished(FinishReason.STOP)]
WINDOW = 100_000
SEES = Capabilities(tools=True, vision=True, context_window=WINDOW)
BLIND = Capabilities(tools=True, context_window=WINDOW)
LOGO = Image("image/png", png())


class Client(Peer):
    """A peer with the real tools, and the folder that they work in."""

    def __init__(self, provider: ScriptedProvider, folder: Path) -> None:
        super().__init__(provider)
        (folder / "logo.png").write_bytes(png())
        self.work = self.session
        self.work.folders = [folder.as_uri()]
        self.work.client = replace(self.work.client, status=True)
        self._tools = Toolset()

    async def toolset(self) -> Toolset:
        return self._tools

    async def ask(self, text: str, **more: Any) -> dict[str, Any]:
        return await send(self.work, ChatSendParams(text, partial_result_token="p", **more))


def results_in(request: ChatRequest) -> list[ToolResult]:
    return [part for message in request.messages for part in message.parts if isinstance(part, ToolResult)]


async def test_a_model_that_sees_is_shown_the_picture_that_it_reads(tmp_path: Path) -> None:
    provider = ScriptedProvider(*CALLED, then=[DONE], capabilities=SEES)
    peer = Client(provider, tmp_path)
    result = await peer.ask("What colour is the logo?")
    assert result["text"] == "It is red."
    [given] = results_in(provider.requests[1])
    assert given.images == (LOGO,)
    assert given.text == "logo.png is a PNG image, 1 x 1 pixels. It is shown to you."
    # The client is told the text, in the event and in the history.
    events = [value for value in peer.values("p") if value["type"] == "toolCall"]
    assert events[-1]["result"] == given.text
    assert all("images" not in event for event in events)


async def test_a_model_that_does_not_see_is_told_what_the_picture_is(tmp_path: Path) -> None:
    provider = ScriptedProvider(*CALLED, then=[DONE], capabilities=BLIND)
    await Client(provider, tmp_path).ask("What colour is the logo?")
    [given] = results_in(provider.requests[1])
    assert given.images == ()
    assert given.text.startswith("logo.png is a PNG image, 1 x 1 pixels.")
    assert "you cannot see images" in given.text


async def test_a_model_without_tools_that_sees_is_shown_the_picture_after_the_observation(tmp_path: Path) -> None:
    action: list[Step] = [
        TextDelta('Action: read_file\nAction Input: {"path": "logo.png"}\n'),
        Finished(FinishReason.STOP),
    ]
    sees = Capabilities(vision=True, context_window=WINDOW)
    provider = ScriptedProvider(*action, then=[[TextDelta("Final Answer: red"), DONE[-1]]], capabilities=sees)
    result = await Client(provider, tmp_path).ask("What colour is the logo?")
    assert result["text"] == "red"
    last = provider.requests[1].messages[-1]
    assert last.role is Role.USER
    assert last.text.startswith("Observation: logo.png is a PNG image")
    assert last.parts[-1] == LOGO


@pytest.mark.prop("core-14")
async def test_a_conversation_with_a_picture_goes_on_with_a_model_that_does_not_see(tmp_path: Path) -> None:
    seeing = ScriptedProvider(*CALLED, then=[DONE], capabilities=SEES)
    blind = ScriptedProvider(*DONE, name="local", capabilities=BLIND)
    peer = Client(seeing, tmp_path)
    peer.add_local(blind, is_default=False)
    begun = await peer.ask("What colour is the logo?")
    later = await peer.ask("And now?", conversation_id=begun["conversationId"], model="local:m")
    assert later["finishReason"] == "stop"
    [given] = results_in(blind.requests[0])
    assert given.images == ()
    assert given.text.endswith(NOT_SHOWN)
    sizes = [told["contextTokens"] for _, told in peer.told if "contextTokens" in told]
    assert sizes[-1] < IMAGE_TOKENS, "what is not shown does not count"
    await peer.ask("And you?", conversation_id=begun["conversationId"])
    assert [result.images for result in results_in(seeing.requests[-1])] == [(LOGO,)]
