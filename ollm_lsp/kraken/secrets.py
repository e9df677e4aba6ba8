"""Secrets in what would be shared: found by a detector library, by the shape of keys, and in files of variables.

The library comes with the shapes of many vendors' keys and the names under which people keep passwords. It is used
offline, and without its guesses by entropy, which take every checksum for a secret. Looking through a text takes time,
and so does importing the library: callers do it in a thread. Texts are looked at line by line and long lines in pieces,
for an expression that takes its time on a hostile text would hold up the whole server.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, cast

from ollm_lsp.settings.redactor import redactor

if TYPE_CHECKING:
    from collections.abc import Iterator

SHORTEST: Final = 6
"""Characters that a secret has at least. Shorter values stand for themselves in too many other places."""
_PIECE: Final = 2_000
_OVERLAP: Final = 500
_SUSPICIOUS: Final = re.compile(r"[\w/+=.-]{16}|pass|pwd|secret|token|key|://|contrase", re.IGNORECASE)
"""What a line has at least when one of the library's expressions fits."""
_OF_A_KEY: Final = re.compile(r"[A-Za-z0-9_\-+/=.]*")
_PRIVATE_KEY: Final = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----")
_END_OF_KEY: Final = re.compile(r"-----END [A-Z0-9 ]{0,60}-----")
_SHAPES: Final = {
    "Anthropic key": re.compile(r"\bsk-ant-[\w-]{20,}"),
    "OpenAI key": re.compile(r"\bsk-(?!ant-)[\w-]{20,}"),
    "Google key": re.compile(r"\bAIza[\w-]{30,}"),
    "GitHub token": re.compile(r"\bgithub_pat_\w{20,}"),
    "GitLab token": re.compile(r"\bglpat-[\w-]{20,}"),
    "Hugging Face token": re.compile(r"\bhf_[A-Za-z0-9]{20,}"),
    "Groq key": re.compile(r"\bgsk_[A-Za-z0-9]{20,}"),
    "PyPI token": re.compile(r"\bpypi-[\w-]{40,}"),
}
"""Keys that the library does not know, first of all those of the vendors of models."""
_ASSIGNED: Final = re.compile(
    r"""^[ \t]*(?:export[ \t]+)?[A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|PWD|CREDENTIALS?)[A-Z0-9_]*"""
    r"""[ \t]*=[ \t]*(?P<quote>["']?)(?P<value>[^\s"'$#][^\s"']*)(?P=quote)""",
    re.MULTILINE,
)
"""A variable of an environment, as in a shell script or a log."""
_VARIABLE: Final = re.compile(
    r"""^[ \t]*(?:export[ \t]+)?[A-Za-z_][\w.]*[ \t]*[=:][ \t]*(?:"(?P<double>[^"\n]*)"|'(?P<single>[^'\n]*)'|"""
    r"""(?P<plain>[^\s"'#][^\n#]*))""",
    re.MULTILINE,
)
_HARMLESS: Final = re.compile(
    r"true|false|yes|no|none|null|localhost|development|production|staging|[\d.:]+", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class FoundSecret:
    """Something that looks like a secret, and where it is. Whoever shows it shows all but the value."""

    kind: str
    value: str = field(repr=False)
    source: str = ""
    line: int = 1

    def __str__(self) -> str:
        return f"{self.kind} in {self.source}, line {self.line}" if self.source else self.kind


def find(text: str, source: str = "") -> list[FoundSecret]:
    """The secrets of a text, each value once, in the order of their places. `source` is its path, if it has one."""
    found: dict[str, tuple[int, str]] = {}
    for start, kind, value in _all(text, source):
        if len(value) >= SHORTEST and start < found.get(value, (len(text) + 1, ""))[0]:
            found[value] = (start, kind)
    ordered = sorted((start, kind, value) for value, (start, kind) in found.items())
    return [FoundSecret(kind, value, source, text.count("\n", 0, start) + 1) for start, kind, value in ordered]


def is_variables_file(source: str) -> bool:
    """Whether a file holds variables of an environment, all of which may be secret."""
    name = PurePath(source).name.casefold()
    is_sample = name.endswith((".example", ".sample", ".template", ".dist"))
    return not is_sample and (name.startswith(".env") or name.endswith(".env") or name == ".dev.vars")


def _all(text: str, source: str) -> Iterator[tuple[int, str, str]]:
    for value in redactor.found_in(text):
        yield text.index(value), "key of your settings", value
    yield from _private_keys(text)
    yield from _variables(text, source)
    for start, piece in _pieces(text):
        for kind, shape in _SHAPES.items():
            for match in shape.finditer(piece):
                yield start + match.start(), kind, match[0]
        if _SUSPICIOUS.search(piece):
            for at, kind, value in _by_library(piece):
                yield start + at, kind, value


def _private_keys(text: str) -> Iterator[tuple[int, str, str]]:
    """Whole keys with what is around them. One that has no end goes on to the end of the text."""
    begin = _PRIVATE_KEY.search(text)
    while begin:
        end = _END_OF_KEY.search(text, begin.end())
        stop = end.end() if end else len(text)
        yield begin.start(), "private key", text[begin.start() : stop]
        begin = _PRIVATE_KEY.search(text, stop)


def _variables(text: str, source: str) -> Iterator[tuple[int, str, str]]:
    for match in _ASSIGNED.finditer(text):
        yield match.start("value"), "variable", match["value"]
    if is_variables_file(source):
        for match in _VARIABLE.finditer(text):
            value = next(filter(None, match.group("double", "single", "plain")), "").strip()
            if not _HARMLESS.fullmatch(value):
                yield match.start(), "variable", value


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for line in text.splitlines(keepends=True):
        for at in range(0, max(1, len(line) - _OVERLAP), _PIECE - _OVERLAP):
            yield start + at, line[at : at + _PIECE]
        start += len(line)


def _by_library(line: str) -> Iterator[tuple[int, str, str]]:
    for kind, expression, wanted in _expressions():
        for match in expression.finditer(line):
            group = wanted or _secret_group(match)
            start, end = match.span(group)
            if group == 0:
                # Some of the expressions stop before the end of what they have found.
                end = _OF_A_KEY.match(line, end).end()  # pyright: ignore[reportOptionalMemberAccess] - it fits anything
            yield start, kind, line[start:end]


def _secret_group(match: re.Match[str]) -> int:
    """Which part of a match is the secret: a group that is long enough for one, else all of it."""
    groups = [number for number, group in enumerate(match.groups(), 1) if group and len(group) >= SHORTEST]
    return groups[-1] if groups else 0


@lru_cache(maxsize=1)
def _expressions() -> tuple[tuple[str, re.Pattern[str], int | None], ...]:
    """The expressions of the library, each with what it finds and, where it says so, the group of the secret."""
    # ruff: noqa: PLC0415 - the library takes long to import
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    from detect_secrets.plugins.base import RegexBasedDetector
    from detect_secrets.plugins.keyword import QUOTES_REQUIRED_DENYLIST_REGEX_TO_GROUP

    plugins: dict[str, Any] = {**get_mapping_from_secret_type_to_class()}
    return (
        *(
            (kind, expression, None)
            for kind, plugin in plugins.items()
            if issubclass(plugin, RegexBasedDetector)
            for expression in cast("Any", plugin)().denylist
        ),
        *(
            ("password or key by its name", expression, group)
            for expression, group in QUOTES_REQUIRED_DENYLIST_REGEX_TO_GROUP.items()
        ),
    )
