"""Offers: what can be chosen at a place, as code actions. Nothing here takes time, asks a model or reads a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.actions import ASK, DOCUMENT, EDIT, EXPLAIN, REFACTOR, TESTS, Form
from ollm_lsp.core.ai_comments import ai_comment
from ollm_lsp.core.foreign_json import object_in, text_in
from ollm_lsp.lsp import uris
from ollm_lsp.lsp.place import is_selection
from ollm_lsp.lsp.protocol import QUICKFIX, REWRITE, SOURCE
from ollm_lsp.settings.kraken_settings import KrakenSettings
from ollm_lsp.settings.resolved import ActionsSettings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ollm_lsp.lsp.capabilities import ClientCapabilities
    from ollm_lsp.lsp.documents import Document
    from ollm_lsp.lsp.protocol import Range
    from ollm_lsp.lsp.session import Session
    from ollm_lsp.lsp.standard import CodeActionParams

AUTOMATIC = 2
MOST_LINES = 200
"""Lines of a selection that are looked at for comments."""
MOST_FIXES = 20
"""Diagnostics that have a fix of their own, and that the fix of all is about: nobody reads a menu of thousands."""
LONGEST = 60
"""Characters of a message in a title."""
_LLM_GENERATED = 1
_NO_KRAKEN = "No external provider is configured."


@dataclass(frozen=True, slots=True)
class Offer:
    """One choice, and the command that it runs."""

    title: str
    kind: str
    command: str
    argument: dict[str, Any]
    diagnostics: Sequence[dict[str, Any]] = field(default_factory=tuple)
    disabled: str | None = None
    """Why it cannot be chosen now."""
    is_generated: bool = False
    """Whether a model does it."""

    def is_in(self, only: Sequence[str] | None) -> bool:
        """Whether a filter lets it through; a kind covers all that are below it."""
        return only is None or any(not kind or self.kind == kind or self.kind.startswith(f"{kind}.") for kind in only)

    def to_wire(self, client: ClientCapabilities) -> dict[str, Any] | None:
        """As this client understands it; nothing when it could not show why it is disabled."""
        command = {"title": self.title, "command": self.command, "arguments": [self.argument]}
        if not client.action_literals:
            return None if self.disabled else command
        action: dict[str, Any] = {"title": self.title, "kind": self.kind}
        if self.disabled and not client.disabled_actions:
            return None
        action |= {"disabled": {"reason": self.disabled}} if self.disabled else {"command": command}
        if self.diagnostics:
            action["diagnostics"] = list(self.diagnostics)
        if self.is_generated and client.generated_tag:
            action["tags"] = [_LLM_GENERATED]
        # Never `isPreferred`: an editor may run a preferred action unasked, and this one runs a model.
        return action


def offers(session: Session, params: CodeActionParams, others: Sequence[dict[str, Any]]) -> Iterator[Offer]:
    """What a model can do here: about diagnostics of others and comments always, all else when the user asks."""
    document = session.documents.get(params.text_document.uri)
    if document is None or uris.is_own(document.uri):
        return
    known = session.last_settings.actions if session.last_settings else ActionsSettings()
    where = _wire(params.range)
    at = {"uri": document.uri, "range": where}
    selected = is_selection(document, params.range)
    yield from _comments(document, params.range)
    yield from _fixes(at, others, selected=params.range.start.line != params.range.end.line)
    if params.context.trigger_kind == AUTOMATIC and not selected:
        return
    if selected:
        yield _generated(REFACTOR.title, REWRITE, "ollm.refactor", at)
    yield _generated(DOCUMENT.title, REWRITE, "ollm.document", at)
    yield _generated(EDIT.title, REWRITE, "ollm.edit", at)
    for action in known.custom:
        kind = REWRITE if action.form is Form.EDIT else SOURCE
        yield _generated(action.title, kind, "ollm.action", {**at, "name": action.name})
    yield _generated(EXPLAIN.title, SOURCE, "ollm.explain", at)
    yield _generated(ASK.title, SOURCE, "ollm.ask", at)
    yield _generated(TESTS.title, SOURCE, "ollm.tests", at)
    if selected:
        kraken = session.last_settings.kraken if session.last_settings else KrakenSettings()
        disabled = None if kraken.enabled and kraken.entries else _NO_KRAKEN
        yield _generated("Release the Kraken on this", SOURCE, "ollm.kraken.release", at, disabled=disabled)


def _generated(title: str, kind: str, command: str, argument: dict[str, Any], **more: Any) -> Offer:
    return Offer(f"ollm: {title}", kind, command, argument, is_generated=True, **more)


def _fixes(at: dict[str, Any], others: Sequence[dict[str, Any]], *, selected: bool) -> Iterator[Offer]:
    """One for each diagnostic, and one for all of several."""
    is_all, others = len(others) <= MOST_FIXES, others[:MOST_FIXES]
    cursor = at["range"]["start"]
    around = at if selected else {**at, "range": {"start": cursor, "end": cursor}}
    for one in others:
        # What is to be mended is around the diagnostic, unless the user selected it. Some editors select a diagnostic
        # on the way to it, which says nothing.
        is_there = not selected and _is_range(one.get("range"))
        start = one["range"]["start"] if is_there else None
        where = {**at, "range": {"start": start, "end": start}} if is_there else around
        argument = {**where, "diagnostics": [one]}
        yield _generated(f"Fix: {_short(one)}", QUICKFIX, "ollm.fix", argument, diagnostics=[one])
    if len(others) > 1:
        title = f"Fix {'all' if is_all else 'the first'} {len(others)} problems here"
        yield _generated(title, QUICKFIX, "ollm.fix", {**around, "diagnostics": list(others)}, diagnostics=others)


def _comments(document: Document, where: Range) -> Iterator[Offer]:
    first, last = sorted((where.start.line, where.end.line))
    for number in range(max(0, first), min(last + 1, first + MOST_LINES, document.buffer.line_count)):
        comment = ai_comment(document.buffer.line(number), document.language_id)
        if comment is None or not comment.instruction:
            continue
        place = {"line": number, "character": 0}
        argument = {"uri": document.uri, "range": {"start": place, "end": place}}
        verb, command = ("Do", "ollm.edit") if comment.wants_change else ("Answer", "ollm.ask")
        yield _generated(f"{verb}: {_cut(comment.instruction)}", QUICKFIX, command, argument)


def _is_range(raw: Any) -> bool:
    sides = [object_in(object_in(raw).get(side)) for side in ("start", "end")]
    return all(isinstance(side.get(name), int) for side in sides for name in ("line", "character"))


def _short(diagnostic: dict[str, Any]) -> str:
    return _cut(" ".join(text_in(object_in(diagnostic).get("message")).split()) or "this problem")


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _wire(where: Range) -> dict[str, Any]:
    sides = {"start": where.start, "end": where.end}
    return {name: {"line": side.line, "character": side.character} for name, side in sides.items()}
