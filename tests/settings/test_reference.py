"""The page about settings is made from the options and is fresh."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from ollm_lsp.settings.layers import Layer
from ollm_lsp.settings.provider_options import KINDS
from ollm_lsp.settings.reference import EXAMPLE, reference
from ollm_lsp.settings.resolve import resolve
from ollm_lsp.settings.schema import schema
from ollm_lsp.settings.yaml_file import parse

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"


def test_the_page_is_fresh() -> None:
    stale = "run: python -m ollm_lsp.settings.reference > docs/settings.md"
    assert PAGE.read_text(encoding="utf-8") == reference(), stale


def test_the_module_prints_the_page() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "ollm_lsp.settings.reference"],
        capture_output=True,
        text=True,
        check=True,
        cwd=PAGE.parents[1],
    )
    assert ran.stdout == reference()


def test_the_example_on_the_page_works_without_a_problem() -> None:
    assert EXAMPLE in reference()
    resolution = resolve(Layer("example", parse(EXAMPLE)), embedded_available=True)
    assert resolution.problems == ()
    assert set(resolution.settings.providers) == {"ollama", "vllm", "embedded"}
    assert str(resolution.settings.model) == "ollama:qwen3-coder:30b"


def test_every_key_is_on_the_page() -> None:
    described, page = schema(), reference()
    for section in (described, *described["$defs"].values()):
        for key in section["properties"]:
            assert f"| `{key}` |" in page
    assert all(f"`type: {kind}`" in page for kind in KINDS)


def test_the_page_tells_what_counts_anywhere() -> None:
    listed = [row for row in reference().splitlines() if row.startswith("| `")]
    rows = {row.split(" | ")[0].strip("|` "): row for row in reversed(listed)}
    assert rows["model"].endswith("| anywhere |")
    assert rows["exclude"].endswith("| anywhere |")
    assert rows["apiKey"].endswith("| your own file |")
    assert rows["providers"].endswith("| your own file |")
    assert rows["chat"].endswith("| see its keys |")
    assert rows["maxCostPerDay"].endswith("| anywhere |")
    assert rows["hooks"].endswith("| your own file |")
