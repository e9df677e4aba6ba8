"""Messages: the valid ones can be constructed, and no others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.errors import InvalidMessage
from ollm_lsp.core.messages import Image, Message, Part, Role, Text
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.core.tool import ToolCall, ToolResult
from tests.core.values import HOLDS, any_part, messages, patient, words


@pytest.mark.prop("core-30")
@patient
@given(st.sampled_from(Role), st.lists(any_part, max_size=4))
def test_a_role_and_parts_make_a_message_exactly_when_the_role_may_say_them(role: Role, parts: list[Part]) -> None:
    valid = bool(parts) and {type(part) for part in parts} <= HOLDS[role]
    try:
        message = Message(role, tuple(parts))
    except InvalidMessage:
        assert not valid
    else:
        assert valid
        assert message.role is role
        assert message.parts == tuple(parts)


@pytest.mark.prop("core-30")
@pytest.mark.parametrize("role", Role)
def test_a_message_without_parts_is_refused_by_its_role(role: Role) -> None:
    with pytest.raises(InvalidMessage, match=role.value):
        Message(role, ())


@pytest.mark.prop("core-30")
def test_a_wrong_part_is_refused_by_name() -> None:
    with pytest.raises(InvalidMessage, match="A system message cannot hold a Image part"):
        Message(Role.SYSTEM, (Text("a"), Image("image/png", b"x")))


@pytest.mark.prop("core-31")
@patient
@given(st.text(max_size=2), st.text(max_size=2), words, st.booleans())
def test_a_tool_message_always_names_its_tool_and_its_call(call_id: str, name: str, text: str, failed: bool) -> None:
    try:
        result = ToolResult(call_id, name, text, is_error=failed)
    except InvalidMessage:
        assert not (call_id and name)
    else:
        assert call_id
        assert name
        assert Message(Role.TOOL, (result,)).parts == (result,)


@pytest.mark.prop("core-31")
@patient
@given(st.text(max_size=2), st.text(max_size=2))
def test_a_tool_call_always_has_an_id_and_a_name(call_id: str, name: str) -> None:
    try:
        call = ToolCall(call_id, name, {})
    except InvalidMessage:
        assert not (call_id and name)
    else:
        assert call.id
        assert call.name


@pytest.mark.prop("core-30")
@patient
@given(st.sampled_from(["image/png", "image/svg+xml", "text/plain", "", "png", "IMAGE"]), st.binary(max_size=2))
def test_an_image_has_bytes_and_an_image_type(mime_type: str, data: bytes) -> None:
    try:
        image = Image(mime_type, data)
    except InvalidMessage:
        assert not (mime_type.startswith("image/") and data)
    else:
        assert image.mime_type.startswith("image/")
        assert image.data


@patient
@given(st.lists(st.one_of(words, words.map(Text), st.just(Image("image/png", b"x"))), min_size=1, max_size=4))
def test_a_user_message_takes_text_as_it_is(said: list[str | Text | Image]) -> None:
    message = Message.user(*said)
    assert message.role is Role.USER
    assert message.parts == tuple(Text(part) if isinstance(part, str) else part for part in said)


@patient
@given(messages)
def test_the_text_of_a_message_is_that_of_its_text_parts_alone(message: Message) -> None:
    assert message.text == "".join(part.text for part in message.parts if type(part) is Text)


@pytest.mark.prop("core-14")
@patient
@given(st.text(max_size=2), st.lists(messages, max_size=2))
def test_a_request_always_has_a_model_and_a_message(model: str, said: list[Message]) -> None:
    try:
        request = ChatRequest(model, tuple(said))
    except InvalidMessage:
        assert not (model and said)
    else:
        assert request.model
        assert request.messages == tuple(said)
