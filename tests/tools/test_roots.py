"""Roots: what a written path means, by rules only, on both kinds of platform."""

from __future__ import annotations

from pathlib import Path, PureWindowsPath
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.errors import OutsideWorkspace
from ollm_lsp.tools.roots import Place, Roots

WORK = Path("/srv/me/code")
ONE = Roots([WORK])
SEVERAL = Roots([WORK, Path("/srv/lib"), Path("/other/lib"), WORK / "inner"])
WINDOWS = Roots([cast("Any", PureWindowsPath("C:/Users/me/code"))])


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("src/main.py", ("src", "main.py")),
        ("./src//main.py", ("src", "main.py")),
        ("src/../main.py", ("main.py",)),
        (".", ()),
        ("/srv/me/code", ()),
        ("/srv/me/code/a b.txt", ("a b.txt",)),
        ("/srv/me/other/../code/x", ("x",)),
        ("file:///srv/me/code/a%20b.txt", ("a b.txt",)),
        ("file:///srv/me/code/50%25.txt", ("50%.txt",)),
        ("FILE://localhost/srv/me/code/x", ("x",)),
        ("file:/srv/me/code/x", ("x",)),
        ("a:b.txt", ("a:b.txt",)),
        ("2026-11-16T10:00.log", ("2026-11-16T10:00.log",)),
        ("...", ("...",)),
        ("~/x", ("~", "x")),
        ("-rf", ("-rf",)),
        ("$(id).txt", ("$(id).txt",)),
        ("héllo/日本.txt", ("héllo", "日本.txt")),
    ],
)
def test_a_path_inside_is_taken(written: str, names: tuple[str, ...]) -> None:
    place = ONE.place(written)
    assert (place.folder, place.names) == (WORK, names)


@pytest.mark.threat("T14")
@pytest.mark.parametrize(
    "written",
    [
        *(
            "",
            " ",
            "..",
            "../x",
            "a/../../x",
            "/srv/me/code/../x",
            "/srv/me/code-too/x",
            "/srv/me/WORK/x",
            "/",
            "/etc",
        ),
        *(
            "//",
            "a\\b",
            "..\\x",
            "C:\\x",
            "c:/x",
            "C:",
            "\\\\host\\share\\x",
            "a\0b",
            "a\nb",
            "\x1b[2J",
            "\x85",
            "\u2028",
        ),
        *(
            "\ud800",
            "file:x",
            "file://host/srv/me/code/x",
            "file:///srv/me/code/%2e%2e/x",
            "file:///srv/me/code/%00",
        ),
        *("file:///srv/me/code/%ff", "http://host/srv/me/code/x", "x" * 256, "a/" * 3000),
    ],
)
def test_a_path_that_leads_out_or_might_is_refused_with_a_remedy(written: str) -> None:
    with pytest.raises(OutsideWorkspace) as refusal:
        ONE.place(written)
    assert refusal.value.remedy
    assert refusal.value.message.isprintable()
    assert len(refusal.value.message) < 1_000


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("src\\main.py", ("src", "main.py")),
        ("src/main.py", ("src", "main.py")),
        ("C:\\Users\\me\\code\\x", ("x",)),
        ("c:/users/ME/Code/x", ("x",)),
        ("file:///C:/Users/me/code/x", ("x",)),
        ("file:///c%3A/Users/me/code/x", ("x",)),
    ],
)
def test_on_windows_both_slashes_and_any_case_lead_inside(written: str, names: tuple[str, ...]) -> None:
    assert WINDOWS.place(written).names == names


@pytest.mark.threat("T9")
@pytest.mark.parametrize(
    "written",
    [
        *("..\\x", "D:\\Users\\me\\code\\x", "C:x", "C:..\\x", "\\x", "/x", "\\\\host\\share\\x", "//host/share/x"),
        *(
            "\\\\?\\C:\\Users\\me\\code\\x",
            "\\\\.\\PhysicalDrive0",
            "x::$DATA",
            "x:stream",
            "CON",
            "nul.txt",
            "src\\Aux",
        ),
        *(
            "COM1",
            "lpt9.log",
            "COM\u00b9",
            "CONIN$",
            "x.",
            "x ",
            "src.\\x",
            "PROGRA~1",
            "MAKEF~12.TXT",
            "a*",
            "a?",
            "a|b",
        ),
        *("file://host/share/x", "file:////host/share/x", "C:\\Users\\me\\code-too\\x", "C:\\Users\\me\\code\\..\\x"),
    ],
)
def test_on_windows_drives_shares_streams_devices_and_short_names_are_refused(written: str) -> None:
    with pytest.raises(OutsideWorkspace):
        WINDOWS.place(written)


@pytest.mark.threat("T14")
@given(st.text(), st.sampled_from([ONE, SEVERAL]))
def test_every_text_is_a_place_inside_or_refused(written: str, roots: Roots) -> None:
    try:
        place = roots.place(written)
    except OutsideWorkspace:
        return
    assert place.path.relative_to(place.folder).parts == place.names
    assert ".." not in place.names
    assert roots.place(place.written) == place


@given(st.lists(st.sampled_from(["file:", "C:", " ", "a", ":", "http:", "~", "-", "..."]), max_size=3), st.booleans())
def test_what_a_place_is_written_as_leads_back_to_it(names: list[str], several: bool) -> None:
    roots = SEVERAL if several else ONE
    place = roots.places[0].below(*names)
    assert roots.place(place.written) == place


def test_with_several_folders_a_path_begins_with_the_name_of_one() -> None:
    assert SEVERAL.place("lib/x").path == Path("/srv/lib/x")
    assert SEVERAL.place("lib-2/x").path == Path("/other/lib/x")
    assert SEVERAL.place("/other/lib/x").shown == "lib-2/x"
    with pytest.raises(OutsideWorkspace, match="code, lib, lib-2, inner"):
        SEVERAL.place("x")


def test_a_folder_within_another_has_its_own_files() -> None:
    assert SEVERAL.place("/srv/me/code/inner/x").shown == "inner/x"
    assert SEVERAL.place("/srv/me/code/inner-not/x").shown == "code/inner-not/x"


def test_without_a_folder_every_path_is_refused() -> None:
    with pytest.raises(OutsideWorkspace, match="no folder is open"):
        Roots([]).place("x")


def test_a_place_is_shown_without_what_disturbs_a_display_and_keeps_its_name() -> None:
    place = Place(WORK, ("a\x1b[2J\u202e.txt",))
    assert place.shown == "a⟨U+001B⟩[2J⟨U+202E⟩.txt"
    assert place.path.name == "a\x1b[2J\u202e.txt"


def test_the_address_of_a_place_leads_back_to_it() -> None:
    place = ONE.place("a b/50%.txt")
    assert ONE.place(place.uri) == place
