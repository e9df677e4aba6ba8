"""The layers: every contract is kept, and each would notice if it were not."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
LINTER = Path(sys.executable).with_name("lint-imports")
CONTRACTS: list[dict[str, Any]] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"][
    "contracts"
]
NAMES: dict[str, str] = {contract["id"]: contract["name"] for contract in CONTRACTS}


@dataclass(frozen=True)
class Offence:
    """One line in one module, and the contracts that it breaks."""

    module: str
    line: str
    breaks: frozenset[str]

    def __str__(self) -> str:
        return f"{self.module}: {self.line}"


def offence(module: str, line: str, *breaks: str) -> Offence:
    return Offence(module, line, frozenset(breaks))


OFFENCES = [
    offence("settings/address.py", "import ollm_lsp.lsp", "layers"),
    offence("core/turn.py", "from ollm_lsp.settings import secrets", "layers"),
    offence("providers/http.py", "from ollm_lsp.store import places", "layers"),
    offence("lsp/server.py", "import ollm_lsp.app", "layers"),
    offence("kraken/paid_provider.py", "from ollm_lsp.store import ledger", "layers"),
    offence("utils.py", "import json", "layers"),
    offence("core/chat.py", "import os", "core-is-pure"),
    offence("core/ports.py", "import aiohttp", "core-is-pure", "aiohttp-behind-providers"),
    offence("core/new.py", "import attrs", "core-is-pure", "pygls-behind-lsp"),
    offence("providers/wire/ollama_chat.py", "import asyncio", "wire-is-pure"),
    offence("providers/framing.py", "import io", "wire-is-pure"),
    offence("providers/http.py", "import pygls", "pygls-behind-lsp"),
    offence("app.py", "from lsprotocol import types", "pygls-behind-lsp"),
    offence("terminal/client.py", "import cattrs", "pygls-behind-lsp"),
    offence("lsp/server.py", "import aiohttp", "aiohttp-behind-providers"),
    offence("terminal/client.py", "def late() -> None:\n    import aiohttp", "aiohttp-behind-providers"),
    offence("lsp/from_wire.py", "import pydantic", "pydantic-behind-settings"),
    offence("store/places.py", "import yaml", "pydantic-behind-settings"),
    offence("tools/secret_files.py", "import detect_secrets", "detector-behind-kraken"),
]


def broken_in(folder: Path) -> set[str]:
    """The contracts that the package in a folder breaks."""
    run = subprocess.run(  # the linter looks for the package where it is started
        [LINTER, "--no-logo", "--cache-dir", folder / "cache", "--config", ROOT / "pyproject.toml"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    verdicts = dict(
        re.findall(rf"^({'|'.join(map(re.escape, NAMES.values()))}) (KEPT|BROKEN)\b", run.stdout, re.MULTILINE)
    )
    assert set(verdicts) == set(NAMES.values()), run.stdout + run.stderr
    broken = {key for key, name in NAMES.items() if verdicts[name] == "BROKEN"}
    assert run.returncode == bool(broken), run.stdout + run.stderr
    return broken


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package that may be spoilt."""
    copy = tmp_path_factory.mktemp("spoilt") / "ollm_lsp"
    shutil.copytree(ROOT / "ollm_lsp", copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def test_every_contract_is_kept(package: Path) -> None:
    assert broken_in(package.parent) == set()


@pytest.mark.parametrize("offence", OFFENCES, ids=str)
def test_an_offence_breaks_the_contracts_that_forbid_it_and_no_other(offence: Offence, package: Path) -> None:
    module = package / offence.module
    before = module.read_bytes() if module.exists() else None
    module.write_text(f"{(before or b'').decode()}\n{offence.line}\n")
    try:
        assert broken_in(package.parent) == offence.breaks
    finally:
        if before is None:
            module.unlink()
        else:
            module.write_bytes(before)


def test_every_contract_has_an_offence_that_breaks_it_alone() -> None:
    assert {contract for offence in OFFENCES if len(offence.breaks) == 1 for contract in offence.breaks} == set(NAMES)
