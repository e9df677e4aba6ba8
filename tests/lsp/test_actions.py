"""The commands behind the code actions, with every kind of client."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.acting import ADD, ANSWER, CODE, CURSOR, FIXED, PROBLEM, acting
from tests.support.editor import Refused
from tests.support.fake_ollama import Done, Say
from tests.support.workspace_client import CLIENTS, HELIX, PLAIN, RICH, path_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.acting import Window
    from tests.support.fake_ollama import Step

TESTS = "def test_add():\n    assert Sums().add(1, 2) == 3\n"
EDITS = {
    "ollm.fix": {"diagnostics": [PROBLEM]},
    "ollm.refactor": {},
    "ollm.document": {},
    "ollm.edit": {"text": "add them"},
    "ollm.action": {"name": "Swap"},
}
TASKS = {
    "ollm.fix": "- it does not add (in the line `return a - b`)",
    "ollm.refactor": "Refactor this python code",
    "ollm.document": "Add documentation comments to this python code",
    "ollm.edit": "Change this python code as follows: add them",
    "ollm.action": "Swap the sign in sums.py.",
}
OWN = "actions: {custom: [{title: Swap, prompt: 'Swap the sign in {file}.', kind: edit}]}\n"


async def settled(window: Window, kind: str, command: str, **argument: Any) -> Any:
    """The result of a command, after its user has decided."""
    running = asyncio.ensure_future(window.command(command, **argument))
    if kind == "plain":
        await window.client.decide_pending()
    return await running


@pytest.mark.parametrize("kind", list(CLIENTS))
async def test_an_edit_is_proposed_and_made_with_a_yes(kind: str, tmp_path: Path) -> None:
    async with acting(tmp_path, CLIENTS[kind], settings=OWN) as window:
        for number, (command, argument) in enumerate(EDITS.items(), 1):
            result = await settled(window, kind, command, **argument)
            assert result["applied"] is True
            assert result["text"] == ANSWER
            assert "reason" not in result
            assert window.text == FIXED
            assert len(window.client.asked) == number, "it was asked for"
            asked = window.model.asked[-1]
            code, _, task = asked.rpartition("```")
            assert code.endswith("```python\ndef add(self, a, b):\n    return a - b\n"), "without its indentation"
            assert TASKS[command] in task
            said = [value["kind"] for value in window.client.editor.progress.pop("work")]
            assert (said[0], said[-1]) == ("begin", "end")
            assert ("ollm: It subtracted." in window.shown()) == (kind != "rich")
            window.client.replace("sums.py", CODE)


@pytest.mark.parametrize(
    ("lines", "block"),
    [
        ([6, 6], "def add(self, a, b):\n    return a - b\n"),
        ([6], "def add(self, a, b):\n    return a - b\n"),
        ([4, 6], "class Sums:\n    def add(self, a, b):\n        return a - b\n"),
        ([6, 4], "class Sums:\n    def add(self, a, b):\n        return a - b\n"),
        ([9, 99], "print(Sums().add(1, 2))\n"),
        ([0], "import os\n"),
        ([99], CODE),
    ],
)
async def test_lines_as_editors_number_them_are_a_place(lines: list[int], block: str, tmp_path: Path) -> None:
    async with acting(tmp_path, HELIX, "No code.") as window:
        await window.command("ollm.refactor", place=False, uri=window.uri, lines=lines)
        assert f"```python\n{block}```" in window.model.asked[-1]


@pytest.mark.parametrize("kind", list(CLIENTS))
async def test_an_edit_that_is_not_allowed_changes_nothing(kind: str, tmp_path: Path) -> None:
    async with acting(tmp_path, CLIENTS[kind]) as window:
        window.client.decides = lambda _: "reject_once"
        result = await settled(window, kind, "ollm.refactor")
        assert result["applied"] is False
        assert window.text == CODE
        assert window.client.applied == []


@pytest.mark.parametrize("kind", list(CLIENTS))
async def test_an_answer_is_the_result_and_is_shown_where_the_client_has_no_view(kind: str, tmp_path: Path) -> None:
    async with acting(tmp_path, CLIENTS[kind], "It subtracts.") as window:
        for number, command in enumerate(("ollm.explain", "ollm.ask"), 1):
            result = await window.command(command, text="Why minus?")
            assert result["text"] == "It subtracts."
            assert {"conversationId", "responseId", "usage", "cost", "finishReason"} <= set(result)
            asked = window.model.asked[-1]
            assert "    def add(self, a, b):\n        return a - b" in asked, "the selection is sent along"
            assert "Why minus?" in asked
            documents = [one for one in window.client.editor.asked if one["method"] == "window/showDocument"]
            assert len(documents) == (number if kind == "helix" else 0)
            told = [message for message in window.shown() if "It subtracts." in message]
            assert len(told) == (number if kind in {"plain", "confirming"} else 0)
        assert window.client.applied == []


@pytest.mark.parametrize("kind", list(CLIENTS))
async def test_tests_become_a_new_file_where_the_language_has_its_place(kind: str, tmp_path: Path) -> None:
    async with acting(tmp_path, CLIENTS[kind], f"```python\n{TESTS}```") as window:
        (window.client.folder / "tests").mkdir()
        result = await settled(window, kind, "ollm.tests")
        assert result["applied"] is True
        assert window.client.files() == {"sums.py": CODE, "tests/test_sums.py": TESTS}
        again = await window.command("ollm.tests")
        assert (again["applied"], again["reason"]) == (False, "tests/test_sums.py is there already.")
        assert len(window.client.applied) == 1


SAID: dict[str, tuple[str | list[Step], str]] = {
    "words": ("You should add.", "in words"),
    "cut": ([Say("```python\ndef add(self, a, b):\n    return a + b\n```"), Done("length")], "cut short"),
    "same": ("```python\ndef add(self, a, b):\n    return a - b\n```", "nothing to change"),
    "half": ("```python\ndef add(self, a, b):", "no end"),
}


@pytest.mark.parametrize("said", list(SAID))
async def test_an_answer_that_gives_no_change_is_shown_and_never_put_into_the_file(said: str, tmp_path: Path) -> None:
    says, why = SAID[said]
    async with acting(tmp_path, PLAIN, says) as window:
        result = await window.command("ollm.edit", text="add")
        assert result["applied"] is False
        assert why in result["reason"]
        assert window.text == CODE
        assert window.client.applied == []
        assert any(result["reason"] in told and result["text"] in told for told in window.shown())


@pytest.mark.threat("F20")
async def test_what_is_typed_elsewhere_meanwhile_stays_and_in_the_same_place_wins(tmp_path: Path) -> None:
    async with acting(tmp_path, RICH) as window:
        yes = window.client.editor.answer.pop("ollm/permission")
        running = asyncio.ensure_future(window.command("ollm.refactor"))

        def questions() -> list[dict[str, Any]]:
            return [one for one in window.client.editor.asked if one["method"] == "ollm/permission"]

        await window.client.editor.until(questions)
        window.client.type("sums.py", "# mine\n")
        window.client.editor.answer["ollm/permission"] = yes
        window.client.editor.send({"jsonrpc": "2.0", "id": questions()[0]["id"], **yes(questions()[0]["params"])})
        assert (await running)["applied"] is True
        assert len(questions()) == 2, "the first yes was for another text"
        assert window.text == "# mine\n" + FIXED

        window.client.replace("sums.py", CODE)
        del window.client.editor.answer["ollm/permission"]
        running = asyncio.ensure_future(window.command("ollm.refactor"))
        await window.client.editor.until(lambda: len(questions()) == 3)
        window.client.replace("sums.py", CODE.replace("a - b", "b - a"))
        window.client.editor.send({"jsonrpc": "2.0", "id": questions()[2]["id"], **yes(questions()[2]["params"])})
        result = await running
        assert (result["applied"], "same place" in result["reason"]) == (False, True)
        assert "b - a" in window.text


@pytest.mark.parametrize("way", ["request", "button"])
@pytest.mark.parametrize("when", ["answering", "asking"])
async def test_an_action_can_be_cancelled_while_it_is_answered_and_while_it_is_asked_about(
    way: str, when: str, tmp_path: Path
) -> None:
    async with acting(tmp_path, RICH) as window:
        del window.client.editor.answer["ollm/permission"]
        window.fake.pace = asyncio.Semaphore(0 if when == "answering" else 100)
        argument = {"uri": window.uri, "range": ADD}
        params = {"command": "ollm.refactor", "arguments": [argument], "workDoneToken": "work"}
        number, running = window.client.editor.start_request("workspace/executeCommand", params)
        asked = window.client.editor.asked
        await window.client.editor.until(
            (lambda: asked) if when == "asking" else (lambda: window.client.editor.progress["work"])
        )
        if when == "answering":
            while not window.model.asked:
                await asyncio.sleep(0.01)
        if way == "request":
            window.client.editor.notify("$/cancelRequest", {"id": number})
            with pytest.raises(Refused) as refused:
                await running
            assert refused.value.code == -32800
        else:
            window.client.editor.notify("window/workDoneProgress/cancel", {"token": "work"})
            assert (await running)["applied"] is False
        assert window.client.editor.progress["work"][-1]["kind"] == "end"
        assert window.text == CODE
        if when == "asking":
            assert {"id": asked[0]["id"]} in window.client.editor.notified("$/cancelRequest")


async def test_an_error_is_shown_with_its_remedy_and_is_the_error_of_the_request(tmp_path: Path) -> None:
    async with acting(tmp_path, PLAIN) as window:
        with pytest.raises(Refused) as refused:
            await window.command("ollm.explain", model="ollama:nobody")
        assert refused.value.data["code"] == "model_not_found"
        assert any(refused.value.message in told for told in window.shown())
        with pytest.raises(Refused, match="not open"):
            await window.command("ollm.explain", uri="file:///nowhere.py")
        with pytest.raises(Refused, match="no action"):
            await window.command("ollm.action", name="nothing")


@pytest.mark.threat("T26")
async def test_a_file_that_is_kept_from_models_is_refused(tmp_path: Path) -> None:
    async with acting(tmp_path, RICH, settings="context: {exclude: ['**/sums.py']}\n") as window:
        for command in ("ollm.explain", "ollm.refactor", "ollm.tests"):
            with pytest.raises(Refused, match="never shown to a model"):
                await window.command(command)
        assert window.model.asked == []


async def test_a_command_without_a_place_means_where_the_user_was_last(tmp_path: Path) -> None:
    async with acting(tmp_path, RICH) as window:
        result = await window.command("ollm.edit", place=False, text="add")
        assert window.model.asked[-1].startswith(f"```python\n{CODE}```"), "the whole document, when nothing is known"
        assert result["applied"] is False, "because that would lose the rest of it"
        await window.actions(CURSOR)
        window.client.editor.open("file:///a.ollm.md", "## You\n")
        window.client.editor.open("file:///state/shown/1.ollm-text.md", "what was shown")
        assert (await window.command("ollm.edit", place=False, text="add"))["applied"] is True
        assert window.text == FIXED


async def test_an_instruction_is_taken_from_a_comment_and_the_comment_goes(tmp_path: Path) -> None:
    for number, (before, after) in enumerate(
        (
            ("        # really add AI!\n        return a - b\n", "        return a + b\n"),
            ("        return a - b  # really add, AI!\n", "        return a + b\n"),
        )
    ):
        code, expected = CODE.replace("        return a - b\n", before), CODE.replace("        return a - b\n", after)
        (folder := tmp_path / str(number)).mkdir()
        async with acting(folder, RICH, code=code) as window:
            line = code.splitlines().index(next(one for one in code.splitlines() if "AI!" in one))
            where = {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 0}}
            (action,) = [one for one in await window.actions(where) if one["title"] == "ollm: Do: really add"]
            result = await window.client.editor.request("workspace/executeCommand", action["command"])
            assert result["applied"] is True
            assert "as follows: really add" in window.model.asked[0]
            assert "AI!" not in window.model.asked[0].rpartition("```python")[2]
            assert window.text == expected


async def test_a_comment_that_asks_is_answered_and_stays(tmp_path: Path) -> None:
    code = "# why is this so AI?\n" + CODE
    async with acting(tmp_path, RICH, "Nobody knows.", code=code) as window:
        where = {"start": {"line": 0, "character": 2}, "end": {"line": 0, "character": 2}}
        (action,) = [one for one in await window.actions(where) if one["title"].startswith("ollm: Answer:")]
        result = await window.client.editor.request("workspace/executeCommand", action["command"])
        assert result["text"] == "Nobody knows."
        assert "why is this so" in window.model.asked[0]
        assert window.text == code


async def test_who_cannot_write_an_instruction_chooses_one_or_is_told_how(tmp_path: Path) -> None:
    async with acting(tmp_path, HELIX) as window:
        client = window.client
        permission = client.editor.answer["window/showMessageRequest"]

        def choose(params: dict[str, Any]) -> dict[str, Any]:
            titles = [action["title"] for action in params["actions"]]
            return {"result": {"title": "Simplify it"}} if "Simplify it" in titles else permission(params)

        client.editor.answer["window/showMessageRequest"] = choose
        assert (await window.command("ollm.edit"))["applied"] is True
        assert "as follows: Simplify it" in window.model.asked[0]
        client.editor.answer["window/showMessageRequest"] = lambda _: {"error": {"code": 1, "message": "no"}}
        with pytest.raises(Refused) as refused:
            await window.command("ollm.edit")
        assert "AI?" in refused.value.data["remedy"]
    async with acting(tmp_path, PLAIN) as window:
        with pytest.raises(Refused, match="no instruction"):
            await window.command("ollm.edit")
        assert any("ends in AI!" in told for told in window.shown())


async def test_who_has_no_place_to_write_a_question_gets_a_chat_about_the_selection(tmp_path: Path) -> None:
    async with acting(tmp_path, HELIX) as window:
        result = await window.command("ollm.ask")
        assert [
            one["params"]["uri"] for one in window.client.editor.asked if one["method"] == "window/showDocument"
        ] == [result["uri"]]
        text = path_of(result["uri"]).read_text()
        assert text.startswith("## You\n\n#file:")
        assert "return a - b" in text
        assert window.model.asked == []


@pytest.mark.parametrize("kind", ["rich", "helix"])
@pytest.mark.parametrize("settings", ["", "tools: {permissions: {'**/kept/**': deny}}\n"])
async def test_a_document_that_is_no_file_is_changed_by_its_editor(kind: str, settings: str, tmp_path: Path) -> None:
    name = "untitled:Untitled-1" if not settings else "untitled:/home/kept/a.py"
    async with acting(tmp_path, CLIENTS[kind], settings=settings) as window:
        editor = window.client.editor
        editor.open(name, CODE)
        edits: list[dict[str, Any]] = []

        def apply(params: dict[str, Any]) -> dict[str, Any]:
            edits.append(params["edit"]["documentChanges"][0])
            changes = [{"text": FIXED}]
            editor.notify(
                "textDocument/didChange", {"textDocument": {"uri": name, "version": 2}, "contentChanges": changes}
            )
            return {"result": {"applied": True}}

        editor.answer["workspace/applyEdit"] = apply
        result = await window.command("ollm.fix", uri=name)
        assert len(window.client.asked) == (0 if settings else 1)
        assert result["applied"] is not bool(settings)
        assert [edit["textDocument"] for edit in edits] == ([] if settings else [{"uri": name, "version": 1}])
        tests = await window.command("ollm.tests", uri=name)
        assert tests["reason"] == "The document is no file: there is no place beside it for tests."
