"""Every recording of a real CLI agent, cut and cut off at every byte."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ollm_lsp.core.agent_session import AgentSession
from ollm_lsp.core.errors import (
    AuthenticationFailed,
    ConnectionFailed,
    IncompleteAnswer,
    ProviderError,
    ServerFailed,
)
from ollm_lsp.core.events import SessionReported, TextDelta, ToolChanged, UsageReported, Warned
from ollm_lsp.core.foreign_edit import ForeignEdit
from ollm_lsp.core.tool import Location, ToolCall, ToolKind, ToolResult, ToolStatus
from ollm_lsp.core.usage import Cost, Usage
from ollm_lsp.providers.framing import NdjsonFramer
from ollm_lsp.providers.wire import agent_claude, agent_codex, agent_gemini
from ollm_lsp.providers.wire.codec import Answer
from tests.providers.replay import (
    STOP,
    Outcome,
    assert_complete_only_after,
    assert_cuts_change_nothing,
    assert_never_acts,
    ndjson,
    play,
    said,
)

if TYPE_CHECKING:
    from ollm_lsp.core.events import ProviderEvent
    from tests.providers.replay import Wire

pytestmark = pytest.mark.large
FOLDER = Path(__file__).parents[2] / "recordings" / "agents"
DECODERS = {"claude": agent_claude.Decoder, "gemini": agent_gemini.Decoder, "codex": agent_codex.Decoder}
HELLO = said("Hello ", "from the ", "mock. ", "2+2=4.")
WHOLE = said("Hello from the mock. 2+2=4.")
PROJECT = "/home/user/project"
REMARK = Warned(
    "agent_warning",
    "Codex says: Model metadata for `gpt-5-codex` not found. Defaulting to fallback metadata; this can degrade"
    " performance and cause issues.",
)


def wire(tool: str, session: AgentSession | None = None) -> Wire:
    return lambda: Answer(NdjsonFramer(), DECODERS[tool](lambda path: f"file://{path}", session))


@dataclass(frozen=True)
class Recording:
    """A file with its events and the end of its terminal signal."""

    path: str
    terminal: bytes
    events: tuple[ProviderEvent, ...]
    session: AgentSession | None = None

    @property
    def raw(self) -> bytes:
        return (FOLDER / f"{self.path}.ndjson").read_bytes()

    @property
    def wire(self) -> Wire:
        return wire(self.path.partition("/")[0], self.session)

    def __str__(self) -> str:
        return self.path


@dataclass(frozen=True)
class Failure(Recording):
    """A run that failed, with its error and some words of it."""

    error: type[ProviderError] = ServerFailed
    words: str = ""


def session(session_id: str, *counts: int) -> SessionReported:
    return SessionReported(AgentSession(session_id, Usage(*counts)))


def counted(*counts: int, micros: int | None = None) -> UsageReported:
    return UsageReported(Usage(*counts), None if micros is None else Cost(micros))


def act(
    call: ToolCall,
    kind: ToolKind,
    output: str,
    status: ToolStatus = ToolStatus.COMPLETED,
    *edits: ForeignEdit,
) -> tuple[ToolChanged, ToolChanged]:
    """The beginning and the end of what an agent did."""
    path: Any = call.arguments.get("file_path")
    title = f"{call.name} {path or call.arguments['command']}"
    places = (Location(f"file://{path}"),) if path else ()
    result = ToolResult(call.id, call.name, output, is_error=status is not ToolStatus.COMPLETED)
    return (
        ToolChanged(call.id, call, kind, title, places, ToolStatus.RUNNING, edits=edits),
        ToolChanged(call.id, call, kind, title, places, status, result, edits),
    )


def claude_tool(number: int, name: str, file: str, **rest: str) -> ToolCall:
    return ToolCall(f"toolu_{number}", name, {"file_path": f"{PROJECT}/{file}", **rest})


def gemini_tool(name: str, moment: int, file: str, **rest: str) -> ToolCall:
    return ToolCall(f"{name}__{name}_{moment}_0", name, {"file_path": f"{PROJECT}/{file}", **rest})


WRITTEN = "written by mock\n"
S1, S2, S3, S4 = (
    "052fea36-6e6c-4586-b3c5-f8c6342f1963",
    "62bb4d79-7b24-4ff6-a129-60a3dd1dae21",
    "3330bca4-e372-4240-b2c2-9bad75a1d61a",
    "11111111-2222-4333-8444-555555555555",
)
T1, T2 = "01a1e197-c7bc-7b80-98dd-dcc8862c1063", "01a1e1a4-dcd5-7a32-86cc-9caad30e0255"
RESULT, COMPLETED = b'"type":"result"', b'"type":"turn.completed"'

COMPLETE = [
    Recording(
        "claude/stream-json",
        RESULT,
        (session(S1), *HELLO, counted(1600, 42, 300, 100, micros=4695), session(S1, 1600, 42, 300, 100), STOP),
    ),
    Recording(
        "claude/tool-read",
        RESULT,
        (
            session(S2),
            *act(claude_tool(1794786325765049703, "Read", "a.txt"), ToolKind.READ, "1\thello disk\n2\t"),
            *WHOLE,
            counted(3200, 84, 600, 200, micros=9390),
            session(S2, 3200, 84, 600, 200),
            STOP,
        ),
    ),
    Recording(
        "claude/tool-write-plan",
        RESULT,
        (
            session(S3),
            *act(
                claude_tool(1794786330153720248, "Write", "w3.txt", content=WRITTEN),
                ToolKind.EDIT,
                f"Cannot write to {PROJECT}/w3.txt while in plan mode.",
                ToolStatus.DENIED,
                ForeignEdit(f"{PROJECT}/w3.txt", ToolKind.EDIT, None, WRITTEN),
            ),
            *WHOLE,
            counted(3200, 84, 600, 200, micros=9390),
            session(S3, 3200, 84, 600, 200),
            STOP,
        ),
    ),
    # The whole format in one line: usage of this run, cost of the whole session.
    Recording(
        "claude/resume",
        RESULT,
        (counted(1600, 42, 300, 100), session(S4, 3200, 84, 600, 200), STOP),
        AgentSession(S4, Usage(1600, 42, 300, 100)),
    ),
    Recording(
        "gemini/stream-json",
        RESULT,
        (
            session("f6a4d272-5005-4517-b826-004e8cd87251"),
            *HELLO,
            counted(1500, 49, 300),
            session("f6a4d272-5005-4517-b826-004e8cd87251", 1500, 49, 300),
            STOP,
        ),
    ),
    Recording(
        "gemini/tool-read",
        RESULT,
        (
            session("22222222-2222-4333-8444-555555555555"),
            *act(gemini_tool("read_file", 1794787380546, "a.txt"), ToolKind.READ, ""),
            *HELLO,
            counted(3000, 98, 600),
            session("22222222-2222-4333-8444-555555555555", 3000, 98, 600),
            STOP,
        ),
    ),
    Recording(
        "gemini/tool-write-plan",
        RESULT,
        (
            session("7d5bd688-a2bf-40b0-99dd-c764766cfc7c"),
            *act(
                gemini_tool("write_file", 1794787412403, "h3.txt", content=WRITTEN),
                ToolKind.EDIT,
                f"Access denied: plan path ({PROJECT}/h3.txt) must be within the designated plans directory"
                " (/home/user/.gemini/tmp/wd/7d5bd688-a2bf-40b0-99dd-c764766cfc7c/plans).",
                ToolStatus.FAILED,
                ForeignEdit(f"{PROJECT}/h3.txt", ToolKind.EDIT, None, WRITTEN),
            ),
            *HELLO,
            counted(3000, 98, 600),
            session("7d5bd688-a2bf-40b0-99dd-c764766cfc7c", 3000, 98, 600),
            STOP,
        ),
    ),
    Recording(
        "codex/json",
        COMPLETED,
        (session(T1), REMARK, *WHOLE, counted(1500, 42, 300), session(T1, 1500, 42, 300), STOP),
    ),
    # The counters go on from the run before.
    Recording(
        "codex/resume",
        COMPLETED,
        (session(T1, 1500, 42, 300), REMARK, *WHOLE, counted(1500, 42, 300), session(T1, 3000, 84, 600), STOP),
        AgentSession(T1, Usage(1500, 42, 300)),
    ),
    Recording(
        "codex/tool-read",
        COMPLETED,
        (
            session(T2),
            REMARK,
            *act(
                ToolCall("item_1", "command_execution", {"command": f"/bin/bash -lc 'cat {PROJECT}/a.txt'"}),
                ToolKind.EXECUTE,
                "hello disk\n",
            ),
            *WHOLE,
            counted(3000, 84, 600),
            session(T2, 3000, 84, 600),
            STOP,
        ),
    ),
]
FAILED = [
    Failure("claude/badkey-noretry", RESULT, (), error=AuthenticationFailed, words="Invalid API key"),
    Failure("claude/noauth-stream", RESULT, (), error=ServerFailed, words="Not logged in"),
    Failure("claude/badkey-stream", b"", (), error=IncompleteAnswer),
    Failure("claude/sigterm-stream", b"", (), error=IncompleteAnswer),
    Failure("gemini/badkey-stream", RESULT, (), error=AuthenticationFailed, words="invalid x-api-key"),
    Failure("gemini/badmodel-stream", RESULT, (), words="model: no-such-model"),
    Failure("gemini/sigterm-group", b"", (), error=IncompleteAnswer),
    Failure("codex/badkey-json", b"turn.failed", (), error=AuthenticationFailed, words="401 Unauthorized"),
    Failure("codex/badmodel-json", b"turn.failed", (), words="model: no-such-model"),
    Failure("codex/noauth-envkey", b"turn.failed", (), words="Missing environment variable"),
    Failure("codex/netfail-json", b"", (), error=IncompleteAnswer),
]
complete = pytest.mark.parametrize("recording", COMPLETE, ids=str)
failed = pytest.mark.parametrize("recording", FAILED, ids=str)


def test_every_recording_of_lines_is_played() -> None:
    files = {f"{path.parent.name}/{path.stem}" for path in FOLDER.rglob("*.ndjson")}
    assert files == {recording.path for recording in (*COMPLETE, *FAILED)}


@pytest.mark.prop("krk-2")
@complete
def test_a_recording_gives_exactly_its_events(recording: Recording) -> None:
    assert play(recording.wire, [recording.raw]) == Outcome(recording.events)


@pytest.mark.threat("F11")
@pytest.mark.prop("krk-2")
@complete
def test_a_recording_cut_in_two_anywhere_gives_the_same_events(recording: Recording) -> None:
    assert_cuts_change_nothing(recording.wire, recording.raw)


@pytest.mark.threat("F4")
@pytest.mark.prop("krk-2")
@complete
def test_a_recording_that_breaks_off_before_its_verdict_is_incomplete(recording: Recording) -> None:
    assert_complete_only_after(recording.wire, recording.raw, recording.terminal)


@pytest.mark.prop("krk-2")
@failed
def test_a_recording_of_a_failure_gives_its_error_however_it_is_cut(recording: Failure) -> None:
    outcome = play(recording.wire, [recording.raw])
    assert outcome.error is recording.error
    assert recording.words in outcome.message
    assert not any(isinstance(event, UsageReported) for event in outcome.events)
    assert_cuts_change_nothing(recording.wire, recording.raw)
    assert_never_acts(recording.wire, recording.raw)


@pytest.mark.parametrize(
    ("path", "error"),
    [("claude/badkey-stream", AuthenticationFailed), ("codex/netfail-json", ConnectionFailed)],
)
def test_an_agent_that_tries_again_and_again_has_warned_once_and_is_known_to_be_in_trouble(
    path: str, error: type[ProviderError]
) -> None:
    tool = path.partition("/")[0]
    decoder = DECODERS[tool](str)
    lines = (FOLDER / f"{path}.ndjson").read_text().splitlines()
    events = [event for line in lines for event in decoder.feed(line)]
    assert [event.code for event in events if isinstance(event, Warned)].count("retry") == 1
    assert type(decoder.trouble) is error
    assert decoder.size == 0  # nothing of it counts as getting on


def test_trouble_that_is_over_is_forgotten() -> None:
    decoder = agent_codex.Decoder(str)
    decoder.feed('{"type":"error","message":"Reconnecting... 1/5 (unexpected status 429 Too Many: x)"}')
    assert decoder.trouble
    decoder.feed('{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"Hi"}}')
    assert decoder.trouble is None


@pytest.mark.threat("F11")
def test_remarks_between_the_lines_are_skipped_and_broken_lines_are_not() -> None:
    raw = (FOLDER / "gemini/stream-json.ndjson").read_bytes()
    assert play(wire("gemini"), [b"Loaded cached credentials.\n\n", raw]).events[-1] == STOP
    broken = play(wire("gemini"), [b'{"type":"init"', b"\n", raw])
    assert broken.error
    assert broken.error.code == "protocol"


def test_a_paragraph_ends_between_two_messages_and_not_inside_one() -> None:
    def message(number: int, *texts: str) -> list[Any]:
        start: Any = {"type": "message_start", "message": {"id": str(number)}}
        deltas: list[Any] = [
            {"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}} for text in texts
        ]
        return [{"type": "stream_event", "event": event} for event in (start, *deltas)]

    end = {"type": "result", "is_error": False}
    raw = ndjson(*message(1, "I ", "look."), *message(2, "It is ", "4.\n"), *message(3, "Yes."), end)
    texts = [event.text for event in play(wire("claude"), [raw]).events if isinstance(event, TextDelta)]
    assert "".join(texts) == "I look.\n\nIt is 4.\nYes."


@pytest.mark.threat("T25")
def test_control_sequences_reach_nobody() -> None:
    raw = ndjson({"type": "message", "role": "assistant", "content": "a\x1b[31mb\x07c\x9b2J"})
    assert play(wire("gemini"), [raw]).events == said("abc")


def test_what_an_agent_of_the_agent_says_is_not_the_answer() -> None:
    delta = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "inner"}}
    raw = ndjson({"type": "stream_event", "event": delta, "parent_tool_use_id": "toolu_1"})
    assert play(wire("claude"), [raw]).events == ()


def test_a_login_that_a_plan_pays_for_has_no_cost() -> None:
    raw = ndjson(
        {"type": "system", "subtype": "init", "session_id": S1, "apiKeySource": "none"},
        {"type": "result", "is_error": False, "usage": {"input_tokens": 5}, "total_cost_usd": 3.2},
    )
    assert counted(5) in play(wire("claude"), [raw]).events


def test_a_failure_after_work_still_tells_what_the_work_took() -> None:
    raw = ndjson({"type": "result", "is_error": True, "usage": {"input_tokens": 5}, "result": "It broke."})
    outcome = play(wire("claude"), [raw])
    assert (outcome.events, outcome.error) == ((counted(5),), ServerFailed)


@pytest.mark.threat("F17")
def test_a_thread_that_began_anew_is_counted_from_its_beginning() -> None:
    raw = ndjson({"type": "turn.completed", "usage": {"input_tokens": 10, "output_tokens": 2}})
    events = play(wire("codex", AgentSession(T1, Usage(1500, 42))), [raw]).events
    assert counted(10, 2) in events


def test_the_files_that_an_agent_changes_are_kept_for_who_brings_them_home() -> None:
    edit: dict[str, Any] = {"type": "tool_use", "id": "1", "name": "MultiEdit"}
    edit["input"] = {
        "file_path": "/w/a.py",
        "edits": [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}],
    }
    raw = ndjson({"type": "assistant", "message": {"content": [edit]}})
    (change,) = play(wire("claude"), [raw]).events
    assert isinstance(change, ToolChanged)
    assert change.edits == (
        ForeignEdit("/w/a.py", ToolKind.EDIT, "a", "b"),
        ForeignEdit("/w/a.py", ToolKind.EDIT, "c", "d"),
    )
    patch = {"id": "1", "type": "file_change", "status": "completed"}
    raw = ndjson(
        {"type": "item.completed", "item": {**patch, "changes": [{"path": "/w/b.py", "kind": "add"}, {"path": "/w/c"}]}}
    )
    begun, ended = play(wire("codex"), [raw]).events
    assert isinstance(begun, ToolChanged)
    assert isinstance(ended, ToolChanged)
    assert ended.edits == (ForeignEdit("/w/b.py", ToolKind.CREATE), ForeignEdit("/w/c", ToolKind.EDIT))
    assert ended.locations == (Location("file:///w/b.py"), Location("file:///w/c"))
    assert ended.status is ToolStatus.COMPLETED


@pytest.mark.threat("T30")
def test_an_agent_cannot_open_tools_without_end_and_its_half_characters_are_replaced() -> None:
    many = [{"type": "tool_use", "tool_id": str(number), "tool_name": "x\ud800"} for number in range(200)]
    outcome = play(wire("gemini"), [ndjson(*many)])
    assert outcome.error
    assert outcome.error.code == "protocol"
    raw = ndjson({"type": "tool_use", "tool_id": "1", "tool_name": "glob", "parameters": {"pattern": "\ud800"}})
    (change,) = play(wire("gemini"), [raw]).events
    assert isinstance(change, ToolChanged)
    assert change.call.arguments == {"pattern": "\N{REPLACEMENT CHARACTER}"}
