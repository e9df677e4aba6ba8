"""The user's text editor, for a text that is longer than a line."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

_USUAL = "notepad" if os.name == "nt" else "vi"


def edited(text: str, name: str) -> str | None:
    """What the user makes of a text in their editor ($VISUAL, else $EDITOR); nothing when the editor fails."""
    wanted = os.environ.get("VISUAL") or os.environ.get("EDITOR") or _USUAL
    with tempfile.TemporaryDirectory(prefix="ollm-") as folder:  # for this user alone
        file = Path(folder, name)
        file.write_text(text, encoding="utf-8")
        try:
            command = [*shlex.split(wanted, posix=os.name != "nt"), str(file)]
            status = subprocess.run(command, check=False).returncode
            return file.read_text(encoding="utf-8") if status == 0 else None
        except (OSError, ValueError):
            return None
