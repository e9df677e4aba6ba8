"""Settings as the program uses them: resolved, frozen, with every default filled in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ollm_lsp.core.model import ModelId
    from ollm_lsp.settings.secrets import Secret


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """Seconds that a provider may take."""

    connect: float = 10.0
    first_token: float = 120.0
    idle: float = 60.0
    total: float = 3600.0


@dataclass(frozen=True, slots=True)
class OllamaSettings:
    """An Ollama server, by its native API."""

    name: str
    base_url: str
    api_key: Secret | None = None
    keep_alive: str | None = None
    limits: TimeLimits = field(default_factory=TimeLimits)


@dataclass(frozen=True, slots=True)
class OpenAISettings:
    """A server with the Chat Completions API: vLLM, llama.cpp, LM Studio, OpenAI and many more."""

    name: str
    base_url: str
    api_key: Secret | None = None
    context_window: int | None = None
    limits: TimeLimits = field(default_factory=TimeLimits)


@dataclass(frozen=True, slots=True)
class EmbeddedSettings:
    """A model in a child process of our own; without a path it is SmolLM2, fetched on first use."""

    name: str
    model_path: Path | None = None
    context_window: int = 8192
    threads: int = 1
    idle_timeout: float = 600.0
    limits: TimeLimits = field(default_factory=TimeLimits)


ProviderSettings: TypeAlias = OllamaSettings | OpenAISettings | EmbeddedSettings


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """How a chat runs."""

    system_prompt: str | None = None


@dataclass(frozen=True, slots=True)
class ContextSettings:
    """What of the editor goes into a request."""

    open_buffers: bool = True
    max_tokens: int | None = None
    exclude: tuple[str, ...] = ("**/.env*",)


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything together. `model` is always set; its provider may be one that is not configured."""

    model: ModelId
    providers: Mapping[str, ProviderSettings]
    chat: ChatSettings = field(default_factory=ChatSettings)
    context: ContextSettings = field(default_factory=ContextSettings)
