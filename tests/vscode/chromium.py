"""A Chromium without a window: the machine's own, else Debian's, unpacked into a folder of ours."""

from __future__ import annotations

import platform
import shlex
import shutil
from functools import cache
from pathlib import Path

from tests.editors.debian import Unavailable, unpacked

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
FONTS = ("fonts-dejavu-core", "fonts-liberation")


@cache
def find() -> Path:
    """What starts it."""
    for name in NAMES:
        if path := shutil.which(name):
            return Path(path)
    return _of_debian()


def _of_debian() -> Path:
    """Of the machine's own release, so that it runs with the machine's own libc: Chromium starts itself anew."""
    release = platform.freedesktop_os_release()
    if release["ID"] != "debian":
        raise Unavailable("there is no Chromium, and this is no Debian that one could be fetched from")
    root = unpacked("chromium", release["VERSION_CODENAME"], *FONTS)
    # Some libraries, such as those of PulseAudio, have a folder of their own.
    places = ("usr/lib/*-linux-gnu", "lib/*-linux-gnu", "usr/lib/*-linux-gnu/pulseaudio")
    libraries = [folder for place in places for folder in root.glob(place)]
    for folder in libraries:
        for library in (*folder.glob("lib[cm].so.6"), *folder.glob("libpthread.so*"), *folder.glob("lib[dr][lt].so*")):
            library.unlink()
    fonts = root / "start" / "fonts.conf"
    fonts.parent.mkdir(exist_ok=True)
    fonts.write_text(
        f'<?xml version="1.0"?><fontconfig><dir>{root}/usr/share/fonts</dir>'
        f"<cachedir>{root}/start</cachedir>{_alias('monospace', 'DejaVu Sans Mono')}"
        f"{_alias('sans-serif', 'DejaVu Sans')}</fontconfig>"
    )
    script = fonts.with_name("chromium")
    paths = ":".join(map(str, libraries))
    script.write_text(
        f"#!/bin/sh\nexport LD_LIBRARY_PATH={shlex.quote(paths)} FONTCONFIG_FILE={shlex.quote(str(fonts))}\n"
        f'exec {shlex.quote(f"{root}/usr/lib/chromium/chromium")} "$@"\n'
    )
    script.chmod(0o755)
    return script


def _alias(family: str, font: str) -> str:
    """Without it every name that is not there means the same font."""
    return f"<alias><family>{family}</family><prefer><family>{font}</family></prefer></alias>"
