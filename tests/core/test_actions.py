"""The prompts of the actions."""

from __future__ import annotations

import pytest

from ollm_lsp.core.actions import ASK, BUILT_IN, EDIT, EXPLAIN, FIX, Action, Form, prompt


@pytest.mark.parametrize("action", BUILT_IN)
def test_no_placeholder_and_no_gap_is_left_whatever_is_known(action: Action) -> None:
    for language in ("", "Python"):
        text = prompt(action, language=language, file="a.py", instruction="do it")
        assert "{" not in text
        assert "  " not in text
        assert ("Python" in text) == (language == "Python")


def test_an_instruction_comes_where_the_prompt_wants_it_else_behind_it() -> None:
    assert prompt(EDIT, instruction=" rename x \n") == "Change this code as follows: rename x"
    assert prompt(EXPLAIN, instruction="Why the loop?").endswith("Be brief.\n\nWhy the loop?")
    assert prompt(ASK, instruction="x", diagnostics="- bad").endswith("code: x\n\n- bad")


def test_a_fix_without_diagnostics_says_so() -> None:
    assert "- line 1: bad" in prompt(FIX, diagnostics="- line 1: bad")
    assert "none were reported" in prompt(FIX)


def test_braces_that_are_no_placeholder_and_what_is_filled_in_stay_as_they_are() -> None:
    own = Action("x", "x", "Use {braces} and {{instruction}}.", Form.EDIT)
    assert prompt(own, instruction="{file}") == "Use {braces} and {{file}}."
    code = Action("x", "x", "if a:\n    b {instruction}", Form.EDIT)
    assert prompt(code, instruction="c") == "if a:\n    b c"
