"""The read log of a conversation: which texts the model knows, so that every edit has a base.

A text is known when the model has read it or made it. Old ones are forgotten when they become too many, but not that
they were known: an edit on a text that was forgotten is refused, not guessed.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from ollm_lsp.core.errors import StaleDocument
from ollm_lsp.core.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_CHARACTERS = 32_000_000
TAG = 12
"""Digits of a digest by which a model names a text."""
READ_AGAIN = "Read the file again, then make the edit on what it says now."


def tag_of(snapshot: Snapshot) -> str:
    """The name of a text, short enough for a model to repeat."""
    return snapshot.digest[:TAG]


class ReadLog:
    """What one conversation has seen."""

    def __init__(self, most_characters: int = MOST_CHARACTERS) -> None:
        self._most = most_characters
        self._size = 0
        self._texts: OrderedDict[tuple[str, str], str] = OrderedDict()
        """By document and tag, the oldest first."""
        self._newest: dict[str, str] = {}
        """The tag of the text that the model saw last, by document."""

    def note(self, snapshot: Snapshot) -> str:
        """The model has read this text, or made it; the result is its tag."""
        tag = tag_of(snapshot)
        key = (snapshot.uri, tag)
        self._newest[snapshot.uri] = tag
        if key not in self._texts:
            self._size += len(snapshot.text)
            self._texts[key] = snapshot.text
        self._texts.move_to_end(key)
        while self._size > self._most and len(self._texts) > 1:
            _, text = self._texts.popitem(last=False)
            self._size -= len(text)
        return tag

    def base(self, current: Snapshot, tag: str | None = None) -> Snapshot:
        """What an edit of a document was computed on: the text that the model names, else the one it saw last.

        A document that it never saw is edited as it is now. `StaleDocument` when the text is not known any more.
        """
        wanted = tag or self._newest.get(current.uri)
        if wanted is None or wanted == tag_of(current):
            return current
        text = self._texts.get((current.uri, wanted))
        if text is None:
            finding = f"You have read no text '{tag}' of it." if tag else "It has changed since you read it."
            raise StaleDocument(finding, remedy=READ_AGAIN)
        return Snapshot(current.uri, text)

    def follow(self, moved: Callable[[str], str | None]) -> None:
        """Somebody else renamed files; `moved` tells the new address of a document that has one."""
        for uri in tuple(self._newest):
            if new_uri := moved(uri):
                self.move(uri, new_uri)

    def move(self, uri: str, new_uri: str) -> None:
        """The document has another address; what the model knows of it stays true."""
        newest = self._newest.get(uri)
        text = self._texts.get((uri, newest)) if newest else None
        self.forget(uri)
        if text is not None:
            self.note(Snapshot(new_uri, text))

    def forget(self, uri: str) -> None:
        """The document is not there any more."""
        self._newest.pop(uri, None)
        for key in [key for key in self._texts if key[0] == uri]:
            self._size -= len(self._texts.pop(key))
