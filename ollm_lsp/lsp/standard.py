"""Params of the methods that are LSP's own, with the few fields that we need."""

from __future__ import annotations

from typing import Any, TypeAlias

from attrs import field, frozen

from ollm_lsp.lsp.buffer import Position, Range

Token: TypeAlias = str | int
__all__ = ["Position", "Range"]


@frozen
class InitializeParams:
    """The start of a session; what the client can do is read by `ClientCapabilities`."""

    capabilities: dict[str, Any]
    process_id: int | None = None
    root_uri: str | None = None
    workspace_folders: list[WorkspaceFolder] | None = None
    initialization_options: Any = None
    work_done_token: Token | None = None


@frozen
class WorkspaceFolder:
    """A folder that the editor has open."""

    uri: str
    name: str = ""


@frozen
class NoParams:
    """Of a method that takes none."""


@frozen
class SetTraceParams:
    """How much the client wants to hear."""

    value: str


@frozen
class CancelParams:
    """The request that the client no longer wants."""

    id: Token


@frozen
class ProgressCancelParams:
    """The progress whose cancel button was pressed."""

    token: Token


@frozen
class TextDocumentItem:
    """A document as it is opened."""

    uri: str
    text: str
    language_id: str = ""
    version: int = 0


@frozen
class DidOpenParams:
    """A document was opened."""

    text_document: TextDocumentItem


@frozen
class VersionedIdentifier:
    """A document at a version."""

    uri: str
    version: int = 0


@frozen
class ContentChange:
    """New text for a range, or for the whole document when there is no range."""

    text: str
    range: Range | None = None


@frozen
class DidChangeParams:
    """A document was edited."""

    text_document: VersionedIdentifier
    content_changes: list[ContentChange]


@frozen
class TextDocumentIdentifier:
    """A document by its address."""

    uri: str


@frozen
class DidCloseParams:
    """A document was closed."""

    text_document: TextDocumentIdentifier


@frozen
class DidSaveParams:
    """A document was written to the disk by the editor."""

    text_document: TextDocumentIdentifier


@frozen
class DidChangeConfigurationParams:
    """The editor's settings changed; editors that are asked for them send nothing useful here."""

    settings: Any = None


@frozen
class FoldersChange:
    """Folders that were added and removed."""

    added: list[WorkspaceFolder] = field(factory=list[WorkspaceFolder])
    removed: list[WorkspaceFolder] = field(factory=list[WorkspaceFolder])


@frozen
class DidChangeWorkspaceFoldersParams:
    """The editor opened or closed folders."""

    event: FoldersChange


@frozen
class FileRename:
    """A file or folder, and what it is called now."""

    old_uri: str
    new_uri: str


@frozen
class RenameFilesParams:
    """The user renamed files or folders."""

    files: list[FileRename]


@frozen
class DocumentParams:
    """What is in this document?"""

    text_document: TextDocumentIdentifier
    work_done_token: Token | None = None
    partial_result_token: Token | None = None


@frozen
class CompletionParams:
    """What can be written here?"""

    text_document: TextDocumentIdentifier
    position: Position
    work_done_token: Token | None = None
    partial_result_token: Token | None = None


@frozen
class ContentParams:
    """The text of a document of ours, by its address."""

    uri: str


@frozen
class CodeActionContext:
    """What the editor knows about the place."""

    diagnostics: list[Any] = field(factory=list[Any])
    only: list[str] | None = None
    trigger_kind: int | None = None
    """2 when the editor asks by itself, as at every move of the cursor or before it saves."""


@frozen
class CodeActionParams:
    """What can be done here?"""

    text_document: TextDocumentIdentifier
    range: Range
    context: CodeActionContext
    work_done_token: Token | None = None
    partial_result_token: Token | None = None


@frozen
class ExecuteCommandParams:
    """The user chose a command."""

    command: str
    arguments: list[Any] = field(factory=list[Any])
    work_done_token: Token | None = None
