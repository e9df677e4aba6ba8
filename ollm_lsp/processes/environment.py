"""The environment of programs that others start: a fixed list of variables, and nothing else of ours."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PASSED_ON = (
    *("HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP"),
    *("XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"),
    *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA"),
    *("PROGRAMDATA", "PROGRAMFILES", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE"),
)
"""Variables that a program gets from us, and every `LC_…`. Loaders, interpreters, pagers, proxies and keys are not
among them."""


def fresh(source: Mapping[str, str], path: Iterable[str], also: Iterable[str] = ()) -> dict[str, str]:
    """A new environment: some variables of the source, those that are named `also`, and a PATH of these folders."""
    names = {*PASSED_ON, *also}
    kept = {name: value for name, value in source.items() if name.upper() in names or name.startswith("LC_")}
    return {**kept, "PATH": os.pathsep.join(path), "TERM": "dumb", "NO_COLOR": "1"}
