"""Threat T27: no workspace brings a history of its own, and no yes outlives the server that it was given to."""

from __future__ import annotations

import os
import sqlite3
import sys
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

import pytest

from ollm_lsp.store.places import keep_private
from tests.support.fake_ollama import Call
from tests.support.near_server import near_editor
from tests.support.tool_task import Model, window
from tests.support.workspace_client import RICH

if TYPE_CHECKING:
    from pathlib import Path

near = partial(window, start=near_editor, opens=False)
POISON = "the-poisoned-conversation"
PLACES = ["conversations.db", ".ollm/conversations.db", "state/conversations.db", ".ollm/permissions.db", "ledger.db"]


def poison(folder: Path, real: Path) -> None:
    """Databases as ours, in every place where somebody might look for them, and links to the real ones."""
    for name in PLACES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(folder / name)) as file:
            file.execute("CREATE TABLE conversation (id, title)")
            file.execute("INSERT INTO conversation VALUES (?, ?)", (POISON, POISON))
            file.commit()
    (folder / "link.db").symlink_to(real / "conversations.db")
    (folder / ".local").symlink_to(real)


@pytest.mark.threat("T27")
async def test_a_database_that_a_repository_brings_is_neither_read_nor_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    poison(folder, tmp_path / "state")
    planted = {name: (folder / name).read_bytes() for name in PLACES}
    monkeypatch.chdir(folder)
    calls = [Call("read_file", {"path": path}) for path in ("link.db", ".local/conversations.db")]
    model = Model(calls)
    async with near(tmp_path, RICH, model) as client:
        assert (await client.editor.chat("Hello."))["text"] == "done"
        listed = await client.editor.request("ollm/chat/list", {})
        assert POISON not in str(listed)
        assert len(listed["conversations"]) == 1
        assert all("links are not followed" in told for told in model.results)
    assert {name: (folder / name).read_bytes() for name in PLACES} == planted
    tops = {name.partition("/")[0] for name in PLACES}
    assert {path.name for path in folder.iterdir()} == {*tops, "link.db", ".local"}


@pytest.mark.threat("T27")
async def test_a_yes_for_a_conversation_is_not_resumed_with_it(tmp_path: Path) -> None:
    def edit(word: str) -> Call:
        return Call("write_file", {"path": "old.txt", "content": f"{word}\n"})

    async with near(tmp_path, RICH, Model([edit("one"), edit("two")])) as client:
        client.decides = lambda _: "allow_session"
        known = await client.editor.chat("Do it.")
        assert len(client.asked) == 1
    async with near(tmp_path, RICH, Model([edit("one"), edit("two"), edit("three")])) as client:
        client.decides = lambda _: "reject_once"
        await client.editor.chat("Again.", conversationId=known["conversationId"])
        assert len(client.asked) == 1
        assert client.applied == []


@pytest.mark.threat("T27")
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
async def test_a_state_directory_that_is_open_to_others_is_shut(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    for path, mode in ((state, 0o777), (state / "conversations.db", 0o666)):
        path.touch()
        path.chmod(mode)
    async with near(tmp_path, RICH, Model([])) as client:
        await client.editor.chat("Hello.")
        modes = {path.name: path.stat().st_mode & 0o777 for path in (state, *state.iterdir())}
    assert modes.pop("state") == 0o700
    assert set(modes.values()) == {0o600}


@pytest.mark.threat("T27")
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_the_state_directory_is_private_from_the_beginning_and_shared_places_are_left(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        keep_private(tmp_path / "new" / "state")
        shared = tmp_path / "shared"
        shared.mkdir(mode=0o1777)
        shared.chmod(0o1777)
        keep_private(shared)
    finally:
        os.umask(old)
    assert (tmp_path / "new" / "state").stat().st_mode & 0o777 == 0o700
    assert shared.stat().st_mode & 0o7777 == 0o1777
    (tmp_path / "file").touch()
    keep_private(tmp_path / "file" / "state")
