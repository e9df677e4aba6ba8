"""Selection: which external provider a task goes to. Pure.

A name that the user gives always wins. Else those that are allowed and available are ranked: whoever can read that much
first, the one that the user prefers before others, then by ability, and agents before APIs, because a plan costs less.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Final

from ollm_lsp.core.errors import AuthenticationFailed, LoginRequired, ProviderError, SettingsError
from ollm_lsp.core.kraken import KrakenKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ollm_lsp.core.errors import OllmError
    from ollm_lsp.settings.kraken_settings import KrakenSettings

_KINDS: Final = {kind.code: kind for kind in ProviderError.__subclasses__()}
_SMALL: Final = re.compile(r"(^|[-_./:])(mini|nano|lite|flash|haiku|small|tiny|8b|7b)($|[-_./:])", re.IGNORECASE)


class Complexity(IntEnum):
    """How much a task asks of a model."""

    SIMPLE = 1
    MEDIUM = 2
    COMPLEX = 3
    EXPERT = 4


class Domain(StrEnum):
    """What a task is about."""

    CODE = "code"
    ANALYSIS = "analysis"
    CREATIVE = "creative"
    GENERAL = "general"


@dataclass(frozen=True, slots=True)
class Hint:
    """What is known of a task; `tokens` is what the provider would have to read."""

    complexity: Complexity = Complexity.COMPLEX
    domain: Domain = Domain.CODE
    tokens: int = 0
    prefer_cli: bool = True


@dataclass(frozen=True, slots=True)
class Candidate:
    """An external provider as its last check found it. One that cannot be used says why, and what to do."""

    name: str
    kind: KrakenKind
    model: str | None = None
    context_window: int | None = None
    is_available: bool = True
    error: str = ""
    remedy: str = ""
    needs_login: bool = False
    code: str | None = None

    @property
    def ability(self) -> Complexity:
        """What it is good enough for, by the name of its model: vendors mark the small ones."""
        return Complexity.MEDIUM if self.model and _SMALL.search(self.model) else Complexity.EXPERT

    def can_read(self, tokens: int) -> bool:
        return self.context_window is None or tokens <= self.context_window


def choose(candidates: Sequence[Candidate], settings: KrakenSettings, hint: Hint, name: str | None = None) -> Candidate:
    """The provider for a task, or an error that says what to do first."""
    _check_enabled(settings)
    if name is not None:
        return _named(candidates, settings, name)
    ranked = rank(candidates, settings, hint)
    if not ranked:
        raise _nobody(candidates, settings)
    return ranked[0]


def rank(candidates: Iterable[Candidate], settings: KrakenSettings, hint: Hint) -> tuple[Candidate, ...]:
    """All providers that may be used for a task, the best first. When one fails, the next takes its place."""

    def place(candidate: Candidate) -> tuple[bool | int, ...]:
        is_agent = candidate.kind is KrakenKind.CLI
        # An agent looks around in the code, which helps where there is code to look at.
        is_at_home = not is_agent or hint.domain in (Domain.CODE, Domain.ANALYSIS)
        # Of those that cannot read it all, the one that can read most needs the least left out.
        window = 0 if candidate.can_read(hint.tokens) else -(candidate.context_window or 0)
        return (
            not candidate.can_read(hint.tokens),
            candidate.name != settings.default_provider,
            window,
            candidate.ability < hint.complexity,
            hint.prefer_cli and not is_agent,
            not is_at_home,
            candidate.ability,
        )

    usable = (one for one in candidates if one.is_available and settings.policies.allows(one.name))
    return tuple(sorted(usable, key=place)) if settings.enabled else ()


def _named(candidates: Sequence[Candidate], settings: KrakenSettings, name: str) -> Candidate:
    found = next((one for one in candidates if one.name == name), None)
    if found is None:
        known = ", ".join(one.name for one in candidates)
        raise SettingsError(
            f"There is no external provider '{name}'.",
            remedy=f"Use one of: {known}." if known else _HOW_TO_BEGIN,
        )
    if not settings.policies.allows(name):
        raise SettingsError(
            f"The external provider '{name}' is not allowed here.",
            remedy="Add it to kraken.policies.allowedProviders, unless the workspace's settings leave it out.",
        )
    if not found.is_available:
        message = f"The external provider '{name}' cannot be used{f': {found.error}' if found.error else '.'}"
        raise _unusable([found], message)
    return found


def _check_enabled(settings: KrakenSettings) -> None:
    if not settings.enabled:
        raise SettingsError("External providers are switched off.", remedy=_HOW_TO_BEGIN)


def _nobody(candidates: Sequence[Candidate], settings: KrakenSettings) -> OllmError:
    if not candidates:
        return SettingsError("There is no external provider yet.", remedy=_HOW_TO_BEGIN)
    allowed = [one for one in candidates if settings.policies.allows(one.name)]
    if not allowed:
        return SettingsError(
            "None of the external providers is allowed here.",
            remedy="Add one to kraken.policies.allowedProviders, unless the workspace's settings leave it out.",
        )
    reasons = " ".join(f"{one.name}: {one.error or 'it does not answer.'}" for one in allowed)
    return _unusable(allowed, f"No external provider can be used now. {reasons}")


def _unusable(candidates: Sequence[Candidate], message: str) -> OllmError:
    """What kind of error it is depends on what has to be done about all of them."""
    remedy = " ".join(dict.fromkeys(one.remedy for one in candidates if one.remedy)) or "See `/kraken status`."
    if not all(one.needs_login for one in candidates):
        codes = {one.code for one in candidates}
        kind = _KINDS.get(codes.pop() or "") if len(codes) == 1 else None
        return (kind or SettingsError)(message, remedy=remedy)
    is_agent = any(one.kind is KrakenKind.CLI for one in candidates)
    return (LoginRequired if is_agent else AuthenticationFailed)(message, remedy=remedy)


_HOW_TO_BEGIN: Final = (
    "Write `kraken: { enabled: true, cliProviders: { claude: { tool: claude } } }` into ~/.ollm/config.yaml, "
    "or a vendor's model under apiProviders; `/kraken config`, or the command ollm.kraken.config, opens the file."
)
