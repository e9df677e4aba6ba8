"""A recap in a conversation: it stands for everything before it, and only for who comes after it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ollm_lsp.core.conversation import Conversation
from tests.core.test_conversation import MODEL, response


def texts(conversation: Conversation, response_id: str) -> list[str]:
    return [message.text for message in conversation.history(response_id, MODEL)]


@pytest.mark.prop("eng-3")
def test_a_recap_stands_for_everything_before_it() -> None:
    conversation = Conversation("c")
    recap = replace(response(2, 1, answered=False), is_recap=True)
    for one in (response(0, None), response(1, 0), recap, response(3, 2)):
        conversation.append(one)
    assert texts(conversation, "3") == ["question 2", "question 3", "answer 3"]
    assert texts(conversation, "1") == ["question 0", "answer 0", "question 1", "answer 1"]


@pytest.mark.prop("eng-3")
def test_who_branches_from_before_a_recap_has_the_whole() -> None:
    conversation = Conversation("c")
    for one in (response(0, None), replace(response(1, 0, answered=False), is_recap=True), response(2, 0)):
        conversation.append(one)
    assert texts(conversation, "2") == ["question 0", "answer 0", "question 2", "answer 2"]
