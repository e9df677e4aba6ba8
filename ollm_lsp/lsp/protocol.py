"""The wire contract: our own methods and commands, and their params. `docs/protocol.md` describes it for people.

Params are attrs classes that `from_wire` fills from JSON, field names turned from snake_case to camelCase. Everything
that the server sends is built by `to_wire`.
"""

from __future__ import annotations

from typing import Any

from attrs import Attribute, field

from ollm_lsp.lsp.buffer import Position, Range
from ollm_lsp.lsp.late_class import params
from ollm_lsp.lsp.standard import Token

VERSION = 1
"""Of the custom part of the protocol, announced as `experimental.ollm.version`."""

CHAT_SEND = "ollm/chat/send"
CHAT_LIST = "ollm/chat/list"
CHAT_GET = "ollm/chat/get"
CHAT_RENAME = "ollm/chat/rename"
CHAT_DELETE = "ollm/chat/delete"
CONTEXT_PREVIEW = "ollm/context/preview"
MODELS_LIST = "ollm/models/list"
MODELS_PULL = "ollm/models/pull"
MODELS_SHOW = "ollm/models/show"
MODELS_DELETE = "ollm/models/delete"
KRAKEN_RELEASE = "ollm/kraken/release"
KRAKEN_STATUS = "ollm/kraken/status"
KRAKEN_HISTORY = "ollm/kraken/history"
CONTENT_SCHEME = "ollm"
"""Of documents whose text the server gives by `workspace/textDocumentContent`."""
COMMANDS = (
    "ollm.chat.open",
    "ollm.chat.send",
    "ollm.chat.stop",
    "ollm.context.show",
    "ollm.explain",
    "ollm.fix",
    "ollm.refactor",
    "ollm.document",
    "ollm.tests",
    "ollm.edit",
    "ollm.ask",
    "ollm.action",
    "ollm.proposal.accept",
    "ollm.proposal.reject",
    "ollm.proposal.show",
    "ollm.proposal.revert",
    "ollm.models.list",
    "ollm.models.pull",
    "ollm.kraken.release",
    "ollm.kraken.status",
    "ollm.kraken.history",
    "ollm.kraken.config",
    "ollm.cancel",
    "ollm.doctor",
)
QUICKFIX, REWRITE, SOURCE = CODE_ACTION_KINDS = ("quickfix.ollm", "refactor.rewrite.ollm", "source.ollm")
STATUS = "ollm/status"
PERMISSION = "ollm/permission"
DIAGNOSTICS = "ollm/diagnostics"

__all__ = ["Position", "Range", "Token"]


@params
class WireImage:
    """An image in base64."""

    mime_type: str
    data: str


@params
class ChatContext:
    """What the user points at, and what they want to keep out."""

    uri: str | None = None
    range: Range | None = None
    files: list[str] = field(factory=list[str])
    images: list[WireImage] = field(factory=list[WireImage])
    exclude: list[str] = field(factory=list[str])
    open_buffers: bool = True


def _not_blank(_instance: object, attribute: Attribute[Any], value: str | None) -> None:
    if value is not None and not value.strip():
        raise ValueError(f"{attribute.name} is empty")


def _at_least_one(_instance: object, attribute: Attribute[Any], value: int | None) -> None:
    if value is not None and value < 1:
        raise ValueError(f"{attribute.name} is less than one")


def _not_negative(_instance: object, attribute: Attribute[Any], value: int | None) -> None:
    if value is not None and value < 0:
        raise ValueError(f"{attribute.name} is negative")


@params
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


@params
class ChatCommandParams:
    """What `ollm.chat.send` takes: a chat document to be answered, or a message as in `ollm/chat/send`."""

    uri: str | None = None
    line: int | None = None
    text: str | None = field(default=None, validator=_not_blank)
    conversation_id: str | None = None
    parent_id: str | None = None
    model: str | None = None
    tools: bool | None = None
    context: ChatContext | None = None
    work_done_token: Token | None = None
    partial_result_token: Token | None = None


@params
class ContextPreviewParams:
    """A message that is not sent: what would go with it?"""

    text: str = ""
    uri: str | None = None
    range: Range | None = None
    files: list[str] = field(factory=list[str])
    images: list[WireImage] = field(factory=list[WireImage])
    exclude: list[str] = field(factory=list[str])
    open_buffers: bool = True
    conversation_id: str | None = None
    parent_id: str | None = None
    model: str | None = None
    tools: bool | None = None
    work_done_token: Token | None = None

    @property
    def context(self) -> ChatContext:
        """What the user points at, as in a message that is sent."""
        return ChatContext(self.uri, self.range, self.files, self.images, self.exclude, self.open_buffers)


@params
class ChatStopParams:
    """The chat document whose answer is to be stopped; without one, all of them."""

    uri: str | None = None
    work_done_token: Token | None = None


@params
class ChatOpenParams:
    """What a new chat document begins with: a selection or a document, words, or a kept conversation."""

    uri: str | None = None
    range: Range | None = None
    text: str | None = None
    model: str | None = None
    conversation_id: str | None = None
    work_done_token: Token | None = None


@params
class ConversationParams:
    """Which conversation is meant."""

    conversation_id: str
    work_done_token: Token | None = None
    partial_result_token: Token | None = None


@params
class ChatRenameParams:
    """Another title for a conversation."""

    conversation_id: str
    title: str = field(validator=_not_blank)
    work_done_token: Token | None = None


@params
class ActionParams:
    """Something to be done with a piece of code; without a place, with that which the user was at last."""

    uri: str | None = None
    range: Range | None = None
    lines: list[int] = field(factory=list[int])
    text: str | None = None
    diagnostics: list[Any] = field(factory=list[Any])
    name: str | None = None
    model: str | None = None
    conversation_id: str | None = None
    work_done_token: Token | None = None
    partial_result_token: Token | None = None


@params
class CommandParams:
    """Of a command that needs no more."""

    work_done_token: Token | None = None


@params
class CancelWorkParams:
    """What is to be stopped: all that runs, unless it is named."""

    token: Token | None = None
    conversation_id: str | None = None
    work_done_token: Token | None = None


@params
class ReleaseParams(ChatSendParams):
    """A message for an external provider."""

    provider: str | None = None
    inherit_context: bool = True
    return_to_local: bool = True
    max_turns: int | None = field(default=None, validator=_at_least_one)


@params
class ReleaseHereParams:
    """A release on a piece of code; without words of the user, it is about what is wrong there."""

    text: str | None = None
    uri: str | None = None
    range: Range | None = None
    conversation_id: str | None = None
    parent_id: str | None = None
    tools: bool | None = None
    context: ChatContext | None = None
    provider: str | None = None
    inherit_context: bool = True
    return_to_local: bool = True
    max_turns: int | None = field(default=None, validator=_at_least_one)
    work_done_token: Token | None = None
    partial_result_token: Token | None = None


@params
class HistoryParams:
    """How many releases are wanted."""

    limit: int | None = field(default=None, validator=_not_negative)
    work_done_token: Token | None = None


@params
class ProposalParams:
    """A proposal by its id; where none is given, the last one is meant if that makes sense."""

    id: str = ""
    work_done_token: Token | None = None


@params
class SettleParams:
    """A decision about a proposal that waits, or about one of its hunks."""

    id: str = ""
    hunk: int | None = None
    feedback: str | None = None
    work_done_token: Token | None = None


@params
class ModelsListParams:
    """Which models are there?"""

    provider: str | None = None
    work_done_token: Token | None = None
    partial_result_token: Token | None = None


@params
class ModelParams:
    """One model, as `provider:name`, that is to be fetched, shown or deleted."""

    model: str = field(validator=_not_blank)
    work_done_token: Token | None = None
    partial_result_token: Token | None = None
