"""Before-images: what files were before a proposal changed them, so that it can be taken back as a whole.

They are written before anything is changed, durably, and byte for byte: a redacted text could not be brought back.
The file is therefore as private as the workspace itself.
"""

from __future__ import annotations

import time
from codecs import BOM_UTF8
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ollm_lsp.core.before_image import BeforeImage
from ollm_lsp.core.change import CreateFile
from ollm_lsp.core.errors import StoreFailed
from ollm_lsp.store import changes_json
from ollm_lsp.store.database import BUSY_TIMEOUT, Database
from ollm_lsp.store.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from sqlite3 import Connection

    from ollm_lsp.core.change import Change, Proposal

MIGRATIONS: Final = (
    (
        """
        CREATE TABLE proposal (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            recorded REAL NOT NULL,
            item BLOB NOT NULL,
            done TEXT
        )
        """,
        """
        CREATE TABLE image (
            proposal INTEGER NOT NULL REFERENCES proposal (number) ON DELETE CASCADE,
            uri BLOB NOT NULL,
            data BLOB,
            PRIMARY KEY (proposal, uri)
        )
        """,
    ),
)
"""`done` lists the changes that were made, by number; null means that nobody came to say, so perhaps all of them.
`data` is null where no file was."""
MOST_BYTES = 256 * 1024 * 1024
LONGEST = 30 * 24 * 3600.0
"""Seconds for which a proposal can be taken back."""
_ANY_TEXT: Final = ("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True)
class Recorded:
    """A proposal that was accepted, which of its changes were made, and the files as they were before."""

    proposal: Proposal
    done: tuple[Change, ...]
    images: tuple[BeforeImage, ...]

    def reverse(self, proposal_id: str) -> Proposal | None:
        """What takes it back; nothing when nothing was changed.

        A deleted file comes back with its byte-order mark, which the text that an editor has of it lacks.
        """
        plain = self.proposal.reverse(proposal_id, self.done)
        if plain is None:
            return None
        marked = {image.uri for image in self.images if image.data is not None and image.data.startswith(BOM_UTF8)}
        changes = (
            CreateFile(change.uri, f"\ufeff{change.text.removeprefix(chr(0xFEFF))}")
            if isinstance(change, CreateFile) and change.uri in marked
            else change
            for change in plain.changes
        )
        return replace(plain, changes=tuple(changes))


class BeforeImages:
    """The accepted proposals of the last weeks, in one file. The oldest go when there are too many."""

    def __init__(
        self,
        path: Path,
        clock: Callable[[], float] = time.time,
        busy_timeout: float = BUSY_TIMEOUT,
        *,
        most_bytes: int = MOST_BYTES,
        longest: float = LONGEST,
    ) -> None:
        self._worker = Worker(Database(path, busy_timeout, holds="proposals", migrations=MIGRATIONS), "proposals")
        self._clock = clock
        self._most_bytes = most_bytes
        self._longest = longest

    async def record(self, proposal: Proposal, images: Sequence[BeforeImage]) -> None:
        """Keep what is needed to take a proposal back. Nothing may be changed before this has returned."""
        item, now = changes_json.encode(proposal), self._clock()

        def work(connection: Connection) -> None:
            _prune(connection, now - self._longest, self._most_bytes - len(item) - sum(map(_size, images)))
            row = connection.execute(
                "INSERT INTO proposal (id, recorded, item) VALUES (?, ?, ?)", (proposal.id, now, item)
            )
            connection.executemany(
                "INSERT INTO image VALUES (?, ?, ?)",
                [(row.lastrowid, image.uri.encode(*_ANY_TEXT), image.data) for image in images],
            )

        await self._worker.write(work)

    async def settle(self, proposal_id: str, done: Sequence[Change]) -> None:
        """Tell which changes of a proposal were made in the end."""

        def work(connection: Connection) -> None:
            row = connection.execute("SELECT item FROM proposal WHERE id = ?", (proposal_id,)).fetchone()
            if row is not None:
                changes = changes_json.decode(proposal_id, row[0]).changes
                numbers = ",".join(str(number) for number, change in enumerate(changes) if change in done)
                connection.execute("UPDATE proposal SET done = ? WHERE id = ?", (numbers, proposal_id))

        await self._worker.write(work)

    async def get(self, proposal_id: str) -> Recorded | None:
        """A proposal with all that takes it back, if it is kept."""
        return await self._worker.read(lambda connection: _recorded(connection, proposal_id))

    async def revert(self, proposal_id: str, new_id: str) -> Proposal | None:
        """The proposal that takes another one back; nothing when that is not kept, or changed nothing."""
        recorded = await self.get(proposal_id)
        return recorded.reverse(new_id) if recorded else None

    async def newest(self) -> str | None:
        """The id of the last proposal of which something was changed, or may have been."""

        def work(connection: Connection) -> str | None:
            row = connection.execute(
                "SELECT id FROM proposal WHERE done IS NULL OR done <> '' ORDER BY number DESC LIMIT 1"
            ).fetchone()
            return row and row[0]

        return await self._worker.read(work)

    async def close(self) -> None:
        await self._worker.close()


def _size(image: BeforeImage) -> int:
    return len(image.data or b"")


def _prune(connection: Connection, oldest: float, most_bytes: int) -> None:
    connection.execute("DELETE FROM proposal WHERE recorded < ?", (oldest,))
    kept = 0
    sizes = """
        SELECT number, length(item) + (SELECT coalesce(sum(length(data)), 0) FROM image WHERE proposal = number)
        FROM proposal ORDER BY number DESC
    """
    for number, size in connection.execute(sizes).fetchall():
        kept += size
        if kept > most_bytes:
            connection.execute("DELETE FROM proposal WHERE number <= ?", (number,))
            return


def _recorded(connection: Connection, proposal_id: str) -> Recorded | None:
    row = connection.execute("SELECT number, item, done FROM proposal WHERE id = ?", (proposal_id,)).fetchone()
    if row is None:
        return None
    number, item, done = row
    try:
        proposal = changes_json.decode(proposal_id, item)
        numbers = range(len(proposal.changes)) if done is None else [int(one) for one in done.split(",") if one]
        made = tuple(proposal.changes[one] for one in numbers)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise StoreFailed(
            f"The record of a proposal is damaged ({type(error).__name__}).",
            remedy="Take the change back with the editor's undo or with version control.",
        ) from None
    rows = connection.execute("SELECT uri, data FROM image WHERE proposal = ?", (number,)).fetchall()
    return Recorded(
        proposal, made, tuple(BeforeImage(uri.decode("utf-8", "surrogatepass"), data) for uri, data in rows)
    )
