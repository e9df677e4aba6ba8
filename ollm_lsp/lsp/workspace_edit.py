"""A proposal as the edit that an editor can make. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from ollm_lsp.core.change import CreateFile, DeleteFile, EditText, RenameFile
from ollm_lsp.core.splices import splices, spots
from ollm_lsp.lsp.buffer import PositionEncoding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.change import Change, Proposal
    from ollm_lsp.core.snapshot import Snapshot
    from ollm_lsp.core.splices import Splice, Spot
    from ollm_lsp.lsp.capabilities import ClientCapabilities

ANNOTATION = "ollm"
_OPERATIONS = {CreateFile: "create", RenameFile: "rename", DeleteFile: "delete"}


class CannotApply(Exception):
    """The client has no way to make this change; the message is for people."""


def workspace_edit(proposal: Proposal, client: ClientCapabilities, *, asks: bool = False) -> dict[str, Any]:
    """The edit in the richest form that the client knows; with `asks` it confirms each change with its user."""
    for change in proposal.changes:
        _refuse_unknown(change, client)
    if not client.document_changes:
        # Only edits are left. Such a client checks no version, so whoever applies this has to look afterwards.
        edits = [change for change in proposal.changes if isinstance(change, EditText)]
        return {"changes": {edit.uri: _text_edits(edit, client.encoding) for edit in edits}}
    note = {"annotationId": ANNOTATION} if asks else {}
    steps = [step for change in proposal.changes for step in _steps(change, client.encoding, note)]
    edit: dict[str, Any] = {"documentChanges": steps}
    if asks:
        label = {"label": proposal.title, "needsConfirmation": True, "description": "Proposed by ollm"}
        edit["changeAnnotations"] = {ANNOTATION: label}
    return edit


def document_edit(base: Snapshot, changes: Sequence[Splice], client: ClientCapabilities) -> dict[str, Any]:
    """Exactly these splices of one open document, on that version of it where the client knows versions."""
    edits = _edits(base.text, changes, client.encoding)
    if not client.document_changes:
        return {"changes": {base.uri: edits}}
    return {"documentChanges": [{"textDocument": {"uri": base.uri, "version": base.version}, "edits": edits}]}


def position(spot: Spot, encoding: PositionEncoding) -> dict[str, int]:
    """A place in the code units that the client counts in."""
    match encoding:
        case PositionEncoding.UTF8:
            units = len(spot.before.encode("utf-8", "surrogatepass"))
        case PositionEncoding.UTF16:
            units = len(spot.before.encode("utf-16-le", "surrogatepass")) // 2
        case PositionEncoding.UTF32:
            units = len(spot.before)
        case _:
            assert_never(encoding)
    return {"line": spot.line, "character": units}


def _refuse_unknown(change: Change, client: ClientCapabilities) -> None:
    if isinstance(change, EditText):
        return
    operation = _OPERATIONS[type(change)]
    if not client.document_changes or operation not in client.resource_operations:
        raise CannotApply(f"This editor cannot {operation} files at the request of a language server.")


def _steps(change: Change, encoding: PositionEncoding, note: dict[str, str]) -> list[dict[str, Any]]:
    match change:
        case EditText(uri, base):
            edits = [edit | note for edit in _text_edits(change, encoding)]
            return [{"textDocument": {"uri": uri, "version": base.version}, "edits": edits}]
        case CreateFile(uri, text):
            create = {"kind": "create", "uri": uri, "options": {"overwrite": False, "ignoreIfExists": False}, **note}
            start = {"line": 0, "character": 0}
            fill = {"range": {"start": start, "end": start}, "newText": text, **note}
            document = {"uri": uri, "version": None}
            return [create, {"textDocument": document, "edits": [fill]}] if text else [create]
        case RenameFile(uri, new_uri):
            options = {"overwrite": False, "ignoreIfExists": False}
            return [{"kind": "rename", "oldUri": uri, "newUri": new_uri, "options": options, **note}]
        case DeleteFile(uri):
            options = {"recursive": False, "ignoreIfNotExists": False}
            return [{"kind": "delete", "uri": uri, "options": options, **note}]
        case _:
            assert_never(change)


def _text_edits(change: EditText, encoding: PositionEncoding) -> list[dict[str, Any]]:
    return _edits(change.base.text, splices(change.base.text, change.text), encoding)


def _edits(base: str, changes: Sequence[Splice], encoding: PositionEncoding) -> list[dict[str, Any]]:
    return [
        {"range": {"start": position(start, encoding), "end": position(end, encoding)}, "newText": text}
        for start, end, text in spots(base, changes)
    ]
