"""Params of the methods that are LSP's own, with the few fields that we need."""

from __future__ import annotations

from typing import Any, TypeAlias

from attrs import field

from ollm_lsp.lsp.buffer import Position, Range
from ollm_lsp.lsp.late_class import params

Token: TypeAlias = str | int
__all__ = ["Position", "Range"]


@params
class InitializeParams:
    """The start of a session; what the client can do is read by `ClientCapabilities`."""

    capabilities: dict[str, Any]
    process_id: int | None = None
    root_uri: str | None = None
    workspace_folders: list[WorkspaceFolder] | None = None
    initialization_options: Any = None
    work_done_token: Token | None = None


@params
class WorkspaceFolder:
    """A folder that the editor has open."""

    uri: str
    name: str = ""


@params
class NoParams:
    """Of a method that takes none."""


@params
class SetTraceParams:
    """How much the client wants to hear."""

    value: str


@params
class CancelParams:
    """The request that the client no longer wants."""

    id: Token


@params
class ProgressCancelParams:
    """The progress whose cancel button was pressed."""

    token: Token


@params
class TextDocumentItem:
    """A document as it is opened."""

    uri: str
    text: str
    language_id: str = ""
    version: int = 0


@params
class DidOpenParams:
    """A document was opened."""

    text_document: TextDocumentItem


@params
class VersionedIdentifier:
    """A document at a version."""

    uri: str
    version: int = 0


@params
class ContentChange:
    """New text for a range, or for the whole document when there is no range."""

    text: str
    range: Range | None = None


@params
class DidChangeParams:
    """A document was edited."""

    text_document: VersionedIdentifier
    content_changes: list[ContentChange]


@params
class TextDocumentIdentifier:
    """A document by its address."""

    uri: str


@params
class DidCloseParams:
    """A document was closed."""

    text_document: TextDocumentIdentifier


@params
class DidSaveParams:
    """A document was written to the disk by the editor."""

    text_document: TextDocumentIdentifier


@params
class DidChangeConfigurationParams:
    """The editor's settings changed; editors that are asked for them send nothing useful here."""

    settings: Any = None


@params
class FoldersChange:
    """Folders that were added and removed."""

    added: list[WorkspaceFolder] = field(factory=list[WorkspaceFolder])
    removed: list[WorkspaceFolder] = field(factory=list[WorkspaceFolder])


@params
class DidChangeWorkspaceFoldersParams:
    """The editor opened or closed folders."""

    event: FoldersChange


@params
class FileRename:
    """A file or folder, and what it is called now."""

    old_uri: str
    new_uri: str


@params
class RenameFilesParams:
    """The user renamed files or folders."""

    files: list[FileRename]


@params
class DocumentParams:
    """What is in this document?"""

    text_document: TextDocumentIdentifier
    work_done_token: Token | None = None
    partial_result_token: Token | None = None


@params
class CompletionParams:
    """What can be written here?"""

    text_document: TextDocumentIdentifier
    position: Position
    work_done_token: Token | None = None
    partial_result_token: Token | None = None


@params
class ContentParams:
    """The text of a document of ours, by its address."""

    uri: str


@params
class CodeActionContext:
    """What the editor knows about the place."""

    diagnostics: list[Any] = field(factory=list[Any])
    only: list[str] | None = None
    trigger_kind: int | None = None
    """2 when the editor asks by itself, as at every move of the cursor or before it saves."""


@params
class CodeActionParams:
    """What can be done here?"""

    text_document: TextDocumentIdentifier
    range: Range
    context: CodeActionContext
    work_done_token: Token | None = None
    partial_result_token: Token | None = None


@params
class ExecuteCommandParams:
    """The user chose a command."""

    command: str
    arguments: list[Any] = field(factory=list[Any])
    work_done_token: Token | None = None
