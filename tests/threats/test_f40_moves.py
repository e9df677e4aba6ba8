"""Moves at the edge (F40), on one file system and between two: refused or made exactly, and verified after."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ollm_lsp.terminal import file_editor
from ollm_lsp.terminal.file_editor import FileEditor
from tests.support.editor import environment
from tests.support.fake_ollama import Call, FakeOllama, Say
from tests.support.near_server import near_editor
from tests.support.workspace_client import RICH, WorkspaceClient, path_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

CONTENT = "one\ntwo\n" * 100
PLACES = ("/dev/shm", "/run", "/var/tmp", str(Path.home()), "/tmp")  # noqa: S108 (another file system is looked for)


@contextmanager
def elsewhere(folder: Path) -> Generator[Path]:
    """A folder of another file system than that of the given one."""
    own = folder.stat().st_dev
    for place in map(Path, PLACES):
        if place.is_dir() and os.access(place, os.W_OK) and place.stat().st_dev != own:
            with tempfile.TemporaryDirectory(prefix="moves-", dir=place) as name:
                yield Path(name)
                return
    pytest.skip("there is no second file system that can be written")


@pytest.fixture(params=["one file system", "two file systems"])
def homes(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[tuple[Path, Path]]:
    """Two workspace folders."""
    first = tmp_path / "first"
    first.mkdir()
    if request.param == "one file system":
        (tmp_path / "second").mkdir()
        yield first, tmp_path / "second"
    else:
        with elsewhere(first) as second:
            yield first, second


def tree(*folders: Path) -> dict[str, str | None]:
    """Everything in some folders, by folder and name."""
    return {
        f"{number}/{path.relative_to(folder)}": path.read_text() if path.is_file() else None
        for number, folder in enumerate(folders)
        for path in sorted(folder.rglob("*"))
    }


def moved(old: Path, new: Path) -> None:
    """As a file manager does it: by a copy where a rename is not possible."""
    shutil.move(old, new)


def by_rename(old: Path, new: Path) -> None:
    old.rename(new)


def cut(old: Path, new: Path) -> None:
    new.write_text(old.read_text()[:100])
    old.unlink()


def copied(old: Path, new: Path) -> None:
    shutil.copy(old, new)


def nothing(_old: Path, _new: Path) -> None:
    """Say yes, and do nothing."""


def lost(old: Path, _new: Path) -> None:
    old.unlink()


async def move(homes: tuple[Path, Path], new: Path, how: Callable[[Path, Path], None]) -> tuple[str, list[Any]]:
    """Let a model move `a.py` of the first folder; what it is told, and what the user was asked."""
    told: list[str] = []

    def answer(body: dict[str, Any]) -> list[Any]:
        if body["messages"][-1]["role"] == "tool":
            told.append(body["messages"][-1]["content"])
            return [Say("done")]
        return [Call("rename_file", {"path": str(homes[0] / "a.py"), "new_path": str(new)})]

    async with FakeOllama(answer=answer) as fake:
        provider = f"{{type: ollama, baseUrl: '{fake.url}', maxRetries: 0}}"
        settings = f"model: 'ollama:smollm2:135m'\nproviders: {{ollama: {provider}}}\n"
        async with near_editor(environment(homes[0].parent, settings)) as server:
            client = WorkspaceClient(server, homes[0], RICH)

            def apply(params: dict[str, Any]) -> dict[str, Any]:
                (step,) = params["edit"]["documentChanges"]
                try:
                    how(path_of(step["oldUri"]), path_of(step["newUri"]))
                except OSError as error:
                    return {"result": {"applied": False, "failureReason": str(error)}}
                return {"result": {"applied": True}}

            await client.start()
            server.answer["workspace/applyEdit"] = apply
            added = [{"uri": homes[1].as_uri(), "name": homes[1].name}]
            server.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": added, "removed": []}})
            await server.chat("Move it.")
            return told[0], client.asked


@pytest.mark.threat("F40")
@pytest.mark.parametrize("how", [moved, by_rename, cut, copied, nothing, lost])
async def test_the_model_is_told_of_a_move_only_as_it_was_made(
    how: Callable[[Path, Path], None], homes: tuple[Path, Path]
) -> None:
    (homes[0] / "a.py").write_text(CONTENT)
    told, asked = await move(homes, homes[1] / "b.py", how)
    assert len(asked) == 1
    was_moved = tree(*homes) == {"1/b.py": CONTENT}
    is_on_two = homes[0].stat().st_dev != homes[1].stat().st_dev
    assert was_moved is (how is moved or (how is by_rename and not is_on_two))
    assert ("is now" in told) is was_moved, told


def _file(path: Path) -> None:
    path.write_text("taken\n")


def _folder(path: Path) -> None:
    path.mkdir()


def _link(path: Path) -> None:
    path.symlink_to("nowhere")


@pytest.mark.threat("F40", "T20")
@pytest.mark.parametrize("taken", [_file, _folder, _link])
async def test_nothing_is_moved_over_what_is_there_and_nobody_is_asked(
    taken: Callable[[Path], None], homes: tuple[Path, Path]
) -> None:
    (homes[0] / "a.py").write_text(CONTENT)
    taken(homes[1] / "b.py")
    before = tree(*homes)
    told, asked = await move(homes, homes[1] / "b.py", moved)
    assert "is now" not in told
    assert asked == []
    assert tree(*homes) == before


@pytest.mark.threat("F40", "T20")
async def test_a_move_into_a_folder_that_is_not_there_is_refused(homes: tuple[Path, Path]) -> None:
    (homes[0] / "a.py").write_text(CONTENT)
    told, asked = await move(homes, homes[1] / "none" / "b.py", moved)
    assert "is not there" in told
    assert asked == []
    assert tree(*homes) == {"0/a.py": CONTENT}


@contextmanager
def another_disk(folder: Path) -> Generator[None]:
    """A file system of its own in a folder."""
    folder.mkdir()
    subprocess.run(["/bin/mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["/bin/umount", "-l", folder], check=True)


def apply(folder: Path, old: Path, new: Path) -> dict[str, Any]:
    step = {"kind": "rename", "oldUri": old.as_uri(), "newUri": new.as_uri()}
    files = FileEditor(folder, [], lambda _method, _params: None)
    return files.apply({"edit": {"documentChanges": [step]}})


@pytest.mark.threat("F40")
@pytest.mark.parametrize("kind", ["file", "folder"])
@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root on Linux can mount")
def test_the_terminal_moves_nothing_half_between_two_file_systems(kind: str, tmp_path: Path) -> None:
    old, disk = tmp_path / "old", tmp_path / "disk"
    if kind == "folder":
        old.mkdir()
    (old if kind == "file" else old / "a.py").write_text(CONTENT)
    with another_disk(disk):
        before = tree(tmp_path)
        answer = apply(tmp_path, old, disk / "new")
        assert answer["applied"] is False
        assert "another file system" in answer["failureReason"]
        assert tree(tmp_path) == before
        assert apply(tmp_path, disk, tmp_path / "moved")["applied"] is False, "a place where a disk is mounted"
        assert apply(tmp_path, old, tmp_path / "new") == {"applied": True}


@pytest.mark.threat("F40", "T20")
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_who_comes_in_the_last_moment_is_not_overwritten_by_the_terminal(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    if kind == "file":
        old.write_text(CONTENT)
    else:
        (old / "inner").mkdir(parents=True)
    looked = os.path.lexists

    def late(path: Any) -> bool:
        is_there = looked(path)
        if kind == "file":
            new.write_text("taken\n")
        else:
            (new / "taken").mkdir(parents=True)
        return is_there

    monkeypatch.setattr(file_editor.os.path, "lexists", late)
    assert apply(tmp_path, old, new)["applied"] is False
    assert tree(tmp_path) == (
        {"0/new": "taken\n", "0/old": CONTENT}
        if kind == "file"
        else {"0/new": None, "0/new/taken": None, "0/old": None, "0/old/inner": None}
    )


@pytest.mark.threat("F40")
def test_the_terminal_also_moves_where_files_have_one_name_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    (tmp_path / "old").write_text(CONTENT)
    assert apply(tmp_path, tmp_path / "old", tmp_path / "new") == {"applied": True}
    assert tree(tmp_path) == {"0/new": CONTENT}
    (tmp_path / "link").symlink_to("nowhere")
    assert apply(tmp_path, tmp_path / "new", tmp_path / "link")["applied"] is False
