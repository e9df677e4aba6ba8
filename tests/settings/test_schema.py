"""The schema says what the options say, with words for every key."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ollm_lsp.settings.options import Options
from ollm_lsp.settings.provider_options import KINDS
from ollm_lsp.settings.schema import schema
from ollm_lsp.settings.section import keys

SCHEMA = schema()
SECTIONS: dict[str, dict[str, Any]] = {"Options": SCHEMA, **SCHEMA["$defs"]}


def test_the_schema_is_json_of_the_current_draft() -> None:
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert json.loads(json.dumps(SCHEMA)) == SCHEMA


@pytest.mark.parametrize("name", SECTIONS)
def test_every_key_is_camel_case_and_described(name: str) -> None:
    assert SECTIONS[name]["additionalProperties"] is False
    for key, described in SECTIONS[name]["properties"].items():
        assert key.isidentifier()
        assert "_" not in key or name == "HooksOptions"  # the wire contract names hooks so
        target = SECTIONS[described["$ref"].rpartition("/")[2]] if "$ref" in described else described
        assert len(described.get("description") or target["description"]) > 10


@pytest.mark.parametrize("section", [Options, *KINDS.values()])
def test_every_option_has_a_description_of_its_own(section: Any) -> None:
    assert all(field.description for field in keys(section).values())


def test_every_reference_has_a_target() -> None:
    for part in json.dumps(SCHEMA).split('"#/$defs/')[1:]:
        assert part.partition('"')[0] in SCHEMA["$defs"]


def test_defaults_are_in_the_schema_and_none_depends_on_this_machine() -> None:
    assert SECTIONS["OllamaOptions"]["properties"]["baseUrl"]["default"] == "http://127.0.0.1:11434"
    assert SECTIONS["OpenAIOptions"]["properties"]["baseUrl"]["default"] == "https://api.openai.com/v1"
    assert SECTIONS["AnthropicOptions"]["properties"]["baseUrl"]["default"] == "https://api.anthropic.com"
    assert SECTIONS["GoogleOptions"]["properties"]["maxRetries"]["default"] == 3
    assert SECTIONS["Timeouts"]["properties"]["firstToken"]["default"] == 120
    assert SECTIONS["ContextOptions"]["properties"]["exclude"]["default"] == ["**/.env*"]
    assert SECTIONS["EmbeddedOptions"]["properties"]["contextWindow"]["default"] == 8192
    assert "default" not in SECTIONS["EmbeddedOptions"]["properties"]["threads"]


def test_a_provider_is_told_apart_by_its_type() -> None:
    providers = SCHEMA["properties"]["providers"]
    (entry,) = providers["patternProperties"].values()
    assert providers["additionalProperties"] is False
    assert (
        set(entry["discriminator"]["mapping"]) == set(KINDS) == {"ollama", "openai", "anthropic", "google", "embedded"}
    )
    assert all(section["required"] == ["type"] for section in SECTIONS.values() if "type" in section["properties"])


def test_the_schema_tells_which_options_count_anywhere() -> None:
    assert SCHEMA["properties"]["model"]["x-where"] == "anywhere"
    assert "x-where" not in SCHEMA["properties"]["providers"]
