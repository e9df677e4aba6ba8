"""What is read in a message: orders, mentions, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.errors import Unsupported
from ollm_lsp.core.prompt import Mention, MentionKind, mentions_in, read_prompt
from ollm_lsp.core.slash import HELP, NAMES, Slash, slash_help


@pytest.mark.parametrize("name", NAMES)
def test_every_order_is_read_with_what_follows_it(name: str) -> None:
    prompt = read_prompt(f"  /{name}  fix the tests \n")
    assert (prompt.order, prompt.text) == (NAMES[name], "fix the tests")
    assert read_prompt(f"/{name.upper()}").order is NAMES[name]


def test_every_order_is_in_the_help() -> None:
    assert set(HELP) == set(Slash)
    assert all(f"`/{name}" in slash_help() for name in NAMES)


@pytest.mark.parametrize("typed", ["/etc/hosts is odd", "what does / mean?", "a /help inside", "/", "//help", "/2 x"])
def test_what_only_looks_like_an_order_is_text(typed: str) -> None:
    assert read_prompt(typed).order is None
    assert read_prompt(typed).text == typed


def test_an_unknown_order_tells_what_may_be_meant() -> None:
    with pytest.raises(Unsupported) as failure:
        read_prompt("/explian this")
    assert "/explian" in failure.value.message
    assert "/explain" in failure.value.remedy


@pytest.mark.parametrize(
    ("typed", "paths"),
    [
        ("see #file:src/app.py.", ["src/app.py"]),
        ("(#file:a.py), and #file:b.py?", ["a.py", "b.py"]),
        ('#file:"with space.md" too', ["with space.md"]),
        ("#file: nothing", []),
        ("x#file:a.py ##file:b.py http://h/#file:c", []),
        ("`#file:a.py` and ``#file:b`c``", []),
        ("```\n#file:a.py\n```\n#file:b.py", ["b.py"]),
        ("~~~ py\n#file:a.py\n```\n#file:b.py", []),
    ],
)
def test_files_are_mentioned_in_prose_only(typed: str, paths: list[str]) -> None:
    assert [mention.path for mention in read_prompt(typed).mentions] == paths


def test_mentions_know_where_they_stand() -> None:
    typed = "Why does\n#selection fail in #buffer with #diagnostics, as in #file:a.py?"
    found = list(mentions_in(typed))
    assert [typed[one.start : one.end] for one in found] == ["#selection", "#buffer", "#diagnostics", "#file:a.py"]
    assert read_prompt(typed).mentions_of(MentionKind.FILE) == [Mention(MentionKind.FILE, "a.py", 61, 71)]


@pytest.mark.parametrize("typed", ["#include <a.h>", "# buffer", "#buffers", "#selections", "a#buffer", "&#selection;"])
def test_other_hashes_are_text(typed: str) -> None:
    assert read_prompt(typed).mentions == ()


@given(st.text(alphabet="#/:file buffer`~\n\"'.a").map(lambda text: f".{text}"))
def test_reading_loses_nothing(typed: str) -> None:
    prompt = read_prompt(typed)
    assert prompt.text == typed
    assert all(typed[one.start] == "#" and one.path in typed[one.start : one.end] for one in prompt.mentions)
