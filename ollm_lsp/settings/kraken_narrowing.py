"""Narrowing of the Kraken: the editor and the workspace can make it smaller and more careful, or switch it off."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ollm_lsp.core.budget import Limits
from ollm_lsp.settings.dollars import at_most
from ollm_lsp.settings.kraken_settings import Trigger
from ollm_lsp.settings.step import given

if TYPE_CHECKING:
    from ollm_lsp.settings.kraken_options import EscalationOptions, KrakenOptions, PolicyOptions
    from ollm_lsp.settings.kraken_settings import EscalationSettings, KrakenSettings, PolicySettings
    from ollm_lsp.settings.step import Step


def narrow_kraken(step: Step, settings: KrakenSettings, options: KrakenOptions) -> KrakenSettings:
    """The Kraken under one more layer."""
    return replace(
        settings,
        limits=_limits(step, settings.limits, options),
        escalation=_escalation(step, settings.escalation, options.auto_escalate),
        policies=_policies(step, settings.policies, options.policies),
        **step.off("kraken", settings, options, "enabled"),
    )


def _limits(step: Step, limits: Limits, options: KrakenOptions) -> Limits:
    def lowered(key: str, limit: int | None, name: str) -> int | None:
        dollars = getattr(options, name) if given(options, name) else None
        return step.smaller(f"kraken.{key}", limit, None if dollars is None else at_most(dollars))

    return Limits(
        request=lowered("maxCostPerRequest", limits.request, "max_cost_per_request"),
        session=lowered("maxCostPerSession", limits.session, "max_cost_per_session"),
        day=lowered("maxCostPerDay", limits.day, "max_cost_per_day"),
    )


def _escalation(step: Step, settings: EscalationSettings, options: EscalationOptions) -> EscalationSettings:
    section = "kraken.autoEscalate"
    triggers = settings.triggers
    if given(options, "trigger_on"):
        wanted = frozenset(map(Trigger, options.trigger_on))
        if wanted - triggers:
            step.refuse(f"{section}.triggerOn", "Reasons can only be taken away here.")
        triggers &= wanted
    return replace(settings, triggers=triggers, **step.off(section, settings, options, "enabled"))


def _policies(step: Step, settings: PolicySettings, options: PolicyOptions) -> PolicySettings:
    section = "kraken.policies"
    allowed, threshold = settings.allowed_providers, settings.cost_warning_threshold
    if given(options, "allowed_providers") and options.allowed_providers is not None:
        wanted = frozenset(options.allowed_providers)
        if allowed is not None and wanted - allowed:
            step.refuse(f"{section}.allowedProviders", "Names can only be taken away here.")
        allowed = wanted if allowed is None else allowed & wanted
    if given(options, "cost_warning_threshold"):
        key = f"{section}.costWarningThreshold"
        threshold = step.smaller(key, threshold, at_most(options.cost_warning_threshold))
    careful = ("confirm_before_release", "show_cost_warnings", "mask_secrets")
    return replace(
        settings,
        allowed_providers=allowed,
        cost_warning_threshold=threshold,
        **step.on(section, settings, options, *careful),
    )
