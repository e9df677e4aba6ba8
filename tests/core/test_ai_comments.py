"""Comments for the model, in the syntax of each language."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.ai_comments import AiComment, ai_comment

FOUND = [
    ("python", "# add types AI!", (0, "add types", True, "")),
    ("python", "    x = 1  # why one, AI?", (11, "why one", False, "    x = 1")),
    ("python", "#add types: AI!  ", (0, "add types", True, "")),
    ("python", 's = "# not"  # but this AI!', (13, "but this", True, 's = "# not"')),
    ("rust", "fn f<'a>() {} // shorten AI!", (14, "shorten", True, "fn f<'a>() {}")),
    ("rust", "/// explain AI?", (0, "explain", False, "")),
    ("javascript", 'let u = "http://x" // use https AI!', (19, "use https", True, 'let u = "http://x"')),
    ("typescript", "  /* rename AI! */", (2, "rename", True, "")),
    ("css", "a {} /* darker AI! */", (5, "darker", True, "a {}")),
    ("html", "<p> <!-- close it AI! -->", (4, "close it", True, "<p>")),
    ("markdown", "<!-- translate AI! -->", (0, "translate", True, "")),
    ("lua", "-- local AI!", (0, "local", True, "")),
    ("lisp", ";; tail call AI!", (0, "tail call", True, "")),
    ("latex", "% cite AI?", (0, "cite", False, "")),
    ("vim", '" map it AI!', (0, "map it", True, "")),
    ("Python", "# x AI!", (0, "x", True, "")),
    ("unheard-of", "// x AI!", (0, "x", True, "")),
    ("python", "# AI!", (0, "", True, "")),
]


@pytest.mark.parametrize(("language", "line", "found"), FOUND)
def test_a_comment_is_found_with_its_instruction_and_what_stands_before_it(
    language: str, line: str, found: tuple[int, str, bool, str]
) -> None:
    assert ai_comment(line, language) == AiComment(*found)


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("python", "x = 'AI!'"),
        ("python", "# AI! comes first"),
        ("python", "# MAIL AI"),
        ("python", "# OPENAI!"),
        ("python", "# ai!"),
        ("python", "// not python AI!"),
        ("javascript", "# not javascript AI!"),
        ("css", "// not css AI!"),
        ("javascript", "/* open AI!"),
        ("plaintext", "# hello AI!"),
        ("markdown", "# A heading about AI!"),
        ("python", ""),
    ],
)
def test_all_else_is_no_such_comment(language: str, line: str) -> None:
    assert ai_comment(line, language) is None


@given(st.text(max_size=40), st.sampled_from(["python", "rust", "html", "vim", "css", "x"]))
def test_whatever_a_line_holds_what_stands_before_the_comment_is_its_beginning(line: str, language: str) -> None:
    for text in (line, f"{line} AI!", f"# {line} AI!", f"{line}/* AI? */"):
        comment = ai_comment(text, language)
        if comment is not None:
            assert text[: comment.start].rstrip() == comment.rest
            assert not comment.instruction or comment.instruction in text
