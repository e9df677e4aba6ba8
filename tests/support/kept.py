"""Responses to keep, as tests make them and as Hypothesis draws them."""

from __future__ import annotations

from hypothesis import strategies as st

from ollm_lsp.core.conversation import Response
from ollm_lsp.core.events import FinishReason
from ollm_lsp.core.messages import Message, Role, Text
from ollm_lsp.core.model import ModelId
from ollm_lsp.core.record import Opening
from ollm_lsp.core.usage import Cost, Usage
from tests.core.values import counts, messages, messages_of, usages

MODEL = ModelId("ollama", "qwen3:8b")


def response(
    response_id: str,
    parent_id: str | None = None,
    *output: Message,
    asked: str = "why?",
    usage: Usage | None = None,
    cost: Cost | None = None,
    model: ModelId = MODEL,
) -> Response:
    """A response with an answer of its own, unless one is given."""
    return Response(
        response_id,
        parent_id,
        model,
        (Message.user(asked),),
        output or (answer(f"answer {response_id}"),),
        usage or Usage(10, 20, 3, 4),
        cost or Cost(5),
        FinishReason.STOP,
    )


def answer(text: str) -> Message:
    return Message(Role.ASSISTANT, (Text(text),))


def opening(kept: Response) -> Opening:
    """How that response began."""
    return Opening(kept.id, kept.parent_id, kept.model, kept.input)


responses = st.builds(
    Response,
    id=st.just("r"),
    parent_id=st.none(),
    model=st.builds(ModelId, st.just("p"), st.text(st.characters(codec="utf-8"), min_size=1)),
    input=st.lists(messages_of(Role.USER), min_size=1, max_size=2).map(tuple),
    output=st.lists(messages, max_size=3).map(tuple),
    usage=usages,
    cost=st.builds(Cost, counts, st.sampled_from(["USD", "EUR"]), st.booleans()),
    finish_reason=st.sampled_from(FinishReason),
    is_recap=st.booleans(),
)
"""Any response, under one id."""
