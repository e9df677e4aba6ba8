"""Schema: the JSON Schema of a settings file, for editors that complete and check it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from pydantic.json_schema import GenerateJsonSchema

from ollm_lsp.settings.options import Options

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue


class _Schema(GenerateJsonSchema):
    """Without the titles that pydantic makes of field names: they say nothing that the key does not."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's signature
        return False


def schema() -> dict[str, Any]:
    """The schema, draft 2020-12, with a description of every key."""
    generated = Options.model_json_schema(schema_generator=_Schema)
    kraken = generated["$defs"]["KrakenOptions"]["properties"]
    for named in (generated["properties"]["providers"], kraken["cliProviders"], kraken["apiProviders"]):
        cast("JsonSchemaValue", named)["additionalProperties"] = False
    return {"$schema": GenerateJsonSchema.schema_dialect, **generated}
