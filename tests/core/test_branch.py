"""Which branch of a conversation a written chat follows."""

from __future__ import annotations

from ollm_lsp.core.branch import followed
from ollm_lsp.core.chat_file import Exchange
from ollm_lsp.core.conversation import Response
from ollm_lsp.core.events import FinishReason
from ollm_lsp.core.messages import Message, Role, Text
from ollm_lsp.core.model import ModelId
from ollm_lsp.core.usage import FREE, Usage

MODEL = ModelId("a", "b")


def said(name: str, parent: str | None, question: str, answer: str = "", *, is_recap: bool = False) -> Response:
    output = (Message(Role.ASSISTANT, (Text(answer),)),) if answer else ()
    asked = (Message.user(question),)
    return Response(name, parent, MODEL, asked, output, Usage(), FREE, FinishReason.STOP, is_recap)


TREE = [
    said("1", None, "Why?", "Because."),
    said("2", "1", "And?", "So."),
    said("3", "1", "And?", "So."),
    said("4", "2", "More?", "Yes."),
    said("sum", "4", "They spoke.", is_recap=True),
    said("5", "sum", "On?", "Sure."),
    said("6", None, "Explain the selection.", "It adds."),
]
WHY, AND, MORE, ON = (
    Exchange("Why?", "Because."),
    Exchange("And?", "So."),
    Exchange("More?", "Yes."),
    Exchange("On?", "Sure."),
)


def clean(text: str) -> str:
    return text


def test_the_longest_branch_that_says_the_same_is_followed() -> None:
    assert followed(TREE, [], clean) == (None, 0)
    assert followed(TREE, [WHY], clean) == ("1", 1)
    assert followed(TREE, [WHY, AND], clean) == ("3", 2)
    assert followed(TREE, [WHY, AND, Exchange("Else?", "No.")], clean) == ("3", 2)
    assert followed(TREE, [WHY, AND, MORE, ON], clean) == ("5", 4)
    assert followed(TREE, [Exchange("Why?", "No.")], clean) == (None, 0)
    assert followed([], [WHY], clean) == (None, 0)


def test_a_summary_stands_in_for_its_branch() -> None:
    assert followed(TREE, [WHY, AND, MORE], clean) == ("sum", 3)


def test_spaces_do_not_count_nor_what_a_slash_command_became() -> None:
    assert followed(TREE, [Exchange(" Why?\n", "Be\ncause. ")], clean) == ("1", 1)
    assert followed(TREE, [Exchange("/explain", "It adds.")], clean) == ("6", 1)
    assert followed(TREE, [Exchange("explain", "It adds.")], clean) == (None, 0)


def test_what_is_hidden_in_the_file_is_hidden_in_the_comparison() -> None:
    kept = [said("1", None, "Is it sesame?", "No, sesame2.")]
    written = [Exchange("Is it sesame?", "No, ***2.")]
    assert followed(kept, written, lambda text: text.replace("sesame", "***")) == ("1", 1)
