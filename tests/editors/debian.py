"""Programs from Debian's packages, unpacked into a folder of ours: nothing is installed, and root is not needed.

A program comes with everything that it depends on, its own libc included, and is started by the loader of that libc.
So it runs beside the programs of the system, of whatever release these are, and its children are not affected.
"""

from __future__ import annotations

import fcntl
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FOLDER = Path(__file__).parents[2] / ".cache" / "editors"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
FETCH_TIME = 300
"""Seconds for one run of apt."""
_REPOSITORY = re.compile(r"'(\S+?)/dists/")


class Unavailable(Exception):
    """The program cannot be had on this machine; the text says why."""


def unpacked(package: str, suite: str, *others: str) -> Path:
    """The folder that the packages and all they depend on are unpacked in; by one process at a time, and once."""
    root = FOLDER / f"{package}-{suite}"
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not root.exists():
            _unpack((package, *others), suite, root)
    return root


def started_by_loader(root: Path, program: str, arguments: Sequence[str], environment: Mapping[str, str]) -> Path:
    """A script that starts a program of an unpacked package, with arguments and variables that it always gets."""
    loader = next((root / "usr" / "lib").glob("*/ld-linux*.so.*"))
    command = [str(loader), "--library-path", str(loader.parent), str(root / program), *arguments]
    script = root / "start" / Path(program).name
    lines = [f"export {name}={shlex.quote(value)}" for name, value in environment.items()]
    script.parent.mkdir(exist_ok=True)
    # Written beside it: a script that somebody else is about to start must not be open for writing.
    with NamedTemporaryFile("w", dir=script.parent, delete=False) as new:
        new.write("\n".join(["#!/bin/sh", *lines, f'exec {shlex.join(command)} "$@"', ""]))
    Path(new.name).chmod(0o755)
    return Path(new.name).replace(script)


def _unpack(packages: Sequence[str], suite: str, root: Path) -> None:
    missing = [tool for tool in ("apt-get", "dpkg-deb") if shutil.which(tool) is None]
    if missing:
        raise Unavailable(f"{' and '.join(missing)} not found, so Debian's packages cannot be fetched")
    if not KEYRING.exists():
        raise Unavailable(f"{KEYRING} is not there, so Debian's packages cannot be verified")
    work = root.with_name(f"{root.name}.part")
    shutil.rmtree(work, ignore_errors=True)
    apt, tree = work / "apt", work / "tree"
    for folder in ("etc", "state/lists/partial", "cache/archives/partial"):
        (apt / folder).mkdir(parents=True)
    tree.mkdir()
    # Nothing is installed as far as this apt knows, so that it fetches every dependency, libc included.
    (apt / "state" / "status").touch()
    (apt / "etc" / "sources.list").write_text(f"deb [signed-by={KEYRING}] {_mirror()} {suite} main\n")
    _apt(apt, "update")
    _apt(apt, "install", "--yes", "--download-only", *packages)
    for archive in (apt / "cache" / "archives").glob("*.deb"):
        _run("dpkg-deb", "--extract", str(archive), str(tree))
    tree.rename(root)
    shutil.rmtree(work)


def _mirror() -> str:
    """The address of Debian's packages that this machine itself uses."""
    addresses = _REPOSITORY.findall(_run("apt-get", "--print-uris", "update"))
    found = [address for address in addresses if "debian" in address and "security" not in address]
    if not found:
        raise Unavailable("apt has no source of Debian's packages on this machine")
    return found[0]


def _apt(folder: Path, *command: str) -> None:
    options = {
        "Dir::Etc": folder / "etc",
        "Dir::Etc::sourcelist": folder / "etc" / "sources.list",
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::Etc::preferencesparts": "/dev/null",
        "Dir::State": folder / "state",
        "Dir::State::status": folder / "state" / "status",
        "Dir::Cache": folder / "cache",
        "Dir::Log": folder,
        "APT::Install-Recommends": "false",
        "APT::Sandbox::User": "root",
        "APT::Update::Error-Mode": "any",
        "Acquire::Languages": "none",
        "Acquire::Retries": "2",
        "Debug::NoLocking": "1",
    }
    flags = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
    _run("apt-get", "-qq", *flags, *command)


def _run(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=FETCH_TIME)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{command[0]} took longer than {FETCH_TIME} seconds") from None
    if done.returncode:
        last = next(iter(done.stderr.strip().splitlines()[-1:]), f"status {done.returncode}")
        raise Unavailable(f"{command[0]}: {last}")
    return done.stdout
