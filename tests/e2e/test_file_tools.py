"""File tools over LSP, with every kind of client: the user decides, the editor changes, and the model is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.fake_ollama import Call
from tests.support.tool_task import CHANGED, FILES, TASK, UNSAVED, Model, run, window
from tests.support.workspace_client import CLIENTS, PLAIN, RICH

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.prop("lsp-4")
@pytest.mark.parametrize("kind", list(CLIENTS))
async def test_the_same_task_ends_in_the_same_files_with_every_client(kind: str, tmp_path: Path) -> None:
    model = Model(TASK)
    async with window(tmp_path, CLIENTS[kind], model) as client:
        result = await run(client, len(TASK))
        assert result["text"] == "done"
        assert client.files() == CHANGED
        assert len(client.asked) == len(client.applied) == len(TASK), "each step was permitted"
        assert not any("not" in told.split(".")[0] for told in model.results), model.results


@pytest.mark.threat("T24")
@pytest.mark.prop("lsp-4")
@pytest.mark.parametrize("kind", [kind for kind in CLIENTS if kind != "plain"])
async def test_a_no_changes_nothing_and_the_model_is_told(kind: str, tmp_path: Path) -> None:
    """Every other kind of no is in tests/lsp/test_permission_ladder.py."""
    model = Model(TASK)
    async with window(tmp_path, CLIENTS[kind], model) as client:
        client.decides = lambda _: "reject_once"
        result = await run(client, 0)
        assert result["text"] == "done"
        assert client.files() == {**FILES, "a.py": UNSAVED + FILES["a.py"]}
        assert client.applied == []
        assert len(model.results) == len(TASK)
        assert all("nothing was changed" in told.lower() for told in model.results), model.results


@pytest.mark.threat("T6")
async def test_an_answer_that_nobody_offered_is_a_no(tmp_path: Path) -> None:
    model = Model(TASK[:1])
    async with window(tmp_path, RICH, model) as client:
        client.decides = lambda _: "allow_everything_for_ever"
        await run(client, 0)
        assert client.applied == []


@pytest.mark.prop("lsp-4")
async def test_who_rejects_by_code_action_changes_nothing(tmp_path: Path) -> None:
    model = Model(TASK[:2])
    async with window(tmp_path, PLAIN, model) as client:
        client.decides = lambda _: "reject_once"
        await run(client, 2)
        assert client.files() == {**FILES, "a.py": UNSAVED + FILES["a.py"]}
        assert all("nothing was changed" in told.lower() for told in model.results), model.results


@pytest.mark.threat("F36")
async def test_a_client_that_makes_no_edits_is_not_asked_for_any(tmp_path: Path) -> None:
    model = Model(TASK[:1])
    async with window(tmp_path, {}, model) as client:
        await run(client, 0)
        assert client.asked == client.applied == []
        assert "nothing was changed" in model.results[0].lower()


@pytest.mark.threat("F21")
@pytest.mark.prop("lsp-2")
async def test_the_model_reads_what_is_typed_and_not_what_is_saved(tmp_path: Path) -> None:
    model = Model([Call("read_file", {"path": "a.py"}), Call("search_text", {"query": "typed"})])
    async with window(tmp_path, RICH, model) as client:
        await run(client, 0)
        assert UNSAVED in model.results[0]
        assert "a.py" in model.results[1]
        assert client.asked == []


@pytest.mark.threat("T10")
async def test_what_the_user_is_shown_is_the_whole_change_with_its_full_path(tmp_path: Path) -> None:
    async with window(tmp_path, RICH, Model(TASK[:1])) as client:
        await run(client, 0)
        (shown,) = client.asked
        assert str(tmp_path / "work" / "a.py") in shown
        assert "-    return a - b\n+    return a + b\n" in shown


@pytest.mark.threat("F29")
@pytest.mark.prop("lsp-4")
async def test_an_accepted_proposal_can_be_taken_back_and_keeps_what_was_typed_since(tmp_path: Path) -> None:
    async with window(tmp_path, RICH, Model(TASK[:1])) as client:
        await run(client, 0)
        client.type("a.py", "# later\n")
        await client.editor.request("workspace/executeCommand", {"command": "ollm.proposal.revert", "arguments": [{}]})
        assert client.files()["a.py"] == "# later\n" + UNSAVED + FILES["a.py"]


async def test_a_rule_decides_without_a_question(tmp_path: Path) -> None:
    rules = "tools: {permissions: {edit_file: allow, delete_file: deny}}\n"
    model = Model([TASK[0], TASK[4]])
    async with window(tmp_path, RICH, model, rules) as client:
        await run(client, 0)
        assert client.asked == []
        assert client.files()["a.py"] == CHANGED["a.py"]
        assert "gone.txt" in client.files()


@pytest.mark.threat("T7")
async def test_a_yes_for_the_conversation_is_asked_for_once_a_file(tmp_path: Path) -> None:
    again = Call("edit_file", {"path": "a.py", "edits": [{"old": "def add(a, b):", "new": "def plus(a, b):"}]})
    async with window(tmp_path, RICH, Model([TASK[0], again, TASK[1]])) as client:
        client.decides = lambda _: "allow_session"
        await run(client, 0)
        assert [shown.splitlines()[0] for shown in client.asked] == ["Edit a.py", "Edit sub/b.py"]
        assert "def plus(a, b):" in client.files()["a.py"]
