"""What all tests may use: `real_model_path` and `real_llama`; and what keeps one test from another's way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import settings

from ollm_lsp.settings.secrets import Redactor, redactor

if TYPE_CHECKING:
    import pytest

pytest_plugins = ["tests.support.real_model"]

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("new", deadline=None)
# Every machine runs the same examples, so that a commit passes everywhere or nowhere. Look for new ones with
# `make test ARGS=--hypothesis-profile=new`.
settings.load_profile("same")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Here and not beside the contract suite: pytest reads options before it looks that deep."""
    parser.addoption("--backend", action="append", help="a server for the contract suite; can be given again")


def pytest_runtest_setup() -> None:
    """Keys that one test used are no secrets in the next one's texts."""
    redactor.__dict__.update(Redactor().__dict__)
