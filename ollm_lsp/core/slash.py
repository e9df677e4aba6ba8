"""Slash commands: the orders that a message in any chat may begin with."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum

from ollm_lsp.core.errors import Unsupported


class Slash(Enum):
    """Every order."""

    HELP = "help"
    MODEL = "model"
    CONTEXT = "context"
    COMPACT = "compact"
    COST = "cost"
    EXPLAIN = "explain"
    FIX = "fix"
    TESTS = "tests"
    KRAKEN = "kraken"


@dataclass(frozen=True, slots=True)
class SlashHelp:
    """What people are told of an order."""

    argument: str
    does: str


HELP: dict[Slash, SlashHelp] = {
    Slash.HELP: SlashHelp("", "lists these commands"),
    Slash.MODEL: SlashHelp("[provider:name]", "tells the model of this conversation, or changes it"),
    Slash.CONTEXT: SlashHelp("[question]", "shows what would be sent along with a question"),
    Slash.COMPACT: SlashHelp("", "summarises the conversation so far"),
    Slash.COST: SlashHelp("", "tells the tokens and the cost of this conversation"),
    Slash.EXPLAIN: SlashHelp("[what]", "explains the selection, or the document"),
    Slash.FIX: SlashHelp("[what]", "proposes a fix for the selection and its diagnostics"),
    Slash.TESTS: SlashHelp("[what]", "writes tests for the selection, or the document"),
    Slash.KRAKEN: SlashHelp("[prompt | status | config | history]", "releases the Kraken: asks an external provider"),
}
ALIASES = {"k": Slash.KRAKEN, "release": Slash.KRAKEN}
NAMES: dict[str, Slash] = {**{order.value: order for order in Slash}, **ALIASES}
"""Every order by what people may write, aliases last."""


def slash_of(name: str) -> Slash:
    """The order of that name; raises `Unsupported` with what may have been meant."""
    order = NAMES.get(name.lower())
    if order is None:
        near = get_close_matches(name.lower(), NAMES, n=1)
        meant = f"Did you mean /{near[0]}? " if near else ""
        raise Unsupported(f"There is no command /{name}.", remedy=f"{meant}/help lists them all.")
    return order


def slash_help() -> str:
    """All orders, as a Markdown list."""
    return "\n".join(
        f"- `{' '.join(filter(None, (f'/{order.value}', told.argument)))}` {told.does}{_aliases(order)}"
        for order, told in HELP.items()
    )


def _aliases(order: Slash) -> str:
    names = [f"`/{name}`" for name, meant in ALIASES.items() if meant is order]
    return f" (also {', '.join(names)})" if names else ""
