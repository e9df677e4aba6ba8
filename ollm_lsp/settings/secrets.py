"""Secrets: references to keys that are looked up at use.

A secret holds the name of a variable, not its value. `reveal` reads the value each time, so that a changed key
needs no restart, and tells it to the process-wide `redactor`. Every sink (log, error, notification, stored record)
passes its text through that first.
"""

from __future__ import annotations

import importlib
import os
import re
from typing import Any, ClassVar

from ollm_lsp.core.errors import SettingsError
from ollm_lsp.settings.redactor import HIDDEN, redactor

KEYRING_SERVICE = "ollm-lsp"

_REFERENCE = re.compile(r"\$\{(?:(?P<name>[A-Z_][A-Z0-9_]*)|keyring:(?P<entry>[A-Za-z0-9_.-]+))\}")
_KEY_LIKE = re.compile(r"OLLM_[A-Z0-9_]+|[A-Z0-9_]+(?:_KEY|_TOKEN)")
_VALUE = re.compile(r"[!-~]+")
_REMEDY = 'Write apiKey: "${NAME}", where NAME is an environment variable in capital letters.'


class Secret:
    """A key by reference: `${NAME}` of the environment or `${keyring:NAME}`; or, discouraged, the key itself."""

    __slots__ = ("_text", "is_literal")

    _value: ClassVar = _VALUE
    _remedy: ClassVar = _REMEDY

    def __init__(self, text: str) -> None:
        """Take the text of a setting. What cannot be a key or name one is refused, without repeating it."""
        reference = _REFERENCE.fullmatch(text)
        if reference is None and (text.startswith("$") or not self._value.fullmatch(text)):
            raise SettingsError("This is neither a key nor a reference to one.", remedy=self._remedy)
        if reference and (name := reference["name"]) and not _KEY_LIKE.fullmatch(name):
            raise SettingsError(
                f"The variable {name} does not look like an API key, so it is not read.",
                remedy="Use a name that begins with OLLM_ or ends with _API_KEY, _KEY or _TOKEN.",
            )
        self._text = text
        self.is_literal = reference is None
        if self.is_literal:
            self._hide(text)

    @property
    def may_block(self) -> bool:
        """Whether `reveal` may wait for the user, as a locked keyring does."""
        return self._text.startswith("${keyring:")

    def reveal(self) -> str:
        """The key, read now. Use it in a header and keep no copy."""
        reference = _REFERENCE.fullmatch(self._text)
        if reference is None:
            self._hide(self._text)
            return self._text
        if name := reference["name"]:
            value, where = os.environ.get(name), f"The environment variable {name}"
            remedy = f"Set {name} in the environment that starts the editor."
        else:
            entry = reference["entry"]
            value, where = _from_keyring(entry), f"The keyring entry {entry}"
            remedy = f"Store it with: keyring set {KEYRING_SERVICE} {entry}"
        value = (value or "").strip()
        if not value:
            raise SettingsError(f"{where} is not set.", remedy=remedy)
        self._hide(value)
        if not self._value.fullmatch(value):
            raise SettingsError(f"{where} holds characters that no key has.", remedy=remedy)
        return value

    def _hide(self, value: str) -> None:
        redactor.add(value)

    def __repr__(self) -> str:
        return f"Secret({self})"

    def __str__(self) -> str:
        return HIDDEN if self.is_literal else self._text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)


def _from_keyring(entry: str) -> str | None:
    try:
        keyring: Any = importlib.import_module("keyring")
    except ImportError:
        raise SettingsError(
            f"The keyring entry {entry} cannot be read: the keyring library is not installed.",
            remedy="Install it beside ollm-lsp (pip install keyring) or use an environment variable.",
        ) from None
    try:
        return keyring.get_password(KEYRING_SERVICE, entry)
    except Exception as error:  # noqa: BLE001 - each keyring backend raises exceptions of its own
        raise SettingsError(
            f"The keyring entry {entry} cannot be read ({type(error).__name__}).",
            remedy="Unlock the keyring or use an environment variable.",
        ) from None
