"""Grants in the user's state: kept for exactly what they were given for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from ollm_lsp.core.errors import StoreFailed
from ollm_lsp.core.grant import Grant
from ollm_lsp.store.grants import SqliteGrants

if TYPE_CHECKING:
    from pathlib import Path

GRANT = Grant("edit_file", "src/a.py", "/work\0" + "1:2", "rules")


@pytest.mark.threat("T7")
async def test_an_answer_is_kept_over_a_restart_for_exactly_what_it_was_given_for(tmp_path: Path) -> None:
    grants = SqliteGrants(tmp_path / "grants.db")
    assert await grants.answer(GRANT) is None
    await grants.keep(GRANT, allows=True)
    await grants.close()
    grants = SqliteGrants(tmp_path / "grants.db")
    assert await grants.answer(GRANT) is True
    assert await grants.answer(Grant("edit_file", "src/a.py", "/work\0" + "1:3", "rules")) is None
    await grants.keep(GRANT, allows=False)
    assert await grants.answer(GRANT) is False
    assert await grants.forget() == 1
    assert await grants.answer(GRANT) is None
    await grants.close()
    if sys.platform != "win32":
        assert (tmp_path / "grants.db").stat().st_mode & 0o777 == 0o600


async def test_names_that_are_no_text_can_be_kept_too(tmp_path: Path) -> None:
    grants = SqliteGrants(tmp_path / "grants.db")
    odd = Grant("edit_file", "a\udcff", "/work\udcfe", "rules")
    await grants.keep(odd, allows=True)
    assert await grants.answer(odd) is True
    await grants.close()


async def test_a_place_that_cannot_be_used_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    grants = SqliteGrants(tmp_path / "file" / "grants.db")
    with pytest.raises(StoreFailed, match="Permissions cannot be kept"):
        await grants.keep(GRANT, allows=True)
    await grants.close()
