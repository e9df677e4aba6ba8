"""The schema: every older one is brought up to date, a newer one is left alone."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from ollm_lsp.core.errors import StoreFailed
from ollm_lsp.store import schema

FIRST = ("CREATE TABLE a (x)", "INSERT INTO a VALUES (1)")
SECOND = ("ALTER TABLE a ADD COLUMN y DEFAULT 2",)


def version(connection: sqlite3.Connection) -> int:
    return connection.execute("PRAGMA user_version").fetchone()[0]


def database() -> sqlite3.Connection:
    return sqlite3.connect(":memory:", isolation_level=None)


@pytest.mark.prop("eng-3")
@pytest.mark.parametrize("old", range(len(schema.MIGRATIONS) + 1))
def test_every_older_schema_is_brought_up_to_date(old: int) -> None:
    with closing(database()) as connection, closing(database()) as new:
        schema.upgrade(connection, schema.MIGRATIONS[:old])
        assert schema.check(connection) is (old == len(schema.MIGRATIONS))
        schema.upgrade(connection)
        schema.upgrade(new)
        assert version(connection) == len(schema.MIGRATIONS)
        assert schema.check(connection)
        names = "SELECT sql FROM sqlite_master ORDER BY name"
        assert connection.execute(names).fetchall() == new.execute(names).fetchall()


def test_a_migration_keeps_what_is_there() -> None:
    with closing(database()) as connection:
        schema.upgrade(connection, [FIRST])
        schema.upgrade(connection, [FIRST, SECOND])
        schema.upgrade(connection, [FIRST, SECOND])
        assert connection.execute("SELECT * FROM a").fetchall() == [(1, 2)]
        assert version(connection) == 2


@pytest.mark.threat("F46")
def test_a_migration_that_fails_changes_nothing() -> None:
    with closing(database()) as connection:
        schema.upgrade(connection, [FIRST])
        with pytest.raises(sqlite3.OperationalError):
            schema.upgrade(connection, [FIRST, SECOND, ("CREATE TABLE b (x)", "nonsense")])
        assert version(connection) == 1
        assert connection.execute("SELECT * FROM a").fetchall() == [(1,)]
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("a",)]


def test_a_newer_schema_is_refused_with_a_remedy() -> None:
    with closing(database()) as connection:
        schema.upgrade(connection, [FIRST, SECOND])
        for refuse in (schema.check, schema.upgrade):
            with pytest.raises(StoreFailed, match=r"schema 2, this one knows 1") as refused:
                refuse(connection, [FIRST])
            assert "Update ollm-lsp" in refused.value.remedy
        assert version(connection) == 2
        assert not connection.in_transaction
