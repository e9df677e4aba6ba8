"""The lists of properties, threats and faults: every mark is found, and none names what does not exist."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from tests.marks import Guard
from tests.properties import PROPERTIES
from tests.threats.catalogue import THREATS

if TYPE_CHECKING:
    from tests.marks import Register

MARKED = dedent(
    """
    import pytest

    pytestmark = [pytest.mark.slow, pytest.mark.prop("lsp-2"), pytest.mark.threat("T1")]
    order = pytest.mark.prop("core-15")

    @order
    @pytest.mark.prop("core-4")
    @pytest.mark.threat("F4", "F35")
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


def numbers_in(register: Register, source: str) -> list[str]:
    return sorted(guard.number for guard in register.guards_in(source, "test_x.py"))


def test_marks_are_found_wherever_they_stand() -> None:
    properties = ["core-15", "core-4", "eng-1", "eng-2", "eng-3", "krk-41", "lsp-2", "lsp-2", "lsp-2"]
    assert numbers_in(PROPERTIES, MARKED) == properties
    assert numbers_in(THREATS, MARKED) == ["F35", "F4", "T1", "T1", "T1"]


def test_the_numbers_are_those_of_the_requirements() -> None:
    assert len(PROPERTIES.titles) == 96
    assert {"core-1", "core-35", "eng-7", "krk-48", "lsp-6"} <= set(PROPERTIES.titles)
    assert list(THREATS.titles) == [f"T{n}" for n in range(1, 33)] + [f"F{n}" for n in range(1, 51)]


@pytest.mark.parametrize(
    ("register", "mark", "words"),
    [
        (PROPERTIES, 'prop("core-36")', "there is no property core-36"),
        (THREATS, 'threat("F51")', "there is no threat or fault F51"),
    ],
)
def test_a_number_that_does_not_exist_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], register: Register, mark: str, words: str
) -> None:
    (tmp_path / "test_x.py").write_text(f"import pytest\n@pytest.mark.{mark}\ndef test_a(): ...\n")
    assert register.main(tmp_path) == 1
    assert f"test_x.py:3: {words}" in capsys.readouterr().err


def test_a_number_that_is_computed_is_an_error() -> None:
    guards = PROPERTIES.guards_in('@pytest.mark.prop(f"core-{1}")\ndef test_a(): ...', "test_x.py")
    assert len(PROPERTIES.unknown(guards)) == 1


def test_the_report_counts_tests_and_names_what_has_none() -> None:
    guards = [Guard("core-1", "a.py", 1), Guard("core-1", "a.py", 9), Guard("core-1", "b.py", 1)]
    text = PROPERTIES.report(guards)
    assert "core-1     3  a.py (2), b.py (1)" in text
    assert "1 of 96 properties" in text
    assert "No test yet: core-2 core-3" in text


def test_what_is_guarded_elsewhere_is_told_beside_our_own_tests() -> None:
    register = replace(THREATS, elsewhere={"T1": "editors/x.ts"})
    assert "2  a.py (2), editors/x.ts" in register.report([Guard("T1", "a.py", 1), Guard("T1", "a.py", 2)])
    assert "1 of 82 threats and faults" in register.report([])


@pytest.mark.parametrize("module", ["tests.properties", "tests.threats"])
def test_every_mark_in_this_project_names_something(module: str) -> None:
    root = Path(__file__).parents[2]
    run = subprocess.run([sys.executable, "-m", module], cwd=root, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert "are guarded" in run.stdout


def test_every_threat_and_every_fault_has_a_test() -> None:
    guarded = {guard.number for guard in THREATS.guards()} | set(THREATS.elsewhere)
    assert [number for number in THREATS.titles if number not in guarded] == []
