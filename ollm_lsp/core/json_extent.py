"""Where a JSON object ends in a text that is still growing."""

from __future__ import annotations

import re

_SIGN = re.compile(r'["{}\[\]]')
_IN_STRING = re.compile(r'["\\]')


class JsonExtent:
    """Counts brackets outside of strings. Whether what is between them is JSON is for the decoder to say."""

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._is_escaped = False

    def feed(self, text: str) -> int | None:
        """How much of the text belongs to the object, once its last bracket is in it."""
        at = 0
        while at < len(text):
            if self._is_escaped:
                self._is_escaped = False
                at += 1
                continue
            found = (_IN_STRING if self._in_string else _SIGN).search(text, at)
            if found is None:
                return None
            at = found.end()
            match found[0]:
                case '"':
                    self._in_string = not self._in_string
                case "\\":
                    self._is_escaped = True
                case "{" | "[":
                    self._depth += 1
                case _:
                    self._depth -= 1
                    if self._depth <= 0:
                        return at
        return None
