"""/kraken, /k, /release: the external providers, as far as words in a chat reach them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_lsp.core.slash import Slash
from ollm_lsp.lsp.handlers import kraken
from ollm_lsp.lsp.protocol import HistoryParams
from ollm_lsp.lsp.standard import NoParams

if TYPE_CHECKING:
    from ollm_lsp.core.prompt import Prompt
    from ollm_lsp.lsp.orders.errand import Errand


def is_release(prompt: Prompt) -> bool:
    """Whether a message is for an external provider, and not about it."""
    return prompt.order is Slash.KRAKEN and prompt.text.lower() not in ("", "status", "history", "config")


async def tell_kraken(errand: Errand) -> str:
    """One word may be `status`, `config` or `history`; everything else is a release."""
    session = errand.session
    match errand.words.lower():
        case "" | "status":
            return kraken.status_shown(await kraken.status(session, NoParams()))[1]
        case "history":
            return kraken.history_shown(await kraken.history(session, HistoryParams()))[1]
        case "config":
            return kraken.config_shown(await kraken.config(session, NoParams()))[1]
        case _:
            raise AssertionError("a prompt is a release")
