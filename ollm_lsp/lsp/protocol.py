"""The wire contract: method names, and the params that clients send. `docs/protocol.md` describes it for people.

Params are attrs classes that `from_wire` fills from JSON, field names turned from snake_case to camelCase. Everything
that the server sends is built by `to_wire`.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from attrs import field, frozen

from ollm_lsp.lsp.buffer import Position, Range

VERSION = 1
"""Of the custom part of the protocol, announced as `experimental.ollm.version`."""

CHAT_SEND = "ollm/chat/send"
CHAT_LIST = "ollm/chat/list"
CHAT_GET = "ollm/chat/get"
CHAT_RENAME = "ollm/chat/rename"
CHAT_DELETE = "ollm/chat/delete"
MODELS_LIST = "ollm/models/list"
MODELS_PULL = "ollm/models/pull"
MODELS_SHOW = "ollm/models/show"
MODELS_DELETE = "ollm/models/delete"
COMMANDS = ("ollm.proposal.accept", "ollm.proposal.reject", "ollm.proposal.show", "ollm.proposal.revert")
STATUS = "ollm/status"
PERMISSION = "ollm/permission"
DIAGNOSTICS = "ollm/diagnostics"

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
class WireImage:
    """An image in base64."""

    mime_type: str
    data: str


@frozen
class ChatContext:
    """What the user points at."""

    uri: str | None = None
    range: Range | None = None
    files: list[str] = field(factory=list[str])
    images: list[WireImage] = field(factory=list[WireImage])


def _not_blank(_instance: object, _attribute: object, value: str) -> None:
    if not value.strip():
        raise ValueError("is empty")


@frozen
class ChatSendParams:
    """A message of the user."""

    text: str = field(validator=_not_blank)
    conversation_id: str | None = None
    parent_id: str | None = None
    model: str | None = None
    tools: bool | None = None
    context: ChatContext | None = None
    work_done_token: Token | None = None
    partial_result_token: Token | None = None


@frozen
class ConversationParams:
    """Which conversation is meant."""

    conversation_id: str
    work_done_token: Token | None = None
    partial_result_token: Token | None = None


@frozen
class ChatRenameParams:
    """Another title for a conversation."""

    conversation_id: str
    title: str = field(validator=_not_blank)
    work_done_token: Token | None = None


@frozen
class CodeActionContext:
    """What the editor knows about the place."""

    diagnostics: list[Any] = field(factory=list[Any])
    only: list[str] | None = None


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


@frozen
class ModelsListParams:
    """Which models are there?"""

    provider: str | None = None
    work_done_token: Token | None = None
    partial_result_token: Token | None = None


@frozen
class ModelParams:
    """One model, as `provider:name`, that is to be fetched, shown or deleted."""

    model: str = field(validator=_not_blank)
    work_done_token: Token | None = None
    partial_result_token: Token | None = None
