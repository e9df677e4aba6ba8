"""A CLI agent behind a proxy: the same events over HTTP, as lines of JSON or as server-sent events."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from ollm_lsp.core.errors import (
    AuthenticationFailed,
    IncompleteAnswer,
    LoginRequired,
    ModelNotFound,
    ProviderError,
    ServerFailed,
    SettingsError,
    Unsupported,
)
from ollm_lsp.core.events import ReasoningDelta, ToolChanged, UsageReported, Warned
from ollm_lsp.core.messages import Image, Message
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.core.tool import Location, ToolKind, ToolStatus
from ollm_lsp.core.usage import Cost, Usage
from ollm_lsp.providers.agents.proxy_agent import ProxyAgent, ProxySettings
from ollm_lsp.providers.wire import agent_proxy
from ollm_lsp.providers.wire.codec import Answer
from ollm_lsp.settings.secrets import Secret
from tests.providers.replay import STOP, assert_complete_only_after, assert_cuts_change_nothing, ndjson, play, said
from tests.support.http_server import HttpServer

if TYPE_CHECKING:
    from ollm_lsp.core.events import ProviderEvent
    from tests.support.http_server import Request, Responder

KEY = "proxy-key-4711"
CALL = {"type": "toolCall", "id": "1", "name": "Read", "title": "Read a.py", "kind": "read", "arguments": {"p": 1}}
LINES: list[dict[str, Any]] = [
    {"type": "started", "responseId": "r"},
    {"type": "reasoning", "text": "Hm é"},
    {**CALL, "status": "running", "locations": [{"uri": "file:///w/a.py"}]},
    {**CALL, "status": "completed", "locations": [], "result": "text"},
    {"type": "text", "text": "Hel"},
    {"type": "text", "text": "lo"},
    {"type": "warning", "code": "retry", "message": "Slow."},
    {"type": "usage", "inputTokens": 9, "outputTokens": 2, "cost": {"amount": 0.25, "currency": "USD", "known": True}},
    {"type": "finished", "reason": "stop"},
]
RAW = ndjson(*LINES)
EVENTS = b": hello\n\n" + b"".join(b"event: x\ndata: " + line + b"\n\n" for line in RAW.splitlines())


def wire() -> Answer[Any]:
    return Answer(agent_proxy.EventLines(), agent_proxy.Decoder())


async def ask(body: bytes, *, status: int = 200, kind: str = "application/x-ndjson") -> tuple[Any, list[ProviderEvent]]:
    """What the proxy was sent, and what came of its answer."""

    async def handle(_: Request, responder: Responder) -> None:
        await responder.head(status, {"Content-Type": kind})
        await responder.write(body)
        await responder.end()

    async with HttpServer(handle) as server:
        agent = ProxyAgent(ProxySettings("far", "claude", f"{server.url}/agents/", Secret(KEY)))
        try:
            request = ChatRequest("sonnet", (Message.system("Be brief."), Message.user("2+2?")))
            events = [event async for event in agent.stream(request)]
        finally:
            await agent.close()
        return server.requests[0], events


@pytest.mark.prop("krk-4")
@pytest.mark.parametrize(("body", "kind"), [(RAW, "application/x-ndjson"), (EVENTS, "text/event-stream")])
async def test_a_proxy_runs_an_agent_and_tells_the_same_events(body: bytes, kind: str) -> None:
    request, events = await ask(body, kind=kind)
    assert (request.method, request.path, request.headers["x-api-key"]) == ("POST", "/agents/execute", KEY)
    assert "authorization" not in request.headers
    assert json.loads(request.body) == {
        "tool": "claude",
        "model": "sonnet",
        "prompt": "Be brief.\n\n2+2?",
        "readOnly": True,
    }
    thought, begun, ended, *text, warning, usage, end = events
    assert thought == ReasoningDelta("Hm é")
    assert isinstance(begun, ToolChanged)
    assert isinstance(ended, ToolChanged)
    assert (begun.kind, begun.title, begun.locations) == (ToolKind.READ, "Read a.py", (Location("file:///w/a.py"),))
    assert ended.status is ToolStatus.COMPLETED
    assert ended.result
    assert ended.result.text == "text"
    assert tuple(text) == said("Hel", "lo")
    assert warning == Warned("retry", "Slow.")
    assert usage == UsageReported(Usage(9, 2), Cost(250_000))
    assert end == STOP


@pytest.mark.prop("krk-2")
@pytest.mark.parametrize("raw", [RAW, EVENTS], ids=["lines", "events"])
def test_the_events_of_a_proxy_do_not_depend_on_how_they_are_cut(raw: bytes) -> None:
    assert_cuts_change_nothing(wire, raw)
    assert_complete_only_after(wire, raw, b'"type": "finished"')


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ({"type": "error", "code": "auth_required", "message": "Log in.", "remedy": "claude"}, LoginRequired),
        ({"type": "error", "code": "model_not_found", "message": "No."}, ModelNotFound),
        ({"type": "error", "code": "what", "message": "No."}, ServerFailed),
        ({"type": "finished", "reason": "error"}, ServerFailed),
        ({"type": "finished", "reason": "cancelled"}, ServerFailed),
        ({"type": "text", "text": "cut"}, IncompleteAnswer),
    ],
)
def test_a_failure_of_the_agent_is_a_failure_here(line: dict[str, Any], error: type[ProviderError]) -> None:
    outcome = play(wire, [ndjson(line)])
    assert outcome.error is error
    assert not outcome.acts


async def test_a_wrong_key_is_told_and_nothing_is_sent_again() -> None:
    with pytest.raises(AuthenticationFailed):
        await ask(b'{"error": "no"}', status=401, kind="application/json")


@pytest.mark.threat("T3")
@pytest.mark.prop("krk-42")
def test_a_proxy_is_spoken_to_in_secret_unless_the_user_says_otherwise() -> None:
    with pytest.raises(SettingsError, match="plain http"):
        ProxyAgent(ProxySettings("far", "claude", "http://agents.example"))


async def test_what_an_agent_cannot_do_is_not_sent() -> None:
    agent = ProxyAgent(ProxySettings("far", "claude", "https://agents.example", allow_insecure=False))
    image = Message.user("See", Image("image/png", b"x"))
    with pytest.raises(Unsupported):
        await agent.complete(ChatRequest("sonnet", (image,)))
    with pytest.raises(ModelNotFound):
        await agent.complete(ChatRequest("--yolo", (Message.user("Hi"),)))
    assert await agent.models() == ()
    await agent.close()
