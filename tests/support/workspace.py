"""A workspace to try tools in: real folders, buffers that a test opens, and calls as a chat makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from ollm_lsp.core.permission import Verdict
from ollm_lsp.core.snapshot import Snapshot
from ollm_lsp.core.tool import ToolCall, ToolResult
from ollm_lsp.core.toolbox import Toolbox
from ollm_lsp.tools.find_files import FindFiles
from ollm_lsp.tools.get_diagnostics import GetDiagnostics
from ollm_lsp.tools.list_buffers import ListBuffers
from ollm_lsp.tools.list_directory import ListDirectory
from ollm_lsp.tools.read_file import ReadFile
from ollm_lsp.tools.roots import Roots
from ollm_lsp.tools.run_command import RunCommand
from ollm_lsp.tools.schema import fits
from ollm_lsp.tools.search_text import SearchText
from ollm_lsp.tools.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ollm_lsp.core.diagnostic import Diagnostic
    from ollm_lsp.core.events import ToolChanged
    from ollm_lsp.core.permission import PermissionRequest
    from ollm_lsp.core.ports import Tool, ToolRun
    from ollm_lsp.tools.policy import Policy
    from ollm_lsp.tools.search import Engine


class OpenBuffers:
    """Buffers by their address, whatever way it is escaped, as the language server has them."""

    def __init__(self) -> None:
        self._open: dict[str, Snapshot] = {}

    def open(self, uri: str, text: str, version: int = 1) -> None:
        self._open[unquote(uri)] = Snapshot(uri, text, version)

    def get(self, uri: str) -> Snapshot | None:
        return self._open.get(unquote(uri))

    def all(self) -> Sequence[Snapshot]:
        return list(reversed(self._open.values()))

    def uris(self) -> Sequence[str]:
        return [snapshot.uri for snapshot in self.all()]


class Answers:
    """Somebody who is asked, and says what a test wants."""

    def __init__(self, *, allowed: bool = False, feedback: str | None = None) -> None:
        self.verdict = Verdict(allowed, feedback)
        self.requests: list[PermissionRequest] = []

    async def permit(self, request: PermissionRequest, run: ToolRun) -> Verdict:  # noqa: ARG002 (part of the contract)
        self.requests.append(request)
        return self.verdict


class KnownDiagnostics:
    """The diagnostics that a test gives, and which were asked for."""

    def __init__(self) -> None:
        self.known: list[Diagnostic] = []
        self.asked: list[str | None] = []

    async def of(self, uri: str | None) -> Sequence[Diagnostic]:
        self.asked.append(uri)
        return [diagnostic for diagnostic in self.known if uri in (None, diagnostic.uri)]


class Bench:
    """All reading tools over some folders."""

    def __init__(
        self, *folders: Path, engine: Engine | None = None, policy: Policy | None = None, sees: bool = False
    ) -> None:
        self.open = OpenBuffers()
        self.answers = Answers()
        self.diagnostics = KnownDiagnostics()
        self.workspace = Workspace(Roots(folders), self.open, policy)
        self.tools: list[Tool] = [
            ReadFile(self.workspace, sees=sees),
            ListDirectory(self.workspace),
            FindFiles(self.workspace),
            SearchText(self.workspace, engine, time_limit=60),  # a busy machine takes its time
            ListBuffers(self.workspace),
            GetDiagnostics(self.workspace, self.diagnostics),
            RunCommand(self.workspace, self.answers),
        ]
        self.toolbox = Toolbox(self.tools, fits=fits)

    async def call(self, name: str, /, **arguments: Any) -> ToolResult:
        """Call a tool as a chat does."""
        call = ToolCall("call", name, arguments)
        settled: list[ToolChanged] = []
        await self.toolbox.run_all([self.toolbox.announced("0", call)], settled.append)
        (result,) = [change.result for change in settled if change.result]
        return result

    async def text(self, name: str, /, **arguments: Any) -> str:
        """What a call that succeeds gives."""
        result = await self.call(name, **arguments)
        assert not result.is_error, result.text
        return result.text

    async def refusal(self, name: str, /, **arguments: Any) -> str:
        """Why a call fails."""
        result = await self.call(name, **arguments)
        assert result.is_error, result.text
        return result.text
