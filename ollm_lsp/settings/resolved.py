"""Settings as the program uses them: resolved, frozen, with every default filled in."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from ollm_lsp.core.actions import BUILT_IN
from ollm_lsp.settings.kraken_settings import KrakenSettings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ollm_lsp.core.actions import Action
    from ollm_lsp.core.decision import Decision
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
class HttpSettings:
    """What every provider at an address has."""

    name: str
    base_url: str
    _: KW_ONLY
    api_key: Secret | None = None
    headers: Mapping[str, Secret] = field(default_factory=dict[str, "Secret"], hash=False)
    """Headers beside those that the provider sends anyway."""
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False, repr=False)
    """JSON that goes into the body of every chat request as it is."""
    context_window: int | None = None
    max_retries: int = 3
    limits: TimeLimits = field(default_factory=TimeLimits)


@dataclass(frozen=True, slots=True)
class OllamaSettings(HttpSettings):
    """An Ollama server, by its native API."""

    _: KW_ONLY
    keep_alive: str | None = None
    think: bool | str | None = None


@dataclass(frozen=True, slots=True)
class OpenAISettings(HttpSettings):
    """A server with the Chat Completions API: vLLM, llama.cpp, LM Studio, OpenAI and many more."""


@dataclass(frozen=True, slots=True)
class AnthropicSettings(HttpSettings):
    """Anthropic, or a server with its Messages API."""

    _: KW_ONLY
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class GoogleSettings(HttpSettings):
    """Google, or a server with the API of Gemini."""

    _: KW_ONLY
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class EmbeddedSettings:
    """A model in a child process of our own; without a path it is SmolLM2, fetched on first use."""

    name: str
    model_path: Path | None = None
    context_window: int = 8192
    threads: int = 1
    idle_timeout: float = 600.0
    limits: TimeLimits = field(default_factory=TimeLimits)


ProviderSettings: TypeAlias = OllamaSettings | OpenAISettings | AnthropicSettings | GoogleSettings | EmbeddedSettings


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """How a chat runs."""

    system_prompt: str | None = None
    max_turns: int = 10
    tool_timeout: float = 60.0
    tools: bool = True
    keep_conversations: bool = True
    auto_compact: bool = True
    compact_timeout: float = 60.0


@dataclass(frozen=True, slots=True)
class ContextSettings:
    """What of the editor goes into a request."""

    open_buffers: bool = True
    max_tokens: int | None = None
    exclude: tuple[str, ...] = ("**/.env*",)
    agents_file: bool = True
    imports: bool = True


@dataclass(frozen=True, slots=True)
class ToolsSettings:
    """Which tools there are, and what they may do without a question."""

    permissions: tuple[tuple[str, Decision], ...] = ()
    """The rules of the user, by pattern."""
    restrictions: tuple[tuple[str, Decision], ...] = ()
    """Rules of others, each of which can only make something stricter."""
    disabled: tuple[str, ...] = ()
    run_command: bool = False


@dataclass(frozen=True, slots=True)
class ActionsSettings:
    """What can be done with a selection."""

    built_in: tuple[Action, ...] = BUILT_IN
    """Those that everybody has, with the prompts of the user."""
    custom: tuple[Action, ...] = ()
    ai_comments: bool = True

    def get(self, name: str) -> Action | None:
        """The action of that name; one of the user's own has its title as its name."""
        return next((action for action in (*self.built_in, *self.custom) if action.name == name), None)


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything together. `model` is always set; its provider may be one that is not configured."""

    model: ModelId
    providers: Mapping[str, ProviderSettings]
    chat: ChatSettings = field(default_factory=ChatSettings)
    context: ContextSettings = field(default_factory=ContextSettings)
    tools: ToolsSettings = field(default_factory=ToolsSettings)
    kraken: KrakenSettings = field(default_factory=KrakenSettings)
    actions: ActionsSettings = field(default_factory=ActionsSettings)
