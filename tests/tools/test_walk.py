"""The walk: plain files and folders, and nothing else, within moments."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from ollm_lsp.core.errors import OutsideWorkspace, UnreadableFile
from ollm_lsp.tools import walk
from ollm_lsp.tools.roots import Place
from ollm_lsp.tools.walk import Kind


@pytest.fixture(params=[True, False], ids=["by openat", "by whole paths"], autouse=True)
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "HAS_OPENAT", request.param and walk.HAS_OPENAT)


@pytest.fixture
def top(tmp_path: Path) -> Place:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").write_bytes(b"0123456789")
    return Place(tmp_path, ())


def test_a_file_is_read_up_to_a_limit(top: Place) -> None:
    assert walk.read(top.below("a", "b", "file"), 100) == b"0123456789"
    assert walk.read(top.below("a", "b", "file"), 4) == b"0123"


def test_a_folder_is_scanned_with_what_each_thing_is(top: Place) -> None:
    (top.path / "link").symlink_to("a")
    (top.path / "file").write_bytes(b"12345")
    os.link(top.path / "file", top.path / "same")
    os.mkfifo(top.path / "fifo")
    found = {entry.name: (entry.kind, entry.size) for entry in walk.scan(top, 100, with_sizes=True)}
    assert {name: kind for name, (kind, _) in found.items()} == {
        "a": Kind.FOLDER,
        "link": Kind.LINK,
        "file": Kind.OTHER,
        "same": Kind.OTHER,
        "fifo": Kind.OTHER,
    }
    assert found["file"][1] == 5
    quick = {entry.name: entry.kind for entry in walk.scan(top, 100)}
    assert (quick["a"], quick["link"], quick["fifo"]) == (Kind.FOLDER, Kind.LINK, Kind.OTHER)
    assert len(walk.scan(top, 2)) == 2


def test_nothing_is_there_is_said(top: Place) -> None:
    assert walk.look(top.below("nothing")) is None
    assert walk.look(top.below("nothing", "more")) is None
    with pytest.raises(UnreadableFile, match="There is no 'nothing/more'"):
        walk.read(top.below("nothing", "more"), 1)
    with pytest.raises(UnreadableFile, match="is a folder"):
        walk.read(top.below("a"), 1)


@pytest.mark.threat("T14")
@pytest.mark.parametrize("target", ["a/b/file", "a/b", "..", "/", "/dev/zero", "nothing", "link"])
def test_links_are_refused_wherever_they_lead(top: Place, target: str) -> None:
    (top.path / "link").symlink_to(target)
    status = walk.look(top.below("link"))
    assert status is not None
    assert walk.kind_of(status) is Kind.LINK
    for refused in (top.below("link"), top.below("link", "file"), top.below("link", "b", "file")):
        with pytest.raises(OutsideWorkspace, match="links are not followed"):
            walk.read(refused, 1)
    with pytest.raises(OutsideWorkspace, match="links are not followed"):
        walk.scan(top.below("link"), 1)


@pytest.mark.threat("T14")
def test_a_file_with_a_second_name_is_refused(top: Place) -> None:
    os.link(top.path / "a" / "b" / "file", top.path / "second")
    for refused in (top.below("second"), top.below("a", "b", "file")):
        with pytest.raises(OutsideWorkspace, match="2 names"):
            walk.read(refused, 1)


@pytest.mark.threat("T31", "F37")
@pytest.mark.timeout(20)
def test_pipes_sockets_and_devices_are_refused_and_never_waited_for(
    top: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(top.path / "fifo")
    monkeypatch.chdir(top.path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
    names = ["fifo", "socket"]
    if os.geteuid() == 0 and sys.platform == "linux":
        os.mknod(top.path / "zero", 0o600 | 0o020000, os.makedev(1, 5))
        names.append("zero")
    for name in names:
        with pytest.raises(OutsideWorkspace, match="is refused"):
            walk.read(top.below(name), 1)


@pytest.mark.threat("T31", "F37")
@pytest.mark.timeout(20)
def test_a_file_that_becomes_a_pipe_after_it_was_looked_at_is_refused(
    top: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = top.path / "a" / "b" / "file"
    os_open = os.open

    def swapping(path: str | Path, *arguments: int, **options: int) -> int:
        if str(path).endswith("file") and file.is_file():
            file.unlink()
            os.mkfifo(file)
        return os_open(path, *arguments, **options)

    monkeypatch.setattr(os, "open", swapping)
    with pytest.raises(OutsideWorkspace, match="is refused"):
        walk.read(top.below("a", "b", "file"), 1)


def test_no_descriptor_stays_open(top: Place) -> None:
    (top.path / "link").symlink_to("a")
    before = len(list(Path("/dev/fd").iterdir()))
    for _ in range(20):
        walk.read(top.below("a", "b", "file"), 1)
        walk.scan(top, 10)
        for place in (top.below("link", "file"), top.below("a", "nothing"), top.below("a")):
            with pytest.raises((OutsideWorkspace, UnreadableFile)):
                walk.read(place, 1)
    assert len(list(Path("/dev/fd").iterdir())) == before


def test_a_name_that_the_system_cannot_take_is_an_error_of_ours(top: Place) -> None:
    for name in ("x" * 300, "a\0b"):
        with pytest.raises((OutsideWorkspace, UnreadableFile)):
            walk.read(top.below(name), 1)
