"""ollm/kraken/status and history, and the commands that tell of the Kraken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ollm_lsp.core.shown import inert
from ollm_lsp.lsp import to_wire, uris
from ollm_lsp.lsp.kraken_status import status_of
from ollm_lsp.lsp.markdown import table
from ollm_lsp.lsp.show import show_document

if TYPE_CHECKING:
    from ollm_lsp.lsp.protocol import HistoryParams
    from ollm_lsp.lsp.session import Session
    from ollm_lsp.lsp.standard import NoParams

NONE = "No external provider is set up: nothing leaves this machine for one, and nothing can be spent."
FIRST_STEPS = (
    "Set one up under `kraken` in your settings file, which `/kraken config` or the command ollm.kraken.config opens."
)


async def status(session: Session, _params: NoParams) -> dict[str, Any]:
    """What external providers there are, and what they may still cost; a file that cannot be read tells of none."""
    await session.usable_settings()
    return to_wire.kraken_status(await status_of(session))


async def history(session: Session, params: HistoryParams) -> dict[str, Any]:
    """What the Kraken was released for, the newest first."""
    kraken = await session.services.kraken()
    return {"releases": [to_wire.ledger_line(line) for line in await kraken.history(params.limit)]}


async def config(session: Session, _params: NoParams) -> dict[str, str]:
    """Open the user's settings file; where there is none, one that says nothing yet is made."""
    uri = await session.services.settings_file()
    is_shown = await show_document(session, uri, line=0)
    result = {"uri": uri}
    if not is_shown and not session.client.is_ours:
        session.rpc.notify("window/showMessage", {"type": 3, "message": f"ollm: {config_shown(result)[1]}"})
    return result


def status_shown(result: dict[str, Any]) -> tuple[str, str]:
    """For people: each provider with what keeps it from being used, and the money."""
    title = "The Kraken"
    if not result["providers"]:
        return title, f"{NONE} {FIRST_STEPS}"
    rows = [
        (one["name"], one["type"], inert(one["model"]), "yes" if one["available"] else "no", _reason(one))
        for one in result["providers"]
    ]
    budget = result["budget"]
    spent, currency = f"{budget['spent']:.4f}", budget["currency"]
    limit = "" if budget["limit"] is None else f" of {budget['limit']:.2f}"
    providers = table(("provider", "kind", "model", "available", "what to do"), rows)
    return title, f"State: {result['state']}\n\n{providers}\n\nSpent in this session: {spent}{limit} {currency}"


def history_shown(result: dict[str, Any]) -> tuple[str, str]:
    """For people: one line for each release."""
    title = "Releases of the Kraken"
    if not result["releases"]:
        return title, "The Kraken was never released."
    rows = [
        (
            row["timestamp"],
            row["provider"],
            inert(row["model"]),
            f"{row['usage']['inputTokens']:,} + {row['usage']['outputTokens']:,}",
            f"{row['cost']['amount']:.4f} {row['cost']['currency']}" if row["cost"]["known"] else "unknown",
            "answered" if row["success"] else "failed" if row["settled"] else "not settled",
        )
        for row in result["releases"]
    ]
    return title, table(("when", "provider", "model", "tokens read + written", "cost", "outcome"), rows)


def config_shown(result: dict[str, str]) -> tuple[str, str]:
    """For people: where the file is."""
    return "Settings", f"Your settings file is {uris.display_path(result['uri'])}"


def _reason(provider: dict[str, Any]) -> str:
    return inert(" ".join(filter(None, (provider.get("error"), provider.get("remedy")))))
