"""Changes and proposals: what they are bound to, how they are undone, and what people are shown of them."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.cautions import cautions
from ollm_lsp.core.change import (
    Change,
    CreateFile,
    DeleteFile,
    EditText,
    InvalidProposal,
    Proposal,
    RenameFile,
    kind_of,
    reversed_change,
    uris,
)
from ollm_lsp.core.shown import change_diff, code, fenced, shown
from ollm_lsp.core.snapshot import Snapshot
from ollm_lsp.core.tool import ToolKind
from tests.core.values import patient

short = st.text(st.sampled_from("ab\n`~ \u202e"), max_size=6)
addresses = st.sampled_from(["file:///a", "file:///b", "file:///c"])


def edit(uri: str, before: str, after: str) -> EditText:
    return EditText(uri, Snapshot(uri, before, 3), after)


def delete(uri: str, before: str) -> DeleteFile:
    return DeleteFile(uri, Snapshot(uri, before))


changes = st.one_of(
    st.builds(edit, addresses, short, short),
    st.builds(CreateFile, addresses, short),
    st.builds(RenameFile, addresses, st.just("file:///new")),
    st.builds(delete, addresses, short),
)


def proposal(*parts: Change, tool: str = "edit_file") -> Proposal:
    return Proposal("p", tool, "Title", parts)


def what_happens(change: Change) -> tuple[object, ...]:
    match change:
        case EditText(uri, base, text):
            return ("edit", uri, base.text, text)
        case CreateFile(uri, text):
            return ("create", uri, text)
        case RenameFile(uri, new_uri):
            return ("rename", uri, new_uri)
        case DeleteFile(uri, base):
            return ("delete", uri, base.text)


@pytest.mark.threat("T11")
@patient
@given(changes, changes)
def test_two_proposals_have_the_same_digest_exactly_when_the_same_will_happen(one: Change, other: Change) -> None:
    same = what_happens(one) == what_happens(other)
    assert (proposal(one).digest == proposal(other).digest) is same
    assert replace(proposal(one), id="q", title="Other words").digest == proposal(one).digest
    assert proposal(one).digest != proposal(one, tool="write_file").digest


@pytest.mark.threat("T11")
def test_the_digest_tells_one_file_from_two_and_one_order_from_another() -> None:
    a, b = CreateFile("file:///a", "x"), CreateFile("file:///b", "x")
    assert len({proposal(a).digest, proposal(a, b).digest, proposal(b, a).digest}) == 3
    assert proposal(edit("file:///a", "\ud800", "\udfff")).digest


@patient
@given(changes)
def test_undoing_what_undoes_a_change_is_the_change(change: Change) -> None:
    assert what_happens(reversed_change(reversed_change(change))) == what_happens(change)


def test_a_proposal_is_undone_from_its_end_and_only_as_far_as_it_was_done() -> None:
    first, second = edit("file:///a", "1", "2"), RenameFile("file:///b", "file:///c")
    whole = proposal(first, second).reverse("q")
    assert whole is not None
    assert whole.title == "Revert: Title"
    assert [what_happens(change) for change in whole.changes] == [
        ("rename", "file:///c", "file:///b"),
        ("edit", "file:///a", "2", "1"),
    ]
    half = proposal(first, second).reverse("q", [first])
    assert half is not None
    assert half.changes == (reversed_change(first),)
    assert proposal(first, second).reverse("q", []) is None


def test_contradictions_cannot_be_proposed() -> None:
    with pytest.raises(InvalidProposal):
        proposal()
    with pytest.raises(InvalidProposal):
        proposal(edit("file:///a", "", "x"), delete("file:///a", ""))
    with pytest.raises(InvalidProposal):
        proposal(RenameFile("file:///a", "file:///b"), CreateFile("file:///b", ""))
    with pytest.raises(InvalidProposal):
        proposal(RenameFile("file:///a", "file:///a"))
    with pytest.raises(InvalidProposal):
        EditText("file:///a", Snapshot("file:///b", ""), "x")
    with pytest.raises(InvalidProposal):
        DeleteFile("file:///a", Snapshot("file:///b", ""))


def test_every_change_has_a_kind_and_its_documents() -> None:
    kinds = [
        kind_of(change) for change in (edit("a", "", ""), CreateFile("a", ""), RenameFile("a", "b"), delete("a", ""))
    ]
    assert kinds == [ToolKind.EDIT, ToolKind.CREATE, ToolKind.MOVE, ToolKind.DELETE]
    assert uris(RenameFile("a", "b")) == ("a", "b")
    assert uris(CreateFile("a", "")) == ("a",)


@pytest.mark.threat("T10")
@patient
@given(changes)
def test_what_is_shown_holds_the_whole_diff_in_a_block_that_it_cannot_leave(change: Change) -> None:
    text = shown(proposal(change), lambda uri: uri.removeprefix("file://"))
    assert text.startswith(("Edit `/", "Create `/", "Move `/", "Delete `/"))
    lines = change_diff(change)
    if lines:
        block = re.search(r"^(`{3,})diff\n(.*?\n)\1$", text, re.MULTILINE | re.DOTALL)
        assert block is not None
        assert block[2] == lines
        assert text.endswith(block[0])
    assert "\u202e" not in text


@pytest.mark.threat("T10")
@patient
@given(st.text(st.sampled_from("a` \n"), max_size=12))
def test_no_text_breaks_out_of_its_fence(text: str) -> None:
    fence = fenced(text).partition("\n")[0]
    assert fence not in text
    assert fenced(text).count(fence) == 2
    span = code(text)
    ticks = len(span) - len(span.lstrip("`"))
    assert "`" * ticks not in text


@pytest.mark.threat("T10")
def test_both_ends_of_a_move_are_shown_and_names_cannot_lie() -> None:
    change = RenameFile("/a\u202ecod.exe", "/p\u0430y\nEdit `x`")
    text = shown(proposal(change), str)
    assert text == "Move `/a⟨U+202E⟩cod.exe` to `` /p⟨U+0430⟩y⟨U+000A⟩Edit `x` ``"
    assert shown(proposal(CreateFile("/a", "")), str) == "Create `/a`, empty"
    assert shown(proposal(delete("/a", "")), str) == "Delete `/a`, which is empty"


@pytest.mark.threat("T22")
def test_hidden_characters_that_an_edit_adds_are_pointed_out() -> None:
    (caution,) = cautions(edit("file:///a.py", "x\n", "x\u202e\n"))
    assert "RIGHT-TO-LEFT OVERRIDE" in caution
    assert cautions(edit("file:///a.py", "x\u202e\n", "y\u202e\n")) == []
    assert cautions(edit("file:///a.py", "x\u202e\n", "y\u202e\u202e\n")) != []
    assert cautions(edit("file:///a.py", "x\u202e\n", "y\n")) == []
    assert "**Caution.** It adds characters" in shown(proposal(CreateFile("/a", "\u200b")), str)


@pytest.mark.threat("T24")
@pytest.mark.parametrize(
    "text",
    [
        '{"$schema": "https://evil.example/?q=1"}',
        "ref: HTTP://evil.example",
        'x = "//evil.example/a"',
        "a: file://evil/x",
    ],
)
@pytest.mark.parametrize("name", ["a.json", "A.JSON", "x.code-workspace", "b.yaml", "c.toml", "d.xml"])
def test_remote_addresses_that_settings_gain_are_pointed_out(name: str, text: str) -> None:
    (caution,) = cautions(CreateFile(f"file:///{name}", text))
    assert "evil" in caution
    assert cautions(edit(f"file:///{name}", text, f"{text}\n#")) == []
    assert cautions(CreateFile("file:///notes.md", text)) == []
    assert cautions(delete(f"file:///{name}", text)) == []
