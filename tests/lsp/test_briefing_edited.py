"""The briefing is the user's to change before it is sent: masked again, counted again, and refused when in doubt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.editor import Refused
from tests.support.kraken import kraken_window

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.kraken import KrakenWindow

    Change = Callable[[str], Any]

SECRET = "sk-" + "proj-abcdefghijklmnopqrstT3BlbkFJabcd"
OTHER = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"


def edits(window: KrakenWindow, change: Change) -> None:
    """The user says yes, with the briefing as this makes it."""

    def answer(params: dict[str, Any]) -> dict[str, Any]:
        return {"result": {"optionId": "allow_once", "briefing": change(params["briefing"])}}

    window.editor.answer["ollm/permission"] = answer


@pytest.mark.prop("krk-19")
@pytest.mark.prop("krk-46")
async def test_what_the_user_made_of_the_briefing_is_what_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with kraken_window(tmp_path, monkeypatch) as window:
        uri = (window.folder / "app.py").as_uri()
        window.editor.open(uri, f'private = 1\nclient = Client("{SECRET}")\n')
        edits(window, lambda briefing: briefing.replace("private = 1", f'public = 2  # token "{OTHER}"'))
        result = await window.release("Look.", context={"uri": uri})
        (question,) = window.asked
        assert "private = 1" in question["briefing"]
        assert question["briefing"] in question["detail"]
        (sent,) = window.sent
        assert "public = 2" in sent
        assert "private" not in sent
        assert 'Client(\\"⟦S1⟧\\")' in sent, "the placeholder that the user saw stands for the secret again"
        assert SECRET not in sent
        assert OTHER not in sent, "what the user wrote is looked through as well"
        told = [event for event in window.events() if event.get("code") == "secrets_masked"]
        assert len(told) == 2
        stored = await window.editor.request("ollm/chat/get", {"conversationId": result["conversationId"]})
        assert stored["responses"][0]["text"] == "Look."


@pytest.mark.prop("krk-26")
@pytest.mark.prop("krk-46")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("  \n", "permission_denied"),
        (7, "permission_denied"),
        (["x"], "permission_denied"),
        ("x" * 40_000, "budget_exceeded"),
        ("x" * 4_000_000, "context_overflow"),
    ],
    ids=["empty", "number", "list", "too dear", "too long"],
)
async def test_a_briefing_that_cannot_be_sent_ends_the_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: Any, code: str
) -> None:
    async with kraken_window(tmp_path, monkeypatch, "  maxCostPerSession: 0.033") as window:
        edits(window, lambda _: text)
        with pytest.raises(Refused) as refused:
            await window.release("Look.", tools=False)
        assert refused.value.data["code"] == code
        assert window.sent == []
        assert await window.history() == []


@pytest.mark.prop("krk-34")
async def test_a_hook_hears_of_the_briefing_that_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hook = tmp_path / "hook"
    hook.write_text('#!/bin/sh\ncase "$(cat)" in *"what you made"*) echo false;; esac\n')
    hook.chmod(0o755)
    more = f"  hooks: {{ before_kraken: [{{ command: ['{hook}'] }}] }}"
    async with kraken_window(tmp_path, monkeypatch, more) as window:
        edits(window, lambda briefing: briefing)
        await window.release("Look.")
        assert len(window.sent) == 1, "a briefing that is given back as it was is not edited"
        edits(window, lambda briefing: f"{briefing}!")
        with pytest.raises(Refused) as refused:
            await window.release("Look.")
        assert refused.value.data["code"] == "permission_denied"
        assert len(window.sent) == 1
