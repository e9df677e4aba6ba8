"""What a server tells about a model in its list, which every server words in its own way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ollm_lsp.core.foreign_json import count_in, list_in, object_in
from ollm_lsp.core.model import Capabilities

# vLLM, OpenRouter, Groq, Mistral, Anthropic, Google
_WINDOWS = (
    "max_model_len",
    "context_length",
    "context_window",
    "max_context_length",
    "max_input_tokens",
    "inputTokenLimit",
)


@dataclass(frozen=True, slots=True)
class Told:
    """The facts about one model, where they are told at all."""

    context_window: int | None = None
    tools: bool | None = None
    vision: bool | None = None
    reasoning: bool | None = None

    def capabilities(self, default: Capabilities, configured: int | None) -> Capabilities:
        """What is told, else what is configured, else what such models usually can."""
        return Capabilities(
            tools=default.tools if self.tools is None else self.tools,
            vision=default.vision if self.vision is None else self.vision,
            reasoning=default.reasoning if self.reasoning is None else self.reasoning,
            context_window=self.context_window or configured or default.context_window,
        )


def told(entry: dict[str, Any]) -> Told:
    """The facts in an entry of a list of models."""
    window = max(count_in(value) for value in (*map(entry.get, _WINDOWS), object_in(entry.get("meta")).get("n_ctx")))
    can: Any = entry.get("capabilities")
    flags, names = object_in(can), list_in(can)
    inputs = list_in(object_in(entry.get("architecture")).get("input_modalities"))
    parameters = list_in(entry.get("supported_parameters"))
    return Told(
        window or None,
        tools=_first(_flag(flags, "function_calling", "tools"), _named(parameters, "tools")),
        vision=_first(_flag(flags, "vision", "image_input"), _named(inputs, "image"), _named(names, "multimodal")),
        reasoning=_first(
            _flag(flags, "reasoning", "thinking"), _flag(entry, "thinking"), _named(parameters, "reasoning")
        ),
    )


def _flag(flags: dict[str, Any], *names: str) -> bool | None:
    """Mistral says yes or no; Anthropic says so inside an object."""
    values = (object_in(flags.get(name)).get("supported", flags.get(name)) for name in names)
    return next((value for value in values if isinstance(value, bool)), None)


def _named(names: list[Any], name: str) -> bool | None:
    """OpenRouter and llama.cpp list what there is; without a list nothing is known."""
    return name in names if names else None


def _first(*answers: bool | None) -> bool | None:
    return next((answer for answer in answers if answer is not None), None)
