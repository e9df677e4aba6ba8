"""Rebase: a change that was computed on an older text, brought onto the present one."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from ollm_lsp.core.change import CreateFile, DeleteFile, EditText, RenameFile
from ollm_lsp.core.merge import merge

if TYPE_CHECKING:
    from ollm_lsp.core.change import Change
    from ollm_lsp.core.snapshot import Snapshot


def rebased(edit: EditText, current: Snapshot) -> EditText | None:
    """The same edit of the present text, which keeps all that others changed; nothing when the changes meet."""
    if current.text == edit.base.text:
        return EditText(edit.uri, current, edit.text)
    text = merge(edit.base.text, edit.text, current.text)
    return None if text is None else EditText(edit.uri, current, text)


def renewed(change: Change, current: Snapshot | None) -> Change | None:
    """Any change on what there is now, as when a proposal is taken back later; nothing when it does not fit any more.

    A deletion must still lose the very text that it says, and `current` is nothing where no text is.
    """
    match change:
        case EditText():
            return rebased(change, current) if current else None
        case DeleteFile(uri, base):
            return DeleteFile(uri, current) if current and current.text == base.text else None
        case CreateFile():
            return None if current else change
        case RenameFile():
            return change
        case _:
            assert_never(change)
