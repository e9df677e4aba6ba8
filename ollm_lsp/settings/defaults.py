"""Defaults: the providers and the model of a user who configured nothing."""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import TYPE_CHECKING

from ollm_lsp.core.model import ModelId
from ollm_lsp.settings.resolved import EmbeddedSettings, OllamaSettings, Settings, TimeLimits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ollm_lsp.settings.resolved import ProviderSettings

OLLAMA_URL = "http://127.0.0.1:11434"
OPENAI_URL = "https://api.openai.com/v1"
ANTHROPIC_URL = "https://api.anthropic.com"
GOOGLE_URL = "https://generativelanguage.googleapis.com/v1beta"
_OLLAMA_MODEL = "qwen2.5-coder:7b"
_EMBEDDED_MODEL = "smollm2"


def default_threads() -> int:
    """Half of the processors: the editor and the user need the rest."""
    return max(1, (os.cpu_count() or 1) // 2)


def default_providers(limits: TimeLimits, *, embedded_available: bool) -> dict[str, ProviderSettings]:
    """The providers that need no configuration. None of them leaves this machine."""
    providers: dict[str, ProviderSettings] = {"ollama": OllamaSettings("ollama", OLLAMA_URL, limits=limits)}
    if embedded_available:
        providers["embedded"] = EmbeddedSettings("embedded", threads=default_threads(), limits=limits)
    return providers


def default_model(providers: Mapping[str, ProviderSettings], *, embedded_available: bool) -> ModelId:
    """The embedded model where it can run, else one that many users of Ollama have."""
    embedded = providers.get("embedded")
    if embedded_available and isinstance(embedded, EmbeddedSettings):
        name = embedded.model_path.stem.strip() if embedded.model_path else _EMBEDDED_MODEL
        return ModelId("embedded", name or _EMBEDDED_MODEL)
    return ModelId("ollama", _OLLAMA_MODEL)


def default_settings(*, embedded_available: bool) -> Settings:
    """The settings without any file."""
    providers = default_providers(TimeLimits(), embedded_available=embedded_available)
    model = default_model(providers, embedded_available=embedded_available)
    return Settings(model=model, providers=MappingProxyType(providers))
