"""No at every step of a release: nothing has left the machine, no money is gone, and the conversation is as it was."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from ollm_lsp.lsp.permission import EditorOfSession
from tests.support.editor import Refused
from tests.support.kraken import ASKING, kraken_window

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.kraken import KrakenWindow

CANCELLED = -32800
SECRET = "sk-" + "proj-abcdefghijklmnopqrstT3BlbkFJabcd"
PROMPT = f"Think hard about {SECRET}."
SECOND = '    other: { provider: openai, baseUrl: "%s/v1", apiKey: "${VENDOR_KEY}", model: gpt-x }\n'
PERMISSION, MESSAGE = "ollm/permission", "window/showMessageRequest"

ERROR: dict[str, Any] = {"error": {"code": -32603, "message": "The window is gone."}}
REFUSALS: dict[str, dict[str, Any]] = {
    "reject": {"result": {"optionId": "reject_once"}},
    "nothing": {"result": None},
    "no option": {"result": {}},
    "another type": {"result": ["allow_once"]},
    "error": ERROR,
}


async def _is_refused(window: KrakenWindow, code: str | None, during: Callable[[], Any] | None = None) -> None:
    """Release, with a secret in the prompt; `during` is waited for, and then the release is cancelled."""
    first = await window.editor.chat("What is this?")
    place = {"conversationId": first["conversationId"]}
    before = await window.editor.request("ollm/chat/get", place)
    status = (await window.editor.request("ollm/kraken/status", {}))["budget"]
    params = {"text": PROMPT, "partialResultToken": "r", **place}
    number, running = window.editor.start_request("ollm/kraken/release", params)
    if during:
        while not during():
            assert not running.done()
            await asyncio.sleep(0.01)
        window.editor.notify("$/cancelRequest", {"id": number})
    with pytest.raises(Refused) as refused:
        await running
    assert refused.value.data.get("code") == code
    assert code or refused.value.code == CANCELLED
    assert [event["type"] for event in window.events()][-1] == "finished"
    assert await window.editor.request("ollm/chat/get", place) == before
    assert await window.history() == []
    assert (await window.editor.request("ollm/kraken/status", {}))["budget"] == status
    await window.editor.chat("And now?", **place)
    assert "Think hard" not in json.dumps(window.local.histories)
    for request in window.vendor.requests:
        assert request.method == "GET"
        assert b"Think hard" not in request.raw_head + request.body
        assert SECRET.encode() not in request.raw_head + request.body


def _with_two(tmp_path: Path, window: KrakenWindow) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(config.read_text().replace("  prices:", SECOND % window.vendor.url + "  prices:"))


@pytest.mark.prop("krk-18")
@pytest.mark.parametrize("answer", [*REFUSALS, "None of them", "cancel", "late"])
async def test_who_picks_nobody_has_released_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    if answer == "late":
        monkeypatch.setattr("ollm_lsp.lsp.consent.ANSWER_TIME", 0.05)
    async with kraken_window(tmp_path, monkeypatch, capabilities=ASKING) as window:
        _with_two(tmp_path, window)
        reply = {"result": {"title": answer}} if answer == "None of them" else REFUSALS.get(answer)
        window.editor.answer[MESSAGE] = lambda _: reply
        is_asked = (lambda: window.asked) if answer == "cancel" else None
        await _is_refused(window, None if is_asked else "permission_denied", is_asked)
        assert len(window.asked) == 1


@pytest.mark.prop("krk-46")
@pytest.mark.parametrize("answer", [*REFUSALS, "cancel", "late"])
@pytest.mark.parametrize("method", [PERMISSION, MESSAGE])
async def test_who_is_asked_and_does_not_say_yes_has_released_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, method: str
) -> None:
    if answer == "late":
        times: dict[str, Any] = EditorOfSession.__init__.__kwdefaults__ or {}
        monkeypatch.setitem(times, "answer_time", 0.05)
    capabilities = ASKING if method == MESSAGE else None
    async with kraken_window(tmp_path, monkeypatch, capabilities=capabilities) as window:
        reply = REFUSALS.get(answer)
        if reply and answer == "reject" and method == MESSAGE:
            reply = {"result": {"title": "Reject"}}
        window.editor.answer[method] = lambda _: reply
        is_asked = (lambda: window.asked) if answer == "cancel" else None
        await _is_refused(window, None if is_asked else "permission_denied", is_asked)
        (question,) = window.asked
        assert SECRET not in json.dumps(question), "what was found by the privacy check is shown as a placeholder"
        assert "⟦S1⟧" in json.dumps(question, ensure_ascii=False)


@pytest.mark.prop("krk-26")
async def test_what_the_day_does_not_cover_is_not_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with kraken_window(tmp_path, monkeypatch, "  maxCostPerDay: 0.001") as window:
        await _is_refused(window, "budget_exceeded")
        assert window.asked == []


HOOK = """
import json, pathlib, sys, time
pathlib.Path(sys.argv[1]).write_text(sys.stdin.read())
if sys.argv[2] == "cancel":
    time.sleep(3600)
print(json.dumps({"allow": False, "reason": "not on Fridays"}))
"""


@pytest.mark.prop("krk-34")
@pytest.mark.parametrize("answer", ["no", "cancel"])
async def test_a_hook_that_says_no_or_is_cancelled_has_released_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    told, script = tmp_path / "told", tmp_path / "hook.py"
    script.write_text(HOOK)
    command = json.dumps([sys.executable, str(script), str(told), answer])
    more = f"  hooks: {{ before_kraken: [{{ command: {command}, timeout: 60 }}] }}"
    async with kraken_window(tmp_path, monkeypatch, more) as window:
        # A file is there before there is something in it.
        is_running = (lambda: told.exists() and told.read_text()) if answer == "cancel" else None
        await _is_refused(window, None if is_running else "permission_denied", is_running)
        assert window.asked == []
        assert json.loads(told.read_text())["secrets"] == 1
        assert SECRET not in told.read_text()
