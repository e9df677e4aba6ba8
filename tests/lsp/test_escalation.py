"""Escalation over LSP: the local model fails, the user is asked, an external one answers, the local one goes on."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.editor import Refused
from tests.support.fake_vendors import ANSWER
from tests.support.kraken import kraken_window

if TYPE_CHECKING:
    from pathlib import Path

ON = "  autoEscalate: { enabled: true }"


def kinds(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events]


@pytest.mark.prop("krk-23")
@pytest.mark.prop("krk-30")
@pytest.mark.prop("krk-31")
async def test_a_local_failure_is_explained_consented_answered_elsewhere_and_comes_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with kraken_window(tmp_path, monkeypatch, ON) as window:
        window.local.says = [500, "Back home."]
        result = await window.editor.chat("Why?", token="e")
        assert result["model"] == "big:claude-x"
        assert ANSWER in result["text"]
        events = window.events("e")
        escalation = next(event for event in events if event["type"] == "escalation")
        assert (escalation["provider"], escalation["model"]) == ("big", "claude-x")
        assert escalation["reason"].startswith("The local model failed:")
        started = [event for event in events if event["type"] == "started"]
        assert [event["provider"] for event in started] == ["local", "big"]
        assert started[-1]["responseId"] == result["responseId"]
        assert kinds(events).index("escalation") < kinds(events).index("text")
        assert kinds(events)[-1] == "finished"
        assert "error" not in kinds(events)
        (question,) = window.asked
        assert "The local model failed:" in question["detail"]
        assert "The local model failed:" in window.sent[0]
        await window.editor.chat("And now?", conversationId=result["conversationId"])
        said = [message["content"] for message in window.local.histories[-1]]
        assert any(ANSWER in text for text in said)
        assert sum("Why?" in text for text in said) == 1


@pytest.mark.prop("krk-32")
@pytest.mark.parametrize(
    "more",
    [
        "",
        "  autoEscalate: { enabled: false }",
        "  autoEscalate: { enabled: true, triggerOn: [contextOverflow] }",
        "  autoEscalate: { enabled: true }\n  policies: { allowedProviders: [] }",
    ],
    ids=["unset", "off", "another reason", "nobody allowed"],
)
async def test_nothing_is_suggested_that_the_user_did_not_switch_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: str
) -> None:
    async with kraken_window(tmp_path, monkeypatch, more) as window:
        window.local.says = [500]
        with pytest.raises(Refused) as refused:
            await window.editor.chat("Why?", token="e")
        assert refused.value.data["code"] == "server_error"
        assert "escalation" not in kinds(window.events("e"))
        assert (window.asked, window.vendor.questions) == ([], [])


@pytest.mark.prop("krk-33")
async def test_a_no_hands_back_the_error_of_the_local_model_with_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with kraken_window(tmp_path, monkeypatch, ON, says=lambda _: "reject_once") as window:
        window.local.says = [500]
        with pytest.raises(Refused) as refused:
            await window.editor.chat("Why?", token="e")
        assert refused.value.data["code"] == "server_error"
        assert kinds(window.events("e"))[-4:] == ["escalation", "warning", "error", "finished"]
        assert window.vendor.questions == []


@pytest.mark.prop("krk-33")
async def test_a_provider_that_fails_is_followed_by_the_next_and_then_by_the_first_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with kraken_window(tmp_path, monkeypatch, ON) as window:
        config = tmp_path / "config.yaml"
        more = 'provider: anthropic, apiKey: "${VENDOR_KEY}", model: claude-y, maxRetries: 0'
        second = f'    zwei: {{ baseUrl: "{window.vendor.url}", {more} }}\n'
        config.write_text(config.read_text().replace("  prices:", f"{second}  prices:"))

        async def refuse(request: Any, responder: Any) -> None:
            if request.method == "GET":
                await responder.json(200, {"data": []})
            else:
                await responder.json(500, {"type": "error", "error": {"type": "api_error", "message": "Overloaded."}})

        window.vendor.handler = refuse
        window.local.says = [503]
        with pytest.raises(Refused) as refused:
            await window.editor.chat("Why?", token="e")
        assert refused.value.message.endswith("answered 503: It broke.")
        tried = [event["provider"] for event in window.events("e") if event["type"] == "escalation"]
        assert tried == ["big", "zwei"]
        assert [line["success"] for line in await window.history()] == [False, False]


@pytest.mark.prop("krk-30")
@pytest.mark.parametrize("said", ["", "No no no. " * 40], ids=["nothing", "the same for ever"])
async def test_an_answer_that_is_none_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    async with kraken_window(tmp_path, monkeypatch, ON) as window:
        window.local.says = [said]
        assert (await window.editor.chat("Why?"))["model"] == "big:claude-x"


@pytest.mark.prop("krk-30")
async def test_on_a_branch_the_failed_answer_is_told_and_the_release_follows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with kraken_window(tmp_path, monkeypatch, ON) as window:
        window.local.says = ["Yes.", "No no no. " * 40]
        first = await window.editor.chat("Why?")
        place = {"conversationId": first["conversationId"], "parentId": first["responseId"]}
        await window.editor.chat("Sure?", **place)
        assert "No no no." in window.sent[0]
        kept = await window.editor.request("ollm/chat/get", {"conversationId": first["conversationId"]})
        ids = [one["id"] for one in kept["responses"]]
        assert [one["parentId"] for one in kept["responses"]] == [None, *ids[:2]]


@pytest.mark.prop("krk-30")
async def test_the_users_own_words_ask_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with kraken_window(tmp_path, monkeypatch, ON) as window:
        assert (await window.editor.chat("Why? Release the Kraken!"))["model"] == "big:claude-x"
        assert window.local.histories == []


@pytest.mark.prop("krk-30")
async def test_what_the_local_model_cannot_read_is_offered_to_one_that_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with kraken_window(tmp_path, monkeypatch, ON) as window:
        result = await window.editor.chat("word " * 9_000, token="e")
        assert result["model"] == "big:claude-x"
        escalation = next(event for event in window.events("e") if event["type"] == "escalation")
        assert escalation["reason"].startswith("The local model cannot read that much:")


@pytest.mark.prop("krk-35")
@pytest.mark.prop("krk-36")
@pytest.mark.prop("krk-37")
async def test_hooks_are_told_of_each_step_and_one_that_fails_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "hooks.log"
    code = f"import sys; open({str(log)!r}, 'a').write(sys.stdin.read() + chr(10))"
    tell = json.dumps({"command": [sys.executable, "-c", code]})
    fail = json.dumps({"command": [sys.executable, "-c", "raise SystemExit(3)"]})
    moments = ("kraken_escalate", "before_kraken", "after_kraken")
    hooks = ", ".join(f"{moment}: [{fail}, {tell}]" for moment in moments)
    async with kraken_window(tmp_path, monkeypatch, f"{ON}\n  hooks: {{ {hooks} }}") as window:
        window.local.says = [500]
        await window.editor.chat("My secret question")
        told = [json.loads(line) for line in log.read_text().splitlines()]
        assert [one["event"] for one in told] == list(moments)
        assert told[1]["provider"] == "big"
        assert (told[2]["success"], told[2]["costMicros"]) == (True, 1642)
        assert "My secret question" not in log.read_text()


async def test_a_hook_can_forbid_an_escalation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    no = json.dumps({"command": [sys.executable, "-c", "print('false')"]})
    async with kraken_window(tmp_path, monkeypatch, f"{ON}\n  hooks: {{ kraken_escalate: [{no}] }}") as window:
        window.local.says = [500]
        with pytest.raises(Refused) as refused:
            await window.editor.chat("Why?", token="e")
        assert refused.value.data["code"] == "server_error"
        assert (window.asked, window.vendor.questions) == ([], [])
