"""Arguments of a tool call, checked against the JSON Schema of the tool."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import relevance
from referencing import Registry

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

    from ollm_lsp.core.foreign_json import JsonObject

SHOWN = 3
"""So many faults are told at once: enough to learn from, and no list."""
_LONGEST = 200


def fits(schema: JsonObject, arguments: JsonObject, /) -> str | None:
    """Why the arguments do not fit, in words for the model; nothing when they do."""
    validator: Any = _validator(json.dumps(schema))  # its types are known only in part
    faults: list[ValidationError] = list(validator.iter_errors(arguments))
    # A fault near the top explains those below it, so it comes first.
    faults.sort(key=relevance, reverse=True)
    return "; ".join(map(_words, faults[:SHOWN])) or None


@lru_cache(maxsize=128)
def _validator(schema: str) -> Draft202012Validator:
    # With a registry of its own, a schema that refers to an address is an error and not a request to it.
    return Draft202012Validator(json.loads(schema), registry=Registry())


def _words(fault: ValidationError) -> str:
    message = fault.message if len(fault.message) <= _LONGEST else f"…{fault.message[-_LONGEST:]}"
    return f"{fault.json_path.removeprefix('$').lstrip('.')}: {message}" if fault.path else message
