"""Chat as a file, in three kinds of editors: sent, streamed, stopped, branched, and all that helps writing it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from ollm_lsp.core.chat_file import Speaker, parse
from ollm_lsp.lsp import chat_check, live_text
from ollm_lsp.lsp.handlers import completion
from tests.support.chat_client import CLIENTS, FEATURES, chat_client
from tests.support.editor import Refused
from tests.support.fake_ollama import Say, Think, words
from tests.support.workspace_client import path_of

if TYPE_CHECKING:
    from pathlib import Path

    from ollm_lsp.lsp.protocol import ModelsListParams
    from tests.support.chat_client import ChatClient

QUESTION = "## You\n\nWhy?\n"


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for a client that never answers, nor for a user who types; a busy machine has time."""
    monkeypatch.setattr(live_text, "PATIENCE", 0.001)
    monkeypatch.setattr(chat_check, "DELAY", 0.001)
    monkeypatch.setattr(completion, "MODELS_TIME", 60.0)


def messages(client: ChatClient, uri: str) -> list[tuple[str, str]]:
    return [(message.speaker.value, message.text) for message in parse(client.text(uri)).messages]


async def finished(client: ChatClient, uri: str) -> None:
    """Until the heading for the next question is there."""
    await client.editor.until(lambda: client.text(uri).rstrip().endswith("## You"))


@pytest.mark.prop("lsp-1")
@pytest.mark.parametrize("kind", list(CLIENTS))
async def test_an_answer_comes_into_the_document_and_the_next_question_goes_on_from_it(
    kind: str, tmp_path: Path
) -> None:
    async with chat_client(tmp_path, kind, words("Because it is ## so."), [Say("Yes.")]) as client:
        uri = client.open("a.ollm.md", QUESTION)
        result = await client.send(uri)
        file = parse(client.text(uri))
        assert client.text(uri) == (
            f"---\nconversation: {result['conversationId']}\n---\n\n## You\n\nWhy?\n\n## Assistant\n\n"
            "Because it is ## so.\n\n## You\n\n\n"
        )
        assert file.value("conversation") == result["conversationId"]
        assert (result["finishReason"], result["text"]) == ("stop", "Because it is ## so.")
        client.type(uri, len(client.text(uri)) - 1, "Sure?")
        again = await client.send(uri)
        assert messages(client, uri) == [
            ("You", "Why?"),
            ("Assistant", "Because it is ## so."),
            ("You", "Sure?"),
            ("Assistant", "Yes."),
            ("You", ""),
        ]
        assert again["conversationId"] == result["conversationId"]
        assert client.asked()[1] == [("user", "Why?"), ("assistant", "Because it is ## so."), ("user", "Sure?")]
        kept = await client.editor.request("ollm/chat/get", {"conversationId": result["conversationId"]})
        assert [one["parentId"] for one in kept["responses"]] == [None, result["responseId"]]
        versions = [one["params"]["edit"] for one in client.editor.asked if one["method"] == "workspace/applyEdit"]
        assert all(("changes" if kind == "plain" else "documentChanges") in edit for edit in versions)


@pytest.mark.parametrize("kind", list(CLIENTS))
async def test_a_command_does_not_keep_the_editor_waiting_and_the_answer_can_be_stopped(
    kind: str, tmp_path: Path
) -> None:
    pace = asyncio.Semaphore(2)
    async with chat_client(tmp_path, kind, words("one two three four"), pace=pace) as client:
        uri = client.open("a.ollm.md", QUESTION)
        assert await client.run("ollm.chat.send", uri=uri) == {"uri": uri}
        await client.editor.until(lambda: "one two" in client.text(uri))
        heading = client.text(uri)[: client.text(uri).index("## Assistant")].count("\n")
        assert await client.lenses(uri) == [(heading, "Stop")]
        with pytest.raises(Refused) as refused:
            await client.run("ollm.chat.send", uri=uri)
        assert refused.value.data["code"] == "busy"
        await client.run("ollm.chat.stop", uri=uri)
        await finished(client, uri)
        assert messages(client, uri)[1] == ("Assistant", "one two")
        assert "one two\n\n> [!ollm] stopped\n\n## You" in client.text(uri)
        assert (heading, "Retry") in await client.lenses(uri)


@pytest.mark.parametrize("way", ["button", "request"])
async def test_the_cancel_button_and_a_withdrawn_request_stop_the_answer_too(way: str, tmp_path: Path) -> None:
    pace = asyncio.Semaphore(1)
    async with chat_client(tmp_path, "rich", words("one two three four"), pace=pace) as client:
        uri = client.open("a.ollm.md", QUESTION)
        params = {"command": "ollm.chat.send", "arguments": [{"uri": uri, "workDoneToken": "work"}]}
        number, request = client.editor.start_request("workspace/executeCommand", params)
        await client.editor.until(lambda: "one" in client.text(uri))
        if way == "button":
            client.editor.notify("window/workDoneProgress/cancel", {"token": "work"})
            assert (await request)["finishReason"] == "cancelled"
        else:
            client.editor.notify("$/cancelRequest", {"id": number})
            with pytest.raises(Refused) as refused:
                await request
            assert refused.value.code == -32800
        await finished(client, uri)
        assert "one\n\n> [!ollm] stopped\n\n## You" in client.text(uri)


@pytest.mark.threat("F22")
@pytest.mark.parametrize("how", ["edit", "close"])
@pytest.mark.parametrize("kind", list(CLIENTS))
async def test_whoever_edits_the_answer_or_closes_the_document_stops_it(kind: str, how: str, tmp_path: Path) -> None:
    pace = asyncio.Semaphore(2)
    async with chat_client(tmp_path, kind, words("one two three four"), pace=pace) as client:
        uri = client.open("a.ollm.md", QUESTION)
        await client.run("ollm.chat.send", uri=uri)
        await client.editor.until(lambda: "one two" in client.text(uri))
        if how == "edit":
            client.type(uri, client.text(uri).index("two"), "and ")
        else:
            client.close(uri)
        (told,) = await client.editor.until(lambda: client.editor.notified("window/showMessage"))
        assert told["message"].startswith("ollm: The answer was stopped. ")
        before = client.text(uri) if how == "edit" else ""
        for _ in range(8):
            pace.release()
        await client.editor.request("ollm/chat/list", {})
        if how == "edit":
            assert client.text(uri) == before
            assert "one and two\n" in before
            assert (await client.send(uri, line=before.count("\n", 0, before.index("Why"))))["text"]


async def test_an_earlier_message_that_was_edited_and_sent_again_begins_a_branch(tmp_path: Path) -> None:
    answers = [[Say("first")], [Say("second")], [Say("other")], [Say("last")]]
    async with chat_client(tmp_path, "helix", *answers) as client:
        uri = client.open("a.ollm.md", QUESTION)
        first = await client.send(uri)
        client.type(uri, len(client.text(uri)) - 1, "And?")
        await client.send(uri)
        client.type(uri, client.text(uri).index("Why"), "How", erase=3)
        line = client.text(uri)[: client.text(uri).index("How")].count("\n")
        await client.run(**await action(client, uri, line))
        await finished(client, uri)
        assert messages(client, uri) == [("You", "How?"), ("Assistant", "other"), ("You", "")]
        assert client.asked()[2] == [("user", "How?")]
        client.type(uri, client.text(uri).index("other"), "an")
        client.type(uri, len(client.text(uri)) - 1, "More?")
        await client.send(uri)
        assert client.asked()[3] == [("user", "How?"), ("assistant", "another"), ("user", "More?")]
        kept = await client.editor.request("ollm/chat/get", {"conversationId": first["conversationId"]})
        assert [(one["text"], one["parentId"] is None) for one in kept["responses"]] == [
            ("Why?", True),
            ("And?", False),
            ("How?", True),
            ("How?", True),
            ("More?", False),
        ]


async def action(client: ChatClient, uri: str, line: int) -> dict[str, Any]:
    command = (await client.actions(uri, line))["Send this message again"]
    return {"command": command["command"], **command["arguments"][0]}


async def test_a_copy_and_a_file_of_another_machine_go_on_with_what_they_say(tmp_path: Path) -> None:
    pace = asyncio.Semaphore(100)
    async with chat_client(tmp_path, "rich", [Say("Because.")], [Say("one"), Say(" two")], pace=pace) as client:
        uri = client.open("a.ollm.md", QUESTION)
        first = await client.send(uri)
        copy = client.open("copy.ollm.md", client.text(uri).rstrip() + "\n\nAnd here?\n")
        foreign = client.open("c.ollm.md", client.text(copy).replace(first["conversationId"], "0" * 32))
        client.type(uri, len(client.text(uri)) - 1, "And there?")
        pace._value = 1
        await client.run("ollm.chat.send", uri=uri)
        await client.editor.until(lambda: "one" in client.text(uri))
        await client.run("ollm.chat.send", uri=copy)
        await finished(client, copy)
        assert "> [!ollm] error busy: " in client.text(copy)
        for _ in range(9):
            pace.release()
        elsewhere = await client.send(foreign)
        await finished(client, uri)
        assert messages(client, uri)[3] == messages(client, foreign)[3] == ("Assistant", "one two")
        assert elsewhere["conversationId"] != first["conversationId"]
        assert parse(client.text(foreign)).value("conversation") == elsewhere["conversationId"]
        assert client.asked()[-1] == [("user", "Why?"), ("assistant", "Because."), ("user", "And here?")]
        assert (await client.send(copy, line=parse(client.text(copy)).messages[2].line))["text"] == "one two"
        kept = await client.editor.request("ollm/chat/get", {"conversationId": first["conversationId"]})
        assert [one["parentId"] for one in kept["responses"]] == [None, first["responseId"], first["responseId"]]


async def test_a_failure_stands_in_the_document_and_is_not_sent_later(tmp_path: Path) -> None:
    async with chat_client(tmp_path, "helix", [Think("Hm.\nWell."), Say("Yes.")]) as client:
        uri = client.open("a.ollm.md", "---\nmodel: ollama:missing\n---\n" + QUESTION)
        with pytest.raises(Refused) as refused:
            await client.send(uri)
        assert refused.value.data["code"] == "model_not_found"
        assert "\n\n## Assistant\n\n> [!ollm] error model_not_found: " in client.text(uri)
        client.type(uri, client.text(uri).index("missing"), "smollm2:135m", erase=len("missing"))
        client.type(uri, len(client.text(uri)) - 1, "Well?")
        await client.send(uri)
        assert client.asked()[-1] == [("user", "Well?")]
        assert "## Assistant\n\n> [!ollm] thinking\n> Hm.\n> Well.\n\nYes.\n" in client.text(uri)
        folds = await client.editor.request("textDocument/foldingRange", {"textDocument": {"uri": uri}})
        lines = client.text(uri).split("\n")
        notes = [lines[fold["startLine"] : fold["endLine"] + 1] for fold in folds if fold["kind"] == "comment"]
        assert notes == [["> [!ollm] thinking", "> Hm.", "> Well."]]
        regions: list[str] = [lines[fold["startLine"]] for fold in folds if fold["kind"] == "region"]
        assert regions == ["## You", "## Assistant", "## You", "## Assistant"]
        symbols = await client.editor.request("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
        assert [(one["name"], one["detail"]) for one in symbols] == [
            ("You", "Why?"),
            ("Assistant", ""),
            ("You", "Well?"),
            ("Assistant", "Yes."),
            ("You", ""),
        ]


async def test_what_cannot_be_sent_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    async with chat_client(tmp_path, "helix", [Say("no")]) as client:
        empty = client.open("a.ollm.md", "## You\n\n\n")
        code = client.open("a.py", "x = 1\n")
        for uri, words_ in ((empty, "no question"), (code, "nothing to send"), ("untitled:z.ollm.md", "not open")):
            with pytest.raises(Refused, match=words_):
                await client.send(uri)
        assert client.edits == []
        assert client.fake.bodies() == []
        assert await client.lenses(empty) == await client.lenses(code) == []
        assert not set(await client.actions(code, 0)) & {"Send", "Retry", "Stop"}
        assert await client.complete(code) is None


async def test_an_editor_that_names_no_document_sends_the_chat_that_was_used_last(tmp_path: Path) -> None:
    async with chat_client(tmp_path, "helix", [Say("Because.")]) as client:
        other, uri = (client.open(name, QUESTION) for name in ("other.ollm.md", "a.ollm.md"))
        assert await client.run("ollm.chat.send") == {"uri": uri}
        await finished(client, uri)
        assert messages(client, uri)[1] == ("Assistant", "Because.")
        assert client.text(other) == QUESTION
        client.open("a.py", "x = 1\n")
        with pytest.raises(Refused, match="nothing to send"):
            await client.run("ollm.chat.send")


async def test_a_text_can_be_sent_by_the_same_command(tmp_path: Path) -> None:
    async with chat_client(tmp_path, "rich", [Say("Yes.")]) as client:
        result = await client.run("ollm.chat.send", text="Why?")
        assert result["text"] == "Yes."
        (shown,) = [one["params"] for one in client.editor.asked if one["method"] == "window/showDocument"]
        text = path_of(shown["uri"]).read_text()
        assert text.endswith("## You\n\nWhy?\n\n## Assistant\n\nYes.\n\n## You\n\n\n"), "one can ask on"
        assert f"conversation: {result['conversationId']}" in text
        assert client.initialized["capabilities"]["workspace"]["textDocumentContent"] == {"schemes": ["ollm"]}


@pytest.mark.parametrize("kind", ["helix", "plain"])
async def test_the_context_is_shown_as_a_document_or_as_a_message(kind: str, tmp_path: Path) -> None:
    async with chat_client(tmp_path, kind, [Say("Yes.")]) as client:
        result = await client.run("ollm.context.show", text="Why?")
        assert result["totalTokens"] > 0
        shown = [one["params"]["uri"] for one in client.editor.asked if one["method"] == "window/showDocument"]
        told = [one["message"] for one in client.editor.notified("window/showMessage")]
        (text,) = [path_of(uri).read_text() for uri in shown] if kind == "helix" else told
        assert "Why?" in text


async def test_texts_of_the_server_are_virtual_documents_where_the_client_has_them(tmp_path: Path) -> None:
    async with chat_client(tmp_path, "rich", [Say("Yes.")]) as client:
        await client.run("ollm.context.show", text="Why?")
        (shown,) = [one["params"]["uri"] for one in client.editor.asked if one["method"] == "window/showDocument"]
        assert shown.startswith("ollm:/shown/1/")
        content = await client.editor.request("workspace/textDocumentContent", {"uri": shown})
        assert "Why?" in content["text"]
        with pytest.raises(Refused, match="no longer kept"):
            await client.editor.request("workspace/textDocumentContent", {"uri": "ollm:/shown/9/x.md"})


@pytest.mark.parametrize("kind", list(CLIENTS))
async def test_a_chat_is_opened_with_a_selection_or_from_a_kept_conversation(kind: str, tmp_path: Path) -> None:
    async with chat_client(tmp_path, kind, [Think("Hm."), Say("Yes.\n## You")]) as client:
        code = client.open((client.folder / "my code.py").as_uri(), "a = 1\nb = 2\n")
        where = {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}}
        made = await client.run("ollm.chat.open", uri=code, range=where, text="Why?", model="ollama:x")
        path = tmp_path / "state" / "chats" / made["uri"].rpartition("/")[2]
        assert path.as_uri() == made["uri"]
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.read_text() == (
            '---\nmodel: ollama:x\n---\n\n## You\n\n#file:"my%20code.py"\n\n```python\nb = 2\n```\n\nWhy?\n'
        ).replace("%20", " ").replace("python", "plaintext")
        if kind == "plain":
            assert str(path) in client.editor.notified("window/showMessage")[-1]["message"]
        else:
            shown = [one["params"] for one in client.editor.asked if one["method"] == "window/showDocument"]
            end = {"line": path.read_text().count("\n") - 1, "character": 0}
            assert shown == [{"uri": made["uri"], "takeFocus": True, "selection": {"start": end, "end": end}}]
        sent = await client.editor.request("ollm/chat/send", {"text": "Really?"})
        made = await client.run("ollm.chat.open", conversationId=sent["conversationId"])
        text = (tmp_path / "state" / "chats" / made["uri"].rpartition("/")[2]).read_text()
        assert text == (
            f"---\nconversation: {sent['conversationId']}\n---\n\n## You\n\nReally?\n\n## Assistant\n\n"
            "> [!ollm] thinking\n> Hm.\n\nYes.\n\\## You\n\n## You\n\n\n"
        )
        client.close(code)
        uri = client.open("again.ollm.md", text + "And?")
        assert (await client.send(uri))["conversationId"] == sent["conversationId"]
        assert client.asked()[-1] == [("user", "Really?"), ("assistant", "Yes.\n## You"), ("user", "And?")]
        with pytest.raises(Refused, match="There is no conversation"):
            await client.run("ollm.chat.open", conversationId="none")


async def test_completion_knows_commands_mentions_files_and_models(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "other.py").write_text("")
    (tmp_path / "work" / ".env").write_text("")
    async with chat_client(tmp_path, "rich", [Say("no")]) as client:

        async def offered(text: str) -> list[str]:
            uri = client.open("a.ollm.md", text)
            return await client.complete(uri) or []

        client.open((client.folder / "unsaved.py").as_uri(), "")
        assert {"/help", "/kraken", "/k"} <= set(await offered("## You\n\n/he"))
        assert await offered("## You\n\ntext\n/he") == await offered("## Assistant\n\n/he") == []
        assert await offered("## You\n\nsee #") == [
            f"see {name}" for name in ("#buffer", "#selection", "#diagnostics", "#file:")
        ]
        assert await offered("## You\n\n𝄞 #file:") == ["𝄞 #file:unsaved.py", "𝄞 #file:other.py"]
        assert await offered("## You\n\n#file:oth") == ["#file:unsaved.py", "#file:other.py"]
        assert "/model ollama:smollm2:135m" in await offered("## You\n\n/model oll")
        assert await offered("---\nmodel: ") == []
        uri = client.open("b.ollm.md", "---\nmodel: \n---\n")
        params = {"textDocument": {"uri": uri}, "position": {"line": 1, "character": 7}}
        found = await client.editor.request("textDocument/completion", params)
        assert "ollama:smollm2:135m" in [item["label"] for item in found["items"]]


async def test_a_provider_that_does_not_answer_keeps_no_models_of_others_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def listed(_session: Any, params: ModelsListParams) -> dict[str, Any]:
        if params.provider != "embedded":
            raise TimeoutError
        return {"models": [{"id": "embedded:smollm2", "default": False}]}

    monkeypatch.setattr(completion, "list_models", listed)
    async with chat_client(tmp_path, "rich", [Say("Yes.")]) as client:
        uri = client.open("a.ollm.md", "## You\n\n/model ")
        assert await client.complete(uri) == ["/model ollama:smollm2:135m", "/model embedded:smollm2"]


async def test_an_unknown_model_command_or_file_is_marked_before_it_is_sent(tmp_path: Path) -> None:
    async with chat_client(tmp_path, "helix", [Say("no")]) as client:
        text = "---\nmodel: olama:x\n---\n\n## You\n\n/hlp #file:missing.py and #file:there.py é\n"
        (client.folder / "there.py").write_text("")
        uri = client.open("a.ollm.md", text)

        def marked() -> list[tuple[str, str]]:
            newest = {
                one["uri"]: one["diagnostics"] for one in client.editor.notified("textDocument/publishDiagnostics")
            }
            lines = client.text(uri).split("\n") if uri in client.buffers else []
            return [
                (
                    lines[one["range"]["start"]["line"]][
                        slice(*(one["range"][side]["character"] for side in ("start", "end")))
                    ],
                    one["message"],
                )
                for one in newest.get(uri, [])
            ]

        await client.editor.until(marked)
        assert [place for place, _ in marked()] == ["olama:x", "/hlp", "#file:missing.py"]
        assert "There is no provider olama." in marked()[0][1]
        assert "/help" in marked()[1][1]
        client.type(uri, 0, "---\nmodel: ollama:x\n---\n\n## You\n\nfine\n", erase=len(text))
        await client.editor.until(lambda: not marked())


@pytest.mark.parametrize("kind", list(CLIENTS))
async def test_features_are_registered_for_chat_documents_alone_where_that_can_be(kind: str, tmp_path: Path) -> None:
    async with chat_client(tmp_path, kind, [Say("no")]) as client:
        static = {f"{feature}Provider" for feature in FEATURES} & client.initialized["capabilities"].keys()
        if kind == "rich":
            await client.editor.until(lambda: client.editor.asked)
            (asked,) = [one for one in client.editor.asked if one["method"] == "client/registerCapability"]
            registered = {one["method"]: one["registerOptions"] for one in asked["params"]["registrations"]}
            assert set(registered) == {f"textDocument/{feature}" for feature in FEATURES}
            assert all(one["documentSelector"] == [{"pattern": "**/*.ollm.md"}] for one in registered.values())
            assert static == set()
        else:
            assert len(static) == len(FEATURES)
            assert not [one for one in client.editor.asked if one["method"] == "client/registerCapability"]


async def test_a_chat_document_is_no_context_and_mentions_speak_of_the_document_before_it(tmp_path: Path) -> None:
    async with chat_client(tmp_path, "helix", [Say("Yes.")]) as client:
        client.open((client.folder / "a.py").as_uri(), "x = 1\n")
        client.open("other.ollm.md", "## You\n\nsecret\n")
        uri = client.open("a.ollm.md", "## You\n\nWhat is in #buffer?\n")
        await client.send(uri)
        ((_, sent),) = client.asked()[0]
        assert "x = 1" in sent
        assert "## You" not in sent
        assert "secret" not in sent
        assert Speaker.ASSISTANT.heading in client.text(uri)


@pytest.mark.parametrize("typed", ["/explain", "What is #selection?"])
async def test_an_order_and_a_mention_in_a_chat_document_are_about_what_was_selected_before(
    typed: str, tmp_path: Path
) -> None:
    async with chat_client(tmp_path, "helix", [Say("Yes.")]) as client:
        code = client.open((client.folder / "a.py").as_uri(), "x = 1\ny = 2\nz = 3\n")
        client.open((client.folder / "b.py").as_uri(), "other = 4\n")
        uri = client.open("a.ollm.md", f"## You\n\n{typed}\n")
        client.open((tmp_path / "state" / "shown" / "1.ollm-text.md").as_uri(), "what was shown")
        where = {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}}
        none: list[Any] = []
        params = {"textDocument": {"uri": code}, "range": where, "context": {"diagnostics": none}}
        await client.editor.request("textDocument/codeAction", params)
        await client.send(uri)
        ((_, sent),) = client.asked()[0]
        assert "a.py (selection from line 2):\n```plaintext\ny = 2\n```" in sent
        assert "nothing is selected" not in client.text(uri)
        client.type(code, 0, "# changed\n")
        client.type(uri, len(client.text(uri)), typed)
        await client.send(uri)
        assert "(selection" not in client.asked()[1][-1][1], "it is not known where that is by now"


async def test_a_model_chosen_by_an_order_goes_over_the_one_that_the_document_names(tmp_path: Path) -> None:
    async with chat_client(tmp_path, "helix", [Say("Yes.")]) as client:
        uri = client.open("a.ollm.md", "---\nmodel: embedded:smollm2\n---\n\n## You\n\n/model\n")
        await client.send(uri)
        assert parse(client.text(uri)).value("model") == "embedded:smollm2", "it was only asked for"
        client.type(uri, len(client.text(uri)), "/model ollama:smollm2:135m")
        await client.send(uri)
        assert parse(client.text(uri)).value("model") == "ollama:smollm2:135m"
        client.type(uri, len(client.text(uri)), "Why?")
        assert (await client.send(uri))["model"] == "ollama:smollm2:135m"


async def test_a_preview_of_the_first_question_does_not_go_on_from_the_last_answer(tmp_path: Path) -> None:
    async with chat_client(tmp_path, "helix", [Say("Yes.")]) as client:
        uri = client.open("a.ollm.md", QUESTION)
        await client.send(uri)
        client.type(uri, client.text(uri).index("Why?"), "/context why?", erase=4)
        told = await client.send(uri, line=5)
        assert "| question |" in told["text"]
        assert "| history |" not in told["text"]
