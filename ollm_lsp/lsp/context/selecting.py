"""Selecting: what of the candidates fits into a number of tokens, and the order in which it is sent.

The order of worth decides what gets in: whatever nobody named never takes the place of what somebody did. The order of
sending is another: what changes least comes first, so that the caches of providers hit, and what the question is about
stands next to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_lsp.core.cutting import cut
from ollm_lsp.core.events import Warned
from ollm_lsp.core.lines import split
from ollm_lsp.core.tokens import CHARS_PER_TOKEN, estimate_text
from ollm_lsp.lsp.buffer import Position, Range
from ollm_lsp.lsp.context.parts import Context, ContextPart, Source, block
from ollm_lsp.lsp.context.structure import nesting_of

if TYPE_CHECKING:
    from ollm_lsp.core.cutting import Cut
    from ollm_lsp.lsp.context.gathering import Candidates, Findings
    from ollm_lsp.lsp.context.material import Material

SMALLEST = 40
"""Tokens below which a piece of a document would tell nothing."""
_ORDER = list(Source)


def select(candidates: Candidates, budget: int) -> Context:
    """Choose the parts that go into so many tokens."""
    selection = _Selection(candidates, budget)
    selection.take_all()
    parts = sorted(selection.parts, key=lambda part: (_ORDER.index(part.source), part.uri or ""))
    return Context(tuple(parts), (*candidates.warnings, *selection.warnings()))


class _Selection:
    def __init__(self, candidates: Candidates, budget: int) -> None:
        self.parts: list[ContextPart] = []
        self._candidates = candidates
        self._left = budget
        self._cut: list[str] = []
        self._left_out: list[str] = []

    def take_all(self) -> None:
        """In the order of worth, each with its share of what is left by those before it."""
        found = self._candidates
        self._take_selection()
        if found.active:
            self._take_active(found.active)
        if found.diagnostics and found.diagnostics.is_named:
            self._take_diagnostics(found.diagnostics)
        # Short ones leave what they do not need to the longer ones.
        by_length = sorted(found.named, key=lambda material: (material.buffer.length, material.uri))
        for number, material in enumerate(by_length):
            self._take_named(material, self._left // (len(by_length) - number))
        if found.diagnostics and not found.diagnostics.is_named:
            self._take_diagnostics(found.diagnostics)
        for_imports = self._left // 4 if found.imports else 0
        self._left -= for_imports
        self._take_others(found.others)
        self._left += for_imports
        for material in found.imports:
            self._take(material, Source.IMPORT, "imported by the active document", self._left // 2, self._left // 8)

    def warnings(self) -> list[Warned]:
        remedy = "Select the part that matters, or choose a model with a larger context."
        told: list[Warned] = []
        if self._left_out:
            names = ", ".join(self._left_out)
            told.append(Warned("context_left_out", f"Too long for the model's context, so left out: {names}.", remedy))
        if self._cut:
            names = ", ".join(self._cut)
            told.append(Warned("context_cut", f"Too long for the model's context, so sent in parts: {names}.", remedy))
        return told

    def _take_selection(self) -> None:
        found = self._candidates
        if found.active is None or found.selection is None or not found.is_selected:
            return
        text = found.active.buffer.slice(found.selection)
        line = min(found.selection.start.line, found.selection.end.line) + 1
        title = f"{found.active.name} (selection from line {line})"
        if not self._add(Source.SELECTION, found.active, title, text, "selected", found.selection, self._left):
            name = f"the selection in {found.active.name}"
            shorter = cut(split(text), self._room(self._left, title, found.active.language))
            if shorter and self._add(
                Source.SELECTION, found.active, title, shorter.text, _parts_of(shorter), found.selection, self._left
            ):
                self._cut.append(name)
            else:
                self._left_out.append(name)

    def _take_active(self, active: Material) -> None:
        found = self._candidates
        is_alone = not found.named
        whole = self._left if is_alone or found.wants_all else self._left // 2
        where = ""
        if found.focus and not found.is_selected:
            where = f" (cursor in line {found.focus[0] + 1})"
        taken = self._take(
            active, Source.ACTIVE, "active document", whole, whole * 3 // 4, focus=found.focus, where=where
        )
        if taken is None and (found.wants_all or not found.is_selected):
            self._left_out.append(active.name)
        elif taken and taken.range and found.wants_all:
            self._cut.append(active.name)

    def _take_named(self, material: Material, share: int) -> None:
        taken = self._take(material, Source.ATTACHED, "attached or mentioned", share, share, is_close=True)
        if taken is None:
            self._left_out.append(material.name)
        elif taken.range:
            self._cut.append(material.name)

    def _take_others(self, others: list[Material]) -> None:
        """All of them whole where they fit; else no single one takes more than half of what is left."""
        waiting = sum(map(_bound, others))
        for material in others:
            is_enough = waiting <= self._left * CHARS_PER_TOKEN
            waiting -= _bound(material)
            whole = self._left if is_enough else self._left // 2
            self._take(material, Source.OPEN_BUFFER, "open in the editor", whole, self._left // 4)

    def _take_diagnostics(self, findings: Findings) -> None:
        share = self._left // (4 if findings.is_named else 8)
        lines = list(findings.lines)
        title = "Diagnostics of language servers"
        while lines and estimate_text(block(title, "", "\n".join(lines))) > share:
            lines = lines[: len(lines) // 2]
        reason = "mentioned" if findings.is_named else "near the selection or the cursor"
        if lines:
            text = block(title, "", "\n".join(lines))
            self._keep(ContextPart(Source.DIAGNOSTICS, text, reason, findings.uri))
        if findings.is_named and len(lines) < len(findings.lines):
            (self._cut if lines else self._left_out).append("the diagnostics")

    def _take(
        self,
        material: Material,
        source: Source,
        reason: str,
        whole: int,
        piece: int,
        *,
        focus: tuple[int, int] | None = None,
        where: str = "",
        is_close: bool = False,
    ) -> ContextPart | None:
        """A document as a whole if it has at most so many tokens, else cut to a number of them."""
        title = f"{material.name}{where}"
        # By its length first: the text of a document that cannot fit is never joined.
        if material.buffer.length <= self._room(whole, title, material.language) and (
            taken := self._add(source, material, title, material.buffer.text, reason, None, whole)
        ):
            return taken
        if piece < SMALLEST:
            return None
        nesting = nesting_of(material, by_grammar=focus is not None or is_close)
        shorter = cut(material.buffer.lines, self._room(piece, title, material.language), focus, nesting)
        if shorter is None:
            return None
        lines = Range(Position(shorter.first, 0), Position(shorter.last + 1, 0))
        return self._add(source, material, title, shorter.text, f"{reason}, {_parts_of(shorter)}", lines, piece)

    def _room(self, tokens: int, title: str, language: str) -> int:
        """Characters of a text that has to go into so many tokens with its title and its fences."""
        return tokens * CHARS_PER_TOKEN - len(block(title, language, "\n")) + 1

    def _add(
        self,
        source: Source,
        material: Material,
        title: str,
        text: str,
        reason: str,
        lines: Range | None,
        limit: int,
    ) -> ContextPart | None:
        part = ContextPart(source, block(title, material.language, text), reason, material.uri, lines)
        if part.tokens > min(limit, self._left):
            return None
        self._keep(part)
        return part

    def _keep(self, part: ContextPart) -> None:
        self.parts.append(part)
        self._left -= part.tokens


def _bound(material: Material) -> int:
    """Characters that a whole document takes with its title, told without its text."""
    return material.buffer.length + len(block(material.name, material.language, "")) + CHARS_PER_TOKEN


def _parts_of(shorter: Cut) -> str:
    return f"{shorter.lines:,} of {shorter.total:,} lines"
