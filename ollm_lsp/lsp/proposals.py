"""Pending proposals, for clients that cannot be asked: hints in the documents, and code actions that decide.

A proposal that edits a text is decided hunk by hunk, any other as a whole. Whatever is left undecided is a no.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.change import EditText
from ollm_lsp.core.permission import Offered, Option, Reply
from ollm_lsp.core.splices import apply, splices, spots
from ollm_lsp.core.visible import visible
from ollm_lsp.lsp import uris
from ollm_lsp.lsp.published import SOURCE
from ollm_lsp.lsp.show import tell
from ollm_lsp.lsp.workspace_edit import position

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ollm_lsp.core.change import Proposal
    from ollm_lsp.core.permission import PermissionRequest
    from ollm_lsp.core.splices import Splice
    from ollm_lsp.lsp.buffer import PositionEncoding
    from ollm_lsp.lsp.session import Session

_HINT = 4
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Hunk:
    """One place of a proposal that can be accepted by itself."""

    uri: str
    number: int
    range: dict[str, Any]
    text: str


@dataclass(slots=True)
class Pending:
    """A proposal and what the user has decided of it so far."""

    proposal: Proposal
    request: PermissionRequest
    feedback: str | None = None
    _splices: tuple[Splice, ...] = ()
    _decided: dict[int, bool] = field(default_factory=dict[int, bool])
    _is_over: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        edit = self._edit
        self._splices = splices(edit.base.text, edit.text) if edit else ()

    @property
    def _edit(self) -> EditText | None:
        """The one edit that hunks can be taken from."""
        first, *others = self.proposal.changes
        return first if isinstance(first, EditText) and not others else None

    def hunks(self, encoding: PositionEncoding) -> list[Hunk]:
        """Those that are undecided. What is no edit has one, at the head of its document."""
        edit = self._edit
        if edit is None:
            start = {"line": 0, "character": 0}
            first = self.proposal.changes[0].uri
            return [] if self._decided else [Hunk(first, 0, {"start": start, "end": start}, self.proposal.title)]
        found = spots(edit.base.text, self._splices)
        return [
            Hunk(edit.uri, number, {"start": position(start, encoding), "end": position(end, encoding)}, text)
            for number, (start, end, text) in enumerate(found)
            if number not in self._decided
        ]

    @property
    def is_told_by_hints(self) -> bool:
        """Whether the hints say all of it: where text is taken away or added, and which."""
        return self._edit is not None and all(len(splice.text) <= _LONGEST for splice in self._splices)

    def settle(self, *, accepts: bool, hunk: int | None = None, feedback: str | None = None) -> bool:
        """Decide a hunk, or all that is left; false when that is decided already, or never was to be."""
        left = [number for number in range(max(1, len(self._splices))) if number not in self._decided]
        numbers = left if hunk is None else [number for number in left if number == hunk]
        self._decided |= dict.fromkeys(numbers, accepts)
        self.feedback = feedback or self.feedback
        if len(numbers) == len(left):
            self._is_over.set()
        return bool(numbers)

    async def wait(self) -> None:
        await self._is_over.wait()

    @property
    def offered(self) -> Offered:
        """What the user wants of it."""
        if not any(self._decided.values()):
            return Offered(Reply(Option.REJECT_ONCE, self.feedback), self.proposal)
        edit = self._edit
        if edit is None or all(self._decided.get(number) for number in range(len(self._splices))):
            return Offered(Reply(Option.ALLOW_ONCE, self.feedback), self.proposal)
        accepted = [splice for number, splice in enumerate(self._splices) if self._decided.get(number)]
        smaller = replace(edit, text=apply(edit.base.text, accepted))
        return Offered(Reply(Option.ALLOW_ONCE, self.feedback), replace(self.proposal, changes=(smaller,)))


class Proposals:
    """Everything that waits for the user in this session, by id."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._pending: dict[str, Pending] = {}
        self._marked: set[str] = set()

    def __iter__(self) -> Iterator[Pending]:
        return iter(tuple(self._pending.values()))

    def get(self, proposal_id: str) -> Pending | None:
        return self._pending.get(proposal_id)

    async def decide(self, pending: Pending, *, seconds: float) -> Offered:
        """Show the proposal as hints and wait for the user. Who does not answer in time says no."""
        proposal_id, request = pending.proposal.id, pending.request
        if not pending.is_told_by_hints:
            # Nobody shall accept what they were not shown.
            await tell(self._session, request.title, request.detail)
        self._pending[proposal_id] = pending
        message = f"ollm proposes: {request.title}. Accept or reject it by a code action."
        self._session.rpc.notify("window/showMessage", {"type": 3, "message": message})
        try:
            self.mark()
            async with asyncio.timeout(seconds):
                await pending.wait()
        except TimeoutError:
            pass
        finally:
            del self._pending[proposal_id]
            self.mark()
        return pending.offered

    def settle(self, proposal_id: str, *, accepts: bool, hunk: int | None = None, feedback: str | None = None) -> bool:
        """The user has decided; false when nothing of that id, or no such hunk of it, waits."""
        pending = self._pending.get(proposal_id)
        if pending is None or not pending.settle(accepts=accepts, hunk=hunk, feedback=feedback):
            return False
        self.mark()
        return True

    def withdraw(self, old: str, new: str) -> None:
        """A file or folder was renamed: what waits for its documents is a no, and the model hears the new name."""
        for proposal_id, pending in tuple(self._pending.items()):
            for change in pending.proposal.changes:
                if place := uris.moved(change.uri, old, new):
                    reason = f"The user has renamed the file to {uris.display_path(place)}: propose it there."
                    self.settle(proposal_id, accepts=False, feedback=reason)

    def mark(self) -> None:
        """Publish the hints of all that waits, and take back those of what does not."""
        hints: dict[str, list[dict[str, Any]]] = {uri: [] for uri in self._marked}
        for pending in self._pending.values():
            for hunk in pending.hunks(self._session.client.encoding):
                hints.setdefault(hunk.uri, []).append(_hint(pending, hunk))
        self._marked = {uri for uri, found in hints.items() if found}
        for uri, found in hints.items():
            self._session.published.put("proposals", uri, found)


def _hint(pending: Pending, hunk: Hunk) -> dict[str, Any]:
    text = visible(hunk.text if len(hunk.text) <= _LONGEST else f"{hunk.text[:_LONGEST]}…")
    return {
        "range": hunk.range,
        "severity": _HINT,
        "source": SOURCE,
        "code": "proposal",
        "message": f"{pending.request.title}: {text}" if text.strip() else pending.request.title,
        "data": {"id": pending.proposal.id, "hunk": hunk.number},
    }
