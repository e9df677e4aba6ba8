"""Events on their way out: joined, in order, written as valid LSP, and never faster than the client reads."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.events import ChatEvent, Ended, FinishReason, ReasoningDelta, TextDelta, TurnStarted
from ollm_lsp.lsp.server import Server
from ollm_lsp.lsp.sink import EventSink
from ollm_lsp.settings.redactor import redactor

KEY = "sk-canary-4711"


class Wire:
    """A writer that keeps what was written, and a client that can be behind."""

    def __init__(self) -> None:
        self.written = bytearray()
        self.ready = asyncio.Event()
        self.ready.set()

    def write(self, data: bytes) -> None:
        self.written += data

    async def drain(self) -> None:
        await self.ready.wait()

    def close(self) -> None:
        pass

    def values(self, token: object) -> list[dict[str, Any]]:
        values: list[dict[str, Any]] = []
        rest = bytes(self.written)
        while rest:
            header, _, rest = rest.partition(b"\r\n\r\n")
            length = int(header.split(b"\r\n")[0].partition(b":")[2])
            message = json.loads(rest[:length])
            rest = rest[length:]
            assert message["method"] == "$/progress"
            assert message["params"]["token"] == token
            values.append(message["params"]["value"])
        return values


def sink_on(wire: Wire, token: str | int | None) -> EventSink:
    rpc = Server().rpc
    rpc.set_writer(wire)  # type: ignore[arg-type]  # pygls asks for less than our writer has
    return EventSink(rpc, wire, token, lambda _: None)


EVENTS = st.lists(
    st.one_of(st.builds(TextDelta, st.text()), st.builds(ReasoningDelta, st.text()), st.builds(TurnStarted, st.just(1)))
)


@pytest.mark.threat("T25")
@pytest.mark.prop("core-4")
@given(EVENTS, st.one_of(st.text(), st.integers()), st.sets(st.integers(0, 20)))
def test_any_events_arrive_in_order_and_whole_but_for_control_characters(
    events: list[ChatEvent], token: str | int, turns: set[int]
) -> None:
    async def run() -> None:
        wire = Wire()
        sink = sink_on(wire, token)
        for number, event in enumerate(events):
            sink.emit(event)
            if number in turns:
                await asyncio.sleep(0)
        sink.emit(Ended(FinishReason.STOP))
        *values, last = wire.values(token)
        assert merged(values) == merged([wire_value(event) for event in events])
        assert last == {"type": "finished", "reason": "stop"}

    asyncio.run(run())


def wire_value(event: ChatEvent) -> dict[str, Any]:
    match event:
        case TextDelta(text):
            return {"type": "text", "text": harmless(text)}
        case ReasoningDelta(text):
            return {"type": "reasoning", "text": harmless(text)}
        case _:
            return {"type": "turn", "number": 1}


def harmless(text: str) -> str:
    return "".join(letter for letter in text if letter in "\n\r\t" or category(letter) != "Cc")


def merged(values: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Neighbouring deltas of one kind as one, empty ones gone."""
    joined: list[dict[str, Any]] = []
    for value in values:
        if "text" in value and joined and joined[-1]["type"] == value["type"]:
            joined[-1] = {**value, "text": joined[-1]["text"] + value["text"]}
        elif value.get("text") != "":
            joined.append(value)
    return joined


async def test_deltas_of_one_turn_of_the_loop_travel_together() -> None:
    wire = Wire()
    sink = sink_on(wire, "t")
    for _ in range(1000):
        sink.emit(TextDelta("x"))
    await asyncio.sleep(0)
    assert wire.values("t") == [{"type": "text", "text": "x" * 1000}]


@pytest.mark.threat("F18")
async def test_a_stream_waits_for_a_client_that_is_behind() -> None:
    wire = Wire()
    sink = sink_on(wire, "t")
    wire.ready.clear()
    draining = asyncio.ensure_future(sink.drain())
    await asyncio.sleep(0)
    assert not draining.done()
    wire.ready.set()
    await draining


@pytest.mark.threat("T4")
@pytest.mark.prop("krk-41")
@given(st.lists(st.integers(1, 5)), st.booleans())
def test_a_key_in_any_pieces_is_not_shown(sizes: list[int], thinks: bool) -> None:
    async def run() -> None:
        redactor.add(KEY)
        wire = Wire()
        sink = sink_on(wire, "t")
        delta = ReasoningDelta if thinks else TextDelta
        rest = f"Your key is {KEY}!"
        for size in (*sizes, len(rest)):
            sink.emit(delta(rest[:size]))
            rest = rest[size:]
            await asyncio.sleep(0)
        sink.emit(Ended(FinishReason.STOP))
        (value, _) = merged(wire.values("t"))
        assert value["text"] == "Your key is ***!"

    asyncio.run(run())


async def test_the_beginning_of_a_key_that_never_comes_is_shown_in_the_end() -> None:
    redactor.add(KEY)
    wire = Wire()
    sink = sink_on(wire, "t")
    for event in (TextDelta("It is sk"), ReasoningDelta("sk-"), TurnStarted(1), TextDelta("sk-can")):
        sink.emit(event)
        await asyncio.sleep(0)
    sink.emit(Ended(FinishReason.STOP))
    texts = [(value["type"], value.get("text")) for value in merged(wire.values("t"))]
    assert texts == [("text", "It is sk"), ("reasoning", "sk-"), ("turn", None), ("text", "sk-can"), ("finished", None)]


async def test_without_a_token_nothing_is_sent() -> None:
    wire = Wire()
    sink = sink_on(wire, None)
    sink.emit(TextDelta("x"))
    sink.emit(Ended(FinishReason.STOP))
    await asyncio.sleep(0)
    assert not wire.written
