"""What all tests may use: `real_model_path` and `real_llama`; and what keeps one test from another's way."""

from __future__ import annotations

from functools import wraps
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from hypothesis import settings
from hypothesis.internal.conjecture import providers

from ollm_lsp.settings.redactor import Redactor, redactor

if TYPE_CHECKING:
    import pytest

pytest_plugins = ["tests.support.real_model"]

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("new", deadline=None)
# Every machine runs the same examples, so that a commit passes everywhere or nowhere. Look for new ones with
# `make test ARGS=--hypothesis-profile=new`.
settings.load_profile("same")

FORGETFUL: WeakSet[Any] = WeakSet()
"""Tests with examples that `forgetful` has changed; those with parameters are collected several times."""


def pytest_configure(config: pytest.Config) -> None:
    """Hypothesis draws from the constants of all modules that happen to be loaded, which differ from run to run."""
    if config.getoption("--hypothesis-profile") is None:
        providers.__dict__["_get_local_constants"] = lambda: providers.__dict__["_local_constants"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Here and not beside the contract suite: pytest reads options before it looks that deep."""
    parser.addoption("--backend", action="append", help="a server for the contract suite; can be given again")
    parser.addoption("--editor", action="append", help="also the tests in this real editor, which is fetched")
    parser.addoption("--vscode", action="store_true", help="also the tests in a real VS Code, which is fetched")
    parser.addoption("--cli-agents", help="the folder with the programs of the real CLI agents")


def pytest_runtest_setup() -> None:
    """Keys that one test used are no secrets in the next one's texts."""
    forget_secrets()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Nor are those of one example in the next one."""
    handle = getattr(getattr(item, "obj", None), "hypothesis", None)
    if handle is not None and handle.inner_test not in FORGETFUL:
        handle.inner_test = forgetful(handle.inner_test)
        FORGETFUL.add(handle.inner_test)


def forgetful(test: Any) -> Any:
    """The test, before which all secrets are forgotten."""

    @wraps(test)
    def run(*args: Any, **kwargs: Any) -> Any:
        forget_secrets()
        return test(*args, **kwargs)

    @wraps(test)
    async def run_async(*args: Any, **kwargs: Any) -> Any:
        forget_secrets()
        return await test(*args, **kwargs)

    return run_async if iscoroutinefunction(test) else run


def forget_secrets() -> None:
    """The modules have the redactor itself, so that it stays the same one."""
    vars(redactor).update(vars(Redactor()))
