"""Rebase: an edit that was computed on an older text, brought onto the present one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_lsp.core.change import EditText
from ollm_lsp.core.merge import merge

if TYPE_CHECKING:
    from ollm_lsp.core.snapshot import Snapshot


def rebased(edit: EditText, current: Snapshot) -> EditText | None:
    """The same edit of the present text, which keeps all that others changed; nothing when the changes meet."""
    if current.text == edit.base.text:
        return EditText(edit.uri, current, edit.text)
    text = merge(edit.base.text, edit.text, current.text)
    return None if text is None else EditText(edit.uri, current, text)
