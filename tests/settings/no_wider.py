"""What narrowing means, for every setting: nothing that a layer says allows more than the user did."""

from __future__ import annotations

from dataclasses import astuple, replace
from typing import TYPE_CHECKING

from ollm_lsp.core.budget import Limits
from ollm_lsp.settings.kraken_settings import EscalationSettings, PolicySettings
from ollm_lsp.settings.narrowing import is_local

if TYPE_CHECKING:
    from ollm_lsp.settings.kraken_settings import KrakenSettings
    from ollm_lsp.settings.resolved import Settings


def assert_no_wider(settings: Settings, allowed: Settings) -> None:
    assert settings.providers == allowed.providers
    assert settings.chat.keep_conversations <= allowed.chat.keep_conversations
    assert settings.context.open_buffers <= allowed.context.open_buffers
    assert set(settings.context.exclude) >= set(allowed.context.exclude)
    assert settings.chat.max_turns <= allowed.chat.max_turns
    assert settings.chat.tool_timeout <= allowed.chat.tool_timeout
    assert settings.chat.tools <= allowed.chat.tools
    assert settings.chat.auto_compact <= allowed.chat.auto_compact
    assert settings.chat.compact_timeout <= allowed.chat.compact_timeout
    assert settings.context.agents_file <= allowed.context.agents_file
    assert settings.context.imports <= allowed.context.imports
    assert settings.tools.permissions == allowed.tools.permissions
    assert set(settings.tools.restrictions) >= set(allowed.tools.restrictions)
    assert all(decision != "allow" for _, decision in settings.tools.restrictions)
    assert set(settings.tools.disabled) >= set(allowed.tools.disabled)
    assert settings.tools.run_command <= allowed.tools.run_command
    _is_tamer(settings.kraken, allowed.kraken)
    assert (settings.actions.built_in, settings.actions.custom) == (
        allowed.actions.built_in,
        allowed.actions.custom,
    )
    assert settings.actions.ai_comments <= allowed.actions.ai_comments
    if allowed.context.max_tokens is not None:
        assert settings.context.max_tokens is not None
        assert settings.context.max_tokens <= allowed.context.max_tokens
    if settings.model != allowed.model:
        assert is_local(settings.providers[settings.model.provider], settings.model.name)


def _is_tamer(kraken: KrakenSettings, allowed: KrakenSettings) -> None:
    """All that is not compared here is the same."""
    for limit, most in zip(astuple(kraken.limits), astuple(allowed.limits), strict=True):
        assert most is None or (limit is not None and limit <= most)
    assert kraken.enabled <= allowed.enabled
    assert kraken.escalation.enabled <= allowed.escalation.enabled
    assert kraken.escalation.triggers <= allowed.escalation.triggers
    ours, theirs = kraken.policies, allowed.policies
    assert ours.confirm_before_release >= theirs.confirm_before_release
    assert ours.show_cost_warnings >= theirs.show_cost_warnings
    assert ours.mask_secrets >= theirs.mask_secrets
    assert ours.log_kraken_usage == theirs.log_kraken_usage
    assert ours.cost_warning_threshold <= theirs.cost_warning_threshold
    if theirs.allowed_providers is not None:
        assert ours.allowed_providers is not None
        assert ours.allowed_providers <= theirs.allowed_providers
    narrowable = {"enabled": True, "limits": Limits(), "escalation": EscalationSettings(), "policies": PolicySettings()}
    assert replace(kraken, **narrowable) == replace(allowed, **narrowable)
