"""Settings source: the files and the editor's settings of one server, read again when they change."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from ollm_lsp.settings.defaults import default_settings
from ollm_lsp.settings.layers import EDITOR, Layer, Resolution
from ollm_lsp.settings.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_FILE = Path(".ollm", "config.yaml")
_UNSETTLED_NS = 2_000_000_000
"""A file that changed so recently may change again without a new time stamp; some file systems count by 2 s."""


def user_file_path(environ: Mapping[str, str], home: Path) -> Path:
    """The user's settings file: the one that `OLLM_CONFIG` names, else `~/.ollm/config.yaml`.

    A relative name begins at the home directory, because many editors start the server inside the workspace.
    """
    named = environ.get("OLLM_CONFIG", "").strip()
    return home / (named.removeprefix("~/") or _FILE)


class SettingsSource:
    """Hot reload at use: `current` looks at every file and resolves again if one changed. Not thread-safe."""

    def __init__(self, user_file: Path, *, embedded_available: bool) -> None:
        self.user_file = user_file
        self._embedded_available = embedded_available
        self._user = _File(user_file, _with_tilde(user_file))
        self._folders: list[_File] = []
        self._editor = Layer(EDITOR)
        self._resolution: Resolution | None = None

    def set_editor(self, section: object) -> None:
        """Take the editor's section `ollm`, whatever it is, in place of the one before."""
        self._editor = Layer(EDITOR, section)
        self._resolution = None

    def set_folders(self, folders: Sequence[Path]) -> None:
        """Take the workspace's folders. Where they disagree on a value, the first one counts."""
        self._folders = []
        for folder in folders:
            name = f"{folder.name}/" if len(folders) > 1 else ""
            self._folders.append(_File(folder / _FILE, f"workspace {name}{_FILE.as_posix()}"))
        self._resolution = None

    def current(self) -> Resolution:
        """The settings of this moment."""
        files = [self._user, *(file for file in self._folders if not file.is_same(self._user))]
        changed = [file.refresh() for file in files]
        if self._resolution is None or any(changed):
            self._resolution = self._resolve(files)
        return self._resolution

    def _resolve(self, files: list[_File]) -> Resolution:
        unreadable = tuple(file.problem for file in files if file.problem)
        user, *folders = (file.layer for file in files)
        narrowing = [layer for layer in (self._editor, *reversed(folders)) if layer.raw not in (None, {})]
        if user.raw is None and not narrowing:
            # The usual first start. It shall not pay for the import of pydantic.
            defaults = default_settings(embedded_available=self._embedded_available)
            return Resolution(defaults, unreadable, self._user.problem)
        from ollm_lsp.settings.resolve import resolve  # noqa: PLC0415 - imports pydantic

        resolution = resolve(user, narrowing, embedded_available=self._embedded_available)
        return Resolution(resolution.settings, unreadable + resolution.problems, self._user.problem)


class _File:
    """What a settings file said when it was last read."""

    def __init__(self, path: Path, source: str) -> None:
        self.layer = Layer(source)
        self.problem: Problem | None = None
        self._path = path
        self._seen: tuple[int, int, int] | None = None
        self._written = 0
        """When the content that counts was written."""
        self._content: str | Problem | None = None

    def is_same(self, other: _File) -> bool:
        """Whether both are one file, as when the workspace is the home directory."""
        try:
            return self._path.samefile(other._path)
        except (OSError, ValueError):
            return False

    def refresh(self) -> bool:
        """Read the file again if it may have changed, and tell whether it did."""
        signature = self._signature()
        if signature is not None and signature == self._seen:
            return False
        written = self._changed()
        content = self._read()
        if content == "" and self._content and not self._is_left_empty():
            return False  # it is being written at this moment: nobody means the defaults, not even for a while
        self._written = written
        # What could not be read is tried again: a permission changes without a trace in the signature.
        self._seen = signature if isinstance(content, str) else None
        if content == self._content:
            return False
        self._content = content
        self.problem = content if isinstance(content, Problem) else None
        self.layer = Layer(self.layer.source, self._parse(content) if isinstance(content, str) else None)
        return True

    def _is_left_empty(self) -> bool:
        """Not as long as it is young, or has the time of what was in it: the text may go before the time is changed."""
        signature = self._signature()
        return signature is not None and signature[0] != self._written

    def _changed(self) -> int:
        try:
            return self._path.stat().st_mtime_ns
        except (OSError, ValueError):
            return 0

    def _signature(self) -> tuple[int, int, int] | None:
        try:
            status = self._path.stat()
        except (OSError, ValueError):
            return None
        if abs(time.time_ns() - status.st_mtime_ns) < _UNSETTLED_NS:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino

    def _read(self) -> str | Problem | None:
        try:
            self._path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError):
            pass  # Reading it says what is wrong.
        from ollm_lsp.settings import yaml_file  # noqa: PLC0415 - imports yaml

        try:
            return yaml_file.read(self._path)
        except yaml_file.Unreadable as error:
            return Problem(self.layer.source, "", error.message, error.remedy, error.line)

    def _parse(self, text: str) -> object:
        from ollm_lsp.settings import yaml_file  # noqa: PLC0415 - imports yaml

        try:
            return yaml_file.parse(text)
        except yaml_file.Unreadable as error:
            self.problem = Problem(self.layer.source, "", error.message, error.remedy, error.line)
            return None


def _with_tilde(path: Path) -> str:
    try:
        return f"~/{path.relative_to(Path.home()).as_posix()}"
    except (ValueError, RuntimeError):
        return str(path)
