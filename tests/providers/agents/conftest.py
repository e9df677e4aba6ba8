"""A stage for every agent: with its recordings, and with the real program where that is given."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ollm_lsp.providers.agents.catalogue import AGENTS
from tests.support.agents import RealStage, RecordedStage
from tests.support.fake_vendors import FakeVendors
from tests.support.scale import IS_LARGE

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from tests.support.agents import Stage


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Some tests are about what only the real ones do."""
    is_real = collection_path.name.startswith("test_real_")
    return True if is_real and not config.getoption("--cli-agents") else None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "stage" in metafunc.fixturenames:
        kind = "real" if metafunc.config.getoption("--cli-agents") else "recorded"
        is_costly = metafunc.definition.get_closest_marker("large") is not None
        tools = list(AGENTS)[: 1 if is_costly and kind == "recorded" and not IS_LARGE else None]
        metafunc.parametrize("stage", [(tool, kind) for tool in tools], indirect=True, ids="-".join)


@pytest.fixture
async def stage(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[Stage]:
    tool, kind = request.param
    if kind == "recorded":
        yield RecordedStage(tool, tmp_path)
        return
    # On a busy machine Node takes far longer than any user has to wait.
    monkeypatch.setitem(AGENTS, tool, replace(AGENTS[tool], probe_limit=200.0))
    async with FakeVendors() as vendors:
        programs = request.config.rootpath / str(request.config.getoption("--cli-agents"))
        yield RealStage(tool, tmp_path, programs, vendors)
