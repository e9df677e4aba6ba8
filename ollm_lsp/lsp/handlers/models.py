"""ollm/models/list."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.errors import OllmError
from ollm_lsp.core.ports import ListsModels
from ollm_lsp.lsp import to_wire

if TYPE_CHECKING:
    from ollm_lsp.core.model import ModelInfo
    from ollm_lsp.lsp.protocol import ModelsListParams
    from ollm_lsp.lsp.session import Session


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


async def _models(session: Session, name: str) -> list[ModelInfo]:
    async with session.services.provider(name) as provider:
        return list(await provider.models()) if isinstance(provider, ListsModels) else []
