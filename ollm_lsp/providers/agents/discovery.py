"""Where the program of a CLI agent is, on every platform, and never in the workspace."""

from __future__ import annotations

import ntpath
import posixpath
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from ollm_lsp.providers.agents.description import Platform

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from types import ModuleType

    from ollm_lsp.providers.agents.description import Description

PLACES: dict[Platform, tuple[str, ...]] = {
    Platform.LINUX: (
        *("{HOME}/.npm-global/bin", "{HOME}/.nvm/versions/node/*/bin", "{HOME}/.volta/bin", "{HOME}/.local/bin"),
        *("{HOME}/.bun/bin", "/usr/local/bin", "/usr/bin", "/home/linuxbrew/.linuxbrew/bin"),
    ),
    Platform.MACOS: (
        *("{HOME}/.npm-global/bin", "{HOME}/.nvm/versions/node/*/bin", "{HOME}/.volta/bin", "{HOME}/.local/bin"),
        *("{HOME}/.bun/bin", "/opt/homebrew/bin", "/usr/local/bin", "/opt/local/bin"),
    ),
    Platform.WINDOWS: (
        *("{APPDATA}\\npm", "{USERPROFILE}\\.local\\bin", "{USERPROFILE}\\.volta\\bin", "{USERPROFILE}\\.bun\\bin"),
        "{PROGRAMFILES}\\nodejs",
    ),
}
"""Where npm, other installers of Node programs and the package collections put programs. `*` is any name."""
ENDINGS = {Platform.LINUX: ("",), Platform.MACOS: ("",), Platform.WINDOWS: (".exe", ".cmd")}
_VARIABLE = re.compile(r"\{(\w+)\}")
_UNSAFE = re.compile(r'[%!^&|<>"\r\n]')
"""What a batch file might take for something else than a path."""


class Files(Protocol):
    """What discovery asks the file system."""

    def is_program(self, path: str) -> bool: ...

    def real(self, path: str) -> str:
        """The path with all links followed."""
        ...

    def names(self, folder: str) -> Iterable[str]:
        """What is in a folder; nothing when it cannot be read."""
        ...


@dataclass(frozen=True, slots=True)
class System:
    """A machine as far as discovery sees it, so that every platform can be tried on every other."""

    platform: Platform
    environment: Mapping[str, str] = field(hash=False)
    files: Files = field(hash=False)

    @property
    def paths(self) -> ModuleType:
        return ntpath if self.platform is Platform.WINDOWS else posixpath

    def variable(self, name: str) -> str:
        """A variable of the environment; Windows does not care for its case."""
        if self.platform is not Platform.WINDOWS:
            return self.environment.get(name, "")
        return next((value for key, value in self.environment.items() if key.upper() == name), "")


@dataclass(frozen=True, slots=True)
class Program:
    """A program that may be started, by its absolute path, and the folders of the PATH that it gets."""

    path: str
    path_folders: tuple[str, ...]


def discover(
    agent: Description, system: System, workspace: Sequence[str], configured: str | None = None
) -> Program | None:
    """The program: the one of the user's own settings, else the first on the PATH, else at a usual place."""
    search = list(_outside(_path(system), system, workspace))
    if configured is not None:
        candidates: Iterable[str] = [configured]
    else:
        folders = [*search, *_outside(_usual(agent, system), system, workspace)]
        candidates = (system.paths.join(folder, agent.command + end) for folder in folders for end in _ends(system))
    for path in candidates:
        if _is_usable(path, system, workspace):
            # A script of Node finds the node beside it, also when the editor was started with a bare PATH.
            return Program(path, tuple(dict.fromkeys((system.paths.dirname(path), *search))))
    return None


def is_batch(path: str) -> bool:
    """Whether Windows gives the arguments of this program to a shell."""
    return path.lower().endswith((".cmd", ".bat"))


def is_safe_for_batch(argument: str) -> bool:
    """Whether a shell takes an argument for nothing but itself."""
    return not _UNSAFE.search(argument)


def _ends(system: System) -> tuple[str, ...]:
    return ENDINGS[system.platform]


def _path(system: System) -> list[str]:
    return system.variable("PATH").split(";" if system.platform is Platform.WINDOWS else ":")


def _usual(agent: Description, system: System) -> Iterator[str]:
    for place in (*agent.places.get(system.platform, ()), *PLACES[system.platform]):
        names = _VARIABLE.findall(place)
        if all(map(system.variable, names)):
            yield from _matching(_VARIABLE.sub(lambda name: system.variable(name[1]), place), system)


def _matching(place: str, system: System) -> Iterator[str]:
    before, star, after = place.partition("*")
    if not star:
        yield place
        return
    # The newest version first, as far as names tell.
    for name in sorted(system.files.names(before.rstrip("/\\")), key=_numbers, reverse=True):
        yield before + name + after


def _numbers(name: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", name)]


def _outside(folders: Iterable[str], system: System, workspace: Sequence[str]) -> Iterator[str]:
    for folder in dict.fromkeys(folders):
        if _is_absolute(folder, system) and not _is_inside(folder, system, workspace):
            yield folder


def _is_usable(path: str, system: System, workspace: Sequence[str]) -> bool:
    if not _is_absolute(path, system) or "\0" in path or _is_inside(path, system, workspace):
        return False
    return system.files.is_program(path)


def _is_absolute(path: str, system: System) -> bool:
    # On Windows a path without a drive depends on where it is read.
    is_whole = system.platform is not Platform.WINDOWS or bool(system.paths.splitdrive(path)[0])
    return is_whole and system.paths.isabs(path)


def _is_inside(path: str, system: System, workspace: Sequence[str]) -> bool:
    """Whether a path is in the workspace, as it is written or when its links are followed."""
    spellings = {_spelt(path, system), _spelt(system.files.real(path), system)}
    tops = {_spelt(top, system) for folder in workspace for top in (folder, system.files.real(folder))}
    return any(
        f"{one}{system.paths.sep}".startswith(top.rstrip(system.paths.sep) + system.paths.sep)
        for one in spellings
        for top in tops
    )


def _spelt(path: str, system: System) -> str:
    """One spelling for all of a path; that of macOS does not care for case either."""
    spelling: str = system.paths.normcase(system.paths.normpath(path))
    return spelling.casefold() if system.platform is Platform.MACOS else spelling
