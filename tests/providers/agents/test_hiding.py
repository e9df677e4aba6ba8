"""What `context.exclude` names is kept from the agents: by their own options."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ollm_lsp.core.globs import matches
from ollm_lsp.core.messages import Message
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.providers.agents.catalogue import AGENTS
from ollm_lsp.providers.agents.description import spelt
from ollm_lsp.providers.agents.hiding import as_expression, at_any_depth, in_any_case
from tests.support.agents import SCENES, RecordedStage, Scene

if TYPE_CHECKING:
    from pathlib import Path

EXCLUDE = ("**/.env*", "/keys/**")
names = st.text("aB.é-*?[]!", min_size=1, max_size=5).filter(lambda name: name not in (".", ".."))
paths = st.lists(st.text("aAbB.é-", min_size=1, max_size=5), min_size=1, max_size=4).map(
    lambda parts: "/" + "/".join(parts)
)
patterns = st.tuples(st.sampled_from(["", "/", "**/"]), st.lists(names | st.just("**"), min_size=1, max_size=3)).map(
    lambda drawn: drawn[0] + "/".join(drawn[1])
)


@given(patterns, paths)
@example("**/.env*", "/w/.env.local")
@example("keys/**", "/w/keys/a/b")
@pytest.mark.prop("krk-42")
def test_what_a_pattern_excludes_is_hidden_by_each_of_its_translations(pattern: str, path: str) -> None:
    assume(matches(path, pattern))
    wide = at_any_depth(pattern)
    assert matches(path, wide)
    assert matches(path, in_any_case(wide))
    assert re.search(as_expression(wide), json.dumps({"file_path": path}, separators=(",", ":"), ensure_ascii=False))


@given(st.lists(st.text(max_size=20), min_size=1, max_size=4))
def test_no_pattern_can_say_anything_but_itself(texts: list[str]) -> None:
    """A workspace may add patterns, and nothing else."""
    texts = [text for text in texts if text.strip("*/")]
    assume(texts)
    rules = json.loads(AGENTS["claude"].hide(texts).text)
    assert [rule[:9] + rule[-1] for rule in rules["permissions"]["deny"]] == ["Read(//**)"] * len(texts)
    policy = tomllib.loads(AGENTS["gemini"].hide(texts).text)["rule"]
    assert all(rule["decision"] == "deny" and rule["toolName"] in ("read_file", "grep_search") for rule in policy)
    assert len(policy) == 1 + len(texts)
    for rule in policy[1:]:
        re.compile(rule["argsPattern"])
    *_, filesystem = AGENTS["codex"].hide(texts).arguments
    denied = tomllib.loads(filesystem)["permissions"].popitem()[1]["filesystem"]
    assert list(denied) == [":workspace_roots"]
    assert set(denied[":workspace_roots"].values()) == {"deny"}


@pytest.mark.parametrize("tool", AGENTS)
async def test_an_agent_is_told_what_is_excluded_if_its_version_is_known_to_obey(tool: str, tmp_path: Path) -> None:
    stage = RecordedStage(tool, tmp_path)
    agent = stage.agent(exclude=EXCLUDE)
    await agent.complete(ChatRequest("default", (Message.user("Hi"),)))
    told = " ".join(stage.argv)
    for file in (stage.state / "agents" / "hiding").glob("*"):
        assert str(file) in stage.argv
        told += file.read_text()
    assert ("[Ee][Nn][Vv]" in told) or "Read(//**/.env*)" in told
    assert "keys/**" in told or "[Kk][Ee][Yy][Ss]" in told
    assert "-s" not in stage.argv
    before = stage.argv
    agent = stage.agent(exclude=EXCLUDE)
    stage.play(replace(SCENES[tool, Scene.ANSWER], version=spelt(AGENTS[tool].minimum)))
    await agent.complete(ChatRequest("default", (Message.user("Hi"),)))
    assert len(stage.argv) < len(before)
    assert tool != "codex" or "read-only" in stage.argv
