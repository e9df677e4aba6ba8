"""A tree of folders, gone through in order, within limits, without what git leaves out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ollm_lsp.core.errors import OllmError
from ollm_lsp.tools import walk
from ollm_lsp.tools.gitignore import is_git_folder, rules_in, rules_on_the_way
from ollm_lsp.tools.walk import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ollm_lsp.tools.gitignore import Ignored
    from ollm_lsp.tools.roots import Place
    from ollm_lsp.tools.watch import Watch

MAX_DEPTH = 64
MAX_ENTRIES = 500_000
"""Of a whole tree. A folder with more entries than this is cut, too."""


@dataclass(slots=True)
class Tree:
    """The files below a place; `is_cut` tells afterwards whether a limit kept some of them back."""

    top: Place
    watch: Watch
    is_cut: bool = False
    _left: int = MAX_ENTRIES

    def files(self) -> Iterator[Place]:
        """All files, those of a folder before those of the folders in it."""
        return self._files(self.top, rules_on_the_way(self.top))

    def _files(self, folder: Place, above: Ignored | None) -> Iterator[Place]:
        if self._is_over() or len(folder.names) > MAX_DEPTH:
            self.is_cut = True
            return
        try:
            entries = walk.scan(folder, self._left)
        except OllmError:
            if folder is self.top:
                raise
            return  # a folder that has gone meanwhile, or that the system does not let us read
        self._left -= len(entries)
        has_rules = any(entry.name == ".gitignore" for entry in entries)
        rules = rules_in(folder, above) if has_rules or above is None else above
        folders: list[Place] = []
        for entry in sorted(entries, key=lambda entry: entry.name):
            is_folder = entry.kind is Kind.FOLDER
            if (not is_folder and entry.kind is not Kind.FILE) or is_git_folder(entry.name):
                continue
            if self._is_over():
                self.is_cut = True
                return
            place = folder.below(entry.name)
            if rules.covers(place, is_folder=is_folder):
                continue
            if is_folder:
                folders.append(place)
            else:
                yield place
        for below in folders:
            yield from self._files(below, rules)

    def _is_over(self) -> bool:
        return self._left <= 0 or self.watch.is_over
