"""Which model, and what it can do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ollm_lsp.core.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping


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
    extensions: tuple[str, ...] = ()
    """What it can do beyond the contract, in the provider's own words."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """One line of a provider's list of models."""

    id: ModelId
    capabilities: Capabilities = field(default_factory=Capabilities)
    size_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class ModelDetails:
    """Everything that a provider tells about one model; `facts` are for people to read."""

    info: ModelInfo
    facts: Mapping[str, str] = field(default_factory=dict[str, str])
