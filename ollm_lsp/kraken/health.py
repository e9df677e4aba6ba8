"""Health: what the last look at each external provider found, so that nobody who wants to chat waits for one."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from ollm_lsp.core.kraken import KrakenProvider
    from ollm_lsp.settings.kraken_settings import KrakenEntry

LASTS: Final = 300.0
"""Seconds for which a finding is good enough to choose by."""
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Page:
    entry: KrakenEntry
    began: float
    looking: asyncio.Task[KrakenProvider]


class HealthBook:
    """Findings by provider. Whoever asks while a look is under way waits for that one."""

    def __init__(
        self, check: Callable[[KrakenEntry], Awaitable[KrakenProvider]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._check = check
        self._clock = clock
        self._pages: dict[str, _Page] = {}

    async def look(self, entries: Mapping[str, KrakenEntry], *, lasts: float = LASTS) -> tuple[KrakenProvider, ...]:
        """How all of these are. A finding that is older than it lasts, or of other settings, is made anew."""
        pages = [self._page(name, entry, lasts) for name, entry in entries.items()]
        # Who stops waiting stops no look: others may wait for the same one.
        return tuple([await asyncio.shield(page.looking) for page in pages])

    async def close(self) -> None:
        """End every look, and wait until that is done."""
        looking = [page.looking for page in self._pages.values()]
        for task in looking:
            task.cancel()
        await asyncio.gather(*looking, return_exceptions=True)

    def _page(self, name: str, entry: KrakenEntry, lasts: float) -> _Page:
        page = self._pages.get(name)
        is_old = page is not None and page.looking.done() and self._clock() - page.began > lasts
        if page is None or page.entry != entry or is_old:
            page = _Page(entry, self._clock(), asyncio.ensure_future(self._look(entry)))
            self._pages[name] = page
        return page

    async def _look(self, entry: KrakenEntry) -> KrakenProvider:
        found = await self._check(entry)
        if not found.is_available:
            _log.warning("The external provider %s cannot be used: %s", found.name, found.problem)
        return found
