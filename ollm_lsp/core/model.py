"""Which model, and what it can do."""

from __future__ import annotations

from dataclasses import dataclass, field

from ollm_lsp.core.errors import SettingsError


@dataclass(frozen=True, slots=True)
class ModelId:
    """A model as people write it: `provider:name`, where the name may hold colons of its own."""

    provider: str
    name: str

    @classmethod
    def parse(cls, text: str) -> ModelId:
        provider, colon, name = text.partition(":")
        if not (provider and colon and name) or text != text.strip():
            raise SettingsError(
                f"'{text}' is not a model.",
                remedy="Write it as provider:name, for example ollama:qwen3-coder:30b.",
            )
        return cls(provider, name)

    def __str__(self) -> str:
        return f"{self.provider}:{self.name}"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model can do, as far as its provider tells."""

    streaming: bool = True
    tools: bool = False
    vision: bool = False
    audio: bool = False
    reasoning: bool = False
    context_window: int | None = None


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """One line of a provider's list of models."""

    id: ModelId
    capabilities: Capabilities = field(default_factory=Capabilities)
    size_bytes: int | None = None
