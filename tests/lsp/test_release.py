"""A release over LSP: with the user's yes the vendor answers in the conversation, and without it nothing leaves."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

import pytest

from ollm_lsp.core.compaction import Compactor
from ollm_lsp.core.errors import ServerFailed, UnreadableFile
from ollm_lsp.core.events import Finished, FinishReason, TextDelta
from ollm_lsp.core.messages import Message
from ollm_lsp.core.model import ModelId
from ollm_lsp.core.tokens import estimate
from ollm_lsp.lsp.release_matters import said
from tests.support.agents import RecordedStage, Scene
from tests.support.editor import Refused, environment
from tests.support.fake_vendors import ANSWER
from tests.support.kraken import ASKING, kraken_window
from tests.support.near_server import near_editor
from tests.support.scripted_provider import ScriptedProvider

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "sk-" + "proj-abcdefghijklmnopqrstT3BlbkFJabcd"
TWO = """
    other: { provider: anthropic, baseUrl: "http://127.0.0.1:9", apiKey: "${VENDOR_KEY}", model: claude-y }
"""


@pytest.mark.prop("krk-22")
@pytest.mark.prop("krk-46")
@pytest.mark.prop("krk-47")
async def test_a_release_is_asked_for_streamed_paid_and_goes_on_locally(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with kraken_window(tmp_path, monkeypatch) as window:
        window.local.says = ["Local words.", "Back home."]
        first = await window.editor.chat("What is this?")
        place = {"conversationId": first["conversationId"]}
        result = await window.release("Why does it fail?", **place)
        assert (result["provider"], result["model"]) == ("big", "big:claude-x")
        head, _, rest = result["text"].partition("\n\n")
        assert head == "**big** · claude-x"
        assert rest.startswith(ANSWER)
        assert "1,600 tokens read, 42 written · $0.001642 ·" in rest
        events = window.events()
        assert "".join(event["text"] for event in events if event["type"] == "text") == result["text"]
        assert (events[-1], events[0]["provider"]) == ({"type": "finished", "reason": "stop"}, "big")
        (question,) = window.asked
        assert question["title"] == "Release the Kraken: big (claude-x)"
        assert question["estimate"]["cost"]["amount"] > 0.008
        assert "of your budget are left" in question["detail"]
        (sent,) = window.sent
        assert "Why does it fail?" in sent
        assert "Local words." in sent
        (line,) = await window.history()
        assert (line["provider"], line["model"], line["success"]) == ("big", "claude-x", True)
        assert line["conversationId"] == first["conversationId"]
        status = await window.editor.request("ollm/kraken/status", {})
        assert (status["state"], status["budget"]["spent"]) == ("ready", pytest.approx(0.001642))
        await window.editor.chat("And now?", **place)
        said = [message["content"] for message in window.local.histories[-1]]
        assert any("Why does it fail?" in text for text in said)
        assert any(ANSWER in text for text in said)


async def _ends(window: Any, code: str, **params: Any) -> Refused:
    """A release that is refused: nothing went out, no line was written, and the conversation is as it was."""
    first = await window.editor.chat("What is this?")
    place = {"conversationId": first["conversationId"]}
    before = await window.editor.request("ollm/chat/get", place)
    with pytest.raises(Refused) as refused:
        await window.release(**place, **params)
    assert refused.value.data["code"] == code
    assert await window.editor.request("ollm/chat/get", place) == before
    assert window.vendor.questions == []
    assert await window.history() == []
    assert [event["type"] for event in window.events()][-2:] == ["error", "finished"]
    await window.editor.chat("And now?", **place)
    assert "Think hard." not in str(window.local.histories[-1])
    return refused.value


HOOK = "  hooks: {{ before_kraken: [{{ command: [{python}, -c, 'print(\"false\")'] }}] }}"


@pytest.mark.threat("T6")
@pytest.mark.prop("krk-24")
@pytest.mark.prop("krk-26")
@pytest.mark.prop("krk-34")
@pytest.mark.prop("krk-46")
@pytest.mark.parametrize(
    ("more", "params", "code"),
    [
        ("", {"provider": "nobody"}, "settings"),
        ("  policies: { allowedProviders: [someone] }", {}, "settings"),
        ("  maxCostPerSession: 0.001", {}, "budget_exceeded"),
        ("  maxCostPerRequest: 0.001", {}, "budget_exceeded"),
        (HOOK.format(python=sys.executable), {}, "permission_denied"),
    ],
    ids=["unknown provider", "not allowed", "session's budget", "request's budget", "hook"],
)
async def test_no_at_any_step_sends_nothing_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: str, params: dict[str, Any], code: str
) -> None:
    async with kraken_window(tmp_path, monkeypatch, more) as window:
        await _ends(window, code, **params)
        assert window.asked == []


@pytest.mark.threat("T6")
@pytest.mark.prop("krk-46")
@pytest.mark.parametrize("option", ["reject_once", "allow_session", "nonsense", ""])
async def test_whatever_is_not_a_yes_of_the_user_is_a_no(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    async with kraken_window(tmp_path, monkeypatch, says=lambda _: option) as window:
        await _ends(window, "permission_denied")
        assert len(window.asked) == 1


@pytest.mark.prop("krk-46")
async def test_a_client_that_cannot_ask_gets_no_release_and_is_told_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with kraken_window(tmp_path, monkeypatch, capabilities={"experimental": {}}) as window:
        window.editor.answer["window/showMessageRequest"] = lambda _: {"error": {"code": -32601, "message": "no"}}
        refused = await _ends(window, "permission_denied")
        assert "confirmBeforeRelease" in refused.data["remedy"]
        window.editor.answer["window/showMessageRequest"] = lambda _: {"result": {"title": "Allow once"}}
        assert ANSWER in (await window.release())["text"], "eglot does not announce that it can ask, and can"


@pytest.mark.threat("T7")
@pytest.mark.prop("krk-46")
async def test_a_yes_for_good_stands_for_this_provider_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with kraken_window(tmp_path, monkeypatch, says=lambda _: "allow_always") as window:
        await window.release(provider="big")
        await window.release(provider="big")
        assert len(window.asked) == 1
        assert len(window.vendor.questions) == 2
        config = tmp_path / "config.yaml"
        config.write_text(config.read_text().replace("model: claude-x", "model: claude-y"))
        await window.release(provider="big")
        assert len(window.asked) == 2


async def test_without_the_wish_to_be_asked_nobody_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with kraken_window(tmp_path, monkeypatch, "  policies: { confirmBeforeRelease: false }") as window:
        await window.release()
        assert window.asked == []
        assert len(window.vendor.questions) == 1


@pytest.mark.prop("krk-18")
@pytest.mark.parametrize(("choice", "is_sent"), [("big", True), ("None of them", False), ("other", False)])
async def test_without_a_name_the_user_picks_in_the_editor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, choice: str, is_sent: bool
) -> None:
    async with kraken_window(tmp_path, monkeypatch, capabilities=ASKING) as window:
        config = tmp_path / "config.yaml"
        text = config.read_text()
        third = TWO.replace("other", "third").replace("http://127.0.0.1:9", window.vendor.url)
        config.write_text(text.replace("  prices:", f"{TWO}{third}  prices:"))

        def answer(params: dict[str, Any]) -> dict[str, Any]:
            titles = [action["title"] for action in params["actions"]]
            wanted = choice if "big" in titles else "Allow once"
            return {"result": {"title": wanted}}

        window.editor.answer["window/showMessageRequest"] = answer
        if is_sent:
            assert (await window.release())["provider"] == choice
        else:
            with pytest.raises(Refused):
                await window.release()
            assert window.vendor.questions == []
        picking = window.asked[0]
        assert [action["title"] for action in picking["actions"]] == ["None of them", "big", "third"]
        assert "other: not available." in picking["message"]


@pytest.mark.prop("krk-42")
async def test_secrets_leave_as_placeholders_and_come_back_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with kraken_window(tmp_path, monkeypatch) as window:
        uri = (window.folder / "app.py").as_uri()
        window.editor.open(uri, f'client = Client("{SECRET}")\n')
        await window.release("Look.", context={"uri": uri})
        (sent,) = window.sent
        assert SECRET not in sent
        assert 'Client(\\"⟦S1⟧\\")' in sent
        assert "OpenAI key" in window.asked[0]["detail"]
        assert SECRET not in str(window.asked)
        assert any(event.get("code") == "secrets_masked" for event in window.events())


@pytest.mark.prop("krk-20")
@pytest.mark.prop("krk-21")
async def test_a_briefing_has_the_open_buffers_with_what_is_not_saved_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with kraken_window(tmp_path, monkeypatch) as window:
        file = window.folder / "app.py"
        file.write_text("old = 1\nsame = 2\n")
        window.editor.open(file.as_uri(), "new = 1\nsame = 2\n")
        window.editor.open((window.folder / ".env").as_uri(), "NAME=of-the-secret\n")
        await window.release("Look.", context={"uri": file.as_uri()})
        (sent,) = window.sent
        assert "new = 1\\nsame = 2" in sent
        assert "-old = 1\\n+new = 1" in sent
        assert "of-the-secret" not in sent
        assert "Shared: your prompt, app.py, app.py (unsaved changes) (" in window.asked[0]["detail"]


@pytest.mark.prop("krk-24")
async def test_without_inheritance_only_the_prompt_travels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with kraken_window(tmp_path, monkeypatch) as window:
        first = await window.editor.chat("Something private.")
        window.editor.open((window.folder / "app.py").as_uri(), "private = True\n")
        await window.release("Only this.", conversationId=first["conversationId"], inheritContext=False)
        (request,) = window.vendor.questions
        (message,) = request.json["messages"]
        assert "Only this." in str(message)
        assert "private" not in str(message).lower()


@pytest.mark.prop("krk-28")
@pytest.mark.prop("krk-48")
async def test_the_status_is_told_while_it_is_released_and_when_the_money_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with kraken_window(tmp_path, monkeypatch, "  maxCostPerSession: 0.02") as window:
        told = window.editor.notifications

        def states() -> list[str]:
            return [params["kraken"] for method, params in told if method == "ollm/status"]

        await window.editor.until(lambda: "ready" in states())
        await window.release()
        await window.editor.until(lambda: "active" in states() and states()[-1] == "ready")
        last = [params for method, params in told if method == "ollm/status"][-1]
        assert (last["spent"], last["budget"]) == (pytest.approx(0.001642), 0.02)
        config = tmp_path / "config.yaml"

        def save(text: str) -> None:
            config.write_text(text)
            window.editor.notify("textDocument/didSave", {"textDocument": {"uri": config.as_uri()}})

        save(config.read_text().replace("maxCostPerSession: 0.02", "maxCostPerSession: 0.001642"))
        await window.editor.until(lambda: states()[-1] == "over_budget")
        assert (await window.editor.request("ollm/kraken/status", {}))["state"] == "over_budget"
        save(config.read_text().partition("kraken:")[0])
        await window.editor.until(lambda: states()[-1] == "none")


@pytest.mark.threat("T29")
@pytest.mark.prop("krk-27")
async def test_of_32_parallel_releases_the_budget_lets_three_go_and_is_never_overdrawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = "  maxCostPerSession: 0.033\n  policies: { confirmBeforeRelease: false }"
    async with kraken_window(tmp_path, monkeypatch, more) as window:
        gate, answer = asyncio.Event(), window.vendor.handler

        async def wait(request: Any, responder: Any) -> None:
            if request.method == "POST":
                await gate.wait()
            await answer(request, responder)

        window.vendor.handler = wait
        releases = [
            asyncio.ensure_future(window.release(f"Number {number}", token=f"t{number}", tools=False))
            for number in range(32)
        ]
        running: set[asyncio.Future[Any]] = set(releases)
        while len(window.vendor.questions) < len(running):
            done, running = await asyncio.wait(running, timeout=0.02, return_when=asyncio.FIRST_COMPLETED)
            refused = [error for one in done if isinstance(error := one.exception(), Refused)]
            codes = {error.data["code"] for error in refused}
            assert codes <= {"budget_exceeded"}
        assert len(running) == 3
        held = (await window.editor.request("ollm/kraken/status", {}))["budget"]
        assert 0.033 - 0.0115 < held["reserved"] <= 0.033
        gate.set()
        await asyncio.gather(*running)
        budget = (await window.editor.request("ollm/kraken/status", {}))["budget"]
        assert (budget["spent"], budget["reserved"]) == (pytest.approx(3 * 0.001642), 0)


@pytest.mark.prop("krk-25")
async def test_a_budget_that_an_unknown_price_exceeds_tells_how_to_make_it_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "stage").mkdir()
    stage = RecordedStage("gemini", tmp_path / "stage")
    stage.prepare(Scene.ANSWER)
    more = "  cliProviders: { gemini: { tool: gemini, defaultModel: made-up } }"
    environ = {"PATH": stage.environment["PATH"], "GEMINI_API_KEY": "dummy"}
    async with kraken_window(tmp_path, monkeypatch, more, environ=environ) as window:
        refused = await _ends(window, "budget_exceeded", provider="gemini")
        assert "The price of made-up is not known" in refused.data["remedy"]
        assert "kraken.prices" in refused.data["remedy"]


@pytest.mark.prop("krk-47")
async def test_a_prompt_behind_each_of_its_names_is_a_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with kraken_window(tmp_path, monkeypatch) as window:
        for name in ("kraken", "k", "release"):
            result = await window.editor.chat(f"/{name} Think hard.", token=name)
            assert result["model"] == "big:claude-x"
            assert result["text"].startswith("**big** · claude-x")
        assert all("Think hard." in sent and "/k" not in sent for sent in window.sent)


@pytest.mark.prop("krk-18")
async def test_the_first_word_behind_the_order_may_be_the_name_of_a_provider(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with kraken_window(tmp_path, monkeypatch) as window:
        await window.editor.chat("/kraken big things are hard", token="a")
        assert "things are hard" in window.sent[0]
        assert "big things" not in window.sent[0]
        await window.editor.chat("/kraken big", token="b")
        assert "# The task" not in window.sent[1]
        assert '"text": "big"' in window.sent[1]


async def test_the_command_releases_on_a_selection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with kraken_window(tmp_path, monkeypatch) as window:
        uri = (window.folder / "app.py").as_uri()
        window.editor.open(uri, "first = 1\nsecond = 2\n")
        where = {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}}
        argument = {"uri": uri, "range": where}
        result = await window.editor.request(
            "workspace/executeCommand", {"command": "ollm.kraken.release", "arguments": [argument]}
        )
        assert result["provider"] == "big"
        assert "Look at the selected code" in window.sent[0]
        assert "second = 2" in window.sent[0]


@pytest.mark.threat("T1")
@pytest.mark.prop("krk-40")
async def test_a_hostile_workspace_releases_nothing_and_moves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with kraken_window(tmp_path, monkeypatch, says=lambda _: "reject_once") as window:
        evil = window.folder / ".ollm" / "config.yaml"
        evil.parent.mkdir()
        evil.write_text(
            'model: "big:claude-x"\n'
            "kraken:\n"
            "  enabled: true\n"
            "  defaultProvider: big\n"
            "  maxCostPerSession: 1000\n"
            "  policies: { confirmBeforeRelease: false, maskSecrets: false }\n"
            f'  hooks: {{ after_kraken: [{{ command: [{sys.executable}, -c, \'open("{tmp_path}/x", "w")\'] }}] }}\n'
            f'  apiProviders: {{ big: {{ provider: anthropic, baseUrl: "{window.local.url}", model: evil }} }}\n'
        )
        await window.editor.chat("Hello")
        with pytest.raises(Refused):
            await window.release()
        assert len(window.asked) == 1
        assert "claude-x" in window.asked[0]["title"]
        assert window.vendor.questions == []
        assert not (tmp_path / "x").exists()
        assert all("kraken" not in str(request.headers) for request in window.local.requests)
        assert all("key-of-the-vendor" not in str(request.headers) for request in window.local.requests)


@pytest.mark.threat("T16")
@pytest.mark.prop("krk-1")
@pytest.mark.parametrize("is_trusted", [True, False])
async def test_an_agent_is_released_where_its_workspace_is_trusted_and_its_plan_pays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_trusted: bool
) -> None:
    (tmp_path / "stage").mkdir()
    stage = RecordedStage("claude", tmp_path / "stage")
    stage.prepare(Scene.ANSWER)
    more = "  defaultProvider: claude\n  cliProviders: { claude: { tool: claude, defaultModel: sonnet } }"
    capabilities = {"experimental": {"ollm": {"permission": True, "trusted": is_trusted}}}
    environ = {"PATH": stage.environment["PATH"], "ANTHROPIC_API_KEY": ""}
    async with kraken_window(tmp_path, monkeypatch, more, capabilities=capabilities, environ=environ) as window:
        if not is_trusted:
            with pytest.raises(Refused) as refused:
                await window.release("Look around.")
            assert refused.value.data["code"] == "unsupported"
            assert stage.received == ""
            return
        result = await window.release("Look around.")
        assert result["model"] == "claude:sonnet"
        assert result["text"].startswith("**claude** · sonnet\n\n")
        assert "covered by your plan" in result["text"]
        assert "Look around." in stage.received
        assert "It may read the files of this workspace" in window.asked[0]["detail"]
        assert "- Cost: covered by your plan" in window.asked[0]["detail"]
        (line,) = await window.history()
        assert (line["kind"], line["cost"]["amount"], line["success"]) == ("plan", 0, True)
        assert window.vendor.questions == []


@pytest.mark.prop("krk-23")
async def test_when_nothing_can_be_passed_on_the_task_travels_with_a_word_about_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise UnreadableFile("The disk is gone.", remedy="Find it.")

    monkeypatch.setattr("ollm_lsp.lsp.release_work.pieces_of", fail)
    async with kraken_window(tmp_path, monkeypatch) as window:
        await window.release("Think anyway.")
        assert "# The task\\n\\nThink anyway." in window.sent[0]
        assert "could not be passed on" in window.sent[0]
        warning = next(event for event in window.events() if event.get("code") == "briefing")
        assert "The disk is gone." in warning["message"]


@pytest.mark.prop("krk-21")
async def test_a_long_conversation_is_summarised_here_and_else_its_newest_messages_are_told() -> None:
    history = tuple(Message.user(f"message number {number} of many") for number in range(400))
    model = ModelId("local", "m")
    able = ScriptedProvider(TextDelta("They counted."), Finished(FinishReason.STOP))
    told = await said(history, Compactor(able, model, 60), 600)
    assert "They counted." in told[0].text
    assert estimate(told) <= 600
    unable = ScriptedProvider(ServerFailed("It broke.", remedy="Wait."))
    told = await said(history, Compactor(unable, model, 60), 600)
    assert told[-1] == history[-1]
    assert estimate(told) <= 600
    assert await said(history, None, 600) == history


async def test_who_has_nothing_set_up_is_told_what_to_do_first(tmp_path: Path) -> None:
    async with near_editor(environment(tmp_path)) as editor:
        await editor.initialize()
        text = (await editor.chat("/kraken"))["text"]
        assert text.startswith("No external provider is set up")
        assert "/kraken config" in text
        assert (await editor.request("ollm/kraken/status", {}))["state"] == "none"


async def test_a_conversation_that_does_not_return_stays_with_its_provider_until_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with kraken_window(tmp_path, monkeypatch) as window:
        first = await window.release("One.", returnToLocal=False)
        place = {"conversationId": first["conversationId"]}
        assert (await window.editor.chat("Two.", **place))["model"] == "big:claude-x"
        assert len(window.asked) == 2
        assert window.local.histories == []
        await window.editor.chat("/model local:m", **place)
        assert (await window.editor.chat("Three.", **place))["model"] == "local:m"
        assert (await window.editor.chat("Somewhere else."))["model"] == "local:m"


async def test_a_release_that_fails_is_told_and_has_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with kraken_window(tmp_path, monkeypatch) as window:

        async def refuse(request: Any, responder: Any) -> None:
            if request.method == "GET":
                await responder.json(200, {"data": []})
            else:
                await responder.json(500, {"type": "error", "error": {"type": "api_error", "message": "Overloaded."}})

        window.vendor.handler = refuse
        with pytest.raises(Refused) as refused:
            await window.release()
        assert refused.value.data["code"] == "server_error"
        (line,) = await window.history()
        assert (line["success"], line["error"]) == (False, "server_error")
