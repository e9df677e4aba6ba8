"""Check the types of the Neovim plugin against Neovim's own ones: `python -m tests.editors.lua_types CHECKER`."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.editors import programs
from tests.editors.debian import Unavailable
from tests.editors.user import ROOT

PLUGIN = ROOT / "editors" / "neovim"


def main(checker: str) -> int:
    found = programs.find("neovim")
    if isinstance(found, Unavailable):
        sys.stdout.write(f"NOT CHECKED: the types of the Lua files, for Neovim is not there: {found}\n")
        return 0
    ask = [found.path, "--headless", "--clean", "-c", "lua io.stdout:write(vim.env.VIMRUNTIME)", "-c", "qall"]
    runtime = subprocess.run(ask, capture_output=True, text=True, check=True).stdout
    command = [checker, "--warnings-as-errors", "--severity", "warn", str(PLUGIN)]
    environment = {**os.environ, "VIMRUNTIME": runtime}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        sys.stdout.write(f"{done.stdout}{done.stderr}\n")
    else:
        sys.stdout.write(f"The types of the Lua files fit, with those of Neovim {found.version}\n")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
