"""The read log: every edit has a base that the model knows, or is refused."""

from __future__ import annotations

import pytest

from ollm_lsp.core.errors import StaleDocument
from ollm_lsp.core.snapshot import Snapshot
from ollm_lsp.tools.read_log import ReadLog, tag_of


def snapshot(text: str, uri: str = "file:///a", version: int | None = None) -> Snapshot:
    return Snapshot(uri, text, version)


def test_a_document_that_was_never_read_is_edited_as_it_is() -> None:
    assert ReadLog().base(snapshot("now")) == snapshot("now")


def test_the_text_that_was_seen_last_is_the_base() -> None:
    log = ReadLog()
    log.note(snapshot("one"))
    log.note(snapshot("two", version=3))
    log.note(snapshot("else", "file:///b"))
    assert log.base(snapshot("now")).text == "two"
    log.note(snapshot("one"))
    assert log.base(snapshot("now")).text == "one"
    assert log.base(snapshot("one", version=9)) == snapshot("one", version=9)


def test_a_model_can_name_its_base() -> None:
    log = ReadLog()
    tag = log.note(snapshot("one"))
    assert tag == tag_of(snapshot("one")) == snapshot("one").digest[:12]
    log.note(snapshot("two"))
    assert log.base(snapshot("now"), tag).text == "one"
    assert log.base(snapshot("now"), tag_of(snapshot("now"))).text == "now"
    with pytest.raises(StaleDocument, match="You have read no text"):
        log.base(snapshot("now", "file:///b"), tag)


def test_what_was_forgotten_is_refused_and_not_guessed() -> None:
    log = ReadLog(most_characters=10)
    log.note(snapshot("12345678"))
    log.note(snapshot("abcdefgh", "file:///b"))
    with pytest.raises(StaleDocument, match="Read the file again"):
        log.base(snapshot("now"))
    assert log.base(snapshot("12345678")).text == "12345678"
    assert log.base(snapshot("now", "file:///b")).text == "abcdefgh"
    log.note(snapshot("x" * 100))
    assert log.base(snapshot("now")).text == "x" * 100


def test_a_document_that_moved_is_known_at_its_new_place_only() -> None:
    log = ReadLog()
    log.note(snapshot("one"))
    log.move("file:///a", "file:///b")
    assert log.base(snapshot("now")).text == "now"
    assert log.base(snapshot("now", "file:///b")).text == "one"
    log.move("file:///never", "file:///b")
    log.forget("file:///b")
    assert log.base(snapshot("now", "file:///b")).text == "now"


def test_what_is_known_of_documents_follows_a_rename_by_the_user() -> None:
    log = ReadLog()
    inside, outside = Snapshot("file:///x/a", "one"), Snapshot("file:///z", "three")
    log.note(inside)
    log.note(outside)
    log.follow(lambda uri: uri.replace("/x/", "/y/") if "/x/" in uri else None)
    now = Snapshot("file:///y/a", "two")
    assert log.base(now).text == "one"
    assert log.base(Snapshot("file:///x/a", "new")).text == "new"
    assert log.base(Snapshot("file:///z", "four")).text == "three"
