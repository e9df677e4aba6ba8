"""Resolve the Kraken: from its options to settings that never allow more than the user meant."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from ollm_lsp.core.budget import Limits
from ollm_lsp.core.price import Price
from ollm_lsp.settings.dollars import at_least, at_most
from ollm_lsp.settings.kraken_settings import (
    ApiSettings,
    CliAgentSettings,
    EscalationSettings,
    HookSettings,
    HooksSettings,
    KrakenSettings,
    PolicySettings,
    Trigger,
)
from ollm_lsp.settings.problems import Problem
from ollm_lsp.settings.secrets import Secret
from ollm_lsp.settings.wording import suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ollm_lsp.settings.kraken_options import (
        CliProviderOptions,
        HookOptions,
        HooksOptions,
        KrakenOptions,
        PolicyOptions,
        PriceOptions,
    )
    from ollm_lsp.settings.provider_options import HttpOptions
    from ollm_lsp.settings.resolved import ProviderSettings

_GUARDS: Final = (
    "kraken.maxCostPerRequest",
    "kraken.maxCostPerSession",
    "kraken.maxCostPerDay",
    "kraken.policies.allowedProviders",
    "kraken.hooks.before_kraken",
)
"""What keeps the Kraken in bounds. One that was lost to a problem would let through more than its author meant."""


def resolve_kraken(
    source: str,
    options: KrakenOptions,
    problems: list[Problem],
    build: Callable[[str, HttpOptions], ProviderSettings],
) -> KrakenSettings:
    """The settings of the Kraken; adds to the problems. `build` resolves the provider that a vendor's model needs."""
    cli = {name: _cli(name, entry) for name, entry in options.cli_providers.items() if entry.enabled}
    api: dict[str, ApiSettings] = {}
    for name, entry in options.api_providers.items():
        if name in options.cli_providers:
            key, message = f"kraken.apiProviders.{name}", "There is a CLI provider of the same name."
            problems.append(Problem(source, key, message, "Give each of them a name of its own."))
        elif entry.enabled:
            tokens = {} if entry.max_tokens is None else {"max_tokens": entry.max_tokens}
            api[name] = ApiSettings(name, build(provider_name(name), entry), entry.model, **tokens)
    return KrakenSettings(
        enabled=options.enabled and not _is_guard_lost(source, problems),
        default_provider=_default(source, options, [*cli, *api], problems),
        limits=Limits(
            request=_micros(options.max_cost_per_request),
            session=_micros(options.max_cost_per_session),
            day=_micros(options.max_cost_per_day),
        ),
        escalation=EscalationSettings(
            options.auto_escalate.enabled, frozenset(map(Trigger, options.auto_escalate.trigger_on))
        ),
        cli=MappingProxyType(cli),
        api=MappingProxyType(api),
        policies=_policies(options.policies),
        hooks=_hooks(options.hooks),
        prices=MappingProxyType({name: _price(price) for name, price in options.prices.items()}),
    )


def provider_name(name: str) -> str:
    """The provider behind a vendor's model. No provider of the user can have such a name."""
    return f"kraken/{name}"


def _is_guard_lost(source: str, problems: list[Problem]) -> bool:
    lost = [problem for problem in problems if problem.severity == "error" and _is_guard(problem.key)]
    if lost:
        message = "The Kraken stays off, for nobody knows how much you allow it."
        problems.append(Problem(source, "kraken", message, f"Mend {lost[0].key}."))
    return bool(lost)


def _is_guard(key: str) -> bool:
    """Whether a problem is at a guard, inside one, or at a section that may have held one.

    Of the list of allowed providers, an entry that is left out only forbids more.
    """
    inside = key.startswith(_GUARDS) and not key.startswith("kraken.policies.allowedProviders[")
    return bool(key) and (inside or any(guard.startswith(f"{key}.") for guard in _GUARDS))


def _default(source: str, options: KrakenOptions, names: Sequence[str], problems: list[Problem]) -> str | None:
    name = options.default_provider
    if name is None or name in names:
        return name
    remedy = f"List it under cliProviders or apiProviders. {suggestion(name, names)}"
    problems.append(Problem(source, "kraken.defaultProvider", "There is no external provider of that name.", remedy))
    return None


def _cli(name: str, options: CliProviderOptions) -> CliAgentSettings:
    return CliAgentSettings(
        name,
        options.tool,
        options.default_model,
        Path(options.path) if options.path else None,
        options.timeout,
        options.idle_timeout,
        options.proxy_url,
        Secret(options.proxy_api_key) if options.proxy_api_key else None,
    )


def _policies(options: PolicyOptions) -> PolicySettings:
    allowed = options.allowed_providers
    return PolicySettings(
        confirm_before_release=options.confirm_before_release,
        show_cost_warnings=options.show_cost_warnings,
        cost_warning_threshold=at_most(options.cost_warning_threshold),
        log_kraken_usage=options.log_kraken_usage,
        mask_secrets=options.mask_secrets,
        allowed_providers=None if allowed is None else frozenset(allowed),
    )


def _hooks(options: HooksOptions) -> HooksSettings:
    return HooksSettings(
        tuple(map(_hook, options.before_kraken)),
        tuple(map(_hook, options.after_kraken)),
        tuple(map(_hook, options.kraken_escalate)),
    )


def _hook(options: HookOptions) -> HookSettings:
    program, *arguments = options.command
    home = str(Path.home() / program[2:]) if program.startswith("~/") else program
    return HookSettings((home, *arguments), options.timeout)


def _price(options: PriceOptions) -> Price:
    read, written = options.cache_read, options.cache_write
    return Price(
        at_least(options.input),
        at_least(options.output),
        None if read is None else at_least(read),
        None if written is None else at_least(written),
    )


def _micros(dollars: float | None) -> int | None:
    return None if dollars is None else at_most(dollars)
