"""From a block to a request, and from an answer to the same block anew."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ollm_lsp.core.code_blocks import read
from ollm_lsp.core.indentation import common_indent, moved
from ollm_lsp.core.lines import body, ending, split
from ollm_lsp.core.rewriting import NoCode, Shape, asked, new_file, rewritten, shape_for, spliced

ENDINGS = st.sampled_from(["\n", "\r\n", "\r"])
INDENTS = st.sampled_from(["", "  ", "    ", "\t", "\t\t", "  \t", "            "])
BODIES = st.one_of(
    st.sampled_from(
        [
            "x = 1", "```", "````python", "~~~", "<think>", "</think>", "=======", "<<<<<<< SEARCH", ">>>>>>> REPLACE",
            "def f():", "    return 1", "\tif a:", "# ok", "…", "}", "  ", "", "\u2028", "é😀", "trailing  ",
        ]
    ),
    st.text(st.characters(blacklist_characters="\r\n", blacklist_categories=["Cs"]), max_size=12),
)  # fmt: skip
SOLID = BODIES.filter(lambda line: bool(line.strip()))
PROSE = st.text(st.characters(blacklist_characters="`~<>"), max_size=60)


@st.composite
def blocks(draw: st.DrawFn) -> str:
    """Lines that begin and end with something, under any indentation, with any line endings."""
    lines = [draw(SOLID), *draw(st.lists(BODIES, max_size=6)), draw(SOLID)]
    indent = draw(INDENTS)
    made = [(indent + line if line.strip() else line) + draw(ENDINGS) for line in lines]
    text = "".join(made)
    return body(text) if draw(st.booleans()) else text


def answered(block: str, language: str = "python") -> str:
    """The code as the model was shown it, which a model without a will of its own gives back."""
    return asked("", block, Shape.WHOLE, language).rpartition("\n\n\n\nWrite the whole")[0]


@given(blocks(), INDENTS, PROSE, PROSE)
def test_what_the_model_gives_back_as_it_was_shown_it_is_the_block_again(
    block: str, other: str, before: str, after: str
) -> None:
    assert rewritten(block, answered(block), Shape.WHOLE) == block
    told = read(answered(block))
    lines = moved(told.blocks[0].lines, other)
    fence = answered(block).partition("python")[0]
    words = f"{before}\n{fence}\n" + "\n".join(lines) + f"\n{fence}\n{after}"
    assert rewritten(block, words, Shape.WHOLE) == block, "under any other indentation, with prose around it"


@given(blocks(), blocks(), st.sampled_from(["\n", "\r\n"]))
def test_new_code_has_the_indentation_and_the_line_endings_of_the_old(old: str, new: str, usual: str) -> None:
    assume("SEARCH" not in new)  # which is another form of an answer
    old = "".join(body(line) + usual for line in split(old))
    assume("…" not in new)  # in a comment it would stand for what is left out
    try:
        made = rewritten(old, answered(new), Shape.WHOLE)
    except NoCode:
        made = ""
        assert any(line.strip() in old for line in split(new)), "only for a part of the old one"
    assume(made)
    lines = split(made)
    assert {ending(line) for line in lines} == {usual}
    assert common_indent(lines) == common_indent(split(old))
    assert [line.strip() for line in lines] == [line.strip() for line in split(new)]


@given(PROSE, st.sampled_from(Shape))
def test_prose_never_becomes_code(prose: str, shape: Shape) -> None:
    with pytest.raises(NoCode):
        rewritten("x = 1\n", prose, shape)
    with pytest.raises(NoCode):
        new_file(prose)


@given(blocks(), blocks(), blocks(), blocks())
def test_the_text_outside_the_block_stays(before: str, block: str, after: str, new: str) -> None:
    before, block = ("".join(body(line) + "\n" for line in split(text)) for text in (before, block))
    first, last = len(split(before)), len(split(before)) + len(split(block)) - 1
    text = spliced(before + block + after, first, last, new)
    assert text == before + new + after


def test_the_usual_answers_of_models_are_understood() -> None:
    block = "    def add(a, b):\n        return a - b\n"
    fixed = "    def add(a, b):\n        return a + b\n"
    code = "def add(a, b):\n    return a + b"
    old = "def add(a, b):\n    return a - b"
    for answer in (
        f"```python\n{code}\n```",
        f"```\n{code}\n```\n",
        f"~~~\n{code}\n~~~",
        f"Here it is:\n\n```python\n\n{code}\n\n```\n\nIt adds now.",
        f"```python\r\n{code}\r\n```".replace("\n", "\r\n").replace("\r\r", "\r"),
        f"1. Do this:\n   ```python\n   {code.replace(chr(10), chr(10) + '   ')}\n   ```",
        f"<think>Is it\n```python\nprint(1)\n```\n?</think>\n```python\n{code}\n```",
        f"Perhaps\n```python\n{code}\nprint(1)\n```\n?\n</think>\n\n```python\n{code}\n```",
        f"Before:\n```python\n{old}\n```\nAfter:\n```python\n{code}\n```",
        f"```python\n{code}\n```\nTry it:\n```python\nprint(add(1, 2))\n```",
        f"```python\n{code}\n```\nRun it:\n```bash\npython a.py\n```",
        "<<<<<<< SEARCH\n    return a - b\n=======\n    return a + b\n>>>>>>> REPLACE",
    ):
        assert rewritten(block, answer, Shape.WHOLE, "python") == fixed, answer


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("```python\nx = 2", "no end"),
        ("```python\n```", "empty"),
        ("```python\n  \n```", "empty"),
        ("<think>```python\nx = 2\n```", "words"),
        ("I would use `x = 2`.", "words"),
        ("```python\nx = 2\n```\n```python\nx = 3\n```", "several"),
        ("```python\nx = 2\n# ... rest of the code\n```", "left out"),
        ("```js\n// existing code stays here\nx = 2\n```", "left out"),
        ("```\n/* … */\n```", "left out"),
        ("```\n<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n```", "no end"),
        ("<<<<<<< SEARCH\nx = 1\n=======\nx\n=======\nx = 2\n>>>>>>> REPLACE", "exactly one line"),
        ("<<<<<<< SEARCH\ny = 1\n=======\nx = 2\n>>>>>>> REPLACE", "not clear"),
        ("<<<<<<< SEARCH\nx = 1\n=======\n>>>>>>> REPLACE", "empty"),
    ],
)
def test_what_is_not_clearly_the_new_code_is_refused_with_the_reason(answer: str, why: str) -> None:
    with pytest.raises(NoCode, match=why):
        rewritten("x = 1\n", answer, Shape.WHOLE, "python")


def test_a_part_in_place_of_the_whole_is_refused_but_lines_may_go() -> None:
    old = "import os\n\ndef f():\n    return 1\n\ndef g():\n    return 2\n"
    with pytest.raises(NoCode, match="only a part"):
        rewritten(old, "```\ndef g():\n    return 3\n```", Shape.WHOLE)
    less = "def f():\n    return 1\n\ndef g():\n    return 2\n"
    assert rewritten(old, f"```\n{less}```", Shape.WHOLE) == less


def test_an_ellipsis_that_was_there_or_is_code_is_no_omission() -> None:
    assert rewritten("# ...\nx = 1\n", "```\n# ...\nx = 2\n```", Shape.WHOLE) == "# ...\nx = 2\n"
    assert rewritten("x = 1\n", "```\nx = ...\n# wait for it...\n```", Shape.WHOLE) == "x = ...\n# wait for it...\n"


def test_a_long_block_is_changed_in_pieces() -> None:
    block = "".join(f"    x{n} = {n}\r\n" for n in range(100))
    assert shape_for(block) is Shape.PIECES
    assert shape_for("x = 1\n" * 80) is Shape.WHOLE
    assert "<<<<<<< SEARCH" in asked("Do it.", block, Shape.PIECES)
    answer = (
        "```\n<<<<<<< SEARCH\nx3 = 3\nx4 = 4\n=======\nx3 = 33\n>>>>>>> REPLACE\n```\nand\n"
        "<<<<<<< SEARCH\n    x90 = 90\n=======\n    x90 = 99\n    y = 1\n>>>>>>> REPLACE"
    )
    expected = block.replace("x3 = 3\r\n    x4 = 4", "x3 = 33").replace("x90 = 90", "x90 = 99\r\n    y = 1")
    assert rewritten(block, answer, Shape.PIECES) == expected
    with pytest.raises(NoCode, match="form"):
        rewritten(block, "```\nx3 = 33\n```", Shape.PIECES)


def test_a_new_file_is_one_piece_of_code() -> None:
    assert new_file("Tests:\n```python\ndef test_a(): ...\n```\n```sh\npytest\n```", "python") == "def test_a(): ...\n"
    with pytest.raises(NoCode, match="several"):
        new_file("```python\na\n```\n```python\nb\n```", "python")


def test_code_that_was_written_with_spaces_is_indented_by_tabs_where_the_old_is() -> None:
    old = "\tdef f(a):\n\t\treturn a\n"
    answer = "```\ndef f(a):\n    if a:\n        return (a +\n          1)\n```"
    assert rewritten(old, answer, Shape.WHOLE) == "\tdef f(a):\n\t\tif a:\n\t\t\treturn (a +\n\t\t\t  1)\n"
    spaces = old.replace("\t", "  ")
    assert rewritten(spaces, answer, Shape.WHOLE).startswith("  def f(a):\n      if a:\n")
