"""The tools of a server: which there are for a chat, and what its conversations have read and allowed."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ollm_lsp.core.decision import Decision
from ollm_lsp.core.errors import OutsideWorkspace
from ollm_lsp.core.globs import matches
from ollm_lsp.core.tool import ToolKind
from ollm_lsp.tools.asking import AskingTool
from ollm_lsp.tools.broker import Broker
from ollm_lsp.tools.create_file import CreateFile
from ollm_lsp.tools.delete_file import DeleteFile
from ollm_lsp.tools.edit_file import EditFile
from ollm_lsp.tools.find_files import FindFiles
from ollm_lsp.tools.gate import Gate
from ollm_lsp.tools.get_diagnostics import GetDiagnostics
from ollm_lsp.tools.grants import Grants, identity_of
from ollm_lsp.tools.list_buffers import ListBuffers
from ollm_lsp.tools.list_directory import ListDirectory
from ollm_lsp.tools.permission_rules import PermissionRules
from ollm_lsp.tools.proposing import Proposing
from ollm_lsp.tools.read_file import ReadFile
from ollm_lsp.tools.read_log import ReadLog
from ollm_lsp.tools.rename_file import RenameFile
from ollm_lsp.tools.roots import Roots
from ollm_lsp.tools.run_command import RunCommand
from ollm_lsp.tools.search_text import SearchText
from ollm_lsp.tools.sendable import Sendable
from ollm_lsp.tools.workspace import Workspace
from ollm_lsp.tools.write_file import WriteFile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from ollm_lsp.core.ports import Buffers, Diagnostics, Editor, GrantStore, ProposalStore, Tool
    from ollm_lsp.settings.resolved import Settings
    from ollm_lsp.tools.roots import Place

MOST_LOGS = 32
"""Conversations of which it is known what they have read. An older one reads again."""


@dataclass(frozen=True, slots=True)
class Desk:
    """Where the tools of one chat work: its workspace, its editor, its conversation, and who reads what they find."""

    folders: tuple[Path, ...]
    buffers: Buffers
    editor: Editor
    diagnostics: Diagnostics
    settings: Settings
    conversation_id: str
    is_external: bool
    sees: bool = False
    """Whether the model can be shown images."""


class Toolset:
    """Makes the tools of each chat. `own` are folders of ollm-lsp, which tools treat with care."""

    def __init__(
        self, grants: GrantStore | None = None, proposals: ProposalStore | None = None, own: Sequence[Path] = ()
    ) -> None:
        self._grants = Grants(grants)
        self._proposals = proposals
        self._own = tuple(own)
        self._making = asyncio.Lock()
        self._logs: OrderedDict[str, ReadLog] = OrderedDict()

    def tools(self, desk: Desk) -> tuple[Tool, ...]:
        """Those that the settings leave on. Without a folder there is nothing to work on."""
        if not desk.folders:
            return ()
        broker, log = self.broker(desk), self._log(desk.conversation_id)
        workspace = broker.workspace
        rules = self._rules(desk, workspace.roots)
        looking: list[Tool] = [
            ReadFile(workspace, log.note, sees=desk.sees),
            ListDirectory(workspace),
            FindFiles(workspace),
            SearchText(workspace),
            ListBuffers(workspace),
            GetDiagnostics(workspace, desk.diagnostics),
        ]
        proposing = Proposing(workspace, broker, log)
        changing: list[Tool] = [
            EditFile(proposing),
            WriteFile(proposing),
            CreateFile(proposing),
            RenameFile(proposing),
            DeleteFile(proposing),
            RunCommand(workspace, broker),
        ]
        offered = (*(AskingTool(tool, broker) for tool in looking), *changing)
        return tuple(tool for tool in offered if _is_offered(tool, rules))

    def workspace(self, desk: Desk) -> Workspace:
        """What the tools see."""
        return self.broker(desk).workspace

    def sendable(self, desk: Desk) -> Sendable:
        """What of the open documents may go along with a question."""
        roots = Roots(desk.folders)
        rules = self._rules(desk, roots)
        return Sendable(roots, rules, desk.settings.context.exclude, desk.is_external, self._own)

    def broker(self, desk: Desk) -> Broker:
        roots = Roots(desk.folders)
        rules = self._rules(desk, roots)
        workspace = Workspace(roots, desk.buffers, _Policy(rules, desk.settings.context.exclude, desk.is_external))
        gate = Gate(rules, self._grants, "\0".join(map(identity_of, desk.folders)))
        return Broker(desk.editor, workspace, gate, desk.conversation_id, self._proposals, self._making)

    def follow(self, moved: Callable[[str], str | None]) -> None:
        """Documents have other addresses, by the user's doing; what conversations have read of them stays true."""
        for log in self._logs.values():
            log.follow(moved)

    def _rules(self, desk: Desk, roots: Roots) -> PermissionRules:
        return PermissionRules(desk.settings.tools, self._own_in(roots))

    def _own_in(self, roots: Roots) -> list[str]:
        found: list[str] = []
        for folder in self._own:
            with suppress(OutsideWorkspace):
                found.append("/".join(roots.place(str(folder)).names))
        return found

    def _log(self, conversation_id: str) -> ReadLog:
        log = self._logs.setdefault(conversation_id, ReadLog())
        self._logs.move_to_end(conversation_id)
        while len(self._logs) > MOST_LOGS:
            self._logs.popitem(last=False)
        return log


@dataclass(frozen=True, slots=True)
class _Policy:
    """What may be read: by the rules, and by what the user keeps out of every context."""

    rules: PermissionRules
    exclude: tuple[str, ...]
    is_external: bool

    def may_read(self, place: Place) -> bool:
        path = "/".join(place.names)
        if any(matches(f"/{path}", pattern) for pattern in self.exclude):
            return False
        ruling = self.rules.decide("read_file", ToolKind.READ, [path], is_external=self.is_external)
        return ruling.decision is Decision.ALLOW or self._asks_for_the_tool_only(ruling.decision)

    def _asks_for_the_tool_only(self, decision: Decision) -> bool:
        """A rule that makes reading ask in general has asked before anything is read."""
        return decision is Decision.ASK and self.rules.decide("read_file", ToolKind.READ).decision is Decision.ASK


def _is_offered(tool: Tool, rules: PermissionRules) -> bool:
    name = tool.spec.name
    return rules.is_enabled(name) and rules.decide(name, tool.kind).decision is not Decision.DENY
