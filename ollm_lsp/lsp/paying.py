"""A chat with a model elsewhere is paid: its requests are reserved, settled and written down, as in a release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ollm_lsp.core.ledger import CallKind
from ollm_lsp.core.tokens import DEFAULT_LIMIT
from ollm_lsp.settings.address import is_loopback, is_private
from ollm_lsp.settings.narrowing import is_local
from ollm_lsp.settings.resolved import AnthropicSettings, EmbeddedSettings, GoogleSettings

if TYPE_CHECKING:
    from ollm_lsp.core.model import ModelId
    from ollm_lsp.core.ports import Provider
    from ollm_lsp.lsp.session import Session
    from ollm_lsp.settings.resolved import ProviderSettings, Settings

LONGEST_ANSWER: Final = 8192
"""Tokens of an answer at most, where the settings do not say."""


def kind_of(settings: Settings, model: ModelId) -> CallKind | None:
    """Who is paid for a chat with a model: nobody for one on the user's machine or in their own network."""
    provider = settings.providers.get(model.provider)
    if provider is None or isinstance(provider, EmbeddedSettings) or is_local(provider, model.name):
        return None
    if not is_private(provider.base_url):
        return CallKind.API
    # What a local Ollama passes on to its maker is covered by the login there.
    return CallKind.PLAN if is_loopback(provider.base_url) else None


async def paid(session: Session, settings: Settings, provider: Provider, model: ModelId, conversation: str) -> Provider:
    """The provider of a chat as it may be asked: when it is paid, nothing goes out that no limit covers."""
    if (kind := kind_of(settings, model)) is None:
        return provider
    from ollm_lsp.kraken.paid_provider import PaidProvider, Terms  # noqa: PLC0415 (chats on this machine need none)

    window = (await provider.capabilities(model.name)).context_window or DEFAULT_LIMIT
    kraken = settings.kraken
    terms = Terms(
        kind,
        model.provider,
        kraken.limits,
        _longest(settings.providers[model.provider], window),
        kraken.prices,
        conversation,
        is_logged=kraken.policies.log_kraken_usage,
    )
    return PaidProvider(provider, await session.services.ledger(), terms)


def _longest(provider: ProviderSettings, window: int) -> int:
    own = provider.max_tokens if isinstance(provider, AnthropicSettings | GoogleSettings) else None
    return own or min(LONGEST_ANSWER, max(1, window // 2))
