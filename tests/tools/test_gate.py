"""Standing answers: they count for exactly what they were given for, and never where none may stand."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ollm_lsp.core.decision import Decision
from ollm_lsp.core.errors import StoreFailed
from ollm_lsp.core.grant import Grant
from ollm_lsp.core.tool import ToolKind
from ollm_lsp.settings.resolved import ToolsSettings
from ollm_lsp.tools.gate import Gate, Matter
from ollm_lsp.tools.grants import Grants, identity_of
from ollm_lsp.tools.permission_rules import PermissionRules

if TYPE_CHECKING:
    from pathlib import Path

EDIT = Matter("edit_file", ToolKind.EDIT, ("src/a.py",))


class Kept:
    """A store in memory, which can be broken."""

    def __init__(self) -> None:
        self.answers: dict[str, bool] = {}
        self.is_broken = False

    async def answer(self, grant: Grant) -> bool | None:
        if self.is_broken:
            raise StoreFailed("Broken.", remedy="Mend it.")
        return self.answers.get(grant.digest)

    async def keep(self, grant: Grant, *, allows: bool) -> None:
        self.answers[grant.digest] = allows

    async def forget(self) -> int:
        count = len(self.answers)
        self.answers.clear()
        return count


def gate(
    grants: Grants, rules: ToolsSettings | None = None, workspace: str = "/work", own: tuple[str, ...] = ()
) -> Gate:
    return Gate(PermissionRules(rules or ToolsSettings(), own), grants, workspace)


async def allowed(gate: Gate, matter: Matter = EDIT, conversation: str = "c") -> bool | None:
    verdict = await gate.verdict(matter, conversation)
    return verdict and verdict.allowed


async def test_an_answer_for_a_conversation_counts_there_only() -> None:
    grants = Grants()
    await gate(grants).keep(EDIT, "c", allows=True, for_good=False)
    assert await allowed(gate(grants)) is True
    assert await allowed(gate(grants), conversation="other") is None
    grants.forget("c")
    assert await allowed(gate(grants)) is None


async def test_an_answer_for_good_counts_in_every_conversation_until_it_is_forgotten() -> None:
    store = Kept()
    await gate(Grants(store)).keep(EDIT, "c", allows=True, for_good=True)
    assert await allowed(gate(Grants(store)), conversation="later") is True
    await store.forget()
    assert await allowed(gate(Grants(store)), conversation="later") is None


@pytest.mark.threat("T7")
@pytest.mark.parametrize("for_good", [True, False])
@pytest.mark.parametrize(
    "matter",
    [
        replace(EDIT, tool="write_file"),
        replace(EDIT, paths=("src/b.py",)),
        replace(EDIT, paths=("src/a.py", "src/b.py")),
        replace(EDIT, is_external=True),
        replace(EDIT, is_folder=True),
        replace(EDIT, kind=ToolKind.DELETE),
    ],
)
async def test_whatever_else_is_wanted_asks_again(matter: Matter, for_good: bool) -> None:
    grants = Grants(Kept())
    await gate(grants).keep(EDIT, "c", allows=True, for_good=for_good)
    assert await allowed(gate(grants)) is True
    assert await allowed(gate(grants), matter) is None


@pytest.mark.threat("T7")
async def test_another_folder_and_other_rules_ask_again() -> None:
    grants = Grants(Kept())
    await gate(grants).keep(EDIT, "c", allows=True, for_good=True)
    assert await allowed(gate(grants, workspace="/other")) is None
    assert await allowed(gate(grants, ToolsSettings(restrictions=(("*.md", Decision.ASK),)))) is None


@pytest.mark.threat("T7")
async def test_a_folder_that_was_moved_or_put_in_the_place_of_another_is_another_one(tmp_path: Path) -> None:
    folder, other = tmp_path / "work", tmp_path / "other"
    folder.mkdir()
    other.mkdir()
    before = identity_of(folder)
    assert identity_of(folder) == before
    (folder / "file").write_text("")
    assert identity_of(folder) == before
    folder.rename(tmp_path / "moved")
    other.rename(folder)
    assert identity_of(folder) != before
    assert identity_of(tmp_path / "moved") != before


@pytest.mark.threat("T8", "T13")
@pytest.mark.parametrize(
    "matter",
    [
        Matter("edit_file", ToolKind.EDIT, (".vscode/settings.json",)),
        Matter("create_file", ToolKind.CREATE, ("sub/.Git/hooks/pre-commit",)),
        Matter("rename_file", ToolKind.MOVE, ("src", "lib"), is_folder=True),
        Matter("run_command", ToolKind.EXECUTE, ()),
    ],
)
async def test_no_yes_ever_stands_for_what_is_protected_or_run(matter: Matter) -> None:
    store = Kept()
    grants = Grants(store)
    assert not gate(grants).may_stand(matter)
    await gate(grants).keep(matter, "c", allows=True, for_good=True)
    assert store.answers == {}
    assert await allowed(gate(grants), matter) is None
    # Not even when somebody wrote it into the store.
    forged = Grant(matter.tool, matter.scope, "/work", PermissionRules(ToolsSettings()).digest)
    await store.keep(forged, allows=True)
    grants.remember(forged, "c", allows=True)
    assert await allowed(gate(grants), matter) is None
    await gate(grants).keep(matter, "c", allows=False, for_good=True)
    assert await allowed(gate(grants), matter) is False


async def test_rules_come_before_answers() -> None:
    grants = Grants(Kept())
    deny, allow = (
        ToolsSettings(((f"{tool}", decision),)) for tool, decision in (("*", Decision.DENY), ("*", Decision.ALLOW))
    )
    await gate(grants, deny).keep(EDIT, "c", allows=True, for_good=True)
    verdict = await gate(grants, deny).verdict(EDIT, "c")
    assert verdict is not None
    assert not verdict.allowed
    assert verdict.feedback == "The user's rules do not allow edit_file here."
    assert await allowed(gate(grants, allow)) is True


async def test_a_no_counts_more_than_a_yes() -> None:
    grants = Grants(Kept())
    await gate(grants).keep(EDIT, "c", allows=False, for_good=True)
    grants.remember(Grant(EDIT.tool, EDIT.scope, "/work", PermissionRules(ToolsSettings()).digest), "d", allows=True)
    assert await allowed(gate(grants), conversation="d") is False


@pytest.mark.threat("T6")
async def test_a_store_that_cannot_be_read_gives_no_yes() -> None:
    store = Kept()
    await gate(Grants(store)).keep(EDIT, "c", allows=True, for_good=True)
    store.is_broken = True
    assert await allowed(gate(Grants(store))) is None
    with pytest.raises(StoreFailed):
        await Grants().keep(Grant("a", "b", "c", "d"), allows=True)
