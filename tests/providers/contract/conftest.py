"""Fixtures of the contract suite: the chosen backends, each started once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tests.providers.contract.backends import BACKENDS
from tests.providers.contract.servers import Servers

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from ollm_lsp.core.ports import Provider
    from tests.providers.contract.backend import Need, Running


@dataclass(frozen=True)
class Tested:
    """A server that is up, and a provider for it that all tests share."""

    name: str
    running: Running
    provider: Provider

    def must(self, *needs: Need) -> None:
        """Skip the test when the server cannot do what it needs."""
        for need in needs:
            if reason := BACKENDS[self.name].cannot.get(need):
                pytest.skip(f"{self.name}: {reason}")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "tested" not in metafunc.fixturenames:
        return
    chosen: list[str] = metafunc.config.getoption("backend") or [
        name for name, backend in BACKENDS.items() if backend.is_default
    ]
    if unknown := [name for name in chosen if name not in BACKENDS]:
        raise pytest.UsageError(f"There is no backend {unknown[0]}. There are: {', '.join(BACKENDS)}.")
    metafunc.parametrize("tested", chosen, indirect=True, scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def servers(real_model_path: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Servers]:
    async with Servers(real_model_path, tmp_path_factory.mktemp("servers")) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tested(request: pytest.FixtureRequest, servers: Servers) -> AsyncGenerator[Tested]:
    running = await BACKENDS[request.param].start(servers)
    provider = running.provider()
    yield Tested(request.param, running, provider)
    await provider.close()
