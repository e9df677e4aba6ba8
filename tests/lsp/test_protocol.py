"""The contract: the page for people, the samples for all clients, and the code say the same."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast, get_args

import attrs
import pytest

from ollm_lsp.core import errors
from ollm_lsp.core.change import EditText, Proposal
from ollm_lsp.core.conversation import Response
from ollm_lsp.core.diagnostic import Diagnostic, Severity
from ollm_lsp.core.events import (
    Activity,
    ChatEvent,
    Ended,
    Escalated,
    Failed,
    FinishReason,
    ReasoningDelta,
    Started,
    TextDelta,
    ToolChanged,
    TurnStarted,
    UsageChanged,
    Warned,
)
from ollm_lsp.core.kraken import KrakenBudget, KrakenKind, KrakenProvider, KrakenState, KrakenStatus
from ollm_lsp.core.ledger import Call, CallKind, LedgerLine
from ollm_lsp.core.messages import Image, Message, Reasoning, Role, Text
from ollm_lsp.core.model import Capabilities, ModelDetails, ModelId, ModelInfo
from ollm_lsp.core.permission import Option, PermissionRequest, Reply
from ollm_lsp.core.record import ConversationRecord, ResponseRecord, Summary
from ollm_lsp.core.shown import shown
from ollm_lsp.core.snapshot import Snapshot
from ollm_lsp.core.tool import Location, ToolCall, ToolKind, ToolResult, ToolStatus
from ollm_lsp.core.usage import FREE, UNKNOWN_COST, Cost, Usage
from ollm_lsp.lsp import from_wire, offers, permission, protocol, to_wire
from ollm_lsp.lsp.capabilities import ClientCapabilities
from ollm_lsp.lsp.context.parts import ContextPart, Source
from ollm_lsp.lsp.context.preview import Preview
from ollm_lsp.lsp.desk import DiagnosticsOfSession
from ollm_lsp.lsp.handlers import commands
from ollm_lsp.lsp.server import AT_ONCE, IN_TASKS
from ollm_lsp.settings.redactor import redactor

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "protocol.md").read_text()
SAMPLES: dict[str, Any] = json.loads((DOCS / "protocol-samples.json").read_text())
MODEL = ModelId("ollama", "qwen2.5-coder:7b")
SELECTED = protocol.Range(protocol.Position(3, 0), protocol.Position(4, 0))
CALL = ToolCall("call_0", "read_file", {"path": "app.py"})
EVENTS: list[ChatEvent] = [
    Started("c0ffee", "f00d", MODEL),
    TurnStarted(1),
    ReasoningDelta("The user asks about a function."),
    TextDelta("It adds two numbers."),
    ToolChanged(
        "f00d.1.1",
        CALL,
        ToolKind.READ,
        "Read app.py",
        (Location("file:///project/app.py", 3),),
        ToolStatus.COMPLETED,
        ToolResult("call_0", "read_file", "def add(a, b):"),
    ),
    UsageChanged(Usage(120, 6), FREE, 126, 32768),
    Warned("not_open", "other.py is not open in the editor.", "Open it and ask again."),
    Escalated("The local model failed: It broke.", "claude", "sonnet"),
    Failed(
        errors.ConnectionFailed(
            "Cannot reach http://127.0.0.1:11434 (All connection attempts failed).", remedy="Start Ollama."
        )
    ),
    Ended(FinishReason.ERROR),
]


def section(title: str) -> str:
    return PAGE.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]


def first_column(text: str) -> list[str]:
    return re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)


def error_classes(base: type[errors.OllmError] = errors.OllmError) -> set[type[errors.OllmError]]:
    return {base}.union(*(error_classes(child) for child in base.__subclasses__()))


def test_the_page_lists_exactly_the_error_codes_that_exist() -> None:
    assert set(first_column(section("Errors"))) == {kind.code for kind in error_classes()}


def test_the_page_lists_exactly_the_custom_methods_that_exist() -> None:
    requests = {method for method in (*AT_ONCE, *IN_TASKS) if method.startswith("ollm/")}
    assert set(first_column(section("Requests, client → server"))) == requests
    assert protocol.STATUS in first_column(section("Notifications, server → client"))


def test_the_page_lists_exactly_the_events_that_exist_with_their_fields() -> None:
    text = section("Chat events")
    assert sorted(first_column(text)) == sorted(event["type"] for event in SAMPLES["events"])
    for event in SAMPLES["events"]:
        (row,) = re.findall(rf"^\| `{event['type']}` \|(.*)\|$", text, re.MULTILINE)
        named = set(re.findall(r"`(\w+)\??`", row))
        assert named == set(event) - {"type"}


def test_the_page_lists_exactly_the_finish_reasons_that_exist() -> None:
    (line,) = re.findall(r"^Finish reasons: (.*)\.$", PAGE, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", line)) == {reason.value for reason in FinishReason}


def test_every_event_becomes_its_sample() -> None:
    kinds = set(get_args(ChatEvent)) - {Activity}
    assert {type(event) for event in EVENTS} == kinds
    assert [to_wire.chat_event(event) for event in EVENTS] == SAMPLES["events"]
    assert to_wire.chat_event(Activity("Loading the model")) is None


@pytest.mark.parametrize("method", sorted(SAMPLES["params"]))
def test_every_sample_of_params_is_understood_without_loss(method: str) -> None:
    kind = IN_TASKS[method][0]
    params = from_wire.structure(SAMPLES["params"][method], kind)
    given: set[str] = {
        re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", key) for key in SAMPLES["params"][method]
    }
    defaults = {field.name for field in attrs.fields(kind) if getattr(params, field.name) == field.default}
    assert given <= {field.name for field in attrs.fields(kind)} - defaults
    for key in SAMPLES["params"][method]:
        assert f"`{key}" in section("Requests, client → server") or key.endswith("Token")


def test_the_page_lists_exactly_the_kinds_and_statuses_of_tool_calls() -> None:
    (paragraph,) = re.findall(r"^(A tool call has one of the kinds .*?)`locations`", PAGE, re.MULTILINE | re.DOTALL)
    named = set(re.findall(r"`(\w+)`", paragraph)) - {"result", "finished"}
    assert named == {value.value for value in (*ToolKind, *ToolStatus)}


def test_a_tool_call_without_a_result_or_a_line_has_no_such_field() -> None:
    pending = ToolChanged("1", CALL, ToolKind.EDIT, "Edit", (Location("file:///a"),), ToolStatus.PENDING)
    value = to_wire.chat_event(pending)
    assert value is not None
    assert (value["status"], value["locations"]) == ("pending", [{"uri": "file:///a"}])
    assert "result" not in value


def conversation_record() -> ConversationRecord:
    call = ToolCall("call_0", "read_file", {"path": "app.py"}, "mark")
    thoughts = (Reasoning("I have to look.", "mark"), Reasoning("", "mark", is_redacted=True))
    output = (
        Message(Role.ASSISTANT, (*thoughts, call)),
        Message(Role.TOOL, (ToolResult("call_0", "read_file", "a + b"),)),
        Message(Role.ASSISTANT, (Text("It adds two numbers."),)),
    )
    began = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC).timestamp()
    question = "What does this function do?"
    asked, why = Message.user(question, Image("image/png", b"x")), Message.user("And why?")
    first = Response("f00d", None, MODEL, (asked,), output, Usage(120, 6), FREE, FinishReason.STOP)
    second = Response("beef", "f00d", MODEL, (why,), (), Usage(), UNKNOWN_COST, FinishReason.ERROR)
    summary = (Message.user("The user asked about a function that adds."),)
    recap = Response("cafe", "f00d", MODEL, summary, (), Usage(130, 9), FREE, FinishReason.STOP, is_recap=True)
    later = began + 1.5
    records = (
        ResponseRecord(first, began, later),
        ResponseRecord(second, later, None),
        ResponseRecord(recap, later, later),
    )
    return ConversationRecord("c0ffee", question, began, later, records)


def test_results_become_their_samples() -> None:
    output = (Message(Role.ASSISTANT, (Text("It adds two numbers."),)),)
    asked = (Message.user("What does this function do?"),)
    response = Response("f00d", None, MODEL, asked, output, Usage(120, 6), FREE, FinishReason.STOP)
    assert to_wire.chat_result("c0ffee", response, 0.84) == SAMPLES["results"]["ollm/chat/send"]
    selected = "app.py (selection from line 4):\n```python\na + b\n```\n\n"
    parts = (
        ContextPart(Source.SYSTEM, "Be brief.", "system prompt and project rules"),
        ContextPart(Source.SELECTION, selected, "selected", "file:///project/app.py", SELECTED),
        ContextPart(Source.QUESTION, "What does this function do?", "what you ask"),
    )
    warned = Warned("not_open", "other.py is not open in the editor.", "Open it and ask again.")
    preview = to_wire.preview(Preview(MODEL, parts, 32, 32768, is_estimate=True), [warned])
    assert preview == SAMPLES["results"]["ollm/context/preview"]
    assert all(f"`{source.value}`" in PAGE for source in Source)
    record = conversation_record()
    assert to_wire.conversation(record) == SAMPLES["results"]["ollm/chat/get"]
    assert to_wire.conversation(replace(record, model=MODEL))["model"] == str(MODEL)
    summary = Summary(record.id, record.title, record.created, record.updated, MODEL, FREE, len(record.responses))
    assert {"conversations": [to_wire.summary(summary)]} == SAMPLES["results"]["ollm/chat/list"]
    info = ModelInfo(MODEL, Capabilities(tools=True, context_window=32768), 4683087332)
    assert [to_wire.model(info, MODEL)] == SAMPLES["results"]["ollm/models/list"]["models"]
    details = SAMPLES["results"]["ollm/models/show"]
    assert to_wire.model_details(ModelDetails(info, details["facts"]), MODEL) == details


@pytest.mark.parametrize("command", sorted(SAMPLES["commands"]))
def test_every_sample_of_a_command_is_understood_and_its_result_is_that_of_a_chat(command: str) -> None:
    sample = SAMPLES["commands"][command]
    kind = commands.COMMANDS[command].params
    params = from_wire.structure(sample["argument"], kind)
    for key in sample["argument"]:
        name = re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", key)
        assert getattr(params, name) != getattr(from_wire.structure({}, kind), name)
        assert f"`{key}" in section("Commands")
    chat = SAMPLES["results"]["ollm/chat/send"]
    result = dict(sample["result"])
    if "applied" in result:
        told = {"applied": result["applied"], "reason": result.get("reason", "")}
        chat = to_wire.change_result(chat, **told)
    assert result == chat


def test_code_actions_become_their_samples() -> None:
    client = ClientCapabilities(action_literals=True, disabled_actions=True, generated_tag=True)
    fix, kraken = SAMPLES["codeActions"]
    place, problem = fix["command"]["arguments"][0], fix["diagnostics"]
    offer = offers.Offer(fix["title"], fix["kind"], "ollm.fix", place, diagnostics=problem, is_generated=True)
    assert offer.to_wire(client) == fix
    reason = kraken["disabled"]["reason"]
    assert offers.Offer(kraken["title"], kraken["kind"], "", {}, disabled=reason).to_wire(client) == kraken
    assert first_column(section("Code actions")) == list(protocol.CODE_ACTION_KINDS)


def test_what_is_told_of_the_kraken_becomes_its_samples() -> None:
    claude = KrakenProvider("claude", KrakenKind.CLI, "sonnet", is_available=True, version="2.0.1")
    codex = KrakenProvider(
        "codex",
        KrakenKind.CLI,
        "gpt-5-codex",
        is_available=False,
        needs_login=True,
        problem="You are not logged in.",
        remedy="Run: codex login",
    )
    budget = KrakenBudget(10_000_000, 1_250_000, 500_000, 8_250_000)
    status = KrakenStatus(KrakenState.READY, (claude, codex), budget)
    assert to_wire.kraken_status(status) == SAMPLES["results"][protocol.KRAKEN_STATUS]
    when = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC).timestamp()
    call = Call(CallKind.CLI, "claude", "sonnet", "c0ffee")
    lines = [
        LedgerLine(when, call, Usage(1200, 340), Cost(1_250_000)),
        LedgerLine(when, call, Usage(), Cost(7, known=False), "timeout"),
    ]
    assert {"releases": [to_wire.ledger_line(line) for line in lines]} == SAMPLES["results"][protocol.KRAKEN_HISTORY]


def test_the_page_lists_exactly_the_states_of_the_kraken() -> None:
    (row,) = re.findall(r"^\| `ollm/kraken/status` \|(.*)\|$", PAGE, re.MULTILINE)
    (named,) = re.findall(r"`state` \(([^)]*)\)", row)
    assert re.findall(r"`(\w+)`", named) == [state.value for state in KrakenState]


class Asked:
    """A session whose client answers with the sample."""

    def __init__(self) -> None:
        self.rpc = self
        self.client = ClientCapabilities(permission=True, diagnostics=True, apply_edit=True)
        self.sent: list[tuple[str, Any]] = []

    async def ask(
        self, method: str, params: Any, *, timeout: float, number: str | None = None, is_question: bool = False
    ) -> Any:
        assert timeout > 0
        assert is_question == (method == "ollm/permission")
        assert number == params.get("id")
        self.sent.append((method, params))
        return SAMPLES["asked"][method]["result"]


async def test_the_question_about_a_permission_is_its_sample_and_the_answer_is_understood(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(permission, "new_id", lambda: "beef")
    uri, session = "file:///project/app.py", Asked()
    edit = EditText(uri, Snapshot(uri, "a - b\n", 3), "a + b\n")
    proposal = Proposal("p", "edit_file", "Edit app.py", (edit,))
    detail = shown(proposal, lambda uri: uri.removeprefix("file://"))
    request = PermissionRequest("edit_file", ToolKind.EDIT, proposal.title, detail, proposal.digest)
    offered = await permission.EditorOfSession(cast("Any", session)).offer(proposal, request, may_stand=True)
    assert session.sent == [(protocol.PERMISSION, SAMPLES["asked"][protocol.PERMISSION]["params"])]
    assert offered.reply == Reply(Option.REJECT_ONCE, "Use sum() instead.")


async def test_the_question_about_diagnostics_is_its_sample_and_the_answer_is_understood() -> None:
    session = Asked()
    params = SAMPLES["asked"][protocol.DIAGNOSTICS]["params"]
    found = await DiagnosticsOfSession(cast("Any", session)).of(params["uri"])
    assert session.sent == [(protocol.DIAGNOSTICS, params)]
    assert found == [Diagnostic(params["uri"], 2, 2, Severity.WARNING, "os is imported but unused", "ruff", "F401")]


def test_the_page_lists_what_the_server_asks_with_its_fields_and_what_it_can_be_told() -> None:
    text = section("Requests, server → client")
    assert first_column(text) == list(SAMPLES["asked"]) == [protocol.PERMISSION, protocol.DIAGNOSTICS]
    for method, sample in SAMPLES["asked"].items():
        (row,) = re.findall(rf"^\| `{method}` \|(.*)\|$", text, re.MULTILINE)
        named = set(re.findall(r"`(\w+)\??`", row))
        parts = [sample["params"], *sample["params"].get("changes", []), *sample["params"].get("options", [])]
        assert {key for part in (*parts, sample["result"]) for key in part} <= named
    assert first_column(section("Commands")) == list(protocol.COMMANDS) == list(commands.COMMANDS)
    assert all(f"`{option}`" in section("Permissions") for option in Option)
    assert set(re.findall(r"^\| `(\w+): true` \|", section("Capabilities"), re.MULTILINE)) == {
        "status",
        "permission",
        "diagnostics",
    }


def test_every_custom_request_has_samples_of_its_params_and_its_result() -> None:
    requests = {method for method in (*AT_ONCE, *IN_TASKS) if method.startswith("ollm/")}
    assert set(SAMPLES["params"]) == set(SAMPLES["results"]) == requests


@pytest.mark.prop("krk-41")
def test_no_key_leaves_in_an_error_or_warning() -> None:
    key = "sk-canary-0123456789abcdef"
    redactor.add(key)
    error = errors.ServerFailed(f"The server said: bad key {key}", remedy=f"Replace {key}.")
    result = ToolResult("call_0", "read_file", f"key={key}")
    tool = ToolChanged("1", CALL, ToolKind.READ, f"Read {key}", (), ToolStatus.COMPLETED, result)
    for event in (Failed(error), Warned("x", f"{key} is odd", key), tool):
        assert key not in json.dumps(to_wire.chat_event(event))
    answer = to_wire.rpc_error(error)
    assert key not in f"{answer.message} {answer.data}"
