"""Files are read as an editor would, or refused with a reason."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ollm_lsp.terminal.buffers import UnusableFiles, language_of, read_buffers


def test_a_file_becomes_a_document(tmp_path: Path) -> None:
    file = tmp_path / "a b.py"
    file.write_bytes("x = 'é'\r\n".encode())
    [buffer] = read_buffers([file])
    assert buffer.item == {
        "uri": f"{tmp_path.as_uri()}/a%20b.py",
        "languageId": "python",
        "version": 1,
        "text": "x = 'é'\r\n",
    }


def test_a_byte_order_mark_is_not_text(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"\xef\xbb\xbfhello")
    assert read_buffers([file])[0].text == "hello"


def test_a_file_named_twice_is_opened_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").touch()
    assert len(read_buffers(["a.txt", tmp_path / "a.txt", "./a.txt"])) == 1


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("a.py", "python"),
        ("B.RS", "rust"),
        ("x.d.ts", "typescript"),
        ("a.tsx", "typescriptreact"),
        ("Makefile", "makefile"),
        ("README", "plaintext"),
        ("a.unknown", "plaintext"),
    ],
)
def test_the_language_follows_from_the_name(name: str, language: str) -> None:
    assert language_of(name) == language


def test_all_unusable_files_are_reported_at_once(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"a\0b")
    (tmp_path / "latin").write_bytes(b"caf\xe9")
    (tmp_path / "huge").write_bytes(b"x" * 2_000_001)
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "fine").write_bytes(b"x" * 2_000_000)
    names = ["binary", "latin", "huge", "folder", "pipe", "fine", "missing"]
    with pytest.raises(UnusableFiles) as raised:
        read_buffers([tmp_path / name for name in names])
    assert raised.value.problems == (
        f"{tmp_path}/binary: a binary file",
        f"{tmp_path}/latin: not UTF-8 text (byte 3)",
        f"{tmp_path}/huge: larger than 2 MB",
        f"{tmp_path}/folder: Is a directory",
        f"{tmp_path}/pipe: not a regular file",
        f"{tmp_path}/missing: No such file or directory",
    )
