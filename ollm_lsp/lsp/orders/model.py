"""/model: which model answers in a conversation, and the choice of another one."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from ollm_lsp.core.errors import ModelNotFound, OllmError, SettingsError, StoreFailed
from ollm_lsp.core.model import ModelId
from ollm_lsp.core.shown import code, inert
from ollm_lsp.lsp.handlers.models import as_markdown, list_models
from ollm_lsp.lsp.protocol import ModelsListParams
from ollm_lsp.settings.narrowing import is_local

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.lsp.orders.errand import Errand
    from ollm_lsp.settings.resolved import Settings


async def tell_or_choose(errand: Errand) -> str:
    """Without words: what answers now, and what could. With a model: that one answers from now on."""
    settings = await errand.session.usable_settings()
    if not errand.words:
        listed = as_markdown(await list_models(errand.session, ModelsListParams()))
        return f"{code(str(await errand.model()))} answers in this conversation.\n\n{listed}"
    model, doubt = await _checked(errand, settings)
    errand.conversation.model = model
    errand.session.away.pop(errand.conversation.id, None)
    told = [f"From now on {code(str(model))} answers in this conversation."]
    if not is_local(settings.providers[model.provider], model.name):
        told.append("It does not run on this machine: your questions go there, with the context of your editor.")
    if doubt:
        told.append(f"Whether it is there could not be checked: {inert(doubt)}")
    try:
        await errand.store.choose(errand.conversation.id, model)
    except StoreFailed as error:
        told.append(f"That is forgotten with this session: {error.message}")
    return " ".join(told)


async def _checked(errand: Errand, settings: Settings) -> tuple[ModelId, str]:
    """The model that was written, and why it could not be checked where that is so."""
    text = errand.words
    provider, _, name = text.partition(":")
    if provider not in settings.providers or not name:
        found = (await list_models(errand.session, ModelsListParams()))["models"]
        remedy = "Write it as provider:name, with one of these providers: " + ", ".join(settings.providers) + "."
        meant = _meant(text, [model["id"] for model in found])
        raise SettingsError(f"'{text}' does not begin with a provider.", remedy=f"{meant}{remedy}")
    model = ModelId.parse(text)
    try:
        found = (await list_models(errand.session, ModelsListParams(provider)))["models"]
    except OllmError as error:
        return model, error.message
    names = [model["name"] for model in found]
    # Ollama takes a name without a tag for the newest one.
    if names and not {model.name, f"{model.name}:latest"} & set(names):
        ids = [f"{provider}:{name}" for name in names]
        raise ModelNotFound(
            f"{provider} does not list {model.name}.",
            remedy=f"{_meant(text, ids)}/model lists what is there.",
            available=names,
        )
    return model, ""


def _meant(text: str, ids: Sequence[str]) -> str:
    """What may have been meant: the same name with its provider, or one that is spelt much like it."""
    wanted = text.casefold()
    same = [model for model in ids if model.casefold().endswith((f":{wanted}", f":{wanted}:latest"))]
    near = same or get_close_matches(text, ids, n=3) or [model for model in ids if wanted in model.casefold()][:3]
    return f"Did you mean {' or '.join(near)}? " if near else ""
