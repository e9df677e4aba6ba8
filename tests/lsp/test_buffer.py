"""The document buffer against a slow oracle that edits the whole text."""

import re
from collections.abc import Callable
from itertools import combinations_with_replacement, product
from time import thread_time_ns

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ollm_lsp.lsp.buffer import Position, PositionEncoding, Range, TextBuffer

UTF8, UTF16, UTF32 = PositionEncoding
CODECS = {UTF8: ("utf-8", 1), UTF16: ("utf-16-le", 2), UTF32: ("utf-32-le", 4)}
ENDING = re.compile(r"\r\n|\r|\n")
PAST = 2**31 - 1

pytestmark = pytest.mark.prop("lsp-2")


def span(line: int, character: int, to_line: int | None = None, to_character: int | None = None) -> Range:
    """A range, or an empty one when only its start is given."""
    start = Position(line, character)
    return Range(start, start if to_line is None or to_character is None else Position(to_line, to_character))


def oracle_lines(text: str) -> list[tuple[int, int]]:
    """Where each line begins, and where it ends without its line ending."""
    endings = list(ENDING.finditer(text))
    starts = [0, *(ending.end() for ending in endings)]
    ends = [*(ending.start() for ending in endings), len(text)]
    return list(zip(starts, ends, strict=True))


def oracle_offset(text: str, position: Position, encoding: PositionEncoding) -> int:
    lines = oracle_lines(text)
    if position.line < 0:
        return 0
    if position.line >= len(lines):
        return len(text)
    codec, width = CODECS[encoding]
    offset, end = lines[position.line]
    units = 0
    while offset < end:
        units += len(text[offset].encode(codec, "surrogatepass")) // width
        if units > position.character:
            break
        offset += 1
    return offset


def oracle_span(text: str, where: Range, encoding: PositionEncoding) -> tuple[int, int]:
    one, other = (oracle_offset(text, position, encoding) for position in (where.start, where.end))
    return min(one, other), max(one, other)


def check(buffer: TextBuffer, text: str) -> None:
    """The buffer holds this text, in the lines that splitting it anew gives."""
    assert buffer.text == text
    assert buffer.length == len(text)
    lines = oracle_lines(text)
    assert buffer.line_count == len(lines)
    cut = [buffer.slice(span(number, 0, number, PAST)) for number in range(len(lines))]
    assert cut == [text[start:end] for start, end in lines]


PIECES = [
    *("\n", "\r", "\r\n", "\n", "\r", "\r\n"),
    *("a", "b c", "\t", "\f", "\v", "\x00", "\x1c", "\x85", "\u2028", "\u2029", "\ufeff"),
    *("é", "e\u0301", "ß", "中", "😀", "👩\u200d💻", "\ud83d", "\ude00"),
]
texts = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
numbers = st.one_of(st.integers(0, 6), st.integers(-1, 16), st.just(PAST))
positions = st.builds(Position, numbers, numbers)
ranges = st.one_of(positions.map(lambda place: Range(place, place)), st.builds(Range, positions, positions))
edits = st.lists(st.tuples(ranges, texts), min_size=1, max_size=8)


@pytest.mark.threat("F25")
@pytest.mark.parametrize("encoding", PositionEncoding)
@settings(max_examples=200, deadline=None)
@given(text=texts, changes=edits, where=ranges)
def test_random_edits_match_editing_the_whole_text(
    encoding: PositionEncoding, text: str, changes: list[tuple[Range, str]], where: Range
) -> None:
    buffer = TextBuffer(text, encoding)
    check(buffer, text)
    for place, fresh in changes:
        start, end = oracle_span(text, place, encoding)
        assert buffer.slice(place) == text[start:end]
        buffer.edit(place, fresh)
        text = text[:start] + fresh + text[end:]
        check(buffer, text)
    start, end = oracle_span(text, where, encoding)
    assert buffer.slice(where) == text[start:end]


BEFORE = ["", "a", "\r", "\n", "\r\n", "a\r", "a\n", "a\r\n", "\r\r"]
OLD = ["", "\r", "\n", "\r\n", "\n\r", "y", "y\n", "\ny", "\ry"]
AFTER = ["", "\r", "\n", "\r\n", "b", "b\r", "b\n"]
FRESH = ["", "\r", "\n", "\r\n", "\n\r", "\r\r", "\n\n", "x", "\nx", "x\r", "\nx\r"]


@pytest.mark.threat("F25")
@pytest.mark.parametrize("fresh", FRESH)
def test_line_endings_meet_at_the_seams(fresh: str) -> None:
    for text in sorted({"".join(parts) for parts in product(BEFORE, OLD, AFTER)}):
        lines = range(len(oracle_lines(text)) + 1)
        places = [Position(line, character) for line in lines for character in range(3)]
        by_offset = {oracle_offset(text, place, UTF16): place for place in places}
        for (start, first), (end, last) in combinations_with_replacement(sorted(by_offset.items()), 2):
            buffer = TextBuffer(text, UTF16)
            buffer.edit(Range(first, last), fresh)
            check(buffer, text[:start] + fresh + text[end:])


@pytest.mark.parametrize(
    ("text", "where", "fresh", "expected", "count"),
    [
        pytest.param("a\rb", span(1, 0), "\n", "a\r\nb", 2, id="a newline after a lone CR"),
        pytest.param("a\rx\nb", span(1, 0, 1, 1), "", "a\r\nb", 2, id="deleting what stands between CR and LF"),
        pytest.param("a\nb", span(0, 1), "\r", "a\r\nb", 2, id="a CR before a LF"),
        pytest.param("a\r\nb", span(0, 1, 1, 0), "", "ab", 1, id="deleting a CRLF"),
        pytest.param("a\r\nb", span(0, 2), "x", "ax\r\nb", 2, id="between CR and LF nothing can be addressed"),
        pytest.param("a\r\n\rb", span(1, 0), "\n", "a\r\n\n\rb", 4, id="a newline after a CRLF"),
        pytest.param("a\r\nb", span(0, 1, 1, 0), "\r", "a\rb", 2, id="a CRLF becomes a CR"),
        pytest.param("\r", span(1, 0), "\n", "\r\n", 2, id="a newline at the end after a lone CR"),
        pytest.param("\r\r\n", span(1, 0), "\n", "\r\n\r\n", 3, id="an LF between CR and CRLF"),
        pytest.param("ab\ncd", span(0, 99), "x", "abx\ncd", 2, id="past the end of a line"),
        pytest.param("ab\r\ncd", span(0, PAST), "x", "abx\r\ncd", 2, id="past the end of a CRLF line"),
        pytest.param("ab\ncd", span(9, 0), "x", "ab\ncdx", 2, id="past the last line"),
        pytest.param("ab\ncd\n", span(0, 0, PAST, PAST), "x", "x", 1, id="the whole document"),
        pytest.param("ab\ncd", span(-1, 7), "x", "xab\ncd", 2, id="a negative line"),
        pytest.param("ab\ncd", span(1, -1), "x", "ab\nxcd", 2, id="a negative character"),
        pytest.param("ab\ncd", span(1, 1, 0, 1), "x", "axd", 1, id="the end before the start"),
        pytest.param("", span(0, 0), "", "", 1, id="nothing into an empty document"),
        pytest.param("", span(3, 7), "a\n", "a\n", 2, id="text into an empty document"),
        pytest.param("a\n", span(0, 0, 1, 0), "", "", 1, id="a document is emptied"),
        pytest.param("a\nb", span(1, 1), "c", "a\nbc", 2, id="at the end without final newline"),
        pytest.param("a\nb", span(1, 1), "\n", "a\nb\n", 3, id="a final newline"),
        pytest.param("a\nb\n", span(2, 0), "c", "a\nb\nc", 3, id="at the end after the final newline"),
        pytest.param("a\r\nb\rc\nd", span(1, 0, 1, 1), "B", "a\r\nB\rc\nd", 4, id="mixed line endings stay"),
        pytest.param("a\fb\nc\x85\nd\u2028e", span(2, 1), "!", "a\fb\nc\x85\nd!\u2028e", 3, id="form feeds"),
        pytest.param("a\x0b\x1c\x1d\x1e\u2029\nb", span(1, 0), "!", "a\x0b\x1c\x1d\x1e\u2029\n!b", 2, id="separators"),
    ],
)
@pytest.mark.parametrize("encoding", PositionEncoding)
def test_an_edit_at_an_edge(
    encoding: PositionEncoding, text: str, where: Range, fresh: str, expected: str, count: int
) -> None:
    buffer = TextBuffer(text, encoding)
    buffer.edit(where, fresh)
    check(buffer, expected)
    assert buffer.line_count == count


@pytest.mark.threat("F25")
@pytest.mark.parametrize(
    ("encoding", "line", "indexes"),
    [
        # For each code unit of the line, and one beyond it: the index of the character that it falls on.
        (UTF8, "aé中😀b", [0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 5, 5]),
        (UTF16, "aé中😀b", [0, 1, 2, 3, 3, 4, 5, 5]),
        (UTF32, "aé中😀b", [0, 1, 2, 3, 4, 5, 5]),
        (UTF8, "e\u0301x", [0, 1, 1, 2, 3, 3]),
        (UTF16, "e\u0301x", [0, 1, 2, 3, 3]),
        (UTF8, "\ud83dx\ude00", [0, 0, 0, 1, 2, 2, 2, 3, 3]),
        (UTF16, "\ud83dx\ude00", [0, 1, 2, 3, 3]),
        (UTF16, "\ud83d\ude00😀", [0, 1, 2, 2, 3, 3]),
        (UTF32, "\ud83d\ude00😀", [0, 1, 2, 3, 3]),
    ],
)
@pytest.mark.parametrize("ending", ["", "\n", "\r\n", "\r", "\n中"])
def test_a_position_inside_a_character_means_its_start(
    encoding: PositionEncoding, line: str, indexes: list[int], ending: str
) -> None:
    for character, index in enumerate(indexes):
        buffer = TextBuffer(line + ending, encoding)
        assert buffer.slice(span(0, 0, 0, character)) == line[:index]
        buffer.edit(span(0, character), "|")
        assert buffer.text == line[:index] + "|" + line[index:] + ending


def test_the_text_is_joined_once_between_edits() -> None:
    buffer = TextBuffer("a\nb", UTF16)
    assert buffer.text is buffer.text
    buffer.edit(span(0, 0), "x")
    assert buffer.text == "xa\nb"
    buffer.replace_all("new\r\n")
    check(buffer, "new\r\n")


def cheapest(action: Callable[[], object], times: int) -> int:
    """The least processor time of many runs, which other programs cannot make larger."""

    def cost() -> int:
        start = thread_time_ns()
        action()
        return thread_time_ns() - start

    return min(cost() for _ in range(times))


def typing_cost(text: str, where: Range) -> int:
    """The cost of ten keystrokes, each in place of the one before, so that the text does not grow."""
    buffer = TextBuffer(text, UTF16)

    def type_ten() -> None:
        for key in "abcdefghij":
            buffer.edit(where, key)

    return cheapest(type_ten, 500)


@pytest.mark.threat("F47")
@pytest.mark.parametrize("line", ["some = line(of, code)\n", "some = 'é中😀'\r\n"])
def test_the_cost_of_a_keystroke_does_not_grow_with_the_document(line: str) -> None:
    small = typing_cost(line * 1_000, span(500, 5, 500, 6))
    large = typing_cost(line * 100_000, span(50_000, 5, 50_000, 6))
    assert large <= 3 * small


def test_a_new_line_costs_far_less_than_splitting_the_document_anew() -> None:
    text = "some = line(of, code)\n" * 100_000
    buffer = TextBuffer(text, UTF16)
    split = cheapest(lambda: buffer.replace_all(text), 5)

    def open_and_join_a_line() -> None:
        buffer.edit(span(0, 5), "\n")
        buffer.edit(span(0, 5, 1, 0), "")

    assert 50 * cheapest(open_and_join_a_line, 200) <= split
    assert buffer.text == text


@pytest.mark.threat("F47")
def test_the_cost_in_a_long_line_is_that_of_a_few_copies() -> None:
    line = "x" * 300_000
    copies = cheapest(lambda: [line[: 150_000 + more] + "x" + line[150_000:] for more in range(10)], 50)
    assert typing_cost(line, span(0, 150_000, 0, 150_001)) <= 10 * copies


def test_lines_are_read_without_their_endings_and_found_by_their_words() -> None:
    buffer = TextBuffer("one\r\ntwo\rthree\n", PositionEncoding.UTF16)
    assert [buffer.line(number) for number in range(buffer.line_count)] == ["one", "two", "three", ""]
    assert buffer.lines_with("e", "tw") == [0, 1, 2]
    assert buffer.lines_with("o", "x") == [0, 1]
