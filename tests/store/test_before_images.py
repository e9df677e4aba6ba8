"""Before-images: whatever was changed can be taken back, byte for byte, also after a crash and a restart."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ollm_lsp.core.change import Change, CreateFile, DeleteFile, EditText, Proposal, RenameFile, uris
from ollm_lsp.core.errors import StoreFailed
from ollm_lsp.core.rebase import renewed
from ollm_lsp.core.snapshot import Snapshot
from ollm_lsp.store import changes_json
from ollm_lsp.store.before_images import BeforeImage, BeforeImages
from tests.core.values import patient
from tests.support.model_editor import MARK, ModelEditor, path_of
from tests.support.quiet_run import QuietRun

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

A, B = "file:///work/a", "file:///work/b"
any_text = st.text(st.characters() | st.sampled_from("\r\n\ufeff\0\ud800"), max_size=8)


@asynccontextmanager
async def kept(folder: Path, most_bytes: int = 1_000_000, longest: float = 1e9) -> AsyncGenerator[BeforeImages]:
    clock = count(1000).__next__
    images = BeforeImages(folder / "proposals.db", clock, most_bytes=most_bytes, longest=longest)
    try:
        yield images
    finally:
        await images.close()


def proposal(*changes: Change, proposal_id: str = "p") -> Proposal:
    return Proposal(proposal_id, "edit_file", "Title", changes)


def edit(uri: str, before: str, after: str, version: int | None = None) -> EditText:
    return EditText(uri, Snapshot(uri, before, version), after)


changes = st.one_of(
    st.builds(edit, st.just(A), any_text, any_text, st.none() | st.integers(0, 9)),
    st.builds(CreateFile, st.just(A), any_text),
    st.builds(RenameFile, st.just(A), any_text.map(lambda text: f"{B}{text}")),
    any_text.map(lambda text: DeleteFile(A, Snapshot(A, text))),
)


@patient
@given(changes)
def test_every_proposal_comes_back_as_it_was(change: Change) -> None:
    original = proposal(change, CreateFile("file:///other", "x"))
    assert changes_json.decode("p", changes_json.encode(original)) == original


async def test_a_proposal_can_be_taken_back_after_a_restart(tmp_path: Path) -> None:
    whole = proposal(edit(A, "1\r\n", "2\r\n"), DeleteFile(B, Snapshot(B, "x\ud800")))
    before = (BeforeImage(A, b"1\r\n"), BeforeImage(B, b"\xff\x00"), BeforeImage("file:///\ud800", None))
    async with kept(tmp_path) as images:
        await images.record(whole, before)
    async with kept(tmp_path) as images:
        recorded = await images.get("p")
        assert recorded is not None
        assert (recorded.proposal, recorded.done) == (whole, whole.changes)
        assert sorted(recorded.images, key=str) == sorted(before, key=str)
        assert await images.revert("p", "q") == whole.reverse("q")
        assert await images.newest() == "p"
        assert await images.get("other") is None
        assert await images.revert("other", "q") is None


async def test_only_what_was_done_is_taken_back(tmp_path: Path) -> None:
    first, second = edit(A, "1", "2"), CreateFile(B, "x")
    async with kept(tmp_path) as images:
        await images.record(proposal(first, second), ())
        await images.settle("p", [second])
        reverse = await images.revert("p", "q")
        assert reverse is not None
        assert reverse.changes == (DeleteFile(B, Snapshot(B, "x")),)
        await images.settle("p", [])
        assert await images.revert("p", "q") is None
        await images.settle("nobody", [first])


async def test_a_deleted_file_comes_back_with_its_byte_order_mark(tmp_path: Path) -> None:
    async with kept(tmp_path) as images:
        await images.record(proposal(DeleteFile(A, Snapshot(A, "x\n"))), [BeforeImage(A, MARK + b"x\n")])
        reverse = await images.revert("p", "q")
    assert reverse is not None
    assert reverse.changes == (CreateFile(A, "\ufeffx\n"),)


@pytest.mark.threat("T27")
async def test_the_file_is_private_and_holds_texts_as_they_are(tmp_path: Path) -> None:
    async with kept(tmp_path) as images:
        await images.record(
            proposal(edit(A, "key = sk-1234567890abcdef", "")), [BeforeImage(A, b"sk-1234567890abcdef")]
        )
        recorded = await images.get("p")
    assert recorded is not None
    assert recorded.images == (BeforeImage(A, b"sk-1234567890abcdef"),)
    if sys.platform != "win32":
        assert (tmp_path / "proposals.db").stat().st_mode & 0o777 == 0o600


async def test_the_oldest_go_when_they_are_too_old_or_too_many(tmp_path: Path) -> None:
    async with kept(tmp_path, longest=3, most_bytes=10_000) as images:
        for number in range(5):
            await images.record(proposal(CreateFile(A, "x"), proposal_id=f"old{number}"), ())
        assert [await images.get(f"old{number}") is not None for number in range(5)] == [False, *[True] * 4]
        await images.record(proposal(CreateFile(A, "x"), proposal_id="big"), [BeforeImage(A, b"x" * 9_500)])
        await images.record(proposal(CreateFile(A, "x"), proposal_id="next"), [BeforeImage(A, b"x" * 9_000)])
        assert await images.get("big") is None
        assert await images.get("next") is not None
        await images.record(proposal(CreateFile(A, "x"), proposal_id="huge"), [BeforeImage(A, b"x" * 50_000)])
        assert await images.get("next") is None
        assert await images.get("huge") is not None


async def test_a_record_that_is_damaged_is_a_clear_error(tmp_path: Path) -> None:
    async with kept(tmp_path) as images:
        await images.record(proposal(CreateFile(A, "x")), ())
        with closing(sqlite3.connect(tmp_path / "proposals.db", isolation_level=None)) as connection:
            connection.execute("UPDATE proposal SET item = '[]'")
        with pytest.raises(StoreFailed, match="damaged"):
            await images.get("p")


async def test_without_a_place_nothing_is_recorded_so_nothing_may_be_changed(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    images = BeforeImages(tmp_path / "file" / "proposals.db")
    with pytest.raises(StoreFailed, match="Proposals cannot be kept"):
        await images.record(proposal(CreateFile(A, "x")), ())
    await images.close()


NAMES = ["a", "b", "c", "d"]
KINDS = ["edit", "create", "rename", "delete"]
contents = st.lists(st.sampled_from(["x\n", "y\r\n", "é\n", "z", "\r", "\n"]), max_size=5).map("".join)
files = st.dictionaries(
    st.sampled_from(NAMES), st.tuples(contents, st.sampled_from(["utf-8", "utf-8-sig"]), st.booleans()), max_size=4
)
steps = st.lists(
    st.tuples(
        st.sampled_from(["edit", "create", "rename", "delete"]),
        st.sampled_from(NAMES),
        st.sampled_from(NAMES),
        contents,
    ),
    min_size=1,
    max_size=6,
)


def possible(editor: ModelEditor, steps_of_one: list[tuple[str, str, str, str]]) -> list[Change]:
    """Those of some steps that can be done together."""
    chosen: list[Change] = []
    for kind, name, other, text in steps_of_one:
        uri, new_uri = (f"file:///work/{one}" for one in (name, other))
        change: Change | None = None
        if kind == "create" and name not in editor.disk:
            change = CreateFile(uri, text)
        elif name in editor.disk:
            base = editor.snapshot(name)
            if kind == "edit":
                change = EditText(uri, base, text)
            elif kind == "delete" and name not in editor.buffers:
                change = DeleteFile(uri, base)
            elif kind == "rename" and other not in editor.disk and other != name:
                change = RenameFile(uri, new_uri)
        taken = {touched for one in chosen for touched in uris(one)}
        if change and not taken & set(uris(change)):
            chosen.append(change)
    return chosen


def present(editor: ModelEditor, change: Change) -> Change:
    """A change on the document as it is: the text is the same, but an open one has another version by now."""
    path = path_of(change.uri)
    current = editor.snapshot(path) if path in editor.disk else None
    fresh = renewed(change, current)
    assert fresh is not None
    return fresh


async def play(editor: ModelEditor, images: BeforeImages, rounds: list[list[tuple[str, str, str, str]]]) -> None:
    """Make some proposals, each on what the one before left, then take them back."""
    made: list[str] = []
    for step in rounds:
        if chosen := possible(editor, step):
            accepted = replace(proposal(*chosen), id=f"p{next(numbers)}")
            touched = [path_of(uri) for change in chosen for uri in uris(change)]
            before = [BeforeImage(f"file:///work/{path}", editor.disk.get(path)) for path in touched]
            await images.record(accepted, before)
            await editor.propose(accepted, QuietRun())
            await images.settle(accepted.id, accepted.changes)
            editor.save_all()
            made.append(accepted.id)
    for proposal_id in reversed(made):
        reverse = await images.revert(proposal_id, f"undo {proposal_id}")
        assert reverse is not None
        fresh = replace(reverse, changes=tuple(present(editor, change) for change in reverse.changes))
        assert fresh.digest == reverse.digest
        await editor.propose(fresh, QuietRun())
        editor.save_all()
    assert len(editor.made) == 2 * len(made)


numbers = count()


@pytest.mark.threat("T20", "F29")
@pytest.mark.prop("lsp-4")
@pytest.mark.timeout(600)
def test_after_random_proposals_reverting_brings_every_file_back_byte_for_byte(tmp_path: Path) -> None:
    @settings(deadline=None, max_examples=100)
    @given(files, st.lists(steps, min_size=1, max_size=3))
    def undo(content: dict[str, tuple[str, str, bool]], rounds: list[list[tuple[str, str, str, str]]]) -> None:
        editor = ModelEditor({name: text.encode(encoding) for name, (text, encoding, _) in content.items()})
        for name, (_, _, is_open) in content.items():
            if is_open:
                editor.open(name)
        original = dict(editor.disk)
        runner.run(play(editor, images, rounds))
        assert editor.disk == original

    images = BeforeImages(tmp_path / "proposals.db")
    with asyncio.Runner() as runner:
        undo()
        runner.run(images.close())
