"""`ollm-lsp doctor`: what a check-up found, line by line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ollm_lsp.core.finding import Level
from ollm_lsp.terminal.command import Exit
from ollm_lsp.terminal.screen import Screen

if TYPE_CHECKING:
    from collections.abc import AsyncIterable

    from ollm_lsp.core.finding import Finding

_MARKS = {Level.OK: "ok", Level.WARNING: "warning", Level.ERROR: "ERROR"}


async def show(findings: AsyncIterable[Finding], *, as_json: bool) -> int:
    """Print findings as they come; the exit status is 1 when one is an error."""
    screen = Screen.of_process()
    seen: list[Finding] = []
    async for finding in findings:
        seen.append(finding)
        if not as_json:
            screen.line(f"{_MARKS[finding.level]:8} {finding.subject}: {finding.message}")
            if finding.remedy:
                screen.line(f"{'':8} {finding.remedy}")
    if as_json:
        entries = [
            {"subject": item.subject, "level": item.level.value, "message": item.message, "remedy": item.remedy}
            for item in seen
        ]
        screen.line(json.dumps({"findings": entries}, indent=2))
    return Exit.FAILED if any(finding.level is Level.ERROR for finding in seen) else Exit.FINE
