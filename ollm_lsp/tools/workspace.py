"""The workspace as tools see it: one view of open buffers and files, in which the buffer always wins."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import unquote

from ollm_lsp.core.copyable import copyable
from ollm_lsp.core.errors import OllmError, OutsideWorkspace, PermissionDenied, UnreadableFile
from ollm_lsp.core.snapshot import Snapshot
from ollm_lsp.tools import gitignore, walk
from ollm_lsp.tools.file_text import MAX_FILE, text_of
from ollm_lsp.tools.secret_files import DenySecrets, is_secret
from ollm_lsp.tools.walk import Kind
from ollm_lsp.tools.watch import in_thread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.ports import Buffers
    from ollm_lsp.tools.policy import Policy
    from ollm_lsp.tools.roots import Place, Roots
    from ollm_lsp.tools.walk import Entry

MAX_RAW = 64 * 1024 * 1024
_TIME_LIMIT = 30.0
_FILE = re.compile("file:", re.IGNORECASE)


class Workspace:
    """The folders and the open buffers. Every method refuses what the policy forbids and what leads outside."""

    def __init__(self, roots: Roots, buffers: Buffers, policy: Policy | None = None) -> None:
        self.roots = roots
        self._buffers = buffers
        self._policy = policy or DenySecrets()

    def place(self, written: str) -> Place:
        """What a model means by a path; raises `OutsideWorkspace`."""
        return self.roots.place(written)

    def place_of(self, uri: str) -> Place | None:
        """The place of an open document, if it is in the workspace."""
        try:
            return self.roots.place(uri) if _FILE.match(uri) else None
        except OutsideWorkspace:
            return None

    def may_read(self, place: Place) -> bool:
        return self._policy.may_read(place)

    def buffers(self) -> list[tuple[Place | None, Snapshot]]:
        """All open documents, the one used last first; those outside the workspace have no place."""
        return [(self.place_of(snapshot.uri), snapshot) for snapshot in self._buffers.all()]

    def buffer(self, place: Place) -> Snapshot | None:
        """The open document at a place."""
        return self._buffers.get(place.uri)

    async def opened(self, place: Place) -> Snapshot | None:
        """The open document at a place, also when it is open under another spelling of the same name."""
        if snapshot := self.buffer(place):
            return snapshot
        for uri in self._buffers.uris():
            other = self.place_of(uri)
            if other and other.resembles(place) and await in_thread(partial(_are_one, place, other), _TIME_LIMIT):
                return self._buffers.get(uri)
        return None

    def elsewhere(self, written: str) -> Snapshot | None:
        """The open document outside the workspace that is named exactly as it is shown; raises `PermissionDenied`."""
        for place, snapshot in self.buffers():
            if place is None and written in (snapshot.uri, copyable(snapshot.uri)):
                if not may_show(snapshot.uri):
                    raise _denied(copyable(snapshot.uri))
                return snapshot
        return None

    async def read(self, place: Place) -> Snapshot:
        """The text at a place: that of the open buffer, saved or not, or else that of the file."""
        self._refuse_forbidden(place)
        if snapshot := self.buffer(place):
            return snapshot
        data = await in_thread(lambda _: walk.read(place, MAX_FILE + 1), _TIME_LIMIT)
        # It may have been opened meanwhile, and it may be open under another spelling of the same name.
        if snapshot := await self.opened(place):
            return snapshot
        if len(data) > MAX_FILE:
            raise UnreadableFile(
                f"'{place.shown}' has more than {MAX_FILE // 2**20} MB.", remedy="Search in it with search_text."
            )
        return Snapshot(place.uri, await in_thread(lambda _: text_of(data, place.shown), _TIME_LIMIT))

    async def head(self, place: Place, limit: int) -> bytes:
        """The first bytes of a file, whatever they mean."""
        self._refuse_forbidden(place)
        return await in_thread(lambda _: walk.read(place, limit), _TIME_LIMIT)

    async def raw(self, place: Place) -> bytes:
        """The whole file as it is on the disk, whatever it holds: not for a model, but to bring it back one day."""
        return await in_thread(lambda _: walk.read(place, MAX_RAW), _TIME_LIMIT)

    async def kind(self, place: Place) -> Kind | None:
        """What is at a place. A document that is open but was never saved is a file, too."""
        if self.buffer(place):
            return Kind.FILE
        status = await in_thread(lambda _: walk.look(place), _TIME_LIMIT)
        return walk.kind_of(status) if status else None

    async def scan(self, place: Place, limit: int) -> Sequence[Entry]:
        """What is in a folder on the disk, in no order."""
        return await in_thread(lambda _: walk.scan(place, limit, with_sizes=True), _TIME_LIMIT)

    async def left_out_by_git(self, places: Sequence[Place]) -> set[Place]:
        """Those of some files that the `.gitignore` files leave out."""
        return await in_thread(lambda _: gitignore.left_out(places), _TIME_LIMIT) if places else set()

    async def files_among(self, places: Sequence[Place], most: int = 1_000) -> list[Place]:
        """Those of some places where there is a file on the disk, as far as so many looks at it tell."""
        return await in_thread(lambda _: _files(places, most), _TIME_LIMIT) if places else []

    def _refuse_forbidden(self, place: Place) -> None:
        if not self.may_read(place):
            raise _denied(place.shown)


def may_show(uri: str) -> bool:
    """Whether an open document outside the workspace may be read: not when its path is one of secrets."""
    path = re.split("[?#]", unquote(uri.partition(":")[2]), maxsplit=1)[0]
    return not is_secret(re.split(r"[/\\]+", path))


def _are_one(place: Place, other: Place, _: object) -> bool:
    identity = walk.identity(place)
    return identity is not None and identity == walk.identity(other)


def _files(places: Sequence[Place], most: int) -> list[Place]:
    known: dict[Place, Kind | None] = {}

    def kind(place: Place) -> Kind | None:
        """What is at a place. Nothing is looked for below what is no folder."""
        if not place.names:
            return Kind.FOLDER
        if place not in known and kind(place.parent) is not Kind.FOLDER:
            return None
        if place not in known:
            known[place] = _kind(place) if len(known) < most else None
        return known[place]

    return [place for place in places if kind(place) is Kind.FILE]


def _kind(place: Place) -> Kind | None:
    try:
        status = walk.look(place)
    except OllmError:
        return None
    return walk.kind_of(status) if status else None


def _denied(shown: str) -> PermissionDenied:
    return PermissionDenied(
        f"'{shown}' may hold secrets and is not read.", remedy="Go on without it, or ask the user for what you need."
    )
