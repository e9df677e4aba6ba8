"""Wording: pydantic's errors in plain words, each with what to do about it."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from ollm_lsp.settings.kraken_options import API_KINDS
from ollm_lsp.settings.options import section_at
from ollm_lsp.settings.provider_options import KINDS
from ollm_lsp.settings.section import keys

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic_core import ErrorDetails

_KINDS: Final = f"Write type: and one of {', '.join(KINDS)}."
_API_KINDS: Final = f"Write provider: and one of {', '.join(API_KINDS)}."
_MAPPING: Final = ("A mapping of keys to values is expected.", "Write its keys below it, indented.")
_NUMBER: Final = ("A number is expected.", "Write it without quotes, like 30.")
_WHOLE: Final = ("A whole number is expected.", "Write it without quotes, like 8192.")
_SIMPLE: Final = {
    "string_type": ("A text is expected.", "Put it in quotes."),
    "string_unicode": ("The text is not valid Unicode.", "Write it anew."),
    "string_too_short": ("The text is empty.", "Write something or leave the key out."),
    "bool_type": ("Either true or false is expected.", "Write it without quotes."),
    "int_type": _WHOLE,
    "int_from_float": _WHOLE,
    "float_type": _NUMBER,
    "finite_number": _NUMBER,
    "list_type": ("A list is expected.", 'Write it like ["**/.env*"].'),
    "dict_type": _MAPPING,
    "model_type": _MAPPING,
    "model_attributes_type": _MAPPING,
    "missing": ("This key is required.", "Add it."),
    "union_tag_not_found": ("The provider has no type.", _KINDS),
    "union_tag_invalid": ("There is no such type of provider.", _KINDS),
    "too_short": ("The list is empty.", "Write at least one entry."),
    "string_pattern_mismatch": (
        "The name of a provider has only letters, digits, - and _.",
        "Choose another name.",
    ),
}
_BOUNDS: Final = {
    "greater_than": ("The number must be more than {gt}.", "Write a larger one."),
    "greater_than_equal": ("The number must be at least {ge}.", "Write a larger one."),
    "less_than_equal": ("The number must be at most {le}.", "Write a smaller one."),
    "string_too_long": ("The text may have at most {max_length} characters.", "Shorten it."),
    "literal_error": ("One of these is expected: {expected}.", "Write it as it is here."),
    "too_long": ("The list may have at most {max_length} entries.", "Shorten it."),
}


def explain(details: ErrorDetails) -> tuple[str, str]:
    """Message and remedy. What was written is never repeated, except the name of an unknown key."""
    kind, context = details["type"], details.get("ctx", {})
    if kind == "extra_forbidden":
        *place, name = details["loc"]
        section = section_at(place)
        return "There is no such key.", suggestion(str(name), keys(section) if section else ())
    if kind == "refused":
        return context["message"], context["remedy"]
    if kind.startswith("union_tag") and details["loc"][:1] == ("kraken",):
        return "It does not say whose API it has.", _API_KINDS
    if kind in _BOUNDS:
        message, remedy = _BOUNDS[kind]
        return message.format(**context), remedy.format(**context)
    return _SIMPLE.get(kind, ("This is not a valid value.", "See docs/settings.md."))


def suggestion(name: str, known: Iterable[str]) -> str:
    """What somebody may have meant, else all that they could mean."""
    known = sorted(known)
    by_letters = {key.casefold(): key for key in known}
    wanted = name[:100].replace("_", "").replace("-", "").casefold()
    if close := get_close_matches(wanted, by_letters, n=1):
        return f"Did you mean {by_letters[close[0]]}?"
    return f"Known here: {', '.join(known)}." if known else "Remove it."
