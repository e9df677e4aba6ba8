"""The terminal as an editor: changes are made whole and only on what was known, and everything else is left alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.change import EditText, Proposal
from ollm_lsp.core.snapshot import Snapshot
from ollm_lsp.lsp.buffer import PositionEncoding
from ollm_lsp.lsp.capabilities import ClientCapabilities
from ollm_lsp.lsp.workspace_edit import workspace_edit
from ollm_lsp.terminal.buffers import read_buffers
from ollm_lsp.terminal.file_editor import FileEditor
from ollm_lsp.terminal.payload import Payload

if TYPE_CHECKING:
    from pathlib import Path

CLIENT = ClientCapabilities(encoding=PositionEncoding.UTF8, document_changes=True)
TEXT = st.text(st.sampled_from("ab\n\r\t é𝕏"), max_size=30)


class Desk:
    """A folder with a file `a.py`, and an editor that may have it open."""

    def __init__(self, folder: Path, content: bytes = b"one\ntwo\n", *, is_open: bool = False) -> None:
        self.file = folder / "a.py"
        self.file.write_bytes(content)
        self.told: list[tuple[str, Any]] = []
        buffers = read_buffers([self.file]) if is_open else []
        self.files = FileEditor(folder, buffers, lambda method, params: self.told.append((method, params)))

    def edit(self, old: str, new: str, version: int | None = None) -> dict[str, Any]:
        """The edit from one text to another, as the server sends it."""
        uri = self.file.as_uri()
        change = EditText(uri, Snapshot(uri, old, version), new)
        return {"edit": workspace_edit(Proposal("p", "edit_file", "Edit", (change,)), CLIENT)}

    def allow(self, new: str) -> None:
        self.files.remember([Payload({"uri": self.file.as_uri(), "newText": new})])


def operation(kind: str, **fields: Any) -> dict[str, Any]:
    return {"edit": {"documentChanges": [{"kind": kind, **fields}]}}


@pytest.mark.threat("F24")
@given(old=TEXT, new=TEXT, marked=st.booleans())
def test_an_edit_gives_the_text_that_was_meant_and_keeps_the_rest(
    old: str, new: str, marked: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    mark = b"\xef\xbb\xbf" if marked else b""
    desk = Desk(tmp_path_factory.mktemp("desk"), mark + old.encode())
    desk.allow(new)
    assert desk.files.apply(desk.edit(old, new)) == {"applied": True}
    assert desk.file.read_bytes() == mark + new.encode()
    assert [path.name for path in desk.file.parent.iterdir()] == ["a.py"]


def test_an_open_file_is_written_and_the_server_is_told(tmp_path: Path) -> None:
    desk = Desk(tmp_path, is_open=True)
    desk.file.chmod(0o755)
    assert desk.files.apply(desk.edit("one\ntwo\n", "one\n2\n", 1)) == {"applied": True}
    opened, changed = desk.told
    assert opened[0] == "textDocument/didOpen"
    document = {"uri": desk.file.as_uri(), "version": 2}
    assert changed == (
        "textDocument/didChange",
        {"textDocument": document, "contentChanges": [{"text": "one\n2\n"}]},
    )
    assert desk.file.stat().st_mode & 0o777 == 0o755
    assert desk.files.apply(desk.edit("one\n2\n", "1\n2\n", 2)) == {"applied": True}
    assert desk.file.read_text() == "1\n2\n"


@pytest.mark.threat("F23")
@pytest.mark.prop("lsp-4")
@pytest.mark.parametrize("how", ["on the disk", "by its version", "since the question"])
def test_a_file_that_has_changed_meanwhile_is_left_alone(how: str, tmp_path: Path) -> None:
    desk = Desk(tmp_path, is_open=how != "since the question")
    edit = desk.edit("one\ntwo\n", "one\n2\n", 7 if how == "by its version" else 1)
    if how != "by its version":
        desk.allow("one\n2\n")
        desk.file.write_text("ONE\ntwo\n")
    before = desk.file.read_bytes()
    refused = desk.files.apply(edit)
    assert refused["applied"] is False
    assert "has changed since" in refused["failureReason"]
    assert desk.file.read_bytes() == before


@pytest.mark.threat("T14")
@pytest.mark.prop("lsp-4")
def test_nothing_outside_of_the_folder_is_touched(tmp_path: Path) -> None:
    folder, outside = tmp_path / "work", tmp_path / "outside.py"
    folder.mkdir()
    outside.write_text("safe\n")
    (folder / "link.py").symlink_to(outside)
    (folder / "way").symlink_to(tmp_path)
    files = Desk(folder).files
    for path in (outside, folder / "link.py", folder / "way" / "outside.py", folder / ".." / "outside.py"):
        uri = f"file://{path}"
        assert files.apply(operation("delete", uri=uri))["applied"] is False
        assert files.apply(operation("rename", oldUri=uri, newUri=(folder / "b.py").as_uri()))["applied"] is False
        step: dict[str, Any] = {"textDocument": {"uri": uri, "version": None}, "edits": []}
        assert files.apply({"edit": {"documentChanges": [step]}})["applied"] is False
    assert files.apply(operation("create", uri=(tmp_path / "new.py").as_uri()))["applied"] is False
    assert outside.read_text() == "safe\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["outside.py", "work"]


@pytest.mark.threat("T20", "F40")
def test_files_are_made_moved_and_deleted_but_never_over_others(tmp_path: Path) -> None:
    desk = Desk(tmp_path, is_open=True)
    new, other = tmp_path / "sub" / "b c.py", tmp_path / "other.py"
    other.write_text("other\n")
    a, b, c = desk.file.as_uri(), new.as_uri(), other.as_uri()
    for taken in (operation("create", uri=c), operation("rename", oldUri=a, newUri=c)):
        failed = desk.files.apply(taken)
        assert (failed["applied"], failed["failedChange"]) == (False, 0)
    assert desk.files.apply(operation("rename", oldUri=a, newUri=b)) == {"applied": True}
    assert new.read_text() == "one\ntwo\n"
    assert [method for method, _ in desk.told[1:]] == ["textDocument/didClose", "textDocument/didOpen"]
    assert desk.told[-1][1]["textDocument"]["uri"] == b
    assert desk.files.apply(operation("delete", uri=b)) == {"applied": True}
    assert desk.told[-1] == ("textDocument/didClose", {"textDocument": {"uri": b}})
    assert desk.files.apply(operation("delete", uri=b))["applied"] is False
    assert desk.files.apply(operation("link", uri=b))["applied"] is False
    assert other.read_text() == "other\n"


@pytest.mark.parametrize(
    "places",
    [[((9, 0), (9, 0))], [((0, 9), (0, 9))], [((0, 0), (1, 0)), ((0, 1), (0, 2))], [((1, 0), (0, 0))]],
    ids=["below the end", "behind a line", "overlapping", "backwards"],
)
def test_an_edit_that_does_not_fit_is_refused(places: list[Any], tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    ranges = [
        {
            name: dict(zip(("line", "character"), at, strict=True))
            for name, at in zip(("start", "end"), place, strict=True)
        }
        for place in places
    ]
    edits = [{"range": where, "newText": "x"} for where in ranges]
    step = {"textDocument": {"uri": desk.file.as_uri(), "version": None}, "edits": edits}
    assert desk.files.apply({"edit": {"documentChanges": [step]}})["applied"] is False
    assert desk.file.read_text() == "one\ntwo\n"


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    desk = Desk(tmp_path, b"\xff\xfe")
    assert "not UTF-8" in desk.files.apply(desk.edit("", "x"))["failureReason"]
    assert desk.file.read_bytes() == b"\xff\xfe"
