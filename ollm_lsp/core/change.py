"""Changes of files as values, and proposals made of them. Nothing here touches a file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, TypeAlias, assert_never

from ollm_lsp.core.snapshot import Snapshot
from ollm_lsp.core.tool import ToolKind

if TYPE_CHECKING:
    from collections.abc import Sequence


class InvalidProposal(ValueError):
    """A proposal whose changes contradict each other; raised where it would be constructed."""


@dataclass(frozen=True, slots=True)
class EditText:
    """The text of a document becomes another one. `core.splices` tells in which places."""

    uri: str
    base: Snapshot
    text: str

    def __post_init__(self) -> None:
        if self.base.uri != self.uri:
            raise InvalidProposal("An edit is computed on the document that it edits.")


@dataclass(frozen=True, slots=True)
class CreateFile:
    """A file comes to be where nothing is."""

    uri: str
    text: str


@dataclass(frozen=True, slots=True)
class RenameFile:
    """A file or a folder moves to where nothing is."""

    uri: str
    new_uri: str


@dataclass(frozen=True, slots=True)
class DeleteFile:
    """A file goes away; `base` is what is lost."""

    uri: str
    base: Snapshot

    def __post_init__(self) -> None:
        if self.base.uri != self.uri:
            raise InvalidProposal("What is lost is the document that is deleted.")


Change: TypeAlias = EditText | CreateFile | RenameFile | DeleteFile


@dataclass(frozen=True, slots=True)
class Proposal:
    """Changes that a tool would make, all or none. No document is in two of them."""

    id: str
    tool: str
    title: str
    changes: tuple[Change, ...]

    def __post_init__(self) -> None:
        touched = [uri for change in self.changes for uri in uris(change)]
        if not touched:
            raise InvalidProposal("A proposal changes something.")
        if len(set(touched)) < len(touched):
            raise InvalidProposal("No two changes of a proposal touch the same document.")

    @property
    def digest(self) -> str:
        """What a permission is bound to: the tool, and everything that will happen. Words about it do not count."""
        return _digest([self.tool, *(_canonical(change) for change in self.changes)])

    def reverse(self, proposal_id: str, done: Sequence[Change] | None = None) -> Proposal | None:
        """What undoes this, or those of its changes that were done; nothing when none was."""
        made = self.changes if done is None else tuple(change for change in self.changes if change in done)
        if not made:
            return None
        return Proposal(proposal_id, self.tool, f"Revert: {self.title}", tuple(map(reversed_change, reversed(made))))


def uris(change: Change) -> tuple[str, ...]:
    """The documents that a change touches."""
    return (change.uri, change.new_uri) if isinstance(change, RenameFile) else (change.uri,)


def kind_of(change: Change) -> ToolKind:
    """What a change does, as far as its user has to know."""
    match change:
        case EditText():
            return ToolKind.EDIT
        case CreateFile():
            return ToolKind.CREATE
        case RenameFile():
            return ToolKind.MOVE
        case DeleteFile():
            return ToolKind.DELETE
        case _:
            assert_never(change)


def reversed_change(change: Change) -> Change:
    """What undoes a change, computed on what the change leaves behind."""
    match change:
        case EditText(uri, base, text):
            return EditText(uri, Snapshot(uri, text), base.text)
        case CreateFile(uri, text):
            return DeleteFile(uri, Snapshot(uri, text))
        case RenameFile(uri, new_uri):
            return RenameFile(new_uri, uri)
        case DeleteFile(uri, base):
            return CreateFile(uri, base.text)
        case _:
            assert_never(change)


def _canonical(change: Change) -> list[str]:
    match change:
        case EditText(uri, base, text):
            return ["edit", uri, base.digest, _digest(text)]
        case CreateFile(uri, text):
            return ["create", uri, _digest(text)]
        case RenameFile(uri, new_uri):
            return ["rename", uri, new_uri]
        case DeleteFile(uri, base):
            return ["delete", uri, base.digest]
        case _:
            assert_never(change)


def _digest(value: object) -> str:
    # As JSON in plain ASCII every value has one spelling, and no two values have the same one.
    return sha256(json.dumps(value).encode()).hexdigest()
