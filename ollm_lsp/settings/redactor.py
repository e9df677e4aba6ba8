"""The redactor, which keeps secrets out of every text that leaves this process."""

from __future__ import annotations

import base64
import json
import re
from threading import Lock
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote, quote_plus

if TYPE_CHECKING:
    from collections.abc import Iterator

HIDDEN = "***"
SHORTEST = 6
"""Shorter values are not redacted: they would turn up by chance in every other text."""
NO_SECRETS = {"ollama", "lm-studio", "not-needed", "sk-no-key-required"}
"""What people write for servers that want some key and take any. A model may well have to speak of them."""


class Redactor:
    """Replaces every value that it was told about, also in its usual encodings."""

    def __init__(self) -> None:
        self._values: frozenset[str] = frozenset()
        self._forms: frozenset[str] = frozenset()
        self._by_start: dict[str, list[str]] = {}
        self._longest = 0
        self._pattern: re.Pattern[str] | None = None
        self._lock = Lock()

    def add(self, value: str) -> None:
        """Hide a value from now on."""
        if len(value) < SHORTEST or value in self._values or value in NO_SECRETS:
            return
        with self._lock:
            forms = self._forms | {form for form in _forms(value) if len(form) >= SHORTEST}
            longest_first = sorted(forms, key=len, reverse=True)
            self._by_start = {
                start: [form for form in forms if form.startswith(start)]
                for start in {form[:size] for form in forms for size in (1, 2)}
            }
            self._longest = len(longest_first[0])
            self._pattern = re.compile("|".join(map(re.escape, longest_first)))
            self._forms = forms
            self._values |= {value}

    def redact(self, text: str) -> str:
        """The text without any hidden value."""
        return text if self._pattern is None else self._pattern.sub(HIDDEN, text)

    def found_in(self, text: str) -> list[str]:
        """The hidden values of a text, each in the form that it has there."""
        return [] if self._pattern is None else list(dict.fromkeys(self._pattern.findall(text)))

    def redact_json(self, value: Any) -> Any:
        """The same JSON value, with no hidden value in any of its texts."""
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, dict):
            members = cast("dict[str, Any]", value)
            return {self.redact(key): self.redact_json(member) for key, member in members.items()}
        if isinstance(value, list | tuple):
            return [self.redact_json(item) for item in cast("list[Any]", value)]
        return value

    def split(self, text: str) -> tuple[str, str]:
        """A text that still grows, in two: what can be shown of it, redacted, and the end that may become a secret."""
        if self._pattern is None:
            return text, ""
        end = self._open_end(text, max(0, len(text) - self._longest + 1))
        if end < len(text):
            for match in self._pattern.finditer(text):
                if match.start() < end < match.end():  # the end of a whole secret may look like the beginning of one
                    end = self._open_end(text, match.end())
        return self.redact(text[:end]), text[end:]

    def _open_end(self, text: str, start: int) -> int:
        """Where the end of the text begins that begins like a secret."""
        for at in range(start, len(text)):
            forms = self._by_start.get(text[at : at + 2])
            if forms and any(form.startswith(text[at:]) and form != text[at:] for form in forms):
                return at
        return len(text)


redactor = Redactor()
"""The one redactor of this process. It only ever learns values; tests make their own."""


def _forms(value: str) -> Iterator[str]:
    raw = value.encode("utf-8", "surrogatepass")
    yield value
    yield json.dumps(value)[1:-1]
    for quoted in (quote(raw), quote(raw, safe=""), quote_plus(raw)):
        yield quoted
        yield re.sub(r"%[0-9A-F]{2}", lambda match: match[0].lower(), quoted)
    # Inside a longer encoded text (`user:key`), the letters depend on where the value begins. Of each of the three
    # ways, those that only the value decides are taken.
    for shift in range(3):
        encoded = base64.b64encode(bytes(shift) + raw).decode()
        whole = (shift + len(raw)) * 8 // 6
        inner = encoded[(0, 2, 3)[shift] : whole]
        yield inner
        yield inner.translate(str.maketrans("+/", "-_"))
