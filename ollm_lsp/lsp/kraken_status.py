"""How the Kraken is, told to the client: with new settings, while it is released, and when money was spent."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from ollm_lsp.core.errors import StoreFailed
from ollm_lsp.core.kraken import KrakenState
from ollm_lsp.core.money import MICROS

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from ollm_lsp.core.kraken import KrakenStatus
    from ollm_lsp.lsp.session import Session


async def status_of(session: Session) -> KrakenStatus:
    """How it is now, with what this session is doing."""
    status = await (await session.services.kraken()).status()
    return replace(status, state=KrakenState.ACTIVE) if session.releases else status


async def tell_kraken(session: Session) -> None:
    """Tell the client. A ledger that cannot be read is told by whoever wants to spend."""
    try:
        status = await status_of(session)
    except StoreFailed:
        return
    limit = status.budget.limit
    session.tell_status(
        kraken=status.state.value,
        spent=status.budget.spent / MICROS,
        budget=None if limit is None else limit / MICROS,
    )


@asynccontextmanager
async def releasing(session: Session) -> AsyncGenerator[None]:
    """While it is released."""
    session.releases += 1
    session.tell_status(kraken=KrakenState.ACTIVE.value)
    try:
        yield
    finally:
        session.releases -= 1
        session.spawn(tell_kraken(session))
