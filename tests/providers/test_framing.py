"""Framing: the same frames for every cutting of the same bytes, within the limits, at linear cost."""

from __future__ import annotations

import itertools
import re
import time
import tracemalloc
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ollm_lsp.core.errors import MalformedAnswer
from ollm_lsp.providers.framing import MAX_LINE, NdjsonFramer, SseEvent, SseFramer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Framer = SseFramer | NdjsonFramer
Frame = SseEvent | str
FRAMERS = (SseFramer, NdjsonFramer)

both = pytest.mark.parametrize("framer", FRAMERS, ids=["sse", "ndjson"])
order = pytest.mark.prop("core-15")


@dataclass(frozen=True)
class Recording:
    """What a server sent, byte by byte, and the frames that are in it."""

    name: str
    framer: type[Framer]
    raw: bytes
    frames: tuple[Frame, ...]

    def __str__(self) -> str:
        return self.name


def sse(name: str, raw: bytes, *events: SseEvent | str) -> Recording:
    frames = tuple(SseEvent(event) if isinstance(event, str) else event for event in events)
    return Recording(name, SseFramer, raw, frames)


def ndjson(name: str, raw: bytes, *lines: str) -> Recording:
    return Recording(name, NdjsonFramer, raw, lines)


def chunk_object(delta: str, finish: str = "null") -> str:
    return (
        '{"id":"chatcmpl-7","object":"chat.completion.chunk","created":1760000000,"model":"qwen3:8b","choices":'
        f'[{{"index":0,"delta":{delta},"finish_reason":{finish}}}]}}'
    )


OPENAI = [chunk_object('{"role":"assistant","content":""}'), chunk_object('{"content":"Hi: "}'), chunk_object("{}")]
ANTHROPIC = [
    SseEvent('{"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":25}}}', "message_start"),
    SseEvent('{"type": "ping"}', "ping"),
    SseEvent('{"type":"content_block_delta","delta":{"type":"text_delta","text":"é"}}', "content_block_delta"),
    SseEvent('{"type":"message_stop"}', "message_stop"),
]
OLLAMA = [
    '{"model":"qwen3:8b","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"Hi"},"done":false}',
    '{"model":"qwen3:8b","message":{"role":"assistant","content":" \\r\\n"},"done":false}',
    '{"model":"qwen3:8b","message":{"role":"assistant","content":""},"done":true,"eval_count":2}',
]
SEPARATORS = '{"t":"a\u2028b\u2029c\x85d\x0ce\x0bf\x1cg\x1dh\x1ei"}'
WIDE = '{"t":"😀 漢字 👩‍💻 é ñ \ufeff"}'
INVALID = b'{"t":"a\xffb\xe2\x82c\xf0\x9f\x98d\xc0\xafe\x80"}'
REPLACED = '{"t":"a\ufffdb\ufffdc\ufffdd\ufffd\ufffde\ufffd"}'


def as_data(texts: Iterable[str], end: str = "\n") -> bytes:
    return "".join(f"data: {text}{end}{end}" for text in texts).encode()


def as_named(events: Iterable[SseEvent], end: str = "\n") -> bytes:
    return "".join(f"event: {it.event}{end}data: {it.data}{end}{end}" for it in events).encode()


def as_lines(texts: Iterable[str], end: str = "\n") -> bytes:
    return "".join(text + end for text in texts).encode()


RECORDINGS = [
    sse("openai", as_data([*OPENAI, "[DONE]"]), *OPENAI, "[DONE]"),
    sse("openai crlf", as_data([*OPENAI, "[DONE]"], "\r\n"), *OPENAI, "[DONE]"),
    sse("openai without final blank line", as_data([*OPENAI, "[DONE]"])[:-1], *OPENAI, "[DONE]"),
    sse("openai without final line end", as_data([*OPENAI, "[DONE]"])[:-2], *OPENAI, "[DONE]"),
    sse("anthropic", as_named(ANTHROPIC), *ANTHROPIC),
    sse("anthropic crlf", as_named(ANTHROPIC, "\r\n"), *ANTHROPIC),
    sse("anthropic cr", as_named(ANTHROPIC, "\r"), *ANTHROPIC),
    sse("mixed line ends", b"data: 1\r\ndata: 2\rdata: 3\ndata: 4\r\n\rdata: 5\n\r\n\n\r", "1\n2\n3\n4", "5"),
    sse("comments", b": OPENROUTER PROCESSING\n\n:\ndata: 1\n: data: x\ndata: 2\n\n: bye\n\n", "1\n2"),
    sse("several data lines", b'data: {\ndata: "a": 1\ndata\ndata:\ndata: }\n\n', '{\n"a": 1\n\n\n}'),
    sse("first data line empty", b"data:\ndata: 1\n\ndata\ndata\n\n", "\n1", "\n"),
    sse("spaces", b"data:1\n\ndata: 2\n\ndata:  3 \n\ndata:\t4\n\n data: 5\n\n", "1", "2", " 3 ", "\t4"),
    sse("other fields", b"id: 7\nretry: 100\nid\nx: y\nDATA: no\ndata : no\ndatax: no\ndata: 1\n\n", "1"),
    sse("no data", b"event: ping\n\nid: 1\n\n\n\ndata\n\ndata: \n\ndata: 1\n\n", "1"),
    sse(
        "event names",
        b"event: a\nevent:b\ndata: 1\n\ndata: 2\n\nevent: c\nevent\ndata: 3\n\ndata: 4\nevent:  d:e\n\n",
        SseEvent("1", "b"),
        "2",
        "3",
        SseEvent("4", " d:e"),
    ),
    sse("bom", b"\xef\xbb\xbfdata: 1\n\n\xef\xbb\xbfdata: 2\n\ndata: \xef\xbb\xbf3\n\n", "1", "\ufeff3"),
    sse("nothing but bom", b"\xef\xbb\xbf"),
    sse("two boms", b"\xef\xbb\xbf\xef\xbb\xbfdata: 1\n\ndata: 2\n\n", "2"),
    sse("bom, then line ends", b"\xef\xbb\xbf\r\ndata: 1\n\n", "1"),
    sse("separators", as_data([SEPARATORS, SEPARATORS]), SEPARATORS, SEPARATORS),
    sse("wide characters", as_data([WIDE, WIDE], "\r"), WIDE, WIDE),
    sse("invalid utf-8", b"data: " + INVALID + b"\n\ndata: \xe2\x82\ndata: \xac\n\n", REPLACED, "\ufffd\n\ufffd"),
    sse("invalid utf-8 at the end", b"event: \xff\ndata: 1\xf0\x9f", SseEvent("1\ufffd", "\ufffd")),
    sse("nothing", b""),
    ndjson("ollama", as_lines(OLLAMA), *OLLAMA),
    ndjson("ollama crlf", as_lines(OLLAMA, "\r\n"), *OLLAMA),
    ndjson("ollama cr", as_lines(OLLAMA, "\r"), *OLLAMA),
    ndjson("ollama blank lines", b"\n\r\n" + as_lines(OLLAMA, "\n \t\r\n\n") + b"\n  ", *OLLAMA),
    ndjson("ollama without final line end", as_lines(OLLAMA)[:-1], *OLLAMA),
    ndjson("ollama with bom", b"\xef\xbb\xbf" + as_lines(OLLAMA), *OLLAMA),
    ndjson("ollama separators", as_lines([SEPARATORS, WIDE]), SEPARATORS, WIDE),
    ndjson("ollama invalid utf-8", INVALID + b"\n" + INVALID + b"\r\xe2\x82", REPLACED, REPLACED, "\ufffd"),
    ndjson("spaces are kept", b' {"a": 1} \n', ' {"a": 1} '),
    ndjson("nothing but bom and blanks", b"\xef\xbb\xbf\r\n\n"),
]
recorded = pytest.mark.parametrize("recording", RECORDINGS, ids=str)


def frames_of(framer: Framer, chunks: Iterable[bytes]) -> list[Frame]:
    frames: list[Frame] = []
    for chunk in chunks:
        frames += framer.feed(chunk)
    return frames + list[Frame](framer.close())


def cut(raw: bytes, places: Iterable[int]) -> list[bytes]:
    edges = [0, *sorted(places), len(raw)]
    return [raw[start:end] for start, end in itertools.pairwise(edges)]


def pieces(raw: bytes, size: int) -> list[bytes]:
    return [raw[start : start + size] for start in range(0, len(raw), size)]


def oracle(framer: type[Framer], raw: bytes) -> list[Frame]:
    """Do it slowly, on the whole input, in the words of the standard."""
    lines = [line.decode("utf-8", "replace") for line in re.split(b"\r\n|\r|\n", raw.removeprefix(b"\xef\xbb\xbf"))]
    if framer is NdjsonFramer:
        return [line for line in lines if line.strip(" \t\v\f")]
    events: list[Frame] = []
    data, name = "", ""
    for line in [*lines, ""]:
        if line == "":
            if data not in {"", "\n"}:
                events.append(SseEvent(data[:-1], name or "message"))
            data, name = "", ""
        elif found := re.fullmatch("(data|event)(?:: ?(.*))?", line, re.DOTALL):
            if found[1] == "data":
                data += (found[2] or "") + "\n"
            else:
                name = found[2] or ""
    return events


# The same frames, however the bytes were cut


@pytest.mark.threat("F1", "F2", "F3", "F11")
@order
@recorded
def test_a_recording_holds_the_frames_that_a_reader_sees_in_it(recording: Recording) -> None:
    assert frames_of(recording.framer(), [recording.raw]) == list(recording.frames)
    assert oracle(recording.framer, recording.raw) == list(recording.frames)


@pytest.mark.threat("F1", "F2", "F3", "F11")
@order
@recorded
def test_every_cut_into_two_chunks_gives_the_same_frames(recording: Recording) -> None:
    for place in range(len(recording.raw) + 1):
        assert frames_of(recording.framer(), cut(recording.raw, [place])) == list(recording.frames), place


@order
@recorded
def test_one_byte_at_a_time_gives_the_same_frames(recording: Recording) -> None:
    single = pieces(recording.raw, 1)
    assert frames_of(recording.framer(), single) == list(recording.frames)
    with_empty_chunks = [chunk for byte in single for chunk in (b"", byte, b"")]
    assert frames_of(recording.framer(), with_empty_chunks) == list(recording.frames)


@order
@settings(max_examples=200, deadline=None)
@given(st.sampled_from(RECORDINGS), st.data())
def test_random_cuts_give_the_same_frames(recording: Recording, data: st.DataObject) -> None:
    places = data.draw(st.lists(st.integers(0, len(recording.raw))))
    assert frames_of(recording.framer(), cut(recording.raw, places)) == list(recording.frames)


SHARDS: Sequence[bytes] = [
    *(
        b"\r",
        b"\n",
        b"\r\n",
        b"\n\n",
        b"\r\r",
        b"data",
        b"event",
        b"id",
        b":",
        b": ",
        b" ",
        b"x",
        b"data: ",
        b"event: y",
    ),
    *(
        b"\xef\xbb\xbf",
        b"\xef",
        b"\xbb",
        b"\xbf",
        b"\xe2\x80\xa8",
        b"\xc2\x85",
        b"\x0c",
        b"\xf0\x9f\x98\x80",
        b"\xff",
        b"\0",
    ),
]


@pytest.mark.threat("F1", "F2", "F3", "F11")
@order
@both
@settings(max_examples=200, deadline=None)
@given(shards=st.lists(st.sampled_from(SHARDS)), data=st.data())
def test_any_bytes_in_any_cuts_give_the_frames_of_the_standard(
    framer: type[Framer], shards: list[bytes], data: st.DataObject
) -> None:
    raw = b"".join(shards)
    places = data.draw(st.lists(st.integers(0, len(raw))))
    assert frames_of(framer(), cut(raw, places)) == oracle(framer, raw)


@order
@recorded
def test_what_is_delivered_before_the_input_ends_is_never_taken_back(recording: Recording) -> None:
    for end in range(len(recording.raw)):
        delivered = recording.framer().feed(recording.raw[:end])
        assert delivered == list(recording.frames)[: len(delivered)], end


# Frames come at once


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_an_event_is_delivered_with_the_chunk_that_ends_it(end: bytes) -> None:
    framer = SseFramer()
    for text in ("1", "2", "3"):
        assert framer.feed(b"data: " + text.encode() + end + end) == [SseEvent(text)]
    assert framer.close() == []


def test_a_cr_ends_its_line_at_once_and_a_late_lf_adds_none() -> None:
    framer = SseFramer()
    assert framer.feed(b"data: 1\r") == []
    assert framer.feed(b"\ndata: 2\r") == []
    assert framer.feed(b"") == []
    assert framer.feed(b"\n\r") == [SseEvent("1\n2")]
    assert framer.feed(b"\ndata: 3\n\n") == [SseEvent("3")]


def test_an_ndjson_line_is_delivered_with_the_chunk_that_ends_it() -> None:
    framer = NdjsonFramer()
    assert framer.feed(b'{"a"') == []
    assert framer.feed(b":1}\r") == ['{"a":1}']
    assert framer.feed(b"\n{}\n{") == ["{}"]
    assert framer.feed(b"}") == []
    assert framer.close() == ["{}"]


@both
def test_closing_twice_delivers_nothing_twice(framer: type[Framer]) -> None:
    one = framer()
    assert one.feed(b"data: 1") == []
    assert len(one.close()) == 1
    assert one.close() == []


# Limits


@pytest.mark.threat("F10")
@both
@pytest.mark.parametrize("size", [1, 7, 64, 1000])
@pytest.mark.parametrize("end", [b"", b"\n", b"\r", b"\r\n"])
@pytest.mark.parametrize("before", [b"", b"data: 1\n\n"])
def test_a_line_of_the_limit_passes_and_one_byte_more_raises(
    framer: type[Framer], size: int, end: bytes, before: bytes
) -> None:
    line = b"data: " + b"x" * 94
    assert len(frames_of(framer(100), pieces(before + line + end, size))) == 1 + bool(before)
    with pytest.raises(MalformedAnswer):
        frames_of(framer(100), pieces(before + line + b"x" + end, size))


@both
def test_a_line_that_goes_on_for_ever_raises_before_it_ends(framer: type[Framer]) -> None:
    one = framer(100)
    for _ in range(10):
        assert one.feed(b"data: xxxx") == []
    with pytest.raises(MalformedAnswer):
        one.feed(b"x")


@both
def test_short_lines_may_exceed_the_limit_together(framer: type[Framer]) -> None:
    raw = b"data: 1\n\n" * 1000
    assert len(framer(100).feed(raw)) == 1000
    assert len(frames_of(framer(100), pieces(raw, 101))) == 1000


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_joined_data_of_the_limit_passes_and_one_byte_more_raises(size: int) -> None:
    lines = b"data: " + b"x" * 39 + b"\n" + b"data:" + b"y" * 59 + b"\ndata"
    (event,) = frames_of(SseFramer(101), pieces(lines, size))
    assert event == SseEvent("x" * 39 + "\n" + "y" * 59 + "\n")
    with pytest.raises(MalformedAnswer):
        frames_of(SseFramer(100), pieces(lines[:-4] + b"data: z", size))
    with pytest.raises(MalformedAnswer):
        frames_of(SseFramer(99), pieces(lines, size))


def test_an_event_that_goes_on_for_ever_raises_before_it_ends() -> None:
    framer = SseFramer(100)
    assert framer.feed(b"data\n" * 101) == []
    with pytest.raises(MalformedAnswer):
        framer.feed(b"data\n")


def test_the_limit_of_data_starts_anew_with_each_event() -> None:
    raw = (b"data: " + b"x" * 40 + b"\n") * 2 + b"\n"
    assert len(SseFramer(100).feed(raw * 50)) == 50


@both
def test_the_error_names_the_limit_and_a_remedy(framer: type[Framer]) -> None:
    with pytest.raises(MalformedAnswer) as caught:
        framer(2048).feed(b"x" * 2049)
    assert "2,048 bytes" in caught.value.message
    assert caught.value.remedy


@pytest.mark.threat("F10")
@both
@pytest.mark.parametrize("size", [65535, 65536, 65537, 1 << 20])
def test_lines_longer_than_a_buffer_of_the_system_pass(framer: type[Framer], size: int) -> None:
    raw = b"data: " + b"x" * size + b"\n\n"
    (frame,) = frames_of(framer(), pieces(raw, 65536))
    assert len(frame if isinstance(frame, str) else "data: " + frame.data) == len(raw) - 2


@pytest.mark.threat("F10")
@both
@pytest.mark.timeout(60)
def test_the_real_limit_is_32_mib_to_the_byte(framer: type[Framer]) -> None:
    assert MAX_LINE == 32 * 1024 * 1024
    line = b"data:" + b"x" * (MAX_LINE - 5)
    (frame,) = frames_of(framer(), pieces(line + b"\n\n", 65536))
    assert len(frame if isinstance(frame, str) else "data:" + frame.data) == MAX_LINE

    one = framer()
    for chunk in pieces(line, 65536):
        assert one.feed(chunk) == []
    with pytest.raises(MalformedAnswer):
        one.feed(b"x")


# Cost


def seconds_to_frame(framer: type[Framer], raw: bytes, size: int) -> float:
    """The least processor time of seven runs, which is the one that was disturbed least."""
    chunks = pieces(raw, size)
    seconds: list[float] = []
    for _ in range(7):
        start = time.process_time()
        frames = frames_of(framer(), chunks)
        seconds.append(time.process_time() - start)
        assert frames
    return min(seconds)


@pytest.mark.threat("F18")
@pytest.mark.parametrize(
    ("framer", "unit", "size"),
    [
        pytest.param(SseFramer, b"data:" + b"x" * 95, 100, id="one long sse line"),
        pytest.param(NdjsonFramer, b"x" * 100, 100, id="one long ndjson line"),
        pytest.param(SseFramer, b"data: " + b"x" * 93 + b"\n", 100, id="one event of many lines"),
        pytest.param(SseFramer, b"data: " + b"x" * 92 + b"\n\n", 1 << 30, id="many events in one chunk"),
        pytest.param(NdjsonFramer, b"x" * 99 + b"\n", 1 << 30, id="many lines in one chunk"),
    ],
)
def test_eight_times_the_bytes_cost_about_eight_times_the_work(framer: type[Framer], unit: bytes, size: int) -> None:
    """Linear work would cost 8 times as much and quadratic work 64 times; between them is room for noise."""
    small = seconds_to_frame(framer, unit * 5_000, size)
    large = seconds_to_frame(framer, unit * 40_000, size)
    assert large < 24 * small


@pytest.mark.threat("T30")
@both
def test_memory_stays_near_the_limit_while_a_hostile_frame_grows(framer: type[Framer]) -> None:
    limit = 1 << 18
    endless = itertools.repeat(b"data:xy\n" * 100 if framer is SseFramer else b"x" * 800)
    tracemalloc.start()
    try:
        with pytest.raises(MalformedAnswer):
            frames_of(framer(limit), endless)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * limit
