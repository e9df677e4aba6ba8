"""Every way not to say yes, on every rung of the permission ladder: nothing is changed, no question stays behind."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from ollm_lsp.lsp import desk
from ollm_lsp.lsp.permission import EditorOfSession
from tests.support.editor import Refused
from tests.support.fake_ollama import Call
from tests.support.near_server import near_editor
from tests.support.tool_task import CHANGED, FILES, TASK, UNSAVED, Model, window
from tests.support.workspace_client import CLIENTS, HELIX, PLAIN, RICH, WorkspaceClient, path_of

if TYPE_CHECKING:
    from pathlib import Path

QUESTIONS = {
    "rich": "ollm/permission",
    "confirming": "workspace/applyEdit",
    "helix": "window/showMessageRequest",
    "plain": "textDocument/publishDiagnostics",
}
SAME = {**FILES, "a.py": UNSAVED + FILES["a.py"]}
near = partial(window, start=near_editor)


def silence(client: WorkspaceClient, *methods: str) -> None:
    """The client does not answer these any more."""
    for method in methods or QUESTIONS.values():
        client.editor.answer.pop(method, None)


async def question(client: WorkspaceClient, kind: str, number: int = 1) -> dict[str, Any]:
    """The question, once so many were asked."""
    method = QUESTIONS[kind]
    if kind == "plain":
        await client.editor.until(client.hints)
        return {}

    def asked() -> list[dict[str, Any]]:
        return [message for message in client.editor.asked if message["method"] == method]

    await client.editor.until(lambda: len(asked()) >= number)
    return asked()[number - 1]


def say(client: WorkspaceClient, asked: dict[str, Any], result: Any) -> None:
    client.editor.send({"jsonrpc": "2.0", "id": asked["id"], "result": result})


def is_withdrawn(client: WorkspaceClient, asked: dict[str, Any]) -> bool:
    if not asked:
        return client.hints() == []
    return {"id": asked["id"]} in client.editor.notified("$/cancelRequest")


@pytest.mark.threat("T6", "F36")
@pytest.mark.prop("lsp-4")
@pytest.mark.parametrize("kind", list(CLIENTS))
async def test_who_does_not_answer_in_time_says_no(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk, "EditorOfSession", partial(EditorOfSession, answer_time=0.01))
    model = Model(TASK)
    async with near(tmp_path, CLIENTS[kind], model) as client:
        silence(client)
        result = await client.editor.chat("Do it.")
        assert result["text"] == "done"
        for number in range(1, len(TASK) + 1):
            assert is_withdrawn(client, await question(client, kind, number) if kind != "plain" else {})
        assert client.files() == SAME
        assert client.applied == []
        assert len(model.results) == len(TASK)
        assert all("nothing was changed" in told.lower() for told in model.results), model.results


@pytest.mark.threat("T6", "F35")
@pytest.mark.prop("lsp-4")
@pytest.mark.parametrize("kind", list(CLIENTS))
@pytest.mark.parametrize("way", ["request", "button"])
async def test_cancelling_a_chat_withdraws_its_question(kind: str, way: str, tmp_path: Path) -> None:
    async with near(tmp_path, CLIENTS[kind], Model(TASK)) as client:
        silence(client)
        params = {"text": "Do it.", "workDoneToken": "work", "partialResultToken": "events"}
        number, chat = client.editor.start_request("ollm/chat/send", params)
        asked = await question(client, kind)
        if way == "request":
            client.editor.notify("$/cancelRequest", {"id": number})
            with pytest.raises(Refused) as refused:
                await chat
            assert refused.value.code == -32800
        else:
            client.editor.notify("window/workDoneProgress/cancel", {"token": "work"})
            assert (await chat)["finishReason"] == "cancelled"
        assert is_withdrawn(client, asked)
        if kind == "rich":
            assert asked["params"]["id"] == asked["id"], "so that a client knows which question is withdrawn"
        assert client.editor.progress["events"][-1] == {"type": "finished", "reason": "cancelled"}
        if asked:
            # A yes that comes too late is none.
            late = {"applied": True} if kind == "confirming" else {"optionId": "allow_once", "title": "Allow once"}
            say(client, asked, late)
        await client.editor.request("ollm/chat/list", {})
        assert client.files() == SAME
        assert client.applied == []


@pytest.mark.threat("T6")
@pytest.mark.prop("lsp-4")
@pytest.mark.parametrize("kind", list(CLIENTS))
async def test_a_client_that_leaves_in_the_middle_of_a_question_changes_nothing(kind: str, tmp_path: Path) -> None:
    async with near(tmp_path, CLIENTS[kind], Model(TASK)) as client:
        silence(client)
        client.editor.start_request("ollm/chat/send", {"text": "Do it."})
        await question(client, kind)
        await client.editor.close()
        assert client.files() == SAME
        assert client.applied == []


ANSWERS: list[Any] = [
    None,
    {},
    [],
    "allow_once",
    True,
    1,
    {"optionId": None},
    {"optionId": True},
    {"optionId": ["allow_once"]},
    {"optionId": "ALLOW_ONCE"},
    {"optionId": "allow_once "},
    {"optionId": "Allow once"},
    {"optionid": "allow_once"},
    {"title": "allow_once"},
    {"title": "Allow"},
    {"title": None},
    {"applied": "true"},
    {"applied": 1},
]


@pytest.mark.threat("T6")
@pytest.mark.prop("lsp-4")
@pytest.mark.parametrize("kind", ["rich", "confirming", "helix"])
async def test_an_answer_that_is_not_exactly_a_yes_is_a_no(kind: str, tmp_path: Path) -> None:
    call = TASK[0]
    model = Model([Call(call.name, {**call.arguments, "path": "./" * n + "a.py"}) for n in range(len(ANSWERS))])
    async with near(tmp_path, CLIENTS[kind], model, "chat: {maxTurns: 100}\n") as client:
        answers = iter(ANSWERS)
        client.editor.answer[QUESTIONS[kind]] = lambda _: {"result": next(answers)}
        assert (await client.editor.chat("Do it."))["text"] == "done"
        assert list(answers) == [], "each was asked for"
        assert client.files() == SAME
        assert client.applied == []


@pytest.mark.threat("T6", "T8")
@pytest.mark.prop("lsp-4")
async def test_a_yes_that_was_not_offered_for_a_protected_file_is_a_no(tmp_path: Path) -> None:
    call = Call("create_file", {"path": ".vscode/settings.json", "content": "{}"})
    async with near(tmp_path, RICH, Model([call])) as client:
        client.decides = lambda _: "allow_always"
        await client.editor.chat("Do it.")
        (asked,) = client.editor.asked
        assert [option["id"] for option in asked["params"]["options"]] == ["allow_once", "reject_once"]
        assert client.files() == SAME


async def test_what_the_user_adds_to_a_no_reaches_the_model(tmp_path: Path) -> None:
    model = Model(TASK[:1])
    async with near(tmp_path, RICH, model) as client:
        answer = {"result": {"optionId": "reject_once", "feedback": "Not that way."}}
        client.editor.answer["ollm/permission"] = lambda _: answer
        await client.editor.chat("Do it.")
        assert "They say: Not that way." in model.results[0]


EDIT = [Call("edit_file", {"path": "a.py", "edits": [{"old": "    return a - b", "new": "    return a + b"}]})]


@pytest.mark.threat("T11", "F19", "F20")
@pytest.mark.prop("lsp-4")
@pytest.mark.parametrize("kind", ["rich", "helix"])
async def test_what_is_typed_elsewhere_meanwhile_is_kept_and_asked_about_anew(kind: str, tmp_path: Path) -> None:
    async with near(tmp_path, CLIENTS[kind], Model(EDIT)) as client:
        silence(client, QUESTIONS[kind])
        chat = asyncio.ensure_future(client.editor.chat("Do it."))
        yes = {"optionId": "allow_once", "title": "Allow once"}
        first = await question(client, kind)
        client.type("a.py", "# meanwhile\n")
        say(client, first, yes)
        second = await question(client, kind, 2)
        assert client.applied == [], "the first yes was for another text"
        if kind == "rich":
            assert second["params"]["changes"][0]["newText"].startswith("# meanwhile\n")
        say(client, second, yes)
        assert (await chat)["text"] == "done"
        assert client.files()["a.py"] == "# meanwhile\n" + UNSAVED + "def add(a, b):\n    return a + b\n"


@pytest.mark.threat("T11", "F19", "F23")
@pytest.mark.prop("lsp-4")
@pytest.mark.parametrize("where", ["buffer", "disk"])
async def test_what_is_changed_in_the_same_place_meanwhile_wins(where: str, tmp_path: Path) -> None:
    name = "a.py" if where == "buffer" else "sub/b.py"
    old = FILES[name].splitlines()[-1]
    model = Model([Call("edit_file", {"path": name, "edits": [{"old": old, "new": "model"}]})])
    async with near(tmp_path, RICH, model) as client:
        silence(client, "ollm/permission")
        chat = asyncio.ensure_future(client.editor.chat("Do it."))
        first = await question(client, "rich")
        if where == "buffer":
            client.replace(name, client.text(name).replace(old, "user"))
        else:
            (client.folder / name).write_text("print('old')\r\nuser\r\n", newline="")
        say(client, first, {"optionId": "allow_once"})
        assert (await chat)["text"] == "done"
        assert "Read the file again" in model.results[0]
        assert client.applied == []
        assert "user" in client.files()[name]


@pytest.mark.threat("T11", "F22")
@pytest.mark.parametrize("event", ["open", "close", "gone"])
async def test_a_file_that_is_opened_closed_or_lost_meanwhile_is_never_edited_as_it_was(
    event: str, tmp_path: Path
) -> None:
    name = "a.py" if event == "close" else "sub/b.py"
    old = FILES[name].splitlines()[-1]
    model = Model([Call("edit_file", {"path": name, "edits": [{"old": old, "new": "x"}]})])
    async with near(tmp_path, RICH, model) as client:
        silence(client, "ollm/permission")
        chat = asyncio.ensure_future(client.editor.chat("Do it."))
        first = await question(client, "rich")
        if event == "open":
            client.open(name)
            client.type(name, "# meanwhile\n")
        elif event == "close":
            client.close(name)  # and what was not saved is gone
        else:
            (client.folder / name).unlink()
        client.editor.answer["ollm/permission"] = lambda _: {"result": {"optionId": "allow_once"}}
        say(client, first, {"optionId": "allow_once"})
        assert (await chat)["text"] == "done"
        if event == "gone":
            assert client.applied == []
        else:
            new = "# meanwhile\n" if event == "open" else ""
            assert client.files()[name] == new + FILES[name].replace(old, "x")


TARGETS = {
    "create_file": ("sub/new.txt", {"path": "sub/new.txt", "content": "x"}),
    "rename_file": ("sub/new.txt", {"path": "old.txt", "new_path": "sub/new.txt"}),
}


@pytest.mark.threat("T11", "T14")
@pytest.mark.prop("lsp-4")
@pytest.mark.parametrize("tool", list(TARGETS))
@pytest.mark.parametrize("trick", ["something is there", "the folder is a link now"])
async def test_the_way_to_a_new_file_is_looked_at_again_after_the_yes(tool: str, trick: str, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    model = Model([Call(tool, TARGETS[tool][1])])
    async with near(tmp_path, RICH, model) as client:
        silence(client, "ollm/permission")
        chat = asyncio.ensure_future(client.editor.chat("Do it."))
        first = await question(client, "rich")
        if trick == "something is there":
            (client.folder / "sub/new.txt").write_text("mine")
        else:
            (client.folder / "sub").rename(client.folder / "aside")
            (client.folder / "sub").symlink_to(outside)
        say(client, first, {"optionId": "allow_once"})
        assert (await chat)["text"] == "done"
        assert client.applied == []
        assert list(outside.iterdir()) == []
        assert "nothing was changed" in model.results[0]


THREE = "\n".join(["one", *"abc", "two", *"def", "three", *"ghi"]) + "\n"
WORDS = ("one", "two", "three")
HUNKS = [Call("edit_file", {"path": "three.txt", "edits": [{"old": word, "new": word.upper()} for word in WORDS]})]


async def command(client: WorkspaceClient, name: str, **argument: Any) -> Any:
    params = {"command": f"ollm.proposal.{name}", "arguments": [argument]}
    return await client.editor.request("workspace/executeCommand", params)


@pytest.mark.threat("T11")
@pytest.mark.prop("lsp-4")
@pytest.mark.parametrize("accepted", [(), (0,), (1,), (2,), (0, 2), (0, 1, 2)])
async def test_exactly_the_accepted_hunks_are_applied(accepted: tuple[int, ...], tmp_path: Path) -> None:
    model = Model(HUNKS)
    async with near(tmp_path, PLAIN, model) as client:
        (client.folder / "three.txt").write_text(THREE)
        chat = asyncio.ensure_future(client.editor.chat("Do it."))
        await client.editor.until(lambda: len(client.hints()) == 3)
        hints = [hint for _, hint in client.hints()]
        for number, hint in reversed(list(enumerate(hints))):
            verb = "accept" if number in accepted else "reject"
            context: dict[str, Any] = {"diagnostics": [hint]}
            uri = (client.folder / "three.txt").as_uri()
            params = {"textDocument": {"uri": uri}, "range": hint["range"], "context": context}
            actions = await client.editor.request("textDocument/codeAction", params)
            chosen = next(action["command"] for action in actions if action["title"].lower().startswith(verb))
            assert len(client.hints()) == number + 1
            await client.editor.request("workspace/executeCommand", chosen)
        assert (await chat)["text"] == "done"
        assert client.hints() == []
        expected = THREE
        for number, word in enumerate(WORDS):
            expected = expected.replace(word, word.upper()) if number in accepted else expected
        assert client.files()["three.txt"] == expected
        if 0 < len(accepted) < 3:
            assert "took only a part" in model.results[0]


NOT_OFFERED: list[Any] = [[], [{"uri": "file:///other"}], [{}], "all", [{"uri": "THREE", "newText": 7}], 7]


@pytest.mark.prop("lsp-4")
async def test_a_client_of_ours_may_take_a_part_of_a_proposal(tmp_path: Path) -> None:
    model = Model(HUNKS)
    async with near(tmp_path, RICH, model) as client:
        (client.folder / "three.txt").write_text(THREE)
        wanted = THREE.replace("two", "TWO")
        chosen = [{"uri": (client.folder / "three.txt").as_uri(), "newText": wanted}]
        answer = {"result": {"optionId": "allow_once", "changes": chosen}}
        client.editor.answer["ollm/permission"] = lambda _: answer
        await client.editor.chat("Do it.")
        assert client.files()["three.txt"] == wanted
        assert "took only a part" in model.results[0]


@pytest.mark.threat("T6")
@pytest.mark.prop("lsp-4")
@pytest.mark.parametrize("chosen", NOT_OFFERED)
async def test_a_part_that_was_not_proposed_is_a_no(chosen: Any, tmp_path: Path) -> None:
    async with near(tmp_path, RICH, Model(HUNKS)) as client:
        file = client.folder / "three.txt"
        file.write_text(THREE)
        if isinstance(chosen, list):
            chosen = json.loads(json.dumps(chosen).replace("THREE", file.as_uri()))
        answer = {"result": {"optionId": "allow_once", "changes": chosen}}
        client.editor.answer["ollm/permission"] = lambda _: answer
        await client.editor.chat("Do it.")
        assert file.read_text() == THREE
        assert client.applied == []


async def test_all_that_is_left_can_be_accepted_at_once_and_shown_before(tmp_path: Path) -> None:
    async with near(tmp_path, PLAIN, Model(HUNKS)) as client:
        (client.folder / "three.txt").write_text(THREE)
        chat = asyncio.ensure_future(client.editor.chat("Do it."))
        await client.editor.until(lambda: len(client.hints()) == 3)
        data = client.hints()[1][1]["data"]
        await command(client, "reject", **data)
        shown = await command(client, "show", id=data["id"])
        assert "-three\n" in shown["detail"]
        assert "+THREE\n" in shown["detail"]
        assert any("+THREE" in told["message"] for told in client.editor.notified("window/showMessage"))
        await command(client, "accept", id=data["id"])
        await chat
        assert client.files()["three.txt"] == THREE.replace("one", "ONE").replace("three", "THREE")


NOBODY: list[dict[str, Any]] = [{}, {"id": "nobody"}, {"id": None}, {"id": 7}]


@pytest.mark.parametrize("kind", ["rich", "helix", "plain"])
@pytest.mark.parametrize("name", ["accept", "reject", "show", "revert"])
async def test_a_command_about_no_proposal_is_refused_in_words_that_are_shown(
    name: str, kind: str, tmp_path: Path
) -> None:
    async with near(tmp_path, CLIENTS[kind], Model([])) as client:
        for argument in NOBODY:
            with pytest.raises(Refused) as refused:
                await command(client, name, **argument)
            assert refused.value.data["code"] in {"unsupported", "invalid_params"}
            assert refused.value.message in client.editor.notified("window/showMessage")[-1]["message"]


@pytest.mark.prop("lsp-4")
@pytest.mark.parametrize("hunk", [3, -1, "0", True, 0.0, [0], {}])
async def test_a_hunk_that_is_not_there_decides_nothing(hunk: Any, tmp_path: Path) -> None:
    async with near(tmp_path, PLAIN, Model(HUNKS)) as client:
        (client.folder / "three.txt").write_text(THREE)
        chat = asyncio.ensure_future(client.editor.chat("Do it."))
        await client.editor.until(lambda: len(client.hints()) == 3)
        proposal_id = client.hints()[0][1]["data"]["id"]
        with pytest.raises(Refused):
            await command(client, "accept", id=proposal_id, hunk=hunk)
        assert len(client.hints()) == 3
        await command(client, "reject", id=proposal_id)
        await chat
        assert client.files()["three.txt"] == THREE


@pytest.mark.threat("T10")
@pytest.mark.prop("lsp-4")
async def test_who_cannot_be_asked_is_shown_the_whole_text_of_a_new_file(tmp_path: Path) -> None:
    text = "".join(f"line {number}\n" for number in range(500)) + "\u202eevil\n"
    model = Model([Call("create_file", {"path": "new.txt", "content": text})])
    async with near(tmp_path, PLAIN, model) as client:
        chat = asyncio.ensure_future(client.editor.chat("Do it."))
        await client.decide_pending()
        await chat
        shown = client.editor.notified("window/showMessage")[0]["message"]
        assert all(f"+line {number}\n" in shown for number in range(500))
        assert "⟨U+202E⟩evil" in shown
        assert client.files()["new.txt"] == text


@pytest.mark.threat("T6")
@pytest.mark.prop("lsp-4")
async def test_the_choice_of_a_message_that_a_stray_enter_takes_is_a_no(tmp_path: Path) -> None:
    async with near(tmp_path, HELIX, Model(TASK)) as client:
        client.editor.answer["window/showMessageRequest"] = lambda params: {"result": params["actions"][0]}
        assert (await client.editor.chat("Do it."))["text"] == "done"
        assert client.files() == SAME
        assert client.applied == []


@pytest.mark.threat("T10")
async def test_a_long_question_is_opened_as_a_document_that_holds_all_of_it(tmp_path: Path) -> None:
    text = "".join(f"line {number}\n" for number in range(500))
    model = Model([Call("create_file", {"path": "new.txt", "content": text})])
    async with near(tmp_path, HELIX, model) as client:
        opened: list[str] = []

        def show(params: dict[str, Any]) -> dict[str, Any]:
            opened.append(params["uri"])
            return {"result": {"success": True}}

        client.editor.answer["window/showDocument"] = show
        await client.editor.chat("Do it.")
        (uri,) = opened
        assert all(f"+line {number}\n" in path_of(uri).read_text() for number in range(500))
        assert client.files()["new.txt"] == text


async def test_an_editor_that_makes_the_edit_and_never_says_so_is_believed_by_its_deeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk, "EditorOfSession", partial(EditorOfSession, apply_time=1.0))
    model = Model([TASK[0], TASK[2], TASK[4]])
    async with near(tmp_path, RICH, model) as client:
        does = client.editor.answer["workspace/applyEdit"]

        def silently(params: dict[str, Any]) -> dict[str, Any]:
            does(params)
            return {"method": "window/neverAnswered"}  # a request that the server refuses, and no answer to its own

        client.editor.answer["workspace/applyEdit"] = silently
        assert (await client.editor.chat("Do it."))["text"] == "done"
        assert not any("not" in told.split(".")[0] for told in model.results), model.results


@pytest.mark.parametrize(
    "answer", [{"applied": False}, {"applied": False, "failedChange": 0, "failureReason": "read-only"}, None, 7]
)
async def test_an_editor_that_fails_changes_nothing_and_the_model_is_told_why(answer: Any, tmp_path: Path) -> None:
    model = Model(TASK)
    async with near(tmp_path, RICH, model) as client:
        client.editor.answer["workspace/applyEdit"] = lambda _: {"result": answer}
        assert (await client.editor.chat("Do it."))["text"] == "done"
        assert client.files() == SAME
        assert all("Nothing was changed" in told for told in model.results), model.results
        if isinstance(answer, dict) and "failureReason" in answer:
            assert all("read-only" in told for told in model.results)


@pytest.mark.threat("F19")
async def test_an_editor_that_says_it_made_an_edit_and_did_not_is_not_believed(tmp_path: Path) -> None:
    model = Model(TASK)
    async with near(tmp_path, RICH, model, opens=False) as client:
        client.editor.answer["workspace/applyEdit"] = lambda _: {"result": {"applied": True}}
        assert (await client.editor.chat("Do it."))["text"] == "done"
        assert all("said" in told for told in model.results), model.results


@pytest.mark.threat("F27")
async def test_a_file_that_was_created_but_not_filled_is_told_as_it_is(tmp_path: Path) -> None:
    model = Model([TASK[2]])
    async with near(tmp_path, RICH, model) as client:

        def half(_: dict[str, Any]) -> dict[str, Any]:
            (client.folder / "c.py").touch()
            return {"result": {"applied": False, "failedChange": 1, "failureReason": "disk full"}}

        client.editor.answer["workspace/applyEdit"] = half
        await client.editor.chat("Do it.")
        assert "disk full" in model.results[0]
        assert "is there now, but not with the text" in model.results[0]


BARE: dict[str, Any] = {
    "no document changes": {"workspace": {"applyEdit": True}, "experimental": {"ollm": {"permission": True}}},
    "no operations": {
        "workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}},
        "experimental": {"ollm": {"permission": True}},
    },
}


@pytest.mark.threat("F36")
@pytest.mark.prop("lsp-4")
@pytest.mark.parametrize("kind", list(BARE))
async def test_a_client_gets_only_the_edits_that_it_knows(kind: str, tmp_path: Path) -> None:
    model = Model(TASK)
    async with near(tmp_path, BARE[kind], model) as client:
        assert (await client.editor.chat("Do it."))["text"] == "done"
        assert client.files() == {**FILES, "a.py": CHANGED["a.py"], "sub/b.py": CHANGED["sub/b.py"]}
        assert len(client.applied) == 2
        assert all(("changes" in edit) == (kind == "no document changes") for edit in client.applied)
        assert all("Nothing was changed" in told for told in model.results[2:]), model.results


@pytest.mark.threat("T7")
async def test_an_answer_that_stands_for_one_call_of_a_reading_tool_does_not_stand_for_another(tmp_path: Path) -> None:
    calls = [Call("read_file", {"path": path}) for path in ("a.py", "a.py", "sub/b.py")]
    async with near(tmp_path, RICH, Model(calls), "tools: {permissions: {read_file: ask}}\n") as client:
        client.decides = lambda _: "allow_always"
        assert (await client.editor.chat("Do it."))["text"] == "done"
        assert [shown.splitlines()[0] for shown in client.asked] == ["Read a.py", "Read sub/b.py"]


@pytest.mark.threat("T7")
async def test_an_answer_that_stands_for_a_file_does_not_stand_for_its_namesake_in_another_folder(
    tmp_path: Path,
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.py").write_text("x = 1\n")
    edits = [[{"old": old, "new": "pass"}] for old in ("    return a - b", "x = 1")]
    paths = ("work/a.py", "other/a.py")
    calls = [Call("edit_file", {"path": path, "edits": edit}) for path, edit in zip(paths, edits, strict=True)]
    async with near(tmp_path, RICH, Model(calls)) as client:
        added = [{"uri": other.as_uri(), "name": "other"}]
        client.editor.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": added, "removed": []}})
        client.decides = lambda title: "allow_always" if "work" in title else "reject_once"
        assert (await client.editor.chat("Do it."))["text"] == "done"
        assert [shown.splitlines()[0] for shown in client.asked] == ["Edit work/a.py", "Edit other/a.py"]
        assert (other / "a.py").read_text() == "x = 1\n"
