"""Resolve: from the layers, as read, to settings that always work."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, assert_never

from ollm_lsp.core.model import ModelId
from ollm_lsp.settings.defaults import default_model, default_providers
from ollm_lsp.settings.layers import Layer, Resolution
from ollm_lsp.settings.narrowing import narrow
from ollm_lsp.settings.problems import Problem, bounded
from ollm_lsp.settings.provider_options import EmbeddedOptions, OllamaOptions, OpenAIOptions
from ollm_lsp.settings.resolved import (
    ChatSettings,
    ContextSettings,
    EmbeddedSettings,
    OllamaSettings,
    OpenAISettings,
    Settings,
    TimeLimits,
)
from ollm_lsp.settings.secrets import Secret
from ollm_lsp.settings.validation import plain, validate
from ollm_lsp.settings.wording import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ollm_lsp.settings.options import Options
    from ollm_lsp.settings.provider_options import ProviderOptions, Timeouts
    from ollm_lsp.settings.resolved import ProviderSettings


def resolve(user: Layer, narrowing: Iterable[Layer] = (), *, embedded_available: bool) -> Resolution:
    """Settings from the user's file, narrowed by the other layers in their order. It never raises.

    One bad setting switches off one thing: it is left out, and a problem says why.
    """
    settings, found = _of_user(user, embedded_available=embedded_available)
    problems = bounded(user.source, found)
    for layer in narrowing:
        settings, found = narrow(settings, layer, user.source)
        problems += bounded(layer.source, found)
    return Resolution(settings, tuple(problems))


def _of_user(layer: Layer, *, embedded_available: bool) -> tuple[Settings, list[Problem]]:
    raw, problems = plain(layer)
    validated = validate(layer.source, raw)
    problems += validated.problems
    options = validated.options
    problems += _literal_keys(layer.source, options)

    defaults = default_providers(_limits(options.timeouts, None), embedded_available=embedded_available)
    # A default does not step in for an entry that is broken: its author wanted another address.
    providers = {name: value for name, value in defaults.items() if name not in validated.provider_names}
    for name, entry in options.providers.items():
        providers[name] = _provider(name, entry, options.timeouts)

    model = default_model(providers, embedded_available=embedded_available)
    if options.model is not None:
        model = ModelId.parse(options.model)
        if model.provider not in providers:
            remedy = f"Add it under providers. {suggestion(model.provider, providers)}"
            problems.append(Problem(layer.source, "model", "There is no provider of that name.", remedy))
    return Settings(
        model=model,
        providers=MappingProxyType(providers),
        chat=ChatSettings(options.chat.system_prompt),
        context=ContextSettings(options.context.open_buffers, options.context.max_tokens, _exclude(options, problems)),
    ), problems


def _exclude(options: Options, problems: list[Problem]) -> tuple[str, ...]:
    """A list that lost an entry to a problem must not let through more than no list at all."""
    lost = any(problem.key.startswith("context.exclude[") for problem in problems)
    added = ContextSettings().exclude if lost else ()
    return tuple(dict.fromkeys((*options.context.exclude, *added)))


def _provider(name: str, options: ProviderOptions, common: Timeouts) -> ProviderSettings:
    limits = _limits(common, options.timeouts)
    match options:
        case OllamaOptions():
            key = Secret(options.api_key) if options.api_key else None
            return OllamaSettings(name, options.base_url, key, options.keep_alive, limits)
        case OpenAIOptions():
            key = Secret(options.api_key) if options.api_key else None
            return OpenAISettings(name, options.base_url, key, options.context_window, limits)
        case EmbeddedOptions():
            path = Path(options.model_path) if options.model_path else None
            return EmbeddedSettings(name, path, options.context_window, options.threads, options.idle_timeout, limits)
        case _:
            assert_never(options)


def _limits(common: Timeouts, own: Timeouts | None) -> TimeLimits:
    merged = common.model_dump() | (own.model_dump(exclude_unset=True) if own else {})
    return TimeLimits(**merged)


def _literal_keys(source: str, options: Options) -> Iterator[Problem]:
    for name, entry in options.providers.items():
        key = None if isinstance(entry, EmbeddedOptions) else entry.api_key
        if key and Secret(key).is_literal:
            yield Problem(
                source,
                f"providers.{name}.apiKey",
                "The key itself is in the file, where every program can read it.",
                'Put it in the environment and write apiKey: "${NAME_API_KEY}".',
                severity="warning",
            )
