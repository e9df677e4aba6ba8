"""ollm/models/list, pull, show, delete."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.errors import OllmError, SettingsError, Unsupported
from ollm_lsp.core.model import ModelId
from ollm_lsp.core.ports import ListsModels, ManagesModels
from ollm_lsp.core.shown import code, inert
from ollm_lsp.lsp import to_wire
from ollm_lsp.lsp.markdown import table

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from ollm_lsp.core.model import ModelInfo
    from ollm_lsp.lsp.protocol import ModelParams, ModelsListParams
    from ollm_lsp.lsp.session import Session
    from ollm_lsp.settings.resolved import Settings


async def list_models(session: Session, params: ModelsListParams) -> dict[str, Any]:
    """The models of all providers, or of one. Of all, those that cannot answer are listed with the reason."""
    settings = (await session.settings()).settings
    names = [params.provider] if params.provider else list(settings.providers)
    answers = await asyncio.gather(*(_models(session, name) for name in names), return_exceptions=True)
    models: list[dict[str, Any]] = []
    errors: list[dict[str, Any]] = []
    for name, answer in zip(names, answers, strict=True):
        if isinstance(answer, OllmError) and not params.provider:
            errors.append({"provider": name, **to_wire.failure(answer)})
        elif isinstance(answer, BaseException):
            raise answer
        else:
            models += [to_wire.model(info, settings.model) for info in answer]
    return {"models": models, "errors": errors}


async def pull(session: Session, params: ModelParams) -> dict[str, Any]:
    """Fetch a model. Whoever stops it, the provider's stream is closed before the answer is sent."""
    settings = await session.usable_settings()
    with session.work(params.work_done_token) as (work_done, _):
        outcome = "Not fetched"
        try:
            async with _managed(session, settings, params.model) as (model, provider):
                work_done.begin(f"Fetching {model}", percentage=0)
                async with aclosing(provider.pull(model.name)) as activities:
                    async for activity in activities:
                        work_done.report(activity.message, activity.percentage)
            outcome = "Fetched"
        finally:
            await work_done.end(outcome)
    return {"model": str(model)}


async def show(session: Session, params: ModelParams) -> dict[str, Any]:
    """What a provider tells about one model."""
    settings = await session.usable_settings()
    async with _managed(session, settings, params.model) as (model, provider):
        return to_wire.model_details(await provider.show(model.name), settings.model)


async def delete(session: Session, params: ModelParams) -> None:
    """Delete a model. Whether the user is sure is for the client to ask."""
    settings = await session.usable_settings()
    async with _managed(session, settings, params.model) as (model, provider):
        await provider.delete(model.name)


def list_shown(result: dict[str, Any]) -> tuple[str, str]:
    """The models as a table."""
    return "Models", as_markdown(result)


def pull_shown(result: dict[str, Any]) -> tuple[str, str]:
    """That it is there."""
    return "Models", f"Fetched {result['model']}."


def as_markdown(listed: dict[str, Any]) -> str:
    """What `list_models` gives, for people: the models, then the providers that could not answer."""
    rows = [
        (
            f"{code(model['id'])}{' (default)' if model['default'] else ''}",
            f"{model['sizeBytes'] / 1e9:.1f} GB" if "sizeBytes" in model else "",
            f"{model['contextWindow']:,}" if "contextWindow" in model else "",
            ", ".join(name for name, can in model["capabilities"].items() if can and name != "streaming"),
        )
        for model in listed["models"]
    ]
    models = table(("model", "size", "context", "can do"), rows) if rows else "No model was found."
    errors = "".join(f"\n- {inert(_told(error))}" for error in listed["errors"])
    return f"{models}\n{errors}" if errors else models


def _told(error: dict[str, Any]) -> str:
    return f"{error['provider']}: {error['message']} {error['remedy']}"


async def _models(session: Session, name: str) -> list[ModelInfo]:
    async with session.services.provider(name) as provider:
        return list(await provider.models()) if isinstance(provider, ListsModels) else []


@asynccontextmanager
async def _managed(session: Session, settings: Settings, text: str) -> AsyncGenerator[tuple[ModelId, ManagesModels]]:
    """A model, and its provider if that can manage it."""
    name, colon, _ = text.partition(":")
    if not colon or name not in settings.providers:
        raise await _nowhere(session, settings, text)
    model = ModelId.parse(text)
    async with session.services.provider(model.provider) as provider:
        if isinstance(provider, ManagesModels):
            yield model, provider
            return
    able = await _managing(session, settings)
    remedy = f"These providers can: {', '.join(able)}." if able else "Ollama can: add one under `providers`."
    raise Unsupported(f"{model.provider} can neither fetch nor show nor delete models.", remedy=remedy)


async def _nowhere(session: Session, settings: Settings, text: str) -> SettingsError:
    """The error for a model of no provider. Most often it is a name of Ollama's, which holds a colon of its own."""
    able = await _managing(session, settings)
    meant = f"Did you mean {able[0]}:{text}? " if able else ""
    return SettingsError(
        f"'{text}' does not begin with a provider.",
        remedy=f"{meant}Write a model as provider:name, with one of these providers: {', '.join(settings.providers)}.",
    )


async def _managing(session: Session, settings: Settings) -> list[str]:
    """The providers that can manage models."""
    found: list[str] = []
    for name in settings.providers:
        try:
            async with session.services.provider(name) as provider:
                found += [name] if isinstance(provider, ManagesModels) else []
        except OllmError:
            continue
    return found
