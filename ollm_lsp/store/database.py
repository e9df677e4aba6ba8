"""One SQLite file: opened on first use, used by one thread, and where sqlite3's errors become ours.

The file is in WAL mode, so that several servers can use it at once: readers wait for nobody, and writers only for each
other. A transaction is in the file's log when it returns, and no death of the process undoes that, kill -9 included.
To outlive the loss of power it must also be on the disk: `is_durable` waits for that (synchronous=FULL). The others
(synchronous=NORMAL) may be lost then, the newest first, without harm to the file; the next durable one saves them too.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from ollm_lsp.core.errors import StoreFailed
from ollm_lsp.store import schema

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

BUSY_TIMEOUT = 5.0
"""Seconds to wait for another server that is writing."""
_OPENING_PAUSE = 0.02
_SPACE = "Free some space, or point OLLM_STATE_DIR to another disk."
_PERMISSIONS = "Mend the permissions there, or point OLLM_STATE_DIR to another place."
_PRIVATE = 0o600

Result = TypeVar("Result")


class Database:
    """A file with a schema of ours. After an error it is closed, and opened anew by whoever comes next."""

    def __init__(
        self,
        path: Path,
        busy_timeout: float = BUSY_TIMEOUT,
        *,
        holds: str = "conversations",
        migrations: Sequence[Sequence[str]] = schema.MIGRATIONS,
    ) -> None:
        self._path = path
        self._busy_timeout = busy_timeout
        self._holds = holds
        self._migrations = migrations
        self._connection: sqlite3.Connection | None = None
        self._file = (0, 0)

    def read(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Look at one consistent state."""
        return self._transact("BEGIN", work)

    def write(self, work: Callable[[sqlite3.Connection], Result], *, is_durable: bool = False) -> Result:
        """Change everything or nothing."""
        return self._transact("BEGIN IMMEDIATE", work, is_durable=is_durable)

    def tidy(self) -> None:
        """Take what was deleted out of the log as well. Not while others read, who then do it later."""
        with suppress(StoreFailed):
            self._guard(lambda connection: connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall())

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def _transact(
        self, begin: str, work: Callable[[sqlite3.Connection], Result], *, is_durable: bool = False
    ) -> Result:
        def transaction(connection: sqlite3.Connection) -> Result:
            connection.execute(f"PRAGMA synchronous = {'FULL' if is_durable else 'NORMAL'}")
            connection.execute(begin)
            try:
                result = work(connection)
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise
            return result

        return self._guard(transaction)

    def _guard(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        try:
            return work(self._open())
        except sqlite3.Error as error:
            self.close()
            raise self._failure(error) from None
        except OSError as error:
            self.close()
            raise StoreFailed(
                f"{self._holds.capitalize()} cannot be kept in {self._path} ({error.strerror or error}).",
                remedy=_PERMISSIONS,
            ) from None

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None:
            if self._identity() == self._file:
                return self._connection
            # Somebody moved the file away: what is written to it now would be found by nobody.
            self.close()
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR, _PRIVATE))
        if self._path.stat().st_mode & 0o777 != _PRIVATE:
            self._path.chmod(_PRIVATE)
        overdue = time.monotonic() + self._busy_timeout
        while True:
            connection = sqlite3.connect(self._path, timeout=self._busy_timeout, isolation_level=None)
            try:
                _prepare(connection, self._migrations)
            except BaseException as error:
                connection.close()
                # SQLite does not wait for another server that turns the mode to WAL at the same moment.
                if not _is_busy(error) or time.monotonic() > overdue:
                    raise
                time.sleep(_OPENING_PAUSE)
            else:
                self._connection, self._file = connection, self._identity()
                return connection

    def _identity(self) -> tuple[int, int]:
        try:
            status = self._path.stat()
        except FileNotFoundError:
            return (0, 0)
        return (status.st_dev, status.st_ino)

    def _failure(self, error: sqlite3.Error) -> StoreFailed:
        code = _code(error)
        finding, remedy = f"{self._holds.capitalize()} cannot be kept in {self._path} ({error}).", _PERMISSIONS
        if code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
            finding = f"The file of the {self._holds}, {self._path}, is damaged ({error})."
            remedy = "Move it away to begin anew; `sqlite3 FILE .recover` may save what is in it."
        elif _is_busy(error):
            remedy = "Close the program that uses that file, then try again."
        elif code in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}:
            remedy = _SPACE
        return StoreFailed(finding, remedy=remedy)


def _prepare(connection: sqlite3.Connection, migrations: Sequence[Sequence[str]]) -> None:
    # Before anything is changed: a newer schema is left as it is.
    is_newest = schema.check(connection, migrations)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA fullfsync = ON")  # on macOS nothing less waits for the disk
    if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        connection.execute("PRAGMA journal_mode = WAL").fetchone()
    if not is_newest:
        schema.upgrade(connection, migrations)


def _code(error: BaseException) -> int:
    """SQLite's primary error code; the extended ones say more than we need."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _is_busy(error: BaseException) -> bool:
    return isinstance(error, sqlite3.Error) and _code(error) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
