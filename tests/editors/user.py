"""A user with nothing but a project, an editor and a model: everything that is written stays in one folder."""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class User:
    """The folders of one run. `ollm-lsp` on its path is the tap on the real server."""

    folder: Path
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    """More of the environment, such as a key that the settings refer to."""

    @classmethod
    def new(cls, folder: Path, settings: str, **variables: str) -> User:
        user = cls(folder, variables)
        for name in ("home", "bin", "tap", "project/.git"):
            (folder / name).mkdir(parents=True)
        (folder / "config.yaml").write_text(settings)
        user.install("ollm-lsp", "tests.editors.tap", str(user.tap))
        return user

    def install(self, name: str, module: str, *arguments: str) -> None:
        """Put a module of ours on the user's path as a program."""
        command = shlex.join([sys.executable, "-m", module, *arguments])
        start = self.folder / "bin" / name
        start.write_text(f"#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {command}\n")
        start.chmod(0o755)

    @property
    def project(self) -> Path:
        return self.folder / "project"

    @property
    def tap(self) -> Path:
        return self.folder / "tap"

    @property
    def config(self) -> Path:
        """Where programs look for their settings."""
        return self.folder / "config"

    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("TMPDIR",) if name in os.environ}
        return {
            **kept,
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "HOME": str(self.folder / "home"),
            "XDG_CONFIG_HOME": str(self.config),
            **{f"XDG_{kind}_HOME": str(self.folder / kind.lower()) for kind in ("CACHE", "DATA", "STATE")},
            "OLLM_CONFIG": str(self.folder / "config.yaml"),
            "OLLM_STATE_DIR": str(self.folder / "ollm"),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "SHELL": "/bin/sh",
            **self.variables,
        }
