"""Faults F31, F33 and F36: failing handlers, odd ids, and clients that can do little."""

from __future__ import annotations

import asyncio
import random
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from ollm_lsp.lsp import server, standard
from tests.support.editor import Refused, environment
from tests.support.near_server import near_editor
from tests.support.tool_task import TASK, Model, window

if TYPE_CHECKING:
    from pathlib import Path

FAILURES = [RuntimeError, KeyError, RecursionError, MemoryError, asyncio.CancelledError, TimeoutError, UnicodeError]
NOTIFIED = {"initialized", "exit"}
REQUESTS = [name for name in server.IN_TASKS if "/did" not in name and name not in NOTIFIED]


@pytest.mark.threat("F31")
@pytest.mark.parametrize("failure", FAILURES)
async def test_a_handler_that_fails_is_one_error_for_its_request_alone(
    failure: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_session: Any, _params: Any) -> None:
        raise failure("secret words")

    def fail_now(_session: Any, _params: Any) -> None:
        raise failure("secret words")

    for method in server.IN_TASKS:
        monkeypatch.setitem(server.IN_TASKS, method, (standard.NoParams, fail))
    for method in server.AT_ONCE:
        if method not in {"initialize", "exit"}:
            monkeypatch.setitem(server.AT_ONCE, method, (standard.NoParams, fail_now))
    async with near_editor(environment(tmp_path)) as running:
        await running.initialize()
        for method in (*server.IN_TASKS, *server.AT_ONCE):
            if method not in {*REQUESTS, "initialize", "exit"}:
                running.notify(method, {})
        for method in REQUESTS:
            before = len(running.responses)
            number, answer = running.start_request(method, {})
            with pytest.raises(Refused) as refused:
                await answer
            code = -32800 if failure is asyncio.CancelledError else -32803
            assert refused.value.code == code, method
            assert "secret words" not in str(running.responses)
            assert [one["id"] for one in running.responses[before:]] == [number]


IDS: list[Any] = [0, -1, 1, "1", "", "a" * 10_000, "é\u2028\U0001f600", 2**31, 2**53 + 1, -(2**70), "ollm-1", " "]


@pytest.mark.threat("F33")
async def test_every_id_gets_exactly_one_answer_under_the_same_id(tmp_path: Path) -> None:
    async with near_editor(environment(tmp_path)) as running:
        await running.initialize()
        before = len(running.responses)
        answers = [running.start_request("ollm/chat/list", {}, number)[1] for number in IDS[::2]]
        answers += [running.start_request("no/such/method", {}, number)[1] for number in IDS[1::2]]
        await asyncio.gather(*answers, return_exceptions=True)
        await running.request("ollm/chat/list", {}, "last")
        got = [one["id"] for one in running.responses[before:]]
        assert sorted(map(repr, got)) == sorted(map(repr, [*IDS, "last"]))


def announced(chance: random.Random) -> dict[str, Any]:
    """Some of what a client can say that it can do."""

    def maybe(value: Any) -> Any:
        return value if chance.random() < 0.5 else None

    operations = chance.sample(["create", "rename", "delete"], chance.randint(0, 3))
    edits = {"documentChanges": chance.random() < 0.5, "resourceOperations": operations}
    return {
        "workspace": {
            "applyEdit": chance.random() < 0.7,
            "workspaceEdit": maybe(edits),
            "configuration": maybe(True),
            "didChangeConfiguration": maybe({"dynamicRegistration": True}),
        },
        "window": {
            "workDoneProgress": maybe(True),
            "showDocument": maybe({"support": True}),
            "showMessage": maybe({"messageActionItem": {"additionalPropertiesSupport": True}}),
        },
        "textDocument": maybe({"codeAction": {"dynamicRegistration": False}}),
        "experimental": {"ollm": {"permission": maybe(True), "status": maybe(True), "diagnostics": maybe(True)}},
    }


def allowed(capabilities: dict[str, Any]) -> set[str]:
    """What a client that has said so may be sent: the rest of LSP needs no announcement."""
    workspace, screen, custom = capabilities["workspace"], capabilities["window"], capabilities["experimental"]["ollm"]
    may = {"$/progress", "$/cancelRequest", "window/showMessage", "window/logMessage", "window/showMessageRequest"}
    may |= {"textDocument/publishDiagnostics"}
    by_name = {
        "workspace/applyEdit": workspace["applyEdit"],
        "workspace/configuration": workspace["configuration"],
        "client/registerCapability": workspace["didChangeConfiguration"],
        "window/workDoneProgress/create": screen["workDoneProgress"],
        "window/showDocument": screen["showDocument"],
        **{f"ollm/{name}": value for name, value in custom.items()},
    }
    return may | {name for name, value in by_name.items() if value}


@pytest.mark.threat("F36")
@pytest.mark.parametrize("seed", range(24))
async def test_no_client_is_sent_what_it_did_not_announce(seed: int, tmp_path: Path) -> None:
    capabilities = announced(random.Random(seed))
    async with partial(window, start=near_editor)(tmp_path, capabilities, Model(TASK)) as client:
        client.editor.answer["client/registerCapability"] = lambda _: {"result": None}
        client.editor.answer["ollm/diagnostics"] = lambda _: {"result": []}
        chat = asyncio.ensure_future(client.editor.chat("Do it.", workDoneToken="w"))
        while not chat.done() and not client.hints():
            await asyncio.sleep(0.01)
        if not chat.done():  # somebody who can only be shown hints would have to act
            client.editor.notify("window/workDoneProgress/cancel", {"token": "w"})
        await chat
        sent = {one["method"] for one in client.editor.asked} | {name for name, _ in client.editor.notifications}
        assert sent <= allowed(capabilities)
        for edit in client.applied:
            kinds = {step["kind"] for step in edit.get("documentChanges", []) if "kind" in step}
            known: dict[str, Any] = capabilities["workspace"]["workspaceEdit"] or {}
            assert kinds <= {*known.get("resourceOperations", ())}
            assert known.get("documentChanges") or "documentChanges" not in edit
