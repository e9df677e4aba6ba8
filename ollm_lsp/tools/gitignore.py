"""What the `.gitignore` files of a workspace leave out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore import GitIgnorePatternError

from ollm_lsp.core.errors import OllmError
from ollm_lsp.tools import walk
from ollm_lsp.tools.spellings import folded_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ollm_lsp.tools.roots import Place

NAME = ".gitignore"
MAX_BYTES = 256 * 1024
MAX_LINES = 2_000
_SINGLE_STARS = re.compile(r"(?<!\*)\*(?!\*)")
_MOST_STARS = 2
"""Rules become regular expressions that try again for each star: more of them in one name, or more depths, and a
workspace could keep us busy with a single rule."""


@dataclass(frozen=True, slots=True)
class Ignored:
    """The rules that hold in one folder: its own come before those of the folders above it."""

    folder: Place
    own: GitIgnoreSpec | None = None
    above: Ignored | None = None

    def covers(self, place: Place, *, is_folder: bool) -> bool:
        """Whether something in this folder, or deeper, is left out. The folders between are not asked about."""
        rules: Ignored | None = self
        while rules:
            if rules.own:
                path = "/".join(place.names[len(rules.folder.names) :]) + ("/" if is_folder else "")
                verdict = rules.own.check_file(path).include
                if verdict is not None:
                    return verdict
            rules = rules.above
        return False


def rules_in(folder: Place, above: Ignored | None = None) -> Ignored:
    """The rules of a folder. A file of rules that cannot be read has none."""
    try:
        text = walk.read(folder.below(NAME), MAX_BYTES).decode(errors="replace")
    except OllmError:
        return Ignored(folder, above=above)
    lines = list(_sound(text.split("\n")[:MAX_LINES]))
    return Ignored(folder, GitIgnoreSpec.from_lines(lines, backend="simple") if lines else None, above)


def rules_on_the_way(place: Place) -> Ignored | None:
    """The rules of all folders above a place; nothing when they leave the place itself out, or it is a root.

    Whoever names a folder that is left out wants to see what is in it.
    """
    rules: Ignored | None = None
    for depth in range(len(place.names)):
        folder = type(place)(place.folder, place.names[:depth], place.label)
        rules = rules_in(folder, rules)
        if rules.covers(folder.below(place.names[depth]), is_folder=True):
            return None
    return rules


def left_out(places: Iterable[Place]) -> set[Place]:
    """Those of some files that git leaves out, by themselves or with a folder above them."""
    known: dict[Place, Ignored | None] = {}

    def rules_of(folder: Place) -> Ignored | None:
        """The rules that hold in a folder; nothing for one that is left out itself."""
        if folder not in known:
            above = rules_of(folder.parent) if folder.names else None
            is_out = folder.names and (above is None or above.covers(folder, is_folder=True))
            known[folder] = None if is_out else rules_in(folder, above)
        return known[folder]

    found: set[Place] = set()
    for place in places:
        rules = rules_of(place.parent)
        if rules is None or rules.covers(place, is_folder=False):
            found.add(place)
    return found


def is_git_folder(name: str) -> bool:
    """Whether a name is that of git's own folder, in whatever spelling: it is never entered."""
    return folded_name(name) == ".git"


def _sound(lines: list[str]) -> Iterator[str]:
    """The lines that are rules and cannot take long."""
    for line in lines:
        rule = line.removesuffix("\r")
        if not rule.strip() or rule.startswith("#"):
            continue
        if rule.count("**") > _MOST_STARS or any(
            len(_SINGLE_STARS.findall(name)) > _MOST_STARS for name in rule.split("/")
        ):
            continue
        try:
            GitIgnoreSpec.from_lines([rule], backend="simple")
        except GitIgnorePatternError:
            continue
        yield rule
