"""Permission rules: what a tool may do without a question, what it has to ask for, and what it may not do.

A rule is a pattern and a decision. A pattern with a slash or a dot is about files and is matched against the path
inside the workspace; any other is about tools and is matched against the name of the tool. Then:

1. A rule that denies wins, whatever else there is.
2. Else the rules about the file decide, else those about the tool, else the default: reading and searching are
   allowed, everything else asks. Of several the one with the most plain characters counts, of equals the strictest.
3. Whatever the rules say: restrictions of the workspace and of the editor only add strictness, commands and changes of
   protected files always ask, and files with secrets are read only by a rule about the file.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fnmatch import fnmatchcase
from hashlib import sha256
from typing import TYPE_CHECKING

from ollm_lsp.core.decision import Decision, strictest
from ollm_lsp.core.globs import matches
from ollm_lsp.core.tool import ToolKind
from ollm_lsp.settings.patterns import is_path_pattern
from ollm_lsp.tools.protected import is_protected
from ollm_lsp.tools.secret_files import is_secret
from ollm_lsp.tools.spellings import folded

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ollm_lsp.settings.resolved import ToolsSettings

_LOOKS_ONLY = (ToolKind.READ, ToolKind.SEARCH)


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the rules say. A question whose answer `may_stand` need not be asked twice."""

    decision: Decision
    may_stand: bool
    reason: str = ""
    """Why it is denied, in words for the model."""


class PermissionRules:
    """The rules of one workspace under its settings. `own` are paths in it that belong to ollm-lsp."""

    def __init__(self, settings: ToolsSettings, own: Iterable[str] = ()) -> None:
        self._settings = settings
        self._own = tuple(own)

    @property
    def digest(self) -> str:
        """What tells these rules from all others, so that an answer given under them does not count under others."""
        rules = [self._settings.permissions, self._settings.restrictions]
        return sha256(json.dumps(rules).encode()).hexdigest()

    def is_enabled(self, tool: str) -> bool:
        """Whether the model has this tool at all."""
        if tool == "run_command" and not self._settings.run_command:
            return False
        return not any(fnmatchcase(tool, pattern) for pattern in self._settings.disabled)

    def decide(
        self,
        tool: str,
        kind: ToolKind,
        paths: Sequence[str] = (),
        *,
        is_external: bool = False,
        is_folder: bool = False,
    ) -> Ruling:
        """What may happen to these paths, which begin inside the workspace.

        `is_external` is whether a provider outside this machine reads the result; `is_folder`, whether a folder is
        changed as a whole, with everything in it.
        """
        guarded = kind not in _LOOKS_ONLY and (is_folder or any(is_protected(path, self._own) for path in paths))
        of_tool = self._of_tool(tool, kind)
        decisions = [self._of_path(of_tool, kind, path, is_external=is_external) for path in paths] or [of_tool]
        added = [
            decision
            for pattern, decision in self._settings.restrictions
            if _is_about_tool(pattern, tool) or any(_may_be_about_path(pattern, path) for path in paths)
        ]
        decision = strictest(decisions + added, of_tool)
        if decision is Decision.DENY:
            return Ruling(Decision.DENY, may_stand=False, reason=self._reason(tool, paths))
        if guarded or kind is ToolKind.EXECUTE:
            return Ruling(Decision.ASK, may_stand=False)
        return Ruling(decision, may_stand=True)

    def of_file(self, path: str, *, is_external: bool) -> Decision:
        """What the rules about files say of a file that no tool reads, but that would be sent with a question."""
        decision = self._of_path(Decision.ALLOW, ToolKind.READ, path, is_external=is_external)
        added = [stricter for pattern, stricter in self._settings.restrictions if _may_be_about_path(pattern, path)]
        return strictest([decision, *added], decision)

    def _of_tool(self, tool: str, kind: ToolKind) -> Decision:
        default = Decision.ALLOW if kind in _LOOKS_ONLY else Decision.ASK
        return _decided([rule for rule in self._settings.permissions if _is_about_tool(rule[0], tool)], default)

    def _of_path(self, of_tool: Decision, kind: ToolKind, path: str, *, is_external: bool) -> Decision:
        if of_tool is Decision.DENY:
            return Decision.DENY
        default = of_tool
        if kind in _LOOKS_ONLY and is_secret(path.split("/")):
            default = Decision.DENY if is_external else Decision.ASK
        return _decided([rule for rule in self._settings.permissions if _is_for_path(rule, path)], default)

    def _reason(self, tool: str, paths: Sequence[str]) -> str:
        if any(is_secret(path.split("/")) for path in paths):
            return "The rules do not allow this file, because it may hold secrets."
        return f"The user's rules do not allow {tool} here."


def _decided(rules: Sequence[tuple[str, Decision]], default: Decision) -> Decision:
    if any(decision is Decision.DENY for _, decision in rules):
        return Decision.DENY
    most = max((_plain_characters(pattern) for pattern, _ in rules), default=0)
    return strictest((decision for pattern, decision in rules if _plain_characters(pattern) == most), default)


def _plain_characters(pattern: str) -> int:
    return sum(letter not in "*?[]!" for letter in pattern)


def _is_about_tool(pattern: str, tool: str) -> bool:
    return not is_path_pattern(pattern) and fnmatchcase(tool, pattern)


def _is_for_path(rule: tuple[str, Decision], path: str) -> bool:
    pattern, decision = rule
    return _is_about_path(pattern, path) if decision is Decision.ALLOW else _may_be_about_path(pattern, path)


def _is_about_path(pattern: str, path: str) -> bool:
    # With a slash before it a path also fits patterns that begin with one, which means at the workspace's folder.
    return is_path_pattern(pattern) and matches(f"/{path}", pattern)


def _may_be_about_path(pattern: str, path: str) -> bool:
    """The same, or the path in another spelling. That makes something stricter, but must never allow anything."""
    return _is_about_path(pattern, path) or _is_about_path(pattern, "/".join(folded(path)))
