"""The tools that read: what they give, what they cut and how they say so, and that unsaved text counts in each."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

from ollm_lsp.core.diagnostic import Diagnostic, Severity
from ollm_lsp.core.image import Image
from ollm_lsp.core.snapshot import Snapshot
from ollm_lsp.core.tool import Location
from ollm_lsp.tools import find_files, list_directory, picture, read_file, tree
from tests.support.pictures import png
from tests.support.workspace import Bench

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = [
    "a\nb",
    "\x1b[2Jx",
    "\u202egpj.exe",
    "`id`",
    "$(id)",
    "--pre=id",
    "<b>",
    "]]>",
    "é\u200b",
    "-rf",
    "a;b",
    "'\"",
]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def tag(text: str) -> str:
    return Snapshot("", text).digest[:12]


async def test_a_file_is_read_with_its_lines_and_its_tag(bench: Bench, tmp_path: Path) -> None:
    text = "one\ntwo\r\nthree"
    (tmp_path / "a.txt").write_bytes(text.encode())
    assert await bench.text("read_file", path="a.txt") == f"a.txt, lines 1 to 3 of 3, tag {tag(text)}\n{text}"
    part = await bench.text("read_file", path="a.txt", from_line=2, to_line=2)
    assert part == f"a.txt, lines 2 to 2 of 3, tag {tag(text)}\ntwo\r\n"
    assert (await bench.text("read_file", path="a.txt", from_line=2)).endswith("two\r\nthree")
    assert (await bench.text("read_file", path="a.txt", to_line=99)).endswith("three")


@pytest.mark.threat("F21")
@pytest.mark.prop("lsp-2")
async def test_unsaved_text_is_what_is_read(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("saved")
    bench.open.open(f"file://{tmp_path}/a.txt", "unsaved")
    assert await bench.text("read_file", path="a.txt") == f"a.txt, lines 1 to 1 of 1, tag {tag('unsaved')}\nunsaved"


async def test_lines_that_are_not_there_are_an_error(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    assert "only 1 lines" in await bench.refusal("read_file", path="a.txt", from_line=2)
    assert "before from_line" in await bench.refusal("read_file", path="a.txt", from_line=3, to_line=2)
    (tmp_path / "empty").touch()
    assert await bench.text("read_file", path="empty") == f"empty is empty, tag {tag('')}"


async def test_a_long_file_is_read_piece_by_piece_and_nothing_is_lost(bench: Bench, tmp_path: Path) -> None:
    text = "".join(f"line {number} {'x' * (number % 90)}\n" for number in range(5_000))
    (tmp_path / "long.txt").write_text(text)
    pieces: list[str] = []
    start = 1
    while start:
        _, _, shown = (await bench.text("read_file", path="long.txt", from_line=start)).partition("\n")
        piece, cut, rest = shown.partition("[Cut here. Go on with from_line ")
        pieces.append(piece)
        assert len(piece) <= read_file.MAX_CHARS
        start = int(rest.removesuffix(".]")) if cut else 0
    assert len(pieces) > 2
    assert "".join(pieces) == text


async def test_a_line_without_end_is_cut(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "min.js").write_text("x" * 3_000_000 + "\nnext\n")
    text = await bench.text("read_file", path="min.js")
    assert len(text) < 10_000
    assert "3,000,001 characters in this line]\nnext\n" in text


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + struct.pack(">II", 640, 480), "PNG image, 640 x 480 pixels"),
        (b"GIF89a" + struct.pack("<HH", 10, 20), "GIF image, 10 x 20 pixels"),
        (
            b"\xff\xd8\xff\xe0\0\x04ab\xff\xc0\0\x11\x08" + struct.pack(">HH", 7, 9) + b"\0" * 9,
            "JPEG image, 9 x 7 pixels",
        ),
        (b"RIFF\0\0\0\0WEBPVP8 ", "WebP image"),
        (b"\xff\xd8\xff\xe0\xff\xff", "JPEG image"),
    ],
)
async def test_an_image_is_described(bench: Bench, tmp_path: Path, data: bytes, said: str) -> None:
    (tmp_path / "picture").write_bytes(data)
    result = await bench.call("read_file", path="picture")
    assert f"picture is a {said}. It cannot be shown as text, and you cannot see images." in result.text
    assert (result.is_error, result.images) == (False, ())


JPEG = b"\xff\xd8\xff\xe0\0\x04ab\xff\xc0\0\x11\x08" + struct.pack(">HH", 7, 9) + b"\0" * 9
WEBP = b"RIFF" + struct.pack("<I", 20) + b"WEBPVP8 " + b"\0" * 12


@pytest.mark.parametrize(
    ("data", "mime_type"),
    [
        (png(), "image/png"),
        (png() + b"what an editor has added", "image/png"),
        (b"GIF89a" + struct.pack("<HH", 10, 20) + b"\0\x3b", "image/gif"),
        (JPEG + b"\xff\xd9", "image/jpeg"),
        (WEBP, "image/webp"),
    ],
)
async def test_an_image_is_shown_to_a_model_that_sees(tmp_path: Path, data: bytes, mime_type: str) -> None:
    (tmp_path / "picture.txt").write_bytes(data)
    result = await Bench(tmp_path, sees=True).call("read_file", path="picture.txt")
    assert result.images == (Image(mime_type, data),)
    assert result.text.endswith("It is shown to you.")
    assert not result.is_error


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"BM" + b"\0" * 30, "only PNG, JPEG, GIF and WebP"),
        (png() + b"\0" * picture.MAX_SHOWN, "more than 3,750,000 bytes"),
        (png().replace(struct.pack(">I", 1), struct.pack(">I", 8_001), 1), "from 1 to 8,000 pixels"),
        (b"GIF89a" + b"\0" * 9, "from 1 to 8,000 pixels"),
        (png()[:-4], "cut off"),
        (JPEG, "cut off"),
        (WEBP[:-1], "cut off"),
        (b"\xff\xd8\xff\xe0\xff\xff\xff\xd9", "cut off"),
    ],
)
async def test_an_image_that_a_vendor_would_refuse_is_only_described(tmp_path: Path, data: bytes, why: str) -> None:
    (tmp_path / "picture.png").write_bytes(data)
    result = await Bench(tmp_path, sees=True).call("read_file", path="picture.png")
    assert "It is not shown: " in result.text
    assert why in result.text
    assert (result.is_error, result.images) == (False, ())


async def test_only_a_model_that_sees_is_told_that_it_may_read_images(bench: Bench, tmp_path: Path) -> None:
    seeing, blind = Bench(tmp_path, sees=True).toolbox.specs[0], bench.toolbox.specs[0]
    assert "image" in seeing.description
    assert "image" not in blind.description
    assert seeing.parameters == blind.parameters
    (tmp_path / "a.txt").write_text("text")
    assert await Bench(tmp_path, sees=True).call("read_file", path="a.txt") == await bench.call(
        "read_file", path="a.txt"
    )


async def test_what_is_no_image_and_no_text_is_an_error(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "png").write_bytes(b"\x89PNG\r\n\x1a\n\0")
    (tmp_path / "program").write_bytes(b"\x7fELF\0\0")
    assert "binary" in await bench.refusal("read_file", path="png")
    assert "binary" in await bench.refusal("read_file", path="program")
    assert "There is no 'nothing'" in await bench.refusal("read_file", path="nothing")
    assert "is a folder" in await bench.refusal("read_file", path=".")


async def test_a_document_elsewhere_is_read_as_it_is_listed(bench: Bench, tmp_path: Path) -> None:
    bench.open.open("untitled:Untitled-1", "draft\n")
    bench.open.open("file:///elsewhere/.env", "KEY=1\n")
    bench.open.open(f"file://{tmp_path}/in.py", "1\n2\n")
    listed = await bench.text("list_buffers")
    assert listed.split("\n") == [
        "in.py (2 lines)",
        "file:///elsewhere/.env (secret, not read)",
        "untitled:Untitled-1 (1 line)",
    ]
    assert (await bench.text("read_file", path="untitled:Untitled-1")).endswith("draft\n")
    assert "secrets" in await bench.refusal("read_file", path="file:///elsewhere/.env")


async def test_no_open_document_is_said(bench: Bench) -> None:
    assert await bench.text("list_buffers") == "No file is open."


@pytest.mark.prop("lsp-2")
async def test_a_folder_is_listed_with_what_is_not_saved_yet(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "b.txt").write_text("12345")
    (tmp_path / ".env").write_text("KEY=1")
    (tmp_path / "link").symlink_to("/")
    bench.open.open(f"file://{tmp_path}/new.py", "")
    bench.open.open(f"file://{tmp_path}/b.txt", "")
    bench.open.open(f"file://{tmp_path}/src/inner.py", "")
    assert (await bench.text("list_directory")).split("\n") == [
        "./ has 5 entries:",
        "src/",
        ".env (secret, not read)",
        "b.txt (5 bytes)",
        "link (link, not followed)",
        "new.py (open, never saved)",
    ]
    assert await bench.text("list_directory", path="src") == "src/ has 1 entry:\ninner.py (open, never saved)"


async def test_a_folder_with_too_many_entries_is_cut(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(list_directory, "MAX_ENTRIES", 3)
    for number in range(5):
        (tmp_path / str(number)).touch()
    lines = (await bench.text("list_directory")).split("\n")
    assert lines[0] == "./ has 5 entries:"
    assert lines[-1] == "[Only 3 are shown. Use find_files for the others.]"
    assert len(lines) == 5


async def test_what_is_no_folder_cannot_be_listed(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    assert "refused" in await bench.refusal("list_directory", path="file")
    assert "There is no" in await bench.refusal("list_directory", path="nothing")
    assert await bench.text("list_directory", path="empty") == "empty/ is empty."


async def test_several_folders_are_listed_by_their_names(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.py").write_text("needle\n")
    bench = Bench(tmp_path / "one", tmp_path / "two")
    assert (await bench.text("list_directory")).split("\n")[1:] == ["one/", "two/"]
    assert await bench.text("find_files", pattern="*.py") == "one/x.py\ntwo/x.py"
    assert "two/x.py:1: needle" in await bench.text("search_text", query="needle")
    assert (await bench.text("read_file", path="two/x.py")).startswith("two/x.py, lines 1")


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.py", ["a.py", "src/b.py", "src/deep/c.py"]),
        ("src/*.py", ["src/b.py"]),
        ("/src/**/*.py", ["src/b.py", "src/deep/c.py"]),
        ("**/*.{py,md}", ["a.py", "src/b.py", "src/d.md", "src/deep/c.py"]),
        ("{a,src/b}.py", ["a.py", "src/b.py"]),
        ("./*.py", ["a.py"]),
        ("deep/", ["src/deep/c.py"]),
        ("B.PY", ["src/b.py"]),
        ("[ab].py", ["a.py", "src/b.py"]),
        ("?.md", ["src/d.md"]),
    ],
)
async def test_files_are_found_by_patterns(bench: Bench, tmp_path: Path, pattern: str, found: list[str]) -> None:
    (tmp_path / "src" / "deep").mkdir(parents=True)
    (tmp_path / ".gitignore").write_text("*.log\n")
    for name in ("a.py", "src/b.py", "src/deep/c.py", "src/d.md", "x.log"):
        (tmp_path / name).touch()
    assert (await bench.text("find_files", pattern=pattern)).split("\n") == found


@pytest.mark.prop("lsp-2")
async def test_a_file_that_was_never_saved_is_found(bench: Bench, tmp_path: Path) -> None:
    bench.open.open(f"file://{tmp_path}/src/new.py", "")
    assert await bench.text("find_files", pattern="*.py") == "src/new.py"
    assert await bench.text("find_files", pattern="*.md") == "No file fits '*.md'."


async def test_too_many_files_are_cut(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        (tmp_path / f"{number}.py").touch()
    monkeypatch.setattr(find_files, "MAX_FOUND", 3)
    lines = (await bench.text("find_files", pattern="*")).split("\n")
    assert lines == ["0.py", "1.py", "2.py", "[Only 3 files are shown. Give a narrower pattern or a path.]"]
    monkeypatch.setattr(find_files, "MAX_FOUND", 300)
    monkeypatch.setattr(tree, "MAX_DEPTH", -1)
    assert "Not everything was looked at" in await bench.text("find_files", pattern="*")


async def test_a_pattern_with_countless_alternatives_is_no_work(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "ab").touch()
    assert "No file fits" in await bench.text("find_files", pattern="{a,b}" * 40)


@pytest.mark.prop("lsp-2")
async def test_diagnostics_are_told_the_worst_first(bench: Bench, tmp_path: Path) -> None:
    uri = f"file://{tmp_path}/a.py"
    bench.diagnostics.known = [
        Diagnostic(uri, 4, 4, Severity.HINT, "unused", "ruff", "F401"),
        Diagnostic(uri, 0, 2, Severity.ERROR, "broken\n  here\x1b[2J"),
        Diagnostic("file:///elsewhere/b.py", 1, 1, Severity.WARNING, "odd", "x"),
        Diagnostic(f"file://{tmp_path}/.env", 0, 0, Severity.ERROR, "KEY=1 is no key"),
    ]
    assert (await bench.text("get_diagnostics")).split("\n") == [
        "a.py:1-3: error: broken here⟨U+001B⟩[2J",
        "file:///elsewhere/b.py:2: warning: odd [x]",
        "a.py:5: hint: unused [ruff F401]",
    ]
    assert (await bench.text("get_diagnostics", path="a.py")).count("\n") == 1
    assert await bench.text("get_diagnostics", path="b.py") == "No diagnostics are known for b.py."
    assert bench.diagnostics.asked == [None, uri, f"file://{tmp_path}/b.py"]
    assert "is refused" in await bench.refusal("get_diagnostics", path="../b.py")


async def test_many_diagnostics_are_cut(bench: Bench) -> None:
    bench.diagnostics.known = [Diagnostic("untitled:1", n, n, Severity.ERROR, "x" * 5_000) for n in range(250)]
    lines = (await bench.text("get_diagnostics")).split("\n")
    assert lines[-1] == "[50 more diagnostics not shown. Ask for a single file.]"
    assert max(map(len, lines)) < 500


@pytest.mark.threat("T19")
@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_names_are_shown_whole_and_stay_themselves(bench: Bench, tmp_path: Path, name: str) -> None:
    """Threat T19: nothing runs, the display stays whole, and where the name can be written the file is read."""
    (tmp_path / name).write_text("needle inside\n")
    outputs = [
        await bench.text("list_directory"),
        await bench.text("find_files", pattern="*"),
        await bench.text("search_text", query="needle"),
    ]
    for text in outputs:
        assert not any(character < " " and character != "\n" for character in text)
        assert "\u202e" not in text
        assert "\u200b" not in text
    assert outputs[1].count("\n") == 0
    assert outputs[2].count("\n") == 1
    if name.isprintable():
        assert (await bench.text("read_file", path=name)).endswith("needle inside\n")
        assert name in outputs[1]


@pytest.mark.threat("T19")
async def test_names_that_are_no_utf_8_are_shown_too(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "caf\udce9").write_text("needle\n")
    assert "caf⟨U+DCE9⟩" in await bench.text("list_directory")
    assert await bench.text("find_files", pattern="*") == "caf⟨U+DCE9⟩"
    assert "caf⟨U+DCE9⟩:1: needle" in await bench.text("search_text", query="needle")


def test_calls_are_shown_with_their_places(bench: Bench, tmp_path: Path) -> None:
    shown = {tool.spec.name: tool for tool in bench.tools}
    read = {"path": "a\x1b.py", "from_line": 3}
    assert shown["read_file"].title(read) == "Read a⟨U+001B⟩.py"
    assert list(shown["read_file"].locations({"path": "a.py", "from_line": 3})) == [
        Location(f"file://{tmp_path}/a.py", 2)
    ]
    assert shown["search_text"].title({"query": "x" * 500}) == f"Search for {'x' * 120}…"
    assert list(shown["list_buffers"].locations({})) == []
