"""A terminal for an editor: a private tmux server, whose screen can be read and whose keys can be pressed."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tests.editors.patience import until

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

COLUMNS, ROWS = 100, 28
# The last words of a program that crashes stay on the screen, and Escape is not held back.
SETTINGS = """\
set -g remain-on-exit on
set -s escape-time 0
set -g status off
"""


class Terminal:
    """One screen with one program in it."""

    def __init__(self, tmux: Path, folder: Path, environment: Mapping[str, str]) -> None:
        settings = folder / "tmux.conf"
        settings.write_text(SETTINGS)
        self._command = [str(tmux), "-u", "-S", str(folder / "socket"), "-f", str(settings)]
        self._environment = dict(environment)

    def start(self, command: Sequence[str], folder: Path) -> None:
        size = ["-x", str(COLUMNS), "-y", str(ROWS)]
        self._tmux("new-session", "-d", *size, "-c", str(folder), *command)

    def screen(self) -> str:
        """What is on the screen, without blanks at the ends of its lines."""
        return "\n".join(line.rstrip() for line in self._tmux("capture-pane", "-p").splitlines())

    def coloured(self) -> str:
        """The same with the escape sequences that colour it."""
        return self._tmux("capture-pane", "-p", "-e", "-N")

    def cursor(self) -> tuple[int, int]:
        """The column and the row of the cursor."""
        column, row = self._tmux("display-message", "-p", "#{cursor_x} #{cursor_y}").split()
        return int(column), int(row)

    def press(self, *keys: str) -> None:
        """Press keys by tmux's names for them."""
        self._tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", text)

    async def sees(self, text: str) -> None:
        await until(lambda: text in self.screen(), f"{text!r} on the screen", self.screen)

    async def ends(self) -> None:
        """Wait for the end of the program."""
        dead = "#{pane_dead} #{pane_dead_status}"
        await until(lambda: self._tmux("display-message", "-p", dead).startswith("1"), "its end", self.screen)

    def close(self) -> None:
        subprocess.run([*self._command, "kill-server"], capture_output=True, check=False)

    def _tmux(self, *command: str) -> str:
        done = subprocess.run(
            [*self._command, *command], capture_output=True, text=True, check=False, env=self._environment
        )
        assert not done.returncode, f"tmux {command[0]}: {done.stderr}"
        return done.stdout


@contextmanager
def terminal(tmux: Path, environment: Mapping[str, str]) -> Generator[Terminal]:
    """A terminal that is gone afterwards, and what runs in it as well."""
    # Not in the test's own folder: the path of a socket must be short.
    with TemporaryDirectory(prefix="tmux-") as folder:
        opened = Terminal(tmux, Path(folder), environment)
        try:
            yield opened
        finally:
            opened.close()
