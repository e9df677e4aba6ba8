"""Headers: what a user adds to the requests of a provider, each value kept like a key."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from ollm_lsp.core.errors import SettingsError
from ollm_lsp.settings.redactor import redactor
from ollm_lsp.settings.secrets import Secret

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST = 50
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FOR_KEYS = frozenset({"authorization", "x-api-key", "x-goog-api-key"})
_OF_THE_CLIENT = frozenset(
    {
        "accept", "accept-encoding", "connection", "content-encoding", "content-length", "content-type", "expect",
        "host", "keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding",
        "upgrade",
    }
)  # fmt: skip
_KEY_LIKE_NAME = re.compile(r"key|token|secret|auth|passw|cookie|credential|session|signature", re.IGNORECASE)
_KEY_LIKE_VALUE = re.compile(r"(bearer|basic|token) .+|sk-.+", re.IGNORECASE)


class HeaderValue(Secret):
    """Like a key, and it may have spaces. What is written out and looks like no key, as an address, is not hidden."""

    __slots__ = ("_looks_like_key",)

    _value: ClassVar = re.compile(r"[!-~]+( +[!-~]+)*")
    _remedy: ClassVar = 'Write it in printable ASCII, or as "${NAME}" with nothing before or behind it.'

    def __init__(self, name: str, text: str) -> None:
        """Take a header as it stands in a setting. What cannot be the value of one is refused."""
        self._looks_like_key = bool(_KEY_LIKE_NAME.search(name) or _KEY_LIKE_VALUE.fullmatch(text))
        if "${" in text[1:]:
            raise SettingsError("A reference stands alone.", remedy=self._remedy)
        super().__init__(text)

    @property
    def is_literal_key(self) -> bool:
        """Whether a key itself seems to be written there."""
        return self.is_literal and self._looks_like_key

    def _hide(self, value: str) -> None:
        if not self.is_literal or self._looks_like_key:
            redactor.add(value)
            redactor.add(max(value.split(), key=len))  # A server may repeat the key without the `Bearer` before it.


def check_name(name: str) -> str:
    """The name of a header that a user may add."""
    if not _TOKEN.fullmatch(name):
        raise SettingsError("This is not the name of a header.", remedy="Write it like X-Team.")
    if name.lower() in _FOR_KEYS:
        raise SettingsError("This header carries the key.", remedy='Leave it out and write apiKey: "${NAME}" instead.')
    if name.lower() in _OF_THE_CLIENT:
        raise SettingsError("ollm-lsp sets this header itself.", remedy="Leave it out.")
    return name


def check_names(names: Iterable[str]) -> None:
    """All names together. Two that differ only in case are one header."""
    folded = [name.lower() for name in names]
    if len(set(folded)) < len(folded):
        raise SettingsError("A header is there twice.", remedy="Names count without regard to case: keep one of them.")
    if len(folded) > MOST:
        raise SettingsError(f"There are more than {MOST} headers.", remedy="Leave some out.")
