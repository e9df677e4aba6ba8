"""Narrowing: what the editor and the workspace may change, and only toward less.

Over LSP the editor hands over values without telling whether the user or the folder set them, so both count as the
workspace's. Invariant 11: they never widen what the user allowed. Guarded by tests/settings/test_narrowing.py.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, assert_never, cast

from ollm_lsp.core.decision import Decision
from ollm_lsp.core.model import ModelId
from ollm_lsp.settings.address import is_loopback
from ollm_lsp.settings.kraken_narrowing import narrow_kraken
from ollm_lsp.settings.options import Options, is_anywhere
from ollm_lsp.settings.problems import Problem, dotted
from ollm_lsp.settings.resolved import (
    AnthropicSettings,
    EmbeddedSettings,
    GoogleSettings,
    OllamaSettings,
    OpenAISettings,
)
from ollm_lsp.settings.section import Section, keys, subsection
from ollm_lsp.settings.step import Step
from ollm_lsp.settings.validation import plain, validate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ollm_lsp.settings.layers import Layer
    from ollm_lsp.settings.options import ActionsOptions, ChatOptions, ContextOptions, ToolsOptions
    from ollm_lsp.settings.resolved import (
        ActionsSettings,
        ChatSettings,
        ContextSettings,
        ProviderSettings,
        Settings,
        ToolsSettings,
    )


def narrow(settings: Settings, layer: Layer, user_source: str) -> tuple[Settings, list[Problem]]:
    """The settings under one more layer, and what of the layer was refused."""
    raw, problems = plain(layer)
    kept, refused = _split(raw, Options)
    problems += (
        Problem(
            layer.source,
            dotted(path),
            f"This key counts only in {user_source}, so that no workspace can set it; it has no effect here.",
            f"Move it to {user_source} if you want it.",
        )
        for path in refused
    )
    validated = validate(layer.source, kept)
    problems += validated.problems
    step = _Step(layer.source, user_source, problems)
    options = validated.options
    return replace(
        settings,
        model=step.model(settings, options.model),
        chat=step.chat(settings.chat, options.chat),
        context=step.context(settings.context, options.context),
        tools=step.tools(settings.tools, options.tools),
        kraken=narrow_kraken(step, settings.kraken, options.kraken),
        actions=step.actions(settings.actions, options.actions),
    ), problems


def is_local(provider: ProviderSettings, model: str) -> bool:
    """Whether a model runs on this machine. In doubt it does not."""
    match provider:
        case EmbeddedSettings():
            return True
        case OllamaSettings():
            # A local Ollama passes these on to its maker's servers.
            return is_loopback(provider.base_url) and not model.casefold().endswith((":cloud", "-cloud"))
        case OpenAISettings() | AnthropicSettings() | GoogleSettings():
            return is_loopback(provider.base_url)
        case _:
            assert_never(provider)


class _Step(Step):
    def model(self, settings: Settings, text: str | None) -> ModelId:
        if text is None or (model := ModelId.parse(text)) == settings.model:
            return settings.model
        provider = settings.providers.get(model.provider)
        if provider is None:
            self.refuse("model", "There is no provider of that name.")
        elif not is_local(provider, model.name):
            self.refuse("model", "That model is not on this machine, so only the user's own file chooses it.")
        else:
            return model
        return settings.model

    def chat(self, settings: ChatSettings, options: ChatOptions) -> ChatSettings:
        return replace(
            settings,
            system_prompt=options.system_prompt or settings.system_prompt,
            **self.off("chat", settings, options, "tools", "keep_conversations", "auto_compact"),
            **self.lowered("chat", settings, options, "max_turns", "tool_timeout", "compact_timeout"),
        )

    def context(self, settings: ContextSettings, options: ContextOptions) -> ContextSettings:
        added = options.exclude if "exclude" in options.model_fields_set else ()
        return replace(
            settings,
            exclude=tuple(dict.fromkeys((*settings.exclude, *added))),
            **self.off("context", settings, options, "open_buffers", "agents_file", "imports"),
            **self.lowered("context", settings, options, "max_tokens"),
        )

    def tools(self, settings: ToolsSettings, options: ToolsOptions) -> ToolsSettings:
        added = [(pattern, Decision(text)) for pattern, text in options.permissions.items()]
        for pattern, decision in added:
            if decision is Decision.ALLOW and (pattern, decision) not in settings.permissions:
                self.refuse(dotted(("tools", "permissions", pattern)), "Nothing can be allowed here.")
        stricter = [(pattern, decision) for pattern, decision in added if decision is not Decision.ALLOW]
        return replace(
            settings,
            restrictions=tuple(dict.fromkeys((*settings.restrictions, *stricter))),
            disabled=tuple(dict.fromkeys((*settings.disabled, *options.disabled))),
            **self.off("tools", settings, options, "run_command"),
        )

    def actions(self, settings: ActionsSettings, options: ActionsOptions) -> ActionsSettings:
        """Prompts are the user's alone: a workspace could otherwise plant one that the user runs unread."""
        return replace(settings, **self.off("actions", settings, options, "ai_comments"))


def _split(raw: dict[str, object], section: type[Section]) -> tuple[dict[str, object], list[tuple[str, ...]]]:
    """What may stand in this layer, and the keys that may not. Unknown ones stay, for validation to name them."""
    kept: dict[str, object] = {}
    refused: list[tuple[str, ...]] = []
    known = keys(section)
    for key, value in raw.items():
        field = known.get(key)
        if field is None or is_anywhere(field.json_schema_extra):
            kept[key] = value
        elif isinstance(value, dict) and (inner := subsection(field)):
            kept[key], deeper = _split(cast("dict[str, object]", value), inner)
            refused += ((key, *path) for path in deeper)
        else:
            refused += ((key, *path) for path in _leaves(value))
    return kept, refused


def _leaves(value: Any) -> Iterator[tuple[str, ...]]:
    """The keys below a value; a null or an empty mapping asks for nothing."""
    if isinstance(value, dict):
        for key, inner in cast("dict[str, object]", value).items():
            paths = list(_leaves(inner)) if isinstance(inner, dict) else []
            yield from ((key, *path) for path in paths or [()])
    elif value is not None:
        yield ()
