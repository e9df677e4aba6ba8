"""The Kraken at a glance: who could be released, what that may still cost, and what it has cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ollm_lsp.core.kraken import KrakenBudget, KrakenKind, KrakenProvider, KrakenState, KrakenStatus
from ollm_lsp.kraken.health import LASTS
from ollm_lsp.settings.kraken_settings import CliAgentSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.budget import Account, Limits
    from ollm_lsp.core.ledger import LedgerLine
    from ollm_lsp.core.ports import Ledger
    from ollm_lsp.kraken.health import HealthBook
    from ollm_lsp.settings.kraken_settings import KrakenEntry, KrakenSettings

RECENT: Final = 10.0
"""Seconds for which a finding is good enough for who asks how it is now."""
SOME: Final = 100


@dataclass(frozen=True, slots=True)
class Overview:
    """What the settings, the last looks and the ledger tell together."""

    settings: KrakenSettings
    health: HealthBook
    ledger: Ledger

    async def status(self) -> KrakenStatus:
        settings = self.settings
        providers = await self._look(RECENT)
        budget = _budget(await self.ledger.account(), settings.limits)
        usable = [one for one in providers if one.is_available and settings.policies.allows(one.name)]
        return KrakenStatus(_state(usable, budget), providers, budget)

    async def providers(self) -> Sequence[KrakenProvider]:
        return await self._look(LASTS)

    async def history(self, limit: int | None = None) -> Sequence[LedgerLine]:
        return await self.ledger.history(SOME if limit is None else limit)

    async def _look(self, lasts: float) -> tuple[KrakenProvider, ...]:
        entries = self.settings.entries
        if not self.settings.enabled:
            return tuple(map(_switched_off, entries.values()))
        return await self.health.look(entries, lasts=lasts)


def _state(usable: Sequence[KrakenProvider], budget: KrakenBudget) -> KrakenState:
    if not usable:
        return KrakenState.NONE
    return KrakenState.OVER_BUDGET if budget.remaining == 0 else KrakenState.READY


def _budget(account: Account, limits: Limits) -> KrakenBudget:
    tightest = account.tightest(limits)
    if tightest is None:
        return KrakenBudget(None, account.session.spent, account.session.reserved, account.remaining(limits))
    _, limit, balance = tightest
    return KrakenBudget(limit, balance.spent, balance.reserved, account.remaining(limits))


def _switched_off(entry: KrakenEntry) -> KrakenProvider:
    kind = KrakenKind.CLI if isinstance(entry, CliAgentSettings) else KrakenKind.API
    return KrakenProvider(
        entry.name,
        kind,
        entry.model or "default",
        is_available=False,
        problem="External providers are switched off.",
        remedy="Write `enabled: true` under `kraken` in your settings file.",
    )
