"""Values of the core, as Hypothesis draws them."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st

from ollm_lsp.core.events import (
    Activity,
    FinishReason,
    ProviderEvent,
    ReasoningDelta,
    ReasoningSigned,
    TextDelta,
    ToolCalled,
    UsageReported,
    Warned,
)
from ollm_lsp.core.messages import Image, Message, Part, Reasoning, Role, Text
from ollm_lsp.core.tool import ToolCall, ToolResult
from ollm_lsp.core.usage import Usage
from tests.support.scale import IS_LARGE

patient = settings(deadline=None, max_examples=200 if IS_LARGE else 50)
"""A busy machine is no failure."""

words = st.text(max_size=6)
names = st.sampled_from(["a", "read_file", "é", "\N{PILE OF POO}"])
counts = st.integers(0, 1_000_000)

arguments = st.sampled_from([{}, {"path": "a"}, {"": None, "deep": [{"a": [1, 2.5, True]}]}])
signatures = st.none() | names
calls = st.builds(ToolCall, names, names, arguments, signatures)

images = st.builds(Image, st.sampled_from(["image/png", "image/jpeg"]), st.binary(min_size=1, max_size=8))
parts: dict[type[Part], st.SearchStrategy[Part]] = {
    Text: st.builds(Text, words),
    Image: images,
    Reasoning: st.builds(Reasoning, words, signatures) | st.builds(Reasoning, st.just(""), names, st.just(True)),
    ToolCall: calls,
    ToolResult: st.builds(ToolResult, names, names, words, st.booleans())
    | st.builds(ToolResult, names, names, words, st.just(False), st.lists(images, max_size=2).map(tuple)),
}
any_part = st.one_of(list(parts.values()))

HOLDS: dict[Role, set[type[Part]]] = {
    Role.SYSTEM: {Text},
    Role.USER: {Text, Image},
    Role.ASSISTANT: {Text, Reasoning, ToolCall},
    Role.TOOL: {ToolResult},
}
"""What each role may say, as the requirements have it."""


def messages_of(role: Role) -> st.SearchStrategy[Message]:
    """Valid messages of one role."""
    fitting = st.one_of([parts[kind] for kind in sorted(HOLDS[role], key=str)])
    return st.lists(fitting, min_size=1, max_size=4).map(lambda chosen: Message(role, tuple(chosen)))


messages = st.sampled_from(Role).flatmap(messages_of)

usages = st.builds(Usage, counts, counts, counts, counts)
spoken: st.SearchStrategy[ProviderEvent] = st.one_of(
    st.builds(TextDelta, words),
    st.builds(ReasoningDelta, words),
    st.builds(ReasoningSigned, names, st.booleans()),
    st.builds(UsageReported, usages),
    st.builds(Activity, words, st.one_of(st.none(), st.integers(0, 100))),
    st.builds(Warned, names, words, st.one_of(st.none(), words)),
)
"""Every event of a model but tool calls and its last."""
said: st.SearchStrategy[ProviderEvent] = st.one_of(spoken, st.builds(ToolCalled, calls))
"""Every event of a model but its last."""

reasons = st.sampled_from([FinishReason.STOP, FinishReason.LENGTH, FinishReason.TOOL_USE, FinishReason.CONTENT_FILTER])
"""Why a model stops by itself."""
