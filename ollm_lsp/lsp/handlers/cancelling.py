"""ollm.cancel: for editors whose progress has no cancel button."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ollm_lsp.lsp.protocol import CancelWorkParams
    from ollm_lsp.lsp.session import Session


async def cancel(session: Session, params: CancelWorkParams) -> dict[str, int]:
    """Stop what runs: all of it, or what has that token or belongs to that conversation."""
    return {"stopped": session.stop(params.token, params.conversation_id)}


def shown(result: dict[str, int]) -> tuple[str, str]:
    """How much was stopped."""
    match result["stopped"]:
        case 0:
            return "Cancel", "Nothing was running."
        case 1:
            return "Cancel", "Stopped."
        case count:
            return "Cancel", f"Stopped {count} at once."
