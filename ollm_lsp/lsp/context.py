"""What of the editor goes into a request: the active document and its selection first, then the other open ones.

Only open buffers count. A file on the disk is never read here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ollm_lsp.core.events import Warned
from ollm_lsp.core.globs import matches
from ollm_lsp.core.tokens import estimate_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ollm_lsp.lsp.buffer import Range
    from ollm_lsp.lsp.documents import Document, Documents
    from ollm_lsp.lsp.protocol import ChatContext
    from ollm_lsp.settings.resolved import ContextSettings


@dataclass(frozen=True, slots=True)
class ContextPart:
    """One piece of context; `reason` says why it is there."""

    uri: str
    range: Range | None
    text: str
    reason: str

    @property
    def tokens(self) -> int:
        return estimate_text(self.text)


@dataclass(frozen=True, slots=True)
class Context:
    """The pieces that fit, and what the user should know about those that do not."""

    parts: tuple[ContextPart, ...] = ()
    warnings: tuple[Warned, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.parts)


def assemble(documents: Documents, wanted: ChatContext | None, settings: ContextSettings, budget: int) -> Context:
    """Choose what fits into a number of tokens. What the user named and cannot be had is a warning."""
    if settings.max_tokens is not None:
        budget = min(budget, settings.max_tokens)
    parts: list[ContextPart] = []
    warnings: list[Warned] = []
    left_out: list[str] = []
    for part, was_named in _candidates(documents, wanted, settings, warnings):
        if part.tokens <= budget:
            budget -= part.tokens
            parts.append(part)
        elif was_named:
            left_out.append(part.uri)
    if left_out:
        warnings.append(
            Warned(
                "context_left_out",
                f"Too long for the model's context, so left out: {', '.join(map(_name, left_out))}.",
                "Select the part that matters, or choose a model with a larger context.",
            )
        )
    return Context(tuple(parts), tuple(warnings))


def _candidates(
    documents: Documents, wanted: ChatContext | None, settings: ContextSettings, warnings: list[Warned]
) -> Iterator[tuple[ContextPart, bool]]:
    """Pieces in their order of importance, each with whether the user named it."""
    seen: set[str] = set()
    named = [wanted.uri] if wanted and wanted.uri else []
    for uri in (*named, *(wanted.files if wanted else ())):
        document = documents.get(uri)
        if document is None:
            warnings.append(Warned("not_open", f"{_name(uri)} is not open in the editor.", "Open it and ask again."))
        elif document.uri not in seen and _allowed(document, settings, warnings):
            seen.add(document.uri)
            if wanted and wanted.range and uri == wanted.uri:
                yield _part(document, "selection", wanted.range), True
                yield _part(document, "active document"), False
            else:
                yield _part(document, "active document" if uri == (wanted and wanted.uri) else "attached"), True
    if settings.open_buffers:
        for document in documents.recent():
            if document.uri not in seen and _allowed(document, settings):
                yield _part(document, "open buffer"), False


def _allowed(document: Document, settings: ContextSettings, warnings: list[Warned] | None = None) -> bool:
    if not any(matches(document.path, pattern) for pattern in settings.exclude):
        return True
    if warnings is not None:
        warnings.append(
            Warned("excluded", f"{_name(document.uri)} is excluded from the context.", "See context.exclude.")
        )
    return False


def _part(document: Document, reason: str, selection: Range | None = None) -> ContextPart:
    text = document.buffer.slice(selection) if selection else document.buffer.text
    where = f" (selection from line {selection.start.line + 1})" if selection else ""
    fence = "```"
    while fence in text:
        fence += "`"
    newline = "" if text.endswith("\n") else "\n"
    block = f"{document.path}{where}:\n{fence}{document.language_id}\n{text}{newline}{fence}\n"
    return ContextPart(document.uri, selection, block, reason)


def _name(uri: str) -> str:
    return uri.rsplit("/", 1)[-1]
