"""Which order is carried out by whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_lsp.core.slash import Slash, slash_help
from ollm_lsp.lsp.orders import context, cost, kraken, model

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ollm_lsp.lsp.orders.errand import Errand

MENTIONS = "`#buffer`, `#selection`, `#diagnostics` and `#file:path` in a message point at what you mean."


async def tell_help(_errand: Errand) -> str:
    """All orders."""
    return f"{slash_help()}\n\n{MENTIONS}"


ERRANDS: dict[Slash, Callable[[Errand], Awaitable[str]]] = {
    Slash.HELP: tell_help,
    Slash.MODEL: model.tell_or_choose,
    Slash.CONTEXT: context.tell_context,
    Slash.COST: cost.tell_cost,
    Slash.KRAKEN: kraken.tell_kraken,
}
"""All others are questions for a model."""
