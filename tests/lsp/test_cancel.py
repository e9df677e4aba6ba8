"""A cancel in every state of a chat: it stops at once, and the provider's connection is closed by then."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from ollm_lsp.lsp.handlers.chat import send
from ollm_lsp.lsp.protocol import ChatSendParams
from tests.providers.vendors import OPENAI
from tests.support.http_server import HttpServer
from tests.support.session import Peer
from tests.support.tools import FakeTool, asking, forever

if TYPE_CHECKING:
    from tests.support.http_server import Request, Responder

LONG = "word " * 5_000
"""More than half of what a model of unknown size can read."""


def delta(**fields: Any) -> str:
    return OPENAI.frame({"choices": [{"index": 0, "delta": fields, "finish_reason": None}]})


def calls(arguments: str) -> str:
    return delta(tool_calls=[{"index": 0, "id": "c", "function": {"name": "read", "arguments": arguments}}])


END = OPENAI.frame({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}) + "data: [DONE]\n\n"


@dataclass(frozen=True)
class State:
    """What the provider says, what the tool does, and by which value the client sees that the state is reached."""

    frames: tuple[str, ...]
    sees: dict[str, Any]
    tool: Any = "text"
    status: int = 200
    earlier: bool = False
    """Whether there is a long history, which has to be compacted first."""


STATES = {
    "waiting for the first token": State((), {"message": "Waiting for the first token"}),
    "mid-text": State((delta(content="Hel"),), {"type": "text"}),
    "mid-thought": State((delta(reasoning_content="Hm"),), {"type": "reasoning"}),
    "mid-tool-arguments": State((delta(content="I look. "), calls('{"pa')), {"type": "text"}),
    "tools running": State((calls('{"path": "a"}'), END), {"type": "toolCall", "status": "running"}, forever),
    "awaiting permission": State(
        (calls('{"path": "a"}'), END), {"type": "toolCall", "status": "awaitingPermission"}, asking
    ),
    "compacting": State((), {"message": "Summarising the conversation"}, earlier=True),
    "retry wait": State((), {"type": "warning", "code": "retrying"}, status=503),
}


class Backend:
    """A server with one model that says what a state wants, and then waits for its client to leave."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.stalled = asyncio.Event()

    async def chat(self, request: Request, responder: Responder) -> None:
        state = self._state
        if state.earlier and "earlier" in json.dumps(request.json["messages"][-1]["content"])[:30]:
            await OPENAI.streams(responder, delta(content=LONG), END)
            await responder.end()
        elif state.status != 200:
            await responder.whole(state.status, "{}", {"Retry-After": "20"})
        else:
            await OPENAI.streams(responder, *state.frames)
            if END in state.frames:
                await responder.end()
            self.stalled.set()
            await responder.stall()


async def cancelled(state: State) -> float:
    """Bring a chat into the state and cancel it; how many seconds that took."""
    backend = Backend(state)
    async with (
        HttpServer(OPENAI.serving(backend.chat, ["m"])) as server,
        OPENAI.reaching(server.url, context_window=8_192) as provider,
    ):
        peer = Peer(provider)
        session = peer.session
        peer.offered = (FakeTool(does=state.tool),)
        known = None
        if state.earlier:
            known = (await send(session, ChatSendParams("earlier")))["conversationId"]
        before = asyncio.all_tasks()
        params = ChatSendParams("now", known, work_done_token="w", partial_result_token="p")
        chat = asyncio.create_task(send(session, params))
        token = "p" if "type" in state.sees else "w"
        await peer.until(token, lambda value: state.sees.items() <= value.items())
        if state.status == 200:
            await backend.stalled.wait()
        pressed = perf_counter()
        chat.cancel()
        with pytest.raises(asyncio.CancelledError):
            await chat
        took = perf_counter() - pressed
        assert peer.values("p")[-1] == {"type": "finished", "reason": "cancelled"}
        for responder in server.responders:
            await responder.gone.wait()
        await asyncio.sleep(0)
        ours = {task for task in asyncio.all_tasks() - before if "HttpServer" not in repr(task)}
        assert ours <= {asyncio.current_task()}
    return took


@pytest.mark.threat("F35")
@pytest.mark.prop("core-5")
@pytest.mark.prop("core-34")
@pytest.mark.parametrize("state", STATES.values(), ids=list(STATES))
async def test_a_cancel_stops_a_chat_at_once_in_every_state(state: State) -> None:
    await cancelled(state)  # what is loaded on first use stays open
    handles = psutil.Process().num_fds()
    # The best of three: a busy machine may delay one, a chat that waits for something delays all.
    assert min([await cancelled(state) for _ in range(3)]) < 0.2
    assert psutil.Process().num_fds() == handles
