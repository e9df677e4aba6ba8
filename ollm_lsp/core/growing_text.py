"""Text that still grows, read from its front."""

from __future__ import annotations


class GrowingText:
    """What has come and has not been read. When it `is_whole`, no more will come.

    What is read while it `keeps` can be looked at again in `kept`.
    """

    def __init__(self) -> None:
        self.is_whole = False
        self.keeps = False
        self._kept: list[str] = []
        self._text = ""
        self._at = 0

    def feed(self, delta: str) -> None:
        self._text = self._text[self._at :] + delta
        self._at = 0

    def __len__(self) -> int:
        return len(self._text) - self._at

    def peek(self, size: int) -> str:
        """The next characters, as many of them as there are."""
        return self._text[self._at : self._at + size]

    def find(self, sign: str) -> int | None:
        """How far ahead a sign is, or nothing while it has not come."""
        found = self._text.find(sign, self._at)
        return None if found < 0 else found - self._at

    def read(self, size: int | None = None) -> str:
        """Take so many characters from the front, or all there are."""
        read = self._text[self._at :] if size is None else self.peek(size)
        self._at += len(read)
        if self.keeps:
            self._kept.append(read)
        return read

    def read_whole_line(self) -> str | None:
        """Take the rest of the line without its end, once it cannot grow."""
        end = self.find("\n")
        if end is None and not self.is_whole:
            return None
        return self.read(None if end is None else end + 1).removesuffix("\n")

    def skip(self, characters: str) -> None:
        """Pass over these characters."""
        end = self._at
        while end < len(self._text) and self._text[end] in characters:
            end += 1
        self.read(end - self._at)

    @property
    def kept(self) -> str:
        return "".join(self._kept)
