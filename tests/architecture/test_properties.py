"""The list of properties: it finds every mark, and no mark names a property that does not exist."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

from tests.properties import KNOWN, Guard, guards_in, main, report, unknown

if TYPE_CHECKING:
    import pytest

MARKED = dedent(
    """
    import pytest

    pytestmark = [pytest.mark.slow, pytest.mark.prop("lsp-2")]
    order = pytest.mark.prop("core-15")

    @order
    @pytest.mark.prop("core-4")
    def test_a(): ...

    @pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.prop("krk-41"))])
    async def test_b(x): ...

    @pytest.mark.prop("eng-1")
    class TestC:
        pytestmark = pytest.mark.prop("eng-2")
        @pytest.mark.prop("eng-3")
        def test_d(self): ...

    @pytest.mark.prop("core-1")
    def helper(): ...
    """
)


def numbers_in(source: str) -> list[str]:
    return sorted(guard.number for guard in guards_in(source, "test_x.py"))


def test_marks_are_found_wherever_they_stand() -> None:
    assert numbers_in(MARKED) == ["core-15", "core-4", "eng-1", "eng-2", "eng-3", "krk-41", "lsp-2", "lsp-2", "lsp-2"]


def test_the_properties_are_those_of_the_requirements() -> None:
    assert len(KNOWN) == len(set(KNOWN)) == 96
    assert {"core-1", "core-35", "eng-7", "krk-48", "lsp-6"} <= set(KNOWN)


def test_a_number_that_does_not_exist_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "test_x.py").write_text('import pytest\n@pytest.mark.prop("core-36")\ndef test_a(): ...\n')
    assert main(tmp_path) == 1
    assert "test_x.py:3: there is no property core-36" in capsys.readouterr().err


def test_a_number_that_is_computed_is_an_error() -> None:
    guards = guards_in('@pytest.mark.prop(f"core-{1}")\ndef test_a(): ...', "test_x.py")
    assert len(unknown(guards)) == 1


def test_the_report_counts_tests_and_names_what_has_none() -> None:
    text = report([Guard("core-1", "a.py", 1), Guard("core-1", "a.py", 9), Guard("core-1", "b.py", 1)])
    assert "core-1     3  a.py (2), b.py (1)" in text
    assert "1 of 96 properties" in text
    assert "No test yet: core-2 core-3" in text


def test_every_mark_in_this_project_names_a_property() -> None:
    root = Path(__file__).parents[2]
    run = subprocess.run(
        [sys.executable, "-m", "tests.properties"], cwd=root, capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert "properties are guarded" in run.stdout
