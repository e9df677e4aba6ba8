"""ollm.doctor: the check-up of `ollm-lsp doctor`, for people who are in their editor."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.shown import inert
from ollm_lsp.lsp import to_wire
from ollm_lsp.lsp.markdown import table

if TYPE_CHECKING:
    from ollm_lsp.lsp.protocol import CommandParams
    from ollm_lsp.lsp.session import Session

_MARKS = {"ok": "ok", "warning": "warning", "error": "**ERROR**"}


async def examine(session: Session, params: CommandParams) -> dict[str, Any]:
    """Look at everything; each finding that is not fine has a remedy."""
    found: list[dict[str, Any]] = []
    with session.work(params.work_done_token) as (work_done, _):
        work_done.begin("Check-up")
        try:
            async with aclosing(session.services.examine()) as findings:
                async for finding in findings:
                    work_done.report(finding.subject)
                    found.append(to_wire.finding(finding))
        finally:
            await work_done.end(f"{len(found)} findings")
    return {"findings": found}


def shown(result: dict[str, Any]) -> tuple[str, str]:
    """The findings as a table."""
    rows = [
        (_MARKS[one["level"]], one["subject"], inert(" ".join(filter(None, (one["message"], one["remedy"])))))
        for one in result["findings"]
    ]
    return "Check-up", table(("", "what", "finding"), rows)
