"""The check-up behind `ollm-lsp doctor`: settings, state directory, providers, the chosen model, editors."""

from __future__ import annotations

import asyncio
import platform
import shutil
import tempfile
from typing import TYPE_CHECKING

from ollm_lsp import __version__
from ollm_lsp.core.errors import OllmError
from ollm_lsp.core.finding import Finding, Level
from ollm_lsp.core.ports import ListsModels
from ollm_lsp.settings.redactor import redactor

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from ollm_lsp.app import App
    from ollm_lsp.core.model import ModelId, ModelInfo
    from ollm_lsp.core.ports import Provider
    from ollm_lsp.settings.layers import Resolution

EDITORS = {"code": "VS Code", "nvim": "Neovim", "hx": "Helix", "emacs": "Emacs", "kate": "Kate", "subl": "Sublime Text"}


async def examine(app: App) -> AsyncGenerator[Finding]:
    """Look at everything, telling each finding as it is made."""
    yield Finding(
        "version", Level.OK, f"ollm-lsp {__version__}, Python {platform.python_version()}, {platform.system()}"
    )
    resolution = await app.settings()
    for finding in _settings(app, resolution):
        yield finding
    yield await asyncio.to_thread(_state, app)
    model = resolution.settings.model
    for name in resolution.settings.providers:
        yield await _provider(app, name, model)
    if model.provider not in resolution.settings.providers:
        yield _no_provider(model, list(resolution.settings.providers))
    yield _editors()


def _settings(app: App, resolution: Resolution) -> list[Finding]:
    if not resolution.problems:
        file = app.source.user_file
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


def _state(app: App) -> Finding:
    try:
        app.state.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=app.state) as probe:
            probe.write(b"x")
    except OSError as error:
        return Finding(
            "state directory",
            Level.WARNING,
            f"{app.state} cannot be written ({error.strerror}).",
            "Mend its permissions, free some space, or point OLLM_STATE_DIR to another place.",
        )
    free = shutil.disk_usage(app.state).free
    return Finding("state directory", Level.OK, f"{app.state}, {free // 1_000_000:,} MB free")


async def _provider(app: App, name: str, model: ModelId) -> Finding:
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


def _editors() -> Finding:
    found = [name for command, name in EDITORS.items() if shutil.which(command)]
    return Finding("editors", Level.OK, f"on the PATH: {', '.join(found) or 'none of those we know'}")
