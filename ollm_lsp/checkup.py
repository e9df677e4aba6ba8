"""The check-up behind `doctor`: settings, state directory, providers, the chosen model, external providers, editors."""

from __future__ import annotations

import asyncio
import platform
import shutil
import tempfile
from typing import TYPE_CHECKING, Protocol

from ollm_lsp import __version__
from ollm_lsp.core.errors import OllmError
from ollm_lsp.core.finding import Finding, Level
from ollm_lsp.core.ports import ListsModels
from ollm_lsp.settings.redactor import redactor

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from ollm_lsp.core.kraken import KrakenProvider
    from ollm_lsp.core.model import ModelId, ModelInfo
    from ollm_lsp.core.ports import Kraken, Provider
    from ollm_lsp.settings.layers import Resolution

EDITORS = {"code": "VS Code", "nvim": "Neovim", "hx": "Helix", "emacs": "Emacs", "kate": "Kate", "subl": "Sublime Text"}


class Examined(Protocol):
    """What is looked at."""

    async def settings(self) -> Resolution: ...

    def provider(self, name: str) -> AbstractAsyncContextManager[Provider]: ...

    async def kraken(self) -> Kraken: ...


async def examine(app: Examined, user_file: Path, state: Path) -> AsyncGenerator[Finding]:
    """Look at everything, telling each finding as it is made."""
    yield Finding(
        "version", Level.OK, f"ollm-lsp {__version__}, Python {platform.python_version()}, {platform.system()}"
    )
    resolution = await app.settings()
    for finding in _settings(user_file, resolution):
        yield finding
    yield await asyncio.to_thread(_state, state)
    model = resolution.settings.model
    for name in resolution.settings.providers:
        yield await _provider(app, name, model)
    if model.provider not in resolution.settings.providers:
        yield _no_provider(model, list(resolution.settings.providers))
    if resolution.settings.kraken.enabled:
        for external in await (await app.kraken()).providers():
            yield _external(external)
    yield _editors()


def _settings(file: Path, resolution: Resolution) -> list[Finding]:
    if not resolution.problems:
        return [Finding("settings", Level.OK, f"{file}" if file.exists() else f"the defaults; {file} does not exist")]
    return [
        Finding(
            "settings",
            Level.ERROR if problem == resolution.broken else Level.WARNING,
            problem.finding,
            problem.remedy,
        )
        for problem in resolution.problems
    ]


def _state(state: Path) -> Finding:
    try:
        state.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=state) as probe:
            probe.write(b"x")
    except OSError as error:
        return Finding(
            "state directory",
            Level.WARNING,
            f"{state} cannot be written ({error.strerror}).",
            "Mend its permissions, free some space, or point OLLM_STATE_DIR to another place.",
        )
    free = shutil.disk_usage(state).free
    return Finding("state directory", Level.OK, f"{state}, {free // 1_000_000:,} MB free")


async def _provider(app: Examined, name: str, model: ModelId) -> Finding:
    subject = f"provider {name}"
    try:
        async with app.provider(name) as provider:
            models: Sequence[ModelInfo] = await provider.models() if isinstance(provider, ListsModels) else ()
            if name != model.provider:
                return Finding(subject, Level.OK, _listing(models))
            return await _chosen(provider, model, models)
    except OllmError as error:
        level = Level.ERROR if name == model.provider else Level.WARNING
        return Finding(subject, level, redactor.redact(error.message), redactor.redact(error.remedy))


async def _chosen(provider: Provider, model: ModelId, models: Sequence[ModelInfo]) -> Finding:
    """The provider of the chosen model: can it answer?"""
    window = (await provider.capabilities(model.name)).context_window
    size = f"context of {window:,} tokens" if window else "context of unknown size"
    known = [info.id.name for info in models]
    if known and model.name not in known:
        remedy = f"Choose one of: {', '.join(known)}."
        return Finding(f"provider {provider.name}", Level.WARNING, f"does not list the chosen model {model}.", remedy)
    return Finding(f"provider {provider.name}", Level.OK, f"{_listing(models)}; chosen: {model}, {size}")


def _listing(models: Sequence[ModelInfo]) -> str:
    return f"answers, {len(models)} model{'' if len(models) == 1 else 's'}"


def _no_provider(model: ModelId, names: Sequence[str]) -> Finding:
    remedy = f"Add it under `providers` in ~/.ollm/config.yaml, or choose a model of: {', '.join(names)}."
    return Finding("model", Level.ERROR, f"The provider of the chosen model {model} is not configured.", remedy)


def _external(provider: KrakenProvider) -> Finding:
    subject = f"external provider {provider.name}"
    if not provider.is_available:
        return Finding(subject, Level.WARNING, provider.problem or "cannot be used.", provider.remedy)
    version = f", version {provider.version}" if provider.version else ""
    return Finding(subject, Level.OK, f"can be released with {provider.model}{version}")


def _editors() -> Finding:
    found = [name for command, name in EDITORS.items() if shutil.which(command)]
    return Finding("editors", Level.OK, f"on the PATH: {', '.join(found) or 'none of those we know'}")
