"""The surroundings of a question, made by hand: open documents, folders, diagnostics and settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ollm_lsp.core.model import ModelId
from ollm_lsp.core.snapshot import Snapshot
from ollm_lsp.lsp.buffer import PositionEncoding
from ollm_lsp.lsp.context.assembly import assemble
from ollm_lsp.lsp.context.surroundings import Surroundings
from ollm_lsp.lsp.documents import Documents
from ollm_lsp.lsp.protocol import ChatContext
from ollm_lsp.lsp.standard import TextDocumentItem
from ollm_lsp.settings.resolved import ContextSettings, Settings, ToolsSettings
from ollm_lsp.tools.toolset import Desk, Toolset
from tests.support.workspace import KnownDiagnostics

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ollm_lsp.lsp.context.parts import Context
    from ollm_lsp.lsp.documents import Document

PLENTY = 10_000
LANGUAGES = {"py": "python", "ts": "typescript", "md": "markdown"}


class _Buffers:
    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def get(self, uri: str) -> Snapshot | None:
        document = self._documents.get(uri)
        return _snapshot(document) if document else None

    def all(self) -> Sequence[Snapshot]:
        return list(map(_snapshot, self._documents.recent()))

    def uris(self) -> Sequence[str]:
        return [document.uri for document in self._documents.recent()]


class Place:
    """Where a question is asked from."""

    def __init__(
        self,
        *folders: Path,
        settings: ContextSettings | None = None,
        tools: ToolsSettings | None = None,
        is_external: bool = False,
        own: Sequence[Path] = (),
    ) -> None:
        self.documents = Documents(PositionEncoding.UTF16)
        self.diagnostics = KnownDiagnostics()
        context = settings or ContextSettings()
        whole = Settings(ModelId("m", "m"), {}, context=context, tools=tools or ToolsSettings())
        nobody: Any = None
        desk = Desk(folders, _Buffers(self.documents), nobody, self.diagnostics, whole, "", is_external=is_external)
        toolset = Toolset(own=own)
        self.around = Surroundings(
            self.documents, toolset.workspace(desk), toolset.sendable(desk), self.diagnostics, context
        )

    def open(self, where: str | Path, text: str) -> str:
        """Open a document; the one opened last is the one used last."""
        uri = where if isinstance(where, str) else where.as_uri()
        language = LANGUAGES.get(uri.rpartition(".")[2], "")
        self.documents.open(TextDocumentItem(uri, text, language, 1))
        return uri

    async def ask(self, text: str = "Why?", budget: int = PLENTY, **wanted: Any) -> Context:
        return await assemble(self.around, ChatContext(**wanted) if wanted else None, text, budget)


def names(context: Context) -> list[str]:
    """The documents of the parts, in the order of sending."""
    return [(part.uri or "").rsplit("/", 1)[-1] for part in context.parts]


def sources(context: Context) -> list[str]:
    return [part.source.value for part in context.parts]


def codes(context: Context) -> list[str]:
    return [warning.code for warning in context.warnings]


def _snapshot(document: Document) -> Snapshot:
    return Snapshot(document.uri, document.buffer.text, document.version)
