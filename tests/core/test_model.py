"""Model ids: `provider:name`, or an error that says so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.errors import SettingsError
from ollm_lsp.core.model import Capabilities, ModelId, ModelInfo
from tests.core.values import patient


@patient
@given(st.text("ab:/. -", max_size=12))
def test_any_text_is_a_model_that_is_written_back_unchanged_or_refused(text: str) -> None:
    provider, colon, name = text.partition(":")
    valid = bool(provider and colon and name) and text == text.strip()
    if valid:
        model = ModelId.parse(text)
        assert model == ModelId(provider, name)
        assert str(model) == text
    else:
        with pytest.raises(SettingsError) as refused:
            ModelId.parse(text)
        assert f"'{text}'" in refused.value.message
        assert "provider:name" in refused.value.remedy


@pytest.mark.parametrize(
    ("text", "provider", "name"),
    [
        ("ollama:qwen3-coder:30b", "ollama", "qwen3-coder:30b"),
        ("vllm:Qwen/Qwen3-8B", "vllm", "Qwen/Qwen3-8B"),
        ("embedded:qwen", "embedded", "qwen"),
    ],
)
def test_the_name_keeps_its_own_colons(text: str, provider: str, name: str) -> None:
    assert ModelId.parse(text) == ModelId(provider, name)


@pytest.mark.parametrize("text", ["", ":", "ollama", "ollama:", ":qwen", " ollama:qwen", "ollama:qwen\n"])
def test_what_lacks_a_provider_or_a_name_is_refused(text: str) -> None:
    with pytest.raises(SettingsError):
        ModelId.parse(text)


@pytest.mark.prop("eng-1")
def test_a_model_of_which_nothing_is_known_is_credited_with_nothing_but_streaming() -> None:
    unknown = ModelInfo(ModelId("p", "m")).capabilities
    assert unknown == Capabilities(streaming=True)
    assert [unknown.tools, unknown.vision, unknown.audio, unknown.reasoning] == [False] * 4
    assert unknown.context_window is None
