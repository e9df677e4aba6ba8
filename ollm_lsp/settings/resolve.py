"""Resolve: from the layers, as read, to settings that always work."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, assert_never

from ollm_lsp.core.actions import BUILT_IN, Action, Form
from ollm_lsp.core.decision import Decision
from ollm_lsp.core.model import ModelId
from ollm_lsp.settings.defaults import default_model, default_providers
from ollm_lsp.settings.headers import HeaderValue
from ollm_lsp.settings.kraken_resolve import resolve_kraken
from ollm_lsp.settings.layers import Layer, Resolution
from ollm_lsp.settings.narrowing import narrow
from ollm_lsp.settings.problems import Problem, bounded, readable
from ollm_lsp.settings.provider_options import (
    AnthropicOptions,
    EmbeddedOptions,
    GoogleOptions,
    OllamaOptions,
    OpenAIOptions,
)
from ollm_lsp.settings.resolved import (
    ActionsSettings,
    AnthropicSettings,
    ChatSettings,
    ContextSettings,
    EmbeddedSettings,
    GoogleSettings,
    OllamaSettings,
    OpenAISettings,
    Settings,
    TimeLimits,
    ToolsSettings,
)
from ollm_lsp.settings.secrets import Secret
from ollm_lsp.settings.validation import plain, validate
from ollm_lsp.settings.wording import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ollm_lsp.settings.options import ActionsOptions, ChatOptions, Options, ToolsOptions
    from ollm_lsp.settings.provider_options import HttpOptions, ProviderOptions, Timeouts
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
        chat=_chat(options.chat),
        context=_context(options, problems),
        tools=_tools(options.tools, problems),
        kraken=resolve_kraken(
            layer.source, options.kraken, problems, lambda name, entry: _provider(name, entry, options.timeouts)
        ),
        actions=_actions(options.actions),
    ), problems


def _chat(options: ChatOptions) -> ChatSettings:
    return ChatSettings(**options.model_dump())


def _context(options: Options, problems: list[Problem]) -> ContextSettings:
    # A list that lost an entry to a problem must not let through more than no list at all.
    lost = any(problem.key.startswith("context.exclude[") for problem in problems)
    added = ContextSettings().exclude if lost else ()
    exclude = tuple(dict.fromkeys((*options.context.exclude, *added)))
    given: dict[str, Any] = {**options.context.model_dump(), "exclude": exclude}
    return ContextSettings(**given)


def _tools(options: ToolsOptions, problems: list[Problem]) -> ToolsSettings:
    """When a rule was lost to a problem, nobody knows what it forbade: then everything asks."""
    lost = any(problem.key == "tools" or problem.key.startswith("tools.permissions") for problem in problems)
    return ToolsSettings(
        permissions=tuple((pattern, Decision(text)) for pattern, text in options.permissions.items()),
        restrictions=(("*", Decision.ASK),) if lost else (),
        disabled=tuple(options.disabled),
        run_command=options.run_command,
    )


def _actions(options: ActionsOptions) -> ActionsSettings:
    own = options.prompts
    built_in = (replace(action, prompt=own[action.name]) if action.name in own else action for action in BUILT_IN)
    custom = (Action(one.title, one.title, one.prompt, Form(one.kind)) for one in options.custom)
    return ActionsSettings(tuple(built_in), tuple(custom), options.ai_comments)


def _provider(name: str, options: ProviderOptions, common: Timeouts) -> ProviderSettings:
    limits = _limits(common, options.timeouts)
    match options:
        case OllamaOptions():
            http = _http(options, limits)
            return OllamaSettings(name, options.base_url, keep_alive=options.keep_alive, think=options.think, **http)
        case OpenAIOptions():
            return OpenAISettings(name, options.base_url, **_http(options, limits))
        case AnthropicOptions():
            return AnthropicSettings(name, options.base_url, max_tokens=options.max_tokens, **_http(options, limits))
        case GoogleOptions():
            return GoogleSettings(name, options.base_url, max_tokens=options.max_tokens, **_http(options, limits))
        case EmbeddedOptions():
            path = Path(options.model_path) if options.model_path else None
            return EmbeddedSettings(name, path, options.context_window, options.threads, options.idle_timeout, limits)
        case _:
            assert_never(options)


def _http(options: HttpOptions, limits: TimeLimits) -> dict[str, Any]:
    return {
        "api_key": Secret(options.api_key) if options.api_key else None,
        "headers": {name: HeaderValue(name, text) for name, text in options.headers.items()},
        "extra": options.extra,
        "context_window": options.context_window,
        "max_retries": options.max_retries,
        "limits": limits,
    }


def _limits(common: Timeouts, own: Timeouts | None) -> TimeLimits:
    merged = common.model_dump() | (own.model_dump(exclude_unset=True) if own else {})
    return TimeLimits(**merged)


def _literal_keys(source: str, options: Options) -> Iterator[Problem]:
    entries = {f"providers.{name}": entry for name, entry in options.providers.items()}
    entries |= {f"kraken.apiProviders.{name}": entry for name, entry in options.kraken.api_providers.items()}
    for place, entry in entries.items():
        if isinstance(entry, EmbeddedOptions):
            continue
        if entry.api_key and Secret(entry.api_key).is_literal:
            yield _literal_key(source, place, "apiKey")
        for header, text in entry.headers.items():
            if HeaderValue(header, text).is_literal_key:
                yield _literal_key(source, f"{place}.headers", readable(header))
    for name, agent in options.kraken.cli_providers.items():
        if agent.proxy_api_key and Secret(agent.proxy_api_key).is_literal:
            yield _literal_key(source, f"kraken.cliProviders.{name}", "proxyApiKey")


def _literal_key(source: str, place: str, key: str) -> Problem:
    return Problem(
        source,
        f"{place}.{key}",
        "The key itself is in the file, where every program can read it.",
        f'Put it in the environment and write {key}: "${{NAME_API_KEY}}".',
        severity="warning",
    )
