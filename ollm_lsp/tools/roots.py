"""Roots: the folders of the workspace, and the places below them. There is no other path code for files of the user.

A `Place` is made by rules only (`written_path`); that it still is below its root when it is opened is what `walk` sees
to. The folders themselves are what the user opened, so links on the way to them are the user's own.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING

from ollm_lsp.core.copyable import copyable
from ollm_lsp.core.errors import OutsideWorkspace
from ollm_lsp.tools import written_path
from ollm_lsp.tools.spellings import folded_name
from ollm_lsp.tools.written_path import refused

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Place:
    """A file or folder, existing or not, by the names below one of the workspace's folders."""

    folder: Path
    names: tuple[str, ...]
    label: str = ""
    """What tells the folder from others, where there are several."""

    @property
    def path(self) -> Path:
        return self.folder.joinpath(*self.names)

    @property
    def uri(self) -> str:
        return self.path.as_uri()

    @property
    def written(self) -> str:
        """What leads here when it is given to `Roots.place`."""
        names = (self.label, *self.names) if self.label else self.names
        looks_like_something_else = bool(names) and (":" in names[0] or not names[0].strip())
        return "/".join((".", *names) if looks_like_something_else else names) or "."

    @property
    def shown(self) -> str:
        """The same for people and models: what could disturb a display is spelt out."""
        return copyable(self.written)

    @property
    def parent(self) -> Place:
        return Place(self.folder, self.names[:-1], self.label)

    def below(self, *names: str) -> Place:
        return Place(self.folder, (*self.names, *names), self.label)

    def resembles(self, other: Place) -> bool:
        """Whether some file system would take both for the same."""
        if self.names and other.names and folded_name(self.names[-1]) != folded_name(other.names[-1]):
            return False
        ours, others = self.path.parts, other.path.parts
        pairs = zip(reversed(ours), reversed(others), strict=False)  # the last names differ most often
        return len(ours) == len(others) and all(folded_name(one) == folded_name(two) for one, two in pairs)


class Roots:
    """The folders of a workspace, in the order in which the editor has them."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = tuple(dict.fromkeys(folders))
        self._labels = _labels(self._folders)

    @property
    def places(self) -> tuple[Place, ...]:
        """The folders themselves."""
        return tuple(map(self._below, range(len(self._folders))))

    def place(self, written: str) -> Place:
        """What a model or a client means by a path, or `OutsideWorkspace`. Nothing on the disk is looked at."""
        if not self._folders:
            raise refused(written, "no folder is open", "Ask the user to open a folder, or use the open buffers.")
        if found := written_path.absolute(written, self._folders):
            return self._below(*found)
        names = written_path.relative(written, on_windows=isinstance(self._folders[0], PureWindowsPath))
        if len(self._folders) == 1:
            return self._below(0, names)
        if names and names[0] in self._labels:
            return self._below(self._labels.index(names[0]), names[1:])
        known = ", ".join(map(copyable, self._labels))
        raise refused(written, "the workspace has several folders", f"Begin the path with one of them: {known}.")

    def candidates(self, written: str) -> list[Place]:
        """Where a path may lead that does not say in which folder it begins; raises `OutsideWorkspace`."""
        try:
            return [self.place(written)]
        except OutsideWorkspace:
            if len(self._folders) < 2:
                raise
            names = written_path.relative(written, on_windows=isinstance(self._folders[0], PureWindowsPath))
            return [self._below(index, names) for index in range(len(self._folders))]

    def _below(self, index: int, names: tuple[str, ...] = ()) -> Place:
        return Place(self._folders[index], names, self._labels[index] if len(self._folders) > 1 else "")


def _labels(folders: Sequence[Path]) -> tuple[str, ...]:
    """The name of each folder; those that share one are numbered."""
    seen: Counter[str] = Counter()
    labels: list[str] = []
    for folder in folders:
        label = base = folder.name or "root"
        while label in labels:
            seen[base] += 1
            label = f"{base}-{seen[base] + 1}"
        labels.append(label)
    return tuple(labels)
