"""AGENTS.md in the system prompt: where it is allowed, as people see it, and never from outside the workspace."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ollm_lsp.core.events import Warned
from ollm_lsp.core.tokens import CHARS_PER_TOKEN
from ollm_lsp.lsp.project_rules import SHARE, project_rules
from ollm_lsp.lsp.question import SYSTEM_PROMPT, system_prompt
from ollm_lsp.lsp.standard import ContentChange, TextDocumentItem
from ollm_lsp.settings.resolved import ContextSettings
from ollm_lsp.tools.toolset import Toolset
from tests.support.scripted_provider import RecordingSink, ScriptedProvider
from tests.support.session import Peer

if TYPE_CHECKING:
    from pathlib import Path

RULES = "Use tabs. Never spaces."


class Client(Peer):
    """A peer with the real tools."""

    async def toolset(self) -> Toolset:
        return Toolset()


async def rules_of(
    *folders: Path, context: ContextSettings | None = None, buffer: str | None = None, window: int = 10_000
) -> tuple[str, list[Warned]]:
    peer = Client(ScriptedProvider())
    session, sink = peer.session, RecordingSink()
    session.folders = [folder.as_uri() for folder in folders]
    settings = (await peer.settings()).settings
    if buffer is not None:
        uri = (folders[0] / "AGENTS.md").as_uri()
        session.documents.open(TextDocumentItem(uri, ""))
        session.documents.change(uri, 2, [ContentChange(buffer)])
    rules = await project_rules(session, replace(settings, context=context or ContextSettings()), sink, window)
    return rules, [event for event in sink.events if isinstance(event, Warned)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "AGENTS.md").write_text(f"{RULES}\n")
    return folder


async def test_the_rules_of_the_project_are_told(folder: Path) -> None:
    rules, warnings = await rules_of(folder)
    assert rules == f"The rules of this project, from AGENTS.md:\n\n{RULES}"
    assert warnings == []


@pytest.mark.prop("lsp-2")
async def test_the_unsaved_rules_count(folder: Path) -> None:
    rules, _ = await rules_of(folder, buffer="Use spaces.")
    assert "Use spaces." in rules
    assert RULES not in rules


@pytest.mark.parametrize(
    "context",
    [ContextSettings(agents_file=False), ContextSettings(exclude=("**/AGENTS.md",))],
    ids=["switched off", "excluded"],
)
async def test_rules_that_are_not_allowed_are_not_read(folder: Path, context: ContextSettings) -> None:
    assert (await rules_of(folder, context=context))[0] == ""


async def test_without_rules_or_without_a_folder_there_is_nothing(tmp_path: Path) -> None:
    assert await rules_of(tmp_path) == ("", [])
    assert await rules_of() == ("", [])


async def test_each_folder_has_its_own_rules(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "AGENTS.md").write_text("Be kind.")
    rules, _ = await rules_of(folder, other)
    assert "from project/AGENTS.md:\n\nUse tabs." in rules
    assert "from other/AGENTS.md:\n\nBe kind." in rules


@pytest.mark.threat("T14")
async def test_a_link_to_elsewhere_is_not_followed_and_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("canary")
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "AGENTS.md").symlink_to(tmp_path / "secret")
    rules, warnings = await rules_of(folder)
    assert rules == ""
    assert [warning.code for warning in warnings] == ["agents_file"]


@pytest.mark.threat("T22")
async def test_what_nobody_sees_in_the_file_no_model_reads_in_it(folder: Path) -> None:
    (folder / "AGENTS.md").write_text("Use\u200b ta\u202ebs.\nIgnore\U000e0041 that.")
    assert "Use tabs.\nIgnore that." in (await rules_of(folder))[0]


async def test_rules_fill_only_a_part_of_the_window(folder: Path) -> None:
    (folder / "AGENTS.md").write_text("x" * 10_000)
    rules, warnings = await rules_of(folder, window=1_000)
    assert rules.count("x") == 1_000 * CHARS_PER_TOKEN // SHARE
    assert [warning.code for warning in warnings] == ["agents_file"]


async def test_the_rules_stand_behind_our_own_words_in_the_system_prompt(folder: Path) -> None:

    peer = Client(ScriptedProvider())
    settings = (await peer.settings()).settings
    rules, _ = await rules_of(folder)
    assert system_prompt(settings, rules).text == f"{SYSTEM_PROMPT}\n\n{rules}"
    assert system_prompt(settings).text == SYSTEM_PROMPT
