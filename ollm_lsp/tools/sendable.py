"""What of the open documents may go to a model with a question, by the rules about files.

Rules about tools do not count here: an open document is no tool. The file rules do, so that what is denied to the tools
does not reach a model by another way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ollm_lsp.core.decision import Decision
from ollm_lsp.core.errors import OutsideWorkspace
from ollm_lsp.core.globs import matches
from ollm_lsp.tools.spellings import folded

if TYPE_CHECKING:
    from pathlib import Path

    from ollm_lsp.tools.permission_rules import PermissionRules
    from ollm_lsp.tools.roots import Place, Roots

CHAT_FILE = ".ollm.md"
"""How the names of chats as files end: a conversation is not its own context."""
SHOWN = "shown"
"""Where, in a folder of ollm-lsp, the texts are that it showed to people: what was sent before is no context either."""
_FILE = re.compile("file:", re.IGNORECASE)


class Verdict(Enum):
    """Whether a document may be sent."""

    YES = "yes"
    WHEN_NAMED = "when named"
    """Only if the user named it: it may hold secrets and the model is on this machine, or a rule wants a question."""
    EXCLUDED = "excluded"
    DENIED = "denied"


@dataclass(frozen=True, slots=True)
class Sendable:
    """The rules for one model. `own` are folders of ollm-lsp."""

    roots: Roots
    rules: PermissionRules
    exclude: tuple[str, ...]
    is_external: bool
    own: tuple[Path, ...] = ()

    def place(self, uri: str) -> Place | None:
        """Where a document is in the workspace, if it is there."""
        try:
            return self.roots.place(uri) if _FILE.match(uri) else None
        except OutsideWorkspace:
            return None

    def verdict(self, path: str, place: Place | None) -> Verdict:
        """What may be done with the document that people know by this path."""
        inside = "/".join(place.names) if place else path.lstrip("/")
        if any(matches(path, pattern) or matches(f"/{inside}", pattern) for pattern in self.exclude):
            return Verdict.EXCLUDED
        match self.rules.of_file(inside, is_external=self.is_external):
            case Decision.DENY:
                return Verdict.DENIED
            case Decision.ASK:
                return Verdict.WHEN_NAMED
            case Decision.ALLOW:
                return Verdict.WHEN_NAMED if self._is_ours(path) else Verdict.YES

    def _is_ours(self, path: str) -> bool:
        if path.casefold().endswith(CHAT_FILE):
            return True
        names = folded(path)
        return any(names[: len(own)] == own for own in (folded((folder / SHOWN).as_posix()) for folder in self.own))
