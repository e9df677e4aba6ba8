"""The workspace: one view of buffers and files, in which the buffer always wins."""

from __future__ import annotations

import asyncio
from codecs import BOM_UTF8, BOM_UTF16_LE
from typing import TYPE_CHECKING

import pytest

from ollm_lsp.core.errors import OutsideWorkspace, PermissionDenied, UnreadableFile
from ollm_lsp.tools import walk, workspace
from ollm_lsp.tools.walk import Kind
from tests.support.workspace import Bench

if TYPE_CHECKING:
    from pathlib import Path

    from ollm_lsp.tools.roots import Place


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.mark.prop("lsp-2")
async def test_the_open_buffer_wins_over_the_file(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "a b.py").write_text("saved")
    place = bench.workspace.place("a b.py")
    assert (await bench.workspace.read(place)).text == "saved"
    bench.open.open(f"file://{tmp_path}/a%20b.py", "unsaved", version=7)
    snapshot = await bench.workspace.read(place)
    assert (snapshot.text, snapshot.version) == ("unsaved", 7)


@pytest.mark.prop("lsp-2")
async def test_a_buffer_that_was_never_saved_is_a_file(bench: Bench, tmp_path: Path) -> None:
    bench.open.open(f"file://{tmp_path}/new.py", "fresh")
    place = bench.workspace.place("new.py")
    assert await bench.workspace.kind(place) is Kind.FILE
    assert (await bench.workspace.read(place)).text == "fresh"


@pytest.mark.prop("lsp-2")
async def test_a_file_that_is_opened_while_it_is_read_gives_its_buffer(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").write_text("saved")
    read = walk.read

    def slow(place: Place, limit: int) -> bytes:
        bench.open.open(place.uri, "unsaved")
        return read(place, limit)

    monkeypatch.setattr(walk, "read", slow)
    assert (await bench.workspace.read(bench.workspace.place("a.py"))).text == "unsaved"


@pytest.mark.prop("lsp-2")
async def test_the_same_file_under_another_spelling_gives_its_buffer(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a disk that knows no case; on one that does, two files of such names are two."""
    (tmp_path / "README").write_text("saved")
    (tmp_path / "readme").write_text("another")
    bench.open.open(f"file://{tmp_path}/README", "unsaved")
    place = bench.workspace.place("readme")
    assert (await bench.workspace.read(place)).text == "another"

    def the_same(place: Place) -> tuple[int, int]:
        return 1, 2

    monkeypatch.setattr(walk, "identity", the_same)
    assert (await bench.workspace.read(place)).text == "unsaved"


async def test_a_file_has_no_version_but_a_digest(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("text")
    snapshot = await bench.workspace.read(bench.workspace.place("a"))
    assert (snapshot.version, snapshot.uri) == (None, f"file://{tmp_path}/a")
    (tmp_path / "a").write_text("texts")
    assert (await bench.workspace.read(bench.workspace.place("a"))).digest != snapshot.digest


@pytest.mark.parametrize(
    ("data", "text"),
    [(b"", ""), (BOM_UTF8 + b"x", "x"), (b"a\r\nb\rc", "a\r\nb\rc"), ("é\u2028x".encode(), "é\u2028x")],
)
async def test_text_is_what_an_editor_has(bench: Bench, tmp_path: Path, data: bytes, text: str) -> None:
    (tmp_path / "a").write_bytes(data)
    assert (await bench.workspace.read(bench.workspace.place("a"))).text == text


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"a\0b", "binary"),
        (b"\xff\xfe\xfd", "UTF-16"),
        (BOM_UTF16_LE + "text".encode("utf-16-le"), "UTF-16"),
        (b"caf\xe9", "not UTF-8 text .byte 3"),
        (b"\xc0\xae", "not UTF-8"),
        (b"\xed\xa0\x80", "not UTF-8"),
    ],
)
async def test_what_is_no_utf_8_text_is_said_clearly(bench: Bench, tmp_path: Path, data: bytes, why: str) -> None:
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(UnreadableFile, match=why):
        await bench.workspace.read(bench.workspace.place("a"))


async def test_a_file_that_is_too_large_is_said_clearly(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace, "MAX_FILE", 2**20)
    (tmp_path / "a").write_bytes(b"x" * 2**20)
    assert len((await bench.workspace.read(bench.workspace.place("a"))).text) == 2**20
    (tmp_path / "a").write_bytes(b"x" * (2**20 + 1))
    with pytest.raises(UnreadableFile, match="more than 1 MB"):
        await bench.workspace.read(bench.workspace.place("a"))


async def test_the_kind_of_a_place(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("file")
    kinds = {name: await bench.workspace.kind(bench.workspace.place(name)) for name in ("file", ".", "link", "nothing")}
    assert kinds == {"file": Kind.FILE, ".": Kind.FOLDER, "link": Kind.LINK, "nothing": None}
    with pytest.raises(OutsideWorkspace):
        await bench.workspace.kind(bench.workspace.place("link/x"))


async def test_secrets_are_denied_in_files_and_in_buffers(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("KEY=1")
    bench.open.open(f"file://{tmp_path}/open.pem", "KEY")
    for name in (".env", "open.pem", ".ENV", "a/.ssh/id_rsa"):
        with pytest.raises(PermissionDenied, match="may hold secrets"):
            await bench.workspace.read(bench.workspace.place(name))
        with pytest.raises(PermissionDenied, match="may hold secrets"):
            await bench.workspace.head(bench.workspace.place(name), 10)


async def test_a_policy_of_somebody_else_decides_instead(tmp_path: Path) -> None:
    class OnlyMarkdown:
        def may_read(self, place: Place) -> bool:
            return place.shown.endswith(".md")

    (tmp_path / "a.md").write_text("text")
    (tmp_path / "a.py").write_text("text")
    bench = Bench(tmp_path, policy=OnlyMarkdown())
    assert (await bench.workspace.read(bench.workspace.place("a.md"))).text == "text"
    with pytest.raises(PermissionDenied):
        await bench.workspace.read(bench.workspace.place("a.py"))


async def test_a_document_elsewhere_is_read_by_its_exact_name_only(bench: Bench) -> None:
    bench.open.open("untitled:Untitled-1", "draft")
    bench.open.open("file:///elsewhere/a%20b.py", "far away")
    bench.open.open("git:/elsewhere/.env?ref=main", "KEY=1")
    found = bench.workspace.elsewhere("untitled:Untitled-1")
    assert found is not None
    assert found.text == "draft"
    assert bench.workspace.elsewhere("file:///elsewhere/a%20b.py") is not None
    for other in ("Untitled-1", "untitled:untitled-1", "/elsewhere/a b.py", "file:///elsewhere/a b.py", "elsewhere"):
        assert bench.workspace.elsewhere(other) is None
    with pytest.raises(PermissionDenied):
        bench.workspace.elsewhere("git:/elsewhere/.env?ref=main")


async def test_reading_never_blocks_the_event_loop(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The read waits for something that only the loop can do."""
    (tmp_path / "a").touch()
    loop, gate = asyncio.get_running_loop(), asyncio.Event()

    def needs_the_loop(place: Place, limit: int) -> bytes:
        asyncio.run_coroutine_threadsafe(gate.wait(), loop).result(timeout=30)
        return b"read"

    monkeypatch.setattr(walk, "read", needs_the_loop)
    reading = asyncio.create_task(bench.workspace.read(bench.workspace.place("a")))
    await asyncio.sleep(0)
    gate.set()
    assert (await reading).text == "read"
