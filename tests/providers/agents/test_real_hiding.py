"""Real agents are kept from excluded files: whatever their model asks for, the vendor never sees what is in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ollm_lsp.core.events import Finished, FinishReason
from ollm_lsp.core.messages import Message
from ollm_lsp.core.request import ChatRequest
from tests.support.agents import MODELS

if TYPE_CHECKING:
    from tests.support.agents import RealStage

SECRET = "SECRET-of-the-file"
EXCLUDE = ("**/.env*", "/keys/**")
PLACES = (".env", "sub/.env.local", ".ENV", "keys/one.txt", "a/b/c/d/e/f/g/h/i/j/k/.env")


async def _asked_for(stage: RealStage, use: str, exclude: tuple[str, ...]) -> str:
    """All that reached the vendor when its model used a tool."""
    for place in PLACES:
        path = stage.work / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"TOKEN={SECRET}\n")
    (stage.work / "link.txt").symlink_to("sub/.env.local")
    (stage.work / "a.txt").write_text("TOKEN=public\n")
    agent = stage.agent(exclude=exclude)
    request = ChatRequest(MODELS[stage.tool], (Message.user(f"Please MOCK:{use}"),))
    events = [event async for event in agent.stream(request)]
    assert events[-1] == Finished(FinishReason.STOP)
    assert stage.times_asked == 2, "the tool was used, and what it gave was sent"
    return stage.received


@pytest.mark.prop("krk-42")
@pytest.mark.parametrize("place", [*PLACES, "link.txt"])
async def test_an_excluded_file_is_not_read(stage: RealStage, place: str) -> None:
    if stage.tool == "codex":
        _be_generous(stage)
    assert SECRET not in await _asked_for(stage, f"read={stage.work}/{place}", EXCLUDE)


@pytest.mark.prop("krk-42")
async def test_a_search_finds_nothing_in_excluded_files(stage: RealStage) -> None:
    received = await _asked_for(stage, f"search={stage.work}", EXCLUDE)
    assert SECRET not in received
    assert ("TOKEN=public" in received) == (stage.tool != "gemini"), "which cannot search then"


async def test_without_excluded_files_there_is_nothing_to_hide(stage: RealStage) -> None:
    """That is, the tests above would see a secret."""
    assert SECRET in await _asked_for(stage, f"search={stage.work}", ())


def _be_generous(stage: RealStage) -> None:
    """The user's own settings, and those of a folder that they told Codex to trust, allow everything."""
    file = stage.home / ".codex" / "config.toml"
    trust = f'[projects."{stage.work}"]\ntrust_level = "trusted"\n'
    file.write_text(f'sandbox_mode = "danger-full-access"\n{file.read_text()}{trust}')
    (stage.work / ".codex").mkdir()
    (stage.work / ".codex" / "config.toml").write_text('sandbox_mode = "danger-full-access"\n')
