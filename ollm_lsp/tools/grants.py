"""Grants: the user's answers that stand, for one conversation or for good."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_lsp.core.errors import StoreFailed

if TYPE_CHECKING:
    from pathlib import Path

    from ollm_lsp.core.grant import Grant
    from ollm_lsp.core.ports import GrantStore


def identity_of(folder: Path) -> str:
    """What tells a workspace folder from every other one: its path, and the device and number of what is there.

    A folder that was moved, copied or replaced is another one, and so is one that is not there: an editor may have
    documents, and folders, that were never saved.
    """
    try:
        status = folder.stat()
    except (OSError, ValueError):
        return f"{folder}\0nowhere"
    return f"{folder}\0{status.st_dev}:{status.st_ino}"


class Grants:
    """Answers by what they cover. Those for a conversation are kept here, those for good in the user's state."""

    def __init__(self, store: GrantStore | None = None) -> None:
        self._store = store
        self._in_conversation: dict[tuple[str, str], bool] = {}

    async def answer(self, grant: Grant, conversation_id: str) -> bool | None:
        """What the user has said about exactly this. Nothing means that they have to be asked.

        A no counts more than a yes; and when the store cannot be read, only its yes is missing, which is asked for.
        """
        answers = [self._in_conversation.get((conversation_id, grant.digest)), await self._kept(grant)]
        if False in answers:
            return False
        return True if True in answers else None

    def remember(self, grant: Grant, conversation_id: str, *, allows: bool) -> None:
        """For this conversation."""
        self._in_conversation[conversation_id, grant.digest] = allows

    async def keep(self, grant: Grant, *, allows: bool) -> None:
        """For good; `StoreFailed` when that cannot be."""
        if self._store is None:
            raise StoreFailed("There is no place to keep the answer.", remedy="Answer for this conversation instead.")
        await self._store.keep(grant, allows=allows)

    def forget(self, conversation_id: str) -> None:
        """The conversation is over."""
        for key in [key for key in self._in_conversation if key[0] == conversation_id]:
            del self._in_conversation[key]

    async def _kept(self, grant: Grant) -> bool | None:
        if self._store is None:
            return None
        try:
            return await self._store.answer(grant)
        except StoreFailed:
            return None
