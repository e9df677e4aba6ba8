"""/cost: what a conversation has taken so far, on all of its branches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_lsp.core.record import total
from ollm_lsp.core.shown import inert
from ollm_lsp.core.usage import Usage
from ollm_lsp.lsp.markdown import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.conversation import Response
    from ollm_lsp.core.usage import Cost
    from ollm_lsp.lsp.orders.errand import Errand

UNKNOWN = "Not every price is known, so it may have cost more."


async def tell_cost(errand: Errand) -> str:
    """Tokens and money by model, and together."""
    responses = errand.conversation.responses()
    if not responses:
        return "Nothing was asked in this conversation yet."
    by_model: dict[str, list[Response]] = {}
    for response in responses:
        by_model.setdefault(str(response.model), []).append(response)
    rows = [_row(inert(model), found) for model, found in by_model.items()]
    if len(by_model) > 1:
        rows.append(_row("together", responses))
    is_known = all(response.cost.known for response in responses)
    head = ("model", "answers", "tokens read", "tokens written", "cost")
    return table(head, rows) + ("" if is_known else f"\n\n{UNKNOWN}")


def _row(name: str, responses: Sequence[Response]) -> tuple[str, ...]:
    usage = sum((response.usage for response in responses), Usage())
    cost = total(response.cost for response in responses)
    return name, str(len(responses)), f"{usage.input_tokens:,}", f"{usage.output_tokens:,}", _money(cost)


def _money(cost: Cost) -> str:
    if not cost.micros:
        return "free" if cost.known else "unknown"
    return f"{'' if cost.known else 'at least '}{max(cost.micros, 100) / 1_000_000:.4f} {cost.currency}"
