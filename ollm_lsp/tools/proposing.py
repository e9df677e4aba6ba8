"""Proposing: the way from what a model wants to an outcome that it can read, the same for all editing tools."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, assert_never
from uuid import uuid4

from ollm_lsp.core.applied import Done, Failed, Rejected, Stale
from ollm_lsp.core.change import CreateFile, EditText, Proposal, uris
from ollm_lsp.core.errors import OllmError, StaleDocument
from ollm_lsp.core.rebase import rebased
from ollm_lsp.core.search_replace import NoMatch
from ollm_lsp.core.snapshot import Snapshot
from ollm_lsp.core.tool import ToolOutcome, ToolStatus
from ollm_lsp.core.visible import visible_name
from ollm_lsp.tools.changed_lines import changed_lines
from ollm_lsp.tools.read_log import READ_AGAIN, ReadLog, tag_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ollm_lsp.core.change import Change
    from ollm_lsp.core.ports import Proposes, ToolRun
    from ollm_lsp.tools.roots import Place
    from ollm_lsp.tools.walk import Kind

ATTEMPTS = 3
"""How often an edit is proposed anew when the document changed while the user thought about it."""


class View(Protocol):
    """What the editing tools see of the workspace, where the text of an open document counts and the disk does not."""

    def place(self, written: str) -> Place:
        """The place that a model means, or `OutsideWorkspace`."""
        ...

    async def read(self, place: Place) -> Snapshot:
        """The present text, or an `OllmError` when it cannot be read as text."""
        ...

    async def kind(self, place: Place) -> Kind | None:
        """What is there; nothing when nothing is."""
        ...


def _new_id() -> str:
    return uuid4().hex


@dataclass(frozen=True, slots=True)
class Proposing:
    """What every editing tool of a conversation works with."""

    view: View
    proposer: Proposes
    log: ReadLog
    new_id: Callable[[], str] = field(default=_new_id)

    async def propose(self, tool: str, title: str, change: Change, run: ToolRun) -> ToolOutcome | None:
        """Propose one change; nothing when it was made, else what the model reads of it."""
        applied = await self.proposer.propose(Proposal(self.new_id(), tool, visible_name(title), (change,)), run)
        match applied:
            case Done():
                return None
            case Rejected(feedback):
                words = f" They say: {feedback}" if feedback else " Do not try the same again."
                return ToolOutcome(f"The user did not allow it, and nothing was changed.{words}", ToolStatus.DENIED)
            case Failed(reason, failed, done):
                return failure(f"{reason} {await self._extent(failed, done)}")
            case Stale():
                raise StaleDocument("It changed while the user was asked, and nothing was changed.", remedy=READ_AGAIN)
            case _:
                assert_never(applied)

    async def edit(
        self, tool: str, place: Place, compute: Callable[[Snapshot], str], run: ToolRun, tag: str | None = None
    ) -> ToolOutcome:
        """Bring a text that is computed on what the model knows onto what there is, and propose that."""
        current = await self.view.read(place)
        # Once: what the user types from now on is nothing that the model knows, not even of a file it never read.
        base = self.log.base(current, tag)
        for attempt in range(1, ATTEMPTS + 1):
            try:
                # In a thread, because a large text takes its time.
                wanted, edit = await asyncio.to_thread(_edit, base, current, compute)
            except NoMatch as reason:
                return failure(str(reason))
            if edit is None:
                raise StaleDocument(f"{place.shown} has changed where you edit it.", remedy=READ_AGAIN)
            if edit.text == current.text:
                self.log.note(wanted)
                return ToolOutcome(f"{place.shown} says that already, so nothing was changed.")
            try:
                outcome = await self.propose(tool, f"Edit {place.shown}", edit, run)
            except StaleDocument:
                if attempt == ATTEMPTS:
                    raise
                current = await self.view.read(place)
                continue
            if outcome is None:
                self.log.note(wanted)
                return await self._told(place, edit, wanted)
            return outcome
        raise AssertionError("the last attempt returns or raises")

    async def _told(self, place: Place, edit: EditText, wanted: Snapshot) -> ToolOutcome:
        """The new state, read back and not assumed."""
        try:
            now = await self.view.read(place)
        except OllmError as error:
            return failure(f"The edit of {place.shown} was made, but the file cannot be read any more: {error}")
        if now.text == edit.base.text:
            return failure(f"The editor said that it edited {place.shown}, but it still says what it said before.")
        lines = await asyncio.to_thread(changed_lines, edit.base.text, now.text)
        if now.text == wanted.text:
            return ToolOutcome(f"{place.shown} was edited. Its tag is now {tag_of(now)}.\n{lines}")
        others = (
            "It holds changes that you have not seen, or the user took only a part of yours. Read it before you go on."
        )
        return ToolOutcome(f"{place.shown} was edited. {others}\n{lines}")

    async def _extent(self, failed: Change | None, done: tuple[Change, ...]) -> str:
        where = f"It failed at {uris(failed)[-1]}. " if failed else ""
        if isinstance(failed, CreateFile) and await self.view.kind(self.view.place(failed.uri)) is not None:
            where += "That file is there now, but not with the text that you wrote. "
        elif not done:
            return f"{where}Nothing was changed."
        changed = ", ".join(uris(change)[-1] for change in done)
        return where + f"These were changed: {changed}." if done else where.rstrip()


def failure(text: str) -> ToolOutcome:
    """An outcome for what did not work."""
    return ToolOutcome(text, ToolStatus.FAILED)


def _edit(base: Snapshot, current: Snapshot, compute: Callable[[Snapshot], str]) -> tuple[Snapshot, EditText | None]:
    """The text that the model wants, and how the present one becomes it with all that others have changed."""
    edit = EditText(base.uri, base, compute(base))
    return Snapshot(base.uri, edit.text), rebased(edit, current)
