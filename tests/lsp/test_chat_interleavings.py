"""An answer streams into a document whose user types elsewhere: no text suffers, in whatever order messages come."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ollm_lsp.core.chat_file import parse
from ollm_lsp.core.events import Ended, FinishReason, Started, TextDelta
from ollm_lsp.core.model import ModelId
from ollm_lsp.lsp import chat_stream, live_text
from ollm_lsp.lsp.buffer import PositionEncoding
from ollm_lsp.lsp.chat_stream import ChatStream
from ollm_lsp.lsp.live_text import Interrupted
from ollm_lsp.lsp.protocol import ChatSendParams
from tests.support.scale import scaled
from tests.support.typing_user import URI, Kind, TypingUser, turns

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from ollm_lsp.core.events import ChatEvent

pytestmark = pytest.mark.large
FILE = "# Ünï𝄞\n\n## You\n\nWhy 𝄞?\n\n"
TYPED = st.text(alphabet="ab \né𝄞", max_size=4)


@dataclass(frozen=True)
class Stroke:
    """Something that the user does, so many turns after what was before."""

    after: int
    before: bool
    at: float
    erase: int
    text: str


STROKES = st.builds(Stroke, st.integers(0, 12), st.booleans(), st.floats(0, 1), st.integers(0, 3), TYPED)
VERSIONED = st.builds(
    Kind,
    st.sampled_from(PositionEncoding),
    tells_first=st.booleans(),
    lies=st.booleans(),
    tells_whole_texts=st.booleans(),
    joins=st.booleans(),
)
UNVERSIONED = st.builds(
    Kind,
    st.sampled_from(PositionEncoding),
    checks_versions=st.just(False),
    tells_first=st.booleans(),
    joins=st.booleans(),
)
DELTAS = st.lists(st.text(alphabet="xy \n#é𝄞", max_size=8), min_size=1, max_size=5)
DELAYS = st.lists(st.integers(0, 4), min_size=1, max_size=6)


@pytest.fixture(scope="module")
def runner() -> Generator[asyncio.Runner]:
    with asyncio.Runner() as running:
        yield running


@pytest.fixture(autouse=True, scope="module")
def at_once() -> Generator[None]:
    """No pauses: the order of things is what matters here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chat_stream, "INTERVAL", 0)
        patch.setattr(live_text, "PAUSE", 0)
        patch.setattr(live_text, "MOST_TRIES", 10_000)
        yield


@contextmanager
def without_doubt() -> Generator[None]:
    """Who checks versions tells our edit before any other, or has not made it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live_text, "ECHO_TIME", 0)
        yield


async def play(
    user: TypingUser, deltas: list[str], strokes: list[Stroke], last: Callable[[], None] | None = None
) -> None:
    """Let the model speak and the user type until both are done."""

    async def answer(_session: Any, _params: Any, *, observe: Callable[[ChatEvent], None]) -> None:
        observe(Started("c0ffee", "f00d", ModelId("a", "b")))
        for delta in deltas:
            await turns(next(user.delays))
            observe(TextDelta(delta))
        if last is not None:
            await asyncio.Event().wait()
        observe(Ended(FinishReason.STOP))

    async def type_on() -> None:
        while user.answer is None:
            await asyncio.sleep(0)
        for stroke in strokes:
            await turns(stroke.after)
            user.type(stroke.before, stroke.at, stroke.erase, stroke.text)
        if last is not None:
            last()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chat_stream, "answer", answer)
        document = user.documents.get(URI)
        assert document is not None
        question = parse(user.text).question_at()
        assert question is not None
        stream = ChatStream(cast("Any", user), document, question)
        sending = asyncio.ensure_future(user.send())
        typing = asyncio.ensure_future(type_on())
        try:
            await stream.run(ChatSendParams("Why?"))
        except Interrupted as reason:  # before it began
            user.notify("window/showMessage", {"message": str(reason)})
        await typing
        sending.cancel()
        user.settle()
        for task in tuple(user.tasks):
            task.cancel()
        await asyncio.gather(sending, *user.tasks, return_exceptions=True)


def stands(user: TypingUser, deltas: list[str]) -> bool:
    """Whether everything that the server and the editor know is the same, and the answer is whole."""
    document = user.documents.get(URI)
    return document is not None and document.buffer.text == user.text and is_whole(user, deltas)


def is_whole(user: TypingUser, deltas: list[str]) -> bool:
    """Whether the answer stands in one piece, all of it ours, and its heading first."""
    assert user.answer is not None
    start, end = user.answer
    piece = user.text[start:end]
    words = piece.removeprefix("## Assistant\n\n").removesuffix("## You\n\n").rstrip("\n")
    return (
        all(user.ours[start:end])
        and piece.startswith("## Assistant\n\n")
        and "".join(words.split()) == "".join("".join(deltas).split())
    )


@pytest.mark.threat("F20")
@settings(max_examples=scaled(1000))
@given(kind=VERSIONED, deltas=DELTAS, strokes=st.lists(STROKES, max_size=5), delays=DELAYS)
def test_the_users_text_is_intact_and_the_answer_is_whole_and_in_its_place(
    runner: asyncio.Runner, kind: Kind, deltas: list[str], strokes: list[Stroke], delays: list[int]
) -> None:
    user = TypingUser(kind, FILE, cycle(delays))
    with without_doubt():
        runner.run(play(user, deltas, strokes))
    assert stands(user, deltas)
    if not any(stroke.before for stroke in strokes):
        assert parse(user.text).value("conversation") == "c0ffee"
    assert user.told == []


@pytest.mark.threat("F19")
@settings(max_examples=150)
@given(kind=UNVERSIONED, deltas=DELTAS, strokes=st.lists(STROKES, max_size=5), delays=DELAYS)
def test_an_editor_without_versions_loses_no_text_and_a_stray_answer_stops(
    runner: asyncio.Runner, kind: Kind, deltas: list[str], strokes: list[Stroke], delays: list[int]
) -> None:
    user = TypingUser(kind, FILE, cycle(delays))
    runner.run(play(user, deltas, strokes))
    assert user.told or stands(user, deltas)


@pytest.mark.threat("F22")
@settings(max_examples=50)
@given(kind=VERSIONED, deltas=DELTAS, delays=DELAYS, how=st.sampled_from(["edit", "close"]))
def test_nothing_is_written_any_more_once_the_answer_was_edited_or_the_document_closed(
    runner: asyncio.Runner, kind: Kind, deltas: list[str], delays: list[int], how: str
) -> None:
    user = TypingUser(kind, FILE, cycle(delays))
    with without_doubt():
        runner.run(play(user, deltas, [], user.edit_answer if how == "edit" else user.close))
    ((method, params),) = user.told
    assert method == "window/showMessage"
    assert ("edited" if how == "edit" else "closed") in params["message"]


@pytest.mark.threat("F36")
def test_an_editor_that_never_answers_gets_the_whole_answer_all_the_same(
    runner: asyncio.Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_text, "PATIENCE", 0.001)
    user = TypingUser(Kind(PositionEncoding.UTF16, answers=False), FILE, cycle([1]))
    runner.run(play(user, ["one ", "two ", "three"], []))
    assert stands(user, ["one two three"])
