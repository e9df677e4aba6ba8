"""Ways to write a path that leads out, and a folder full of traps. The canary must never be seen."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CANARY = "canary-6f1d1c"
"""In the text of every file outside."""
UNLISTED = "unlisted-90ab3e"
"""The name of a file in every folder outside. No attack knows it, so only listing a folder can bring it."""


@dataclass(frozen=True)
class Trap:
    """A workspace `work` beside things that no tool may reach."""

    work: Path
    outside: Path
    sibling: Path


def set_trap(folder: Path) -> Trap:
    outside, work, sibling = folder / "outside", folder / "work", folder / "work-sibling"
    for top in (outside, outside / "deep", sibling, work, work / "a" / "b", work / "src"):
        top.mkdir(parents=True)
    for top in (outside, outside / "deep", sibling):
        for name in (UNLISTED, "plain.txt", "linked.txt"):
            (top / name).write_text(f"{CANARY} is not for you\n")
    (work / "src" / "main.py").write_text("print('inside')\n")
    (work / "a" / "b" / "c.txt").write_text("inside\n")
    links = {
        "link_file": outside / "plain.txt",
        "link_folder": outside,
        "link_relative": "../outside",
        "link_sibling": sibling,
        "link_root": "/",
        "link_proc": "/proc/self/root",
        "link_zero": "/dev/zero",
        "link_tty": "/dev/tty",
        "link_self": "link_self",
        "link_dangling": "nothing",
        "link_chain": "link_relative/deep",
        "link_inside": "src",
        "src/link_up": "../../outside/plain.txt",
        "a/link_out": outside,
        "a/b/link_out": "../../../outside",
    }
    for name, target in links.items():
        (work / name).symlink_to(target)
    os.link(outside / "linked.txt", work / "hard.txt")
    os.link(outside / "linked.txt", work / "src" / "hard.py")
    os.mkfifo(work / "fifo")
    listener = socket.socket(socket.AF_UNIX)
    here = os.open(work, os.O_RDONLY)
    listener.bind(f"/proc/self/fd/{here}/socket")  # the name of a socket must be short, wherever the tests run
    os.close(here)
    listener.close()
    return Trap(work, outside, sibling)


def paths(trap: Trap) -> list[str]:
    """Every family in many spellings; all of them lead out, or would if somebody believed them."""
    return list(dict.fromkeys([*_climbing(trap), *_absolute(trap), *_addresses(trap), *_links(trap), *_foreign(trap)]))


def _targets() -> list[str]:
    return ["outside", "outside/plain.txt", "work-sibling", "work-sibling/plain.txt", "outside/deep"]


def _climbing(trap: Trap) -> Iterator[str]:
    starts = ["", "./", "a/../", "a/b/../../", "src/", "nothing/", "//", "./././", "link_inside/", "a//b/"]
    ups = [
        "../",
        "..//",
        ".././",
        "..\\",
        "..\\/",
        ".. /",
        "..\t/",
        "..\0/",
        "\u2026/",
        "\uff0e\uff0e/",
        "\u2024\u2024/",
        "..\u2215",
        "..\uff0f",
        "%2e%2e/",
        "..%2f",
    ]
    for start, up, count in product(starts, ups, (1, 2, 3, 6)):
        yield f"{start}{up * count}outside/plain.txt"
    for target, ending in product(_targets(), ["", "/", "/.", "//", " ", ".", "/..", "\0", "\n", "::$DATA", ":stream"]):
        yield f"../{target}{ending}"
    for depth in (10, 50, 500):
        yield "../" * depth + str(trap.outside / "plain.txt").lstrip("/")


def _absolute(trap: Trap) -> Iterator[str]:
    work = str(trap.work)
    for path in (
        trap.outside,
        trap.outside / "plain.txt",
        trap.outside / "deep",
        trap.sibling,
        trap.sibling / "plain.txt",
    ):
        yield from (str(path), f"/{path}", f"//{path}", f"{path}/", f"/.{path}", f"/..{path}", f" {path}", f"{path}\0")
        yield from (f"{work}/..{path}", f"{work}/../../..{path}", f"{work}{path}/../../outside", f"~{path}")
        yield from (f"/proc/self/root{path}", f"/proc/self/cwd{path}", f"/proc/1/root{path}", f"/dev/fd/0{path}")
    yield from (f"{work}/../outside/plain.txt", f"{work}-sibling/plain.txt", f"{work}/../work-sibling/plain.txt")
    yield from (
        work.upper(),
        f"{work.upper()}/../outside",
        f"{work}.",
        f"{work} /../outside/plain.txt",
        f"{work}\\..\\outside",
    )
    yield from (
        "/",
        "//",
        "/etc/passwd",
        "/etc",
        "~",
        "~root",
        "$HOME",
        "/dev/zero",
        "/dev/stdin",
        "/proc/self/environ",
    )


def _addresses(trap: Trap) -> Iterator[str]:
    work, secret = str(trap.work), str(trap.outside / "plain.txt")
    schemes = [
        "file://",
        "FILE://",
        "file:",
        "file:/",
        "file:///",
        "file://localhost",
        "file://127.0.0.1",
        "file://evil/",
    ]
    ways = [secret, f"{work}/../outside/plain.txt", f"{work}-sibling/plain.txt", "/etc/passwd", "../outside/plain.txt"]
    dots = ["%2e%2e", "%2E%2E", ".%2e", "%2e.", "%252e%252e", "%c0%ae%c0%ae", "%uff0e%uff0e", "%00..", "..%00"]
    slashes = ["%2f", "%5c", "%252f", "%c0%af", "/"]
    for scheme, way in product(schemes, ways):
        yield f"{scheme}{way}"
        yield f"{scheme}{quote(way)}"
        yield f"{scheme}{quote(way, safe='')}"
    for dot, slash in product(dots, slashes):
        yield f"file://{work}/{dot}{slash}outside{slash}plain.txt"
        yield f"file://{work}/src{slash}{dot}{slash}{dot}{slash}outside{slash}plain.txt"
    for scheme in ("http", "https", "ftp", "vscode-remote", "smb", "data", "javascript"):
        yield f"{scheme}://localhost{secret}"
        yield f"{scheme}:{secret}"
    yield from (f"file://{secret}?x", f"file://{secret}#x", f"file://user@{secret}", f"file://:80{secret}")


def _links(trap: Trap) -> Iterator[str]:
    to_folders = ["link_folder", "link_relative", "link_sibling", "link_chain", "a/link_out", "a/b/link_out"]
    ends = [
        "",
        "/",
        "/.",
        "/plain.txt",
        "/plain.txt",
        "/deep/plain.txt",
        "/deep/../plain.txt",
        "/../outside/plain.txt",
    ]
    for link, end, form in product(
        to_folders, ends, ("{}", "./{}", "src/../{}", f"{trap.work}/{{}}", f"file://{trap.work}/{{}}")
    ):
        yield form.format(f"{link}{end}")
    root = str(trap.outside)
    yield from (f"{link}{root}/plain.txt" for link in ("link_root", "link_proc"))
    yield from (f"{link}{root}" for link in ("link_root", "link_proc"))
    for name in ("link_file", "src/link_up", "hard.txt", "src/hard.py", "link_self", "link_dangling", "fifo", "socket"):
        yield from (name, f"./{name}", f"{name}/", f"{trap.work}/{name}", f"file://{trap.work}/{name}", f"a/../{name}")
    yield from ("link_zero", "link_tty", "link_root/dev/zero", "link_root/etc/passwd", "link_proc/etc/passwd")


def _foreign(trap: Trap) -> Iterator[str]:
    secret = str(trap.outside / "plain.txt")
    windows = secret.replace("/", "\\")
    for drive in (
        "C:",
        "c:",
        "Z:",
        "C:/..",
        "\\\\?\\C:",
        "\\\\.\\C:",
        "\\\\localhost\\c$",
        "//localhost/c$",
        "\\\\?\\UNC\\host",
    ):
        yield from (f"{drive}{windows}", f"{drive}{secret}", f"{drive}\\..\\outside")
    for device in ("CON", "nul", "COM1", "lpt9.txt", "AUX.c", "\\\\.\\pipe\\x", "CONIN$", "PRN ", "src/CON"):
        yield f"../outside/{device}"
    for control in ("\x00", "\x01", "\x1b[2J", "\x7f", "\x85", "\u2028", "\ud800", "\r\n", "\t"):
        yield from (
            f"../outside/plain.txt{control}",
            f"{control}../outside/plain.txt",
            f"link_folder{control}/plain.txt",
        )
    yield from ("x" * 300 + "/../../outside/plain.txt", "a/" * 3000 + "../" * 3001 + "outside/plain.txt", "", " ", "\t")
