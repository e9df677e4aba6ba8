"""The chat view by itself, in a browser: editors/vscode/test/view."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from tests.vscode.figures import keep

pytestmark = [pytest.mark.prop("lsp-5"), pytest.mark.timeout(900)]

EXTENSION = Path(__file__).parents[2] / "editors" / "vscode"


async def test_the_chat_view_is_quick_safe_and_open_to_everybody(browser: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        "npm",
        *("run", "--silent", "test:view"),
        cwd=EXTENSION,
        env={**os.environ, "CHROMIUM": str(browser)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    assert process.returncode == 0, output.decode()
    keep(output.decode())
