"""The failures that a decoder finds, in words that are the same for every wire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ollm_lsp.core.errors import IncompleteAnswer, MalformedAnswer
from ollm_lsp.core.foreign_json import JsonError, decode, object_in
from ollm_lsp.providers.wire.refusal import complaint_in, refusal
from ollm_lsp.settings.redactor import redactor

if TYPE_CHECKING:
    from ollm_lsp.core.errors import ProviderError

EXCERPT = 200
MAX_CALLS = 128
"""How many tools one answer may call."""


def excerpt(text: str) -> str:
    """The beginning of somebody else's text on one line, without control characters."""
    # Before the cut: half a key is not recognised as one.
    text = redactor.redact(text[: EXCERPT * 20])
    shown = "".join(character if character.isprintable() else " " for character in text[:EXCERPT])
    return " ".join(shown.split()) + ("…" if len(text) > EXCERPT else "")


def malformed(frame: str, why: str = "unexpected shape") -> MalformedAnswer:
    """A frame that breaks the format, shown shortened."""
    return MalformedAnswer(
        f"The server sent something that is not a chat answer ({why}): {excerpt(frame)}",
        remedy="Check the provider's type and baseUrl in the settings.",
    )


def object_of(frame: str) -> dict[str, Any]:
    """The JSON object that a frame is, on every wire."""
    try:
        value = decode(frame)
    except JsonError as error:
        raise malformed(frame, str(error)) from None
    if not isinstance(value, dict):
        raise malformed(frame)
    return object_in(value)


def incomplete() -> IncompleteAnswer:
    """A stream without its end."""
    return IncompleteAnswer(
        "The connection ended before the answer did.",
        remedy="Send the message again; what came so far is kept.",
    )


def reported(error: object) -> ProviderError:
    """An error that the server put into a stream that began well."""
    complaint = complaint_in(error)
    return refusal(f"The server reports: {excerpt(complaint.text or str(error))}", complaint)


def unreadable_call(name: str, arguments: str, why: str) -> MalformedAnswer:
    """A tool call that nobody may run, because nobody knows for sure what it says."""
    tool = f"the tool '{excerpt(name)}'" if name else "a tool"
    return MalformedAnswer(
        f"The model called {tool} in a way that cannot be read ({excerpt(why)}): {excerpt(arguments)}",
        remedy="Ask again, or choose a model that is better with tools.",
    )
