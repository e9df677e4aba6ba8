"""Proposals as JSON and back, without loss. Pure."""

from __future__ import annotations

import json
from typing import Any, assert_never

from ollm_lsp.core.change import Change, CreateFile, DeleteFile, EditText, Proposal, RenameFile
from ollm_lsp.core.snapshot import Snapshot


def encode(proposal: Proposal) -> bytes:
    """A proposal as JSON in plain ASCII, which every database can hold whatever the texts are."""
    changes = [_encode(change) for change in proposal.changes]
    return json.dumps({"tool": proposal.tool, "title": proposal.title, "changes": changes}).encode()


def decode(proposal_id: str, data: bytes) -> Proposal:
    """The proposal that was encoded."""
    value: Any = json.loads(data)
    return Proposal(proposal_id, value["tool"], value["title"], tuple(map(_decode, value["changes"])))


def _encode(change: Change) -> list[Any]:
    match change:
        case EditText(uri, base, text):
            return ["edit", uri, base.text, base.version, text]
        case CreateFile(uri, text):
            return ["create", uri, text]
        case RenameFile(uri, new_uri):
            return ["rename", uri, new_uri]
        case DeleteFile(uri, base):
            return ["delete", uri, base.text, base.version]
        case _:
            assert_never(change)


def _decode(item: list[Any]) -> Change:
    match item:
        case ["edit", uri, before, version, text]:
            return EditText(uri, Snapshot(uri, before, version), text)
        case ["create", uri, text]:
            return CreateFile(uri, text)
        case ["rename", uri, new_uri]:
            return RenameFile(uri, new_uri)
        case ["delete", uri, before, version]:
            return DeleteFile(uri, Snapshot(uri, before, version))
        case _:
            raise ValueError("this is no change that we wrote")
