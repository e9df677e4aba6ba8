"""Taking back: whatever was accepted, in the end every file is what it was, byte for byte."""

from __future__ import annotations

import random
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.editor import Refused
from tests.support.fake_ollama import Call
from tests.support.near_server import near_editor
from tests.support.scale import IS_LARGE
from tests.support.tool_task import TASK, Model, window
from tests.support.workspace_client import CONFIRMING, RICH, WorkspaceClient

if TYPE_CHECKING:
    from pathlib import Path

PIECES = ["x = 1\n", "y = 'é😀'\r\n", "\n", "end", "\ttab\n", "same\n", "same\n"]
near = partial(window, start=near_editor)


def random_text(chance: random.Random) -> str:
    return "".join(chance.choices(PIECES, k=chance.randint(0, 6)))


def random_calls(chance: random.Random, files: dict[str, str], count: int) -> list[Call]:
    """Calls that all succeed, each on what the one before leaves; `files` is changed as they change the disk."""
    calls: list[Call] = []
    for number in range(count):
        name = chance.choice(sorted(files))
        match chance.choice(["write", "edit", "create", "rename", "delete"]):
            case "edit" if files[name].startswith("same\n"):
                files[name] = "other\n" + files[name].removeprefix("same\n")
                edits = [{"old": "same", "new": "other", "all": True}]
                calls.append(Call("edit_file", {"path": name, "edits": edits}))
            case "create":
                files[new := f"new {number} ü.txt"] = text = random_text(chance)
                calls.append(Call("create_file", {"path": new, "content": text}))
            case "rename":
                files[new := f"moved {number} #%.txt"] = files.pop(name)
                calls.append(Call("rename_file", {"path": name, "new_path": new}))
            case "delete" if len(files) > 1:
                del files[name]
                calls.append(Call("delete_file", {"path": name}))
            case _:
                files[name] = text = random_text(chance) + f"# {number}\n"
                calls.append(Call("write_file", {"path": name, "content": text}))
    return calls


async def revert(client: WorkspaceClient, **argument: Any) -> Any:
    params = {"command": "ollm.proposal.revert", "arguments": [argument]}
    return await client.editor.request("workspace/executeCommand", params)


def disk(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.threat("T20", "F29")
@pytest.mark.prop("lsp-4")
@pytest.mark.large
@pytest.mark.parametrize("seed", range(6 if IS_LARGE else 2))
@pytest.mark.parametrize("restarts", [False, True], ids=["same server", "restarted server"])
async def test_all_accepted_proposals_taken_back_leave_every_byte_as_it_was(
    seed: int, restarts: bool, tmp_path: Path
) -> None:
    chance = random.Random(seed)
    folder = tmp_path / "work"
    folder.mkdir()
    for number in range(4):
        mark = chance.choice([b"", b"\xef\xbb\xbf"])
        (folder / f"f{number}.txt").write_bytes(mark + random_text(chance).encode())
    before = disk(folder)
    calls = random_calls(chance, {name: data.decode("utf-8-sig") for name, data in before.items()}, 12)
    model, settings = Model(calls), "chat: {maxTurns: 50}\n"
    async with near(tmp_path, RICH, model, settings, opens=False) as client:
        await client.editor.chat("Do it.")
        client.save_all()
        changed = len(client.applied)
        assert changed >= len(calls) // 2, model.results
        assert disk(folder) != before
        if not restarts:
            await take_all_back(client, changed)
            assert disk(folder) == before
    if restarts:
        async with near(tmp_path, RICH, model, settings, opens=False) as client:
            await take_all_back(client, changed)
            assert disk(folder) == before


async def take_all_back(client: WorkspaceClient, count: int) -> None:
    taken = [(await revert(client))["id"] for _ in range(count)]
    assert len(set(taken)) == count, "one after the other"
    with pytest.raises(Refused, match="no such proposal"):
        await revert(client)
    client.save_all()


async def test_what_was_rejected_is_not_what_is_taken_back(tmp_path: Path) -> None:
    async with near(tmp_path, CONFIRMING, Model(TASK)) as client:
        before = client.files()
        client.decides = lambda title: "allow_once" if title == "Edit a.py" else "reject_once"
        await client.editor.chat("Do it.")
        assert client.files() != before
        await revert(client)
        assert client.files() == before


@pytest.mark.threat("F29")
@pytest.mark.parametrize("step", [0, 2, 3, 4], ids=["edit", "create", "rename", "delete"])
async def test_what_the_user_has_changed_since_is_never_lost_by_taking_back(step: int, tmp_path: Path) -> None:
    async with near(tmp_path, RICH, Model([TASK[step]]), opens=False) as client:
        await client.editor.chat("Do it.")
        client.save_all()
        mine = {0: "a.py", 2: "c.py", 3: "old.txt", 4: "gone.txt"}[step]
        client.buffers.clear()
        client.editor.notify("textDocument/didClose", {"textDocument": {"uri": (client.folder / mine).as_uri()}})
        (client.folder / mine).write_text("mine\n")
        with pytest.raises(Refused):
            await revert(client)
        assert (client.folder / mine).read_text() == "mine\n"
        assert len(client.applied) == 1
