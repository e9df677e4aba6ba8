"""The editors that are tested, and the terminal that they run in: where each of them is, or why it is not there.

What the machine has is used if it is new enough; everything else comes from Debian's packages.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tests.editors.debian import Unavailable, started_by_loader, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Program:
    """A program that runs on this machine."""

    title: str
    path: Path
    version: str


@dataclass(frozen=True)
class _Wanted:
    title: str
    command: str
    flag: str
    """How it is asked for its version."""
    oldest: tuple[int, ...]
    package: str
    suite: str
    start: Callable[[Path], Path]
    """From the unpacked package to what starts it."""
    newest: tuple[int, ...] = (sys.maxsize,)
    """A version of the machine that is newer is something else."""


def _helix(root: Path) -> Path:
    return started_by_loader(root, "usr/bin/hx", [], {"HELIX_RUNTIME": f"{root}/usr/lib/hx/runtime"})


def _neovim(root: Path) -> Path:
    """Neovim looks for its parsers where they are installed; here they are somewhere else."""
    arguments = ["--cmd", f"set runtimepath+={root}/usr/lib/nvim"]
    return started_by_loader(root, "usr/bin/nvim", arguments, {"VIMRUNTIME": f"{root}/usr/share/nvim/runtime"})


def _tmux(root: Path) -> Path:
    return started_by_loader(root, "usr/bin/tmux", [], {})


def _emacs(root: Path) -> Path:
    """Emacs knows the places of its files from when it was built; here they are somewhere else."""
    (image,) = root.glob("usr/libexec/emacs/*/*/emacs-*.pdmp")
    (share,) = root.glob("usr/share/emacs/[0-9]*")
    environment = {
        "EMACSLOADPATH": f"{share}/lisp",
        "EMACSDATA": f"{share}/etc",
        "EMACSDOC": f"{share}/etc",
        "EMACSPATH": str(image.parent),
    }
    return started_by_loader(root, "usr/bin/emacs-nox", [f"--dump-file={image}"], environment)


_WANTED = {
    "tmux": _Wanted("tmux", "tmux", "-V", (3, 2), "tmux", "trixie", _tmux),
    "helix": _Wanted("Helix", "hx", "--version", (25, 7), "hx", "forky", _helix),
    "emacs": _Wanted("Emacs", "emacs", "--version", (30, 1), "emacs-nox", "trixie", _emacs),
    "neovim": _Wanted("Neovim", "nvim", "--version", (0, 12), "neovim", "forky", _neovim),
    "neovim-0.10": _Wanted("Neovim 0.10", "nvim", "--version", (0, 10), "neovim", "trixie", _neovim, newest=(0, 10)),
}


@cache
def find(name: str) -> Program | Unavailable:
    """A program by the name of its editor, fetched on first use; or why it cannot be had."""
    wanted = _WANTED[name]
    try:
        return _of_machine(wanted) or _of_debian(wanted)
    except Unavailable as reason:
        return reason


def title(name: str) -> str:
    return _WANTED[name].title


def _of_machine(wanted: _Wanted) -> Program | None:
    path = shutil.which(wanted.command)
    if path is None:
        return None
    version = _version(Path(path), wanted.flag)
    number = tuple(map(int, re.findall(r"\d+", version)[:2]))
    return Program(wanted.title, Path(path), version) if wanted.oldest <= number <= wanted.newest else None


def _of_debian(wanted: _Wanted) -> Program:
    path = wanted.start(unpacked(wanted.package, wanted.suite))
    return Program(wanted.title, path, _version(path, wanted.flag))


def _version(path: Path, flag: str) -> str:
    done = subprocess.run([path, flag], capture_output=True, text=True, check=False)
    found = re.search(r"\d+(\.\d+)+\w*", done.stdout)
    if done.returncode or found is None:
        raise Unavailable(f"{path.name} does not run here: {(done.stderr or done.stdout).strip()[-200:]}")
    return found[0]
