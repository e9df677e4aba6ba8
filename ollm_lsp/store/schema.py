"""The database's schema, by version. A migration that was ever released is never changed; a new one is appended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_lsp.core.errors import StoreFailed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE conversation (
            id TEXT PRIMARY KEY,
            title TEXT NOT NULL,
            created REAL NOT NULL,
            updated REAL NOT NULL
        )
        """,
        """
        CREATE TABLE response (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            conversation_id TEXT NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
            parent_id TEXT,
            provider TEXT NOT NULL,
            model TEXT NOT NULL,
            input_tokens INTEGER NOT NULL DEFAULT 0,
            output_tokens INTEGER NOT NULL DEFAULT 0,
            cache_read_tokens INTEGER NOT NULL DEFAULT 0,
            cache_write_tokens INTEGER NOT NULL DEFAULT 0,
            cost_micros INTEGER NOT NULL DEFAULT 0,
            cost_currency TEXT NOT NULL DEFAULT 'USD',
            cost_known INTEGER NOT NULL DEFAULT 0,
            finish_reason TEXT,
            is_recap INTEGER NOT NULL DEFAULT 0,
            began REAL NOT NULL,
            ended REAL
        )
        """,
        "CREATE INDEX response_conversation ON response (conversation_id, number)",
        """
        CREATE TABLE message (
            response INTEGER NOT NULL REFERENCES response (number) ON DELETE CASCADE,
            number INTEGER NOT NULL,
            is_input INTEGER NOT NULL,
            item TEXT NOT NULL,
            PRIMARY KEY (response, number)
        )
        """,
        """
        CREATE TABLE draft (
            number INTEGER PRIMARY KEY,
            response INTEGER NOT NULL REFERENCES response (number) ON DELETE CASCADE,
            is_reasoning INTEGER NOT NULL,
            text TEXT NOT NULL
        )
        """,
        "CREATE INDEX draft_response ON draft (response, number)",
    ),
    ("ALTER TABLE conversation ADD COLUMN chosen TEXT",),
)
"""`draft` holds what a response has grown by since its last complete message; its text is a JSON string.
`chosen` is the model that the user wants for a conversation, as `provider:name`."""


def check(connection: Connection, migrations: Sequence[Sequence[str]] = MIGRATIONS) -> bool:
    """Whether the schema is the newest. One that is newer than this program is refused, and stays as it is."""
    version = _version(connection)
    if version > len(migrations):
        raise StoreFailed(
            f"This was kept by a newer ollm-lsp (schema {version}, this one knows {len(migrations)}).",
            remedy="Update ollm-lsp, or point OLLM_STATE_DIR to another place.",
        )
    return version == len(migrations)


def upgrade(connection: Connection, migrations: Sequence[Sequence[str]] = MIGRATIONS) -> None:
    """Bring the schema to the newest version, all or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not check(connection, migrations):  # another server may have been faster
            for migration in migrations[_version(connection) :]:
                for statement in migration:
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {len(migrations)}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _version(connection: Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return version
