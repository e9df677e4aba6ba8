"""Section: the base of all options, a mapping with known keys and nothing else."""

from typing import Any, Final, cast

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from ollm_lsp.core.errors import SettingsError

ANYWHERE: Final[dict[str, Any]] = {"x-where": "anywhere"}
"""Marks an option that the editor and the workspace may set too. Every other one counts in the user's file only."""


class Section(BaseModel):
    """Strict, so that "yes" is neither a number nor true; a null is the same as leaving the key out."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="forbid",
        strict=True,
        frozen=True,
        allow_inf_nan=False,
        hide_input_in_errors=True,
        use_attribute_docstrings=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _null_is_unset(cls, data: object) -> object:
        if not isinstance(data, dict):
            return data
        known = keys(cls)
        members = cast("dict[str, object]", data)
        return {key: value for key, value in members.items() if value is not None or key not in known}


def keys(section: type[Section]) -> dict[str, FieldInfo]:
    """The fields of a section by the names that people write."""
    return {field.alias or name: field for name, field in section.model_fields.items()}


def subsection(field: FieldInfo) -> type[Section] | None:
    """The section that a field holds, if it holds one."""
    annotation = field.annotation
    return annotation if isinstance(annotation, type) and issubclass(annotation, Section) else None


def refusal(message: str, remedy: str) -> PydanticCustomError:
    """Words of ours as an error that pydantic carries to the right key."""
    return PydanticCustomError("refused", "{message}", {"message": message, "remedy": remedy})


def refusal_of(error: SettingsError) -> PydanticCustomError:
    """The same for an error of the inner layers."""
    return refusal(error.message, error.remedy)
