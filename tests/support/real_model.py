"""The real model for tests: SmolLM2, fetched once by the product's own code, and llama.cpp that serves it.

A plugin of pytest, loaded by tests/conftest.py. POSIX only, because of the lock.
"""

from __future__ import annotations

import asyncio
import fcntl
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from ollm_lsp.providers import model_file
from ollm_lsp.providers.model_process import ModelProcess

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

FOLDER = Path(__file__).parents[2] / ".cache" / "models"
CONTEXT = 8192


@dataclass(frozen=True)
class LlamaServer:
    """A running llama.cpp with the real model."""

    base_url: str
    key: str
    model: str


def fetch() -> Path:
    """The file of SmolLM2, fetched when it is not there, by one process at a time."""
    path = FOLDER / model_file.FILE_NAME
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            # In a thread, because the loop of pytest-asyncio may belong to this one.
            with ThreadPoolExecutor(1) as thread:
                thread.submit(asyncio.run, _fetch()).result()
    return path


async def _fetch() -> None:
    async for _ in model_file.fetch(FOLDER):
        pass


@pytest.fixture(scope="session")
def real_model_path() -> Path:
    """The same for all workers and all runs."""
    return fetch()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def real_llama(real_model_path: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[LlamaServer]:
    """llama.cpp, started once per worker."""
    log = tmp_path_factory.mktemp("llama") / "log"
    process = await ModelProcess.launch(real_model_path, context=CONTEXT, threads=1, log=log)
    yield LlamaServer(f"http://127.0.0.1:{process.port}/v1", process.key, real_model_path.stem)
    await process.close()
