"""Settings of the Kraken as the program uses them. Without any options, nothing leaves this machine."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from ollm_lsp.core.budget import Limits

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ollm_lsp.core.price import Price
    from ollm_lsp.settings.resolved import ProviderSettings
    from ollm_lsp.settings.secrets import Secret


class Trigger(StrEnum):
    """Why an escalation may be suggested."""

    MODEL_FAILURE = "modelFailure"
    CONTEXT_OVERFLOW = "contextOverflow"
    USER_REQUEST = "userRequest"


@dataclass(frozen=True, slots=True)
class EscalationSettings:
    """When a release is suggested by itself."""

    enabled: bool = False
    triggers: frozenset[Trigger] = frozenset(Trigger)


@dataclass(frozen=True, slots=True)
class CliAgentSettings:
    """An agent with a command line, on this machine or behind a proxy."""

    name: str
    tool: str
    model: str | None = None
    path: Path | None = None
    """The program; without it, it is looked for in the usual places."""
    timeout: float = 600.0
    idle_timeout: float = 300.0
    proxy_url: str | None = None
    proxy_api_key: Secret | None = None


@dataclass(frozen=True, slots=True)
class ApiSettings:
    """A vendor's model: the provider that reaches it, built like every other, and what is asked of it."""

    name: str
    provider: ProviderSettings
    model: str
    max_tokens: int = 8192


KrakenEntry: TypeAlias = CliAgentSettings | ApiSettings
"""One external provider."""


@dataclass(frozen=True, slots=True)
class PolicySettings:
    """What the user wants to be asked and told."""

    confirm_before_release: bool = True
    show_cost_warnings: bool = True
    cost_warning_threshold: int = 1_000_000
    """Micro-dollars."""
    log_kraken_usage: bool = True
    mask_secrets: bool = True
    allowed_providers: frozenset[str] | None = None
    """The only names that may ever be used; nothing means all that are configured."""

    def allows(self, name: str) -> bool:
        return self.allowed_providers is None or name in self.allowed_providers


@dataclass(frozen=True, slots=True)
class HookSettings:
    """A program of the user that is told of something."""

    command: tuple[str, ...]
    timeout: float = 30.0


@dataclass(frozen=True, slots=True)
class HooksSettings:
    """Who is told of what, in this order."""

    before_kraken: tuple[HookSettings, ...] = ()
    after_kraken: tuple[HookSettings, ...] = ()
    kraken_escalate: tuple[HookSettings, ...] = ()


@dataclass(frozen=True, slots=True)
class KrakenSettings:
    """The external providers, and what may be spent on them. Those that are switched off are not among them."""

    enabled: bool = False
    default_provider: str | None = None
    limits: Limits = field(default_factory=Limits)
    escalation: EscalationSettings = field(default_factory=EscalationSettings)
    cli: Mapping[str, CliAgentSettings] = field(default_factory=dict[str, CliAgentSettings])
    api: Mapping[str, ApiSettings] = field(default_factory=dict[str, ApiSettings])
    policies: PolicySettings = field(default_factory=PolicySettings)
    hooks: HooksSettings = field(default_factory=HooksSettings)
    prices: Mapping[str, Price] = field(default_factory=dict[str, "Price"])
    """The user's own prices, by `provider:model` or `model`."""

    @property
    def entries(self) -> Mapping[str, KrakenEntry]:
        """All external providers by name."""
        return {**self.cli, **self.api}
