"""Gathering: everything that could go into a request, in the order of its worth.

No folder is searched: what is looked at depends on the open documents and on what was named, never on how many files
there are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ollm_lsp.core.errors import OllmError
from ollm_lsp.core.events import Warned
from ollm_lsp.core.imports import imported
from ollm_lsp.core.prompt import MentionKind, mentions_in
from ollm_lsp.lsp import uris
from ollm_lsp.lsp.context.finding import Finder, name_of, read
from ollm_lsp.lsp.context.material import Material, language_of
from ollm_lsp.lsp.published import SOURCE
from ollm_lsp.tools.sendable import Verdict

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from ollm_lsp.core.diagnostic import Diagnostic
    from ollm_lsp.lsp.buffer import Range
    from ollm_lsp.lsp.context.surroundings import Surroundings
    from ollm_lsp.lsp.protocol import ChatContext
    from ollm_lsp.tools.roots import Place

MOST_OTHERS = 64
"""Open documents beside those that were named."""
MOST_IMPORTS = 8
MOST_LOOKS = 256
"""Places on the disk that are looked at for imports."""
NEAR = 10
"""Lines around the selection whose diagnostics count."""
MOST_NEAR, MOST_ASKED = 20, 200
"""Diagnostics that are sent unasked, and when they are mentioned."""


@dataclass(slots=True)
class Findings:
    """Diagnostics, one a line."""

    lines: list[str]
    uri: str | None
    is_named: bool


@dataclass(slots=True)
class Candidates:
    """What could be sent, the most important first."""

    active: Material | None = None
    selection: Range | None = None
    """In the active document; an empty one is the cursor."""
    wants_all: bool = False
    """Whether the active document was mentioned as a whole."""
    named: list[Material] = field(default_factory=list[Material])
    diagnostics: Findings | None = None
    others: list[Material] = field(default_factory=list[Material])
    imports: list[Material] = field(default_factory=list[Material])
    warnings: list[Warned] = field(default_factory=list[Warned])

    @property
    def is_selected(self) -> bool:
        """Whether there is a selection, and not just a cursor."""
        return self.selection is not None and self.selection.start != self.selection.end

    @property
    def focus(self) -> tuple[int, int] | None:
        """The lines of the selection or the cursor."""
        if self.selection is None:
            return None
        first, last = sorted((self.selection.start.line, self.selection.end.line))
        return max(0, first), max(0, last)


async def gather(around: Surroundings, wanted: ChatContext | None, text: str) -> Candidates:
    """Find what could go with a question of this text."""
    gathering = _Gathering(around)
    await gathering.named(wanted, text)
    if wanted:
        gathering.leave_out(wanted.exclude)
    await gathering.diagnostics()
    if around.settings.open_buffers and (wanted is None or wanted.open_buffers):
        await gathering.others()
        if around.settings.imports:
            await gathering.imports()
    found = gathering.found
    found.warnings[:0] = gathering.finder.warnings
    return found


class _Gathering:
    def __init__(self, around: Surroundings) -> None:
        self.finder = Finder(around)
        self.found = Candidates()
        self._around = around
        self._seen: set[str] = set()
        self._left_out: set[str] = set()
        self._asks_for_diagnostics = False

    async def named(self, wanted: ChatContext | None, text: str) -> None:
        """The active document, and all that was attached or mentioned."""
        found, mentions = self.found, list(mentions_in(text))
        kinds = {mention.kind for mention in mentions}
        self._asks_for_diagnostics = MentionKind.DIAGNOSTICS in kinds
        found.selection = wanted.range if wanted and wanted.uri else None
        found.wants_all = MentionKind.BUFFER in kinds
        if wanted and wanted.uri:
            attached = {uris.key(uri) for uri in wanted.files}
            is_named = found.is_selected or found.wants_all or uris.key(wanted.uri) in attached
            found.active = await self.finder.by_uri(wanted.uri, is_named=is_named)
            self._seen.add(uris.key(wanted.uri))
        elif found.wants_all:
            self._warn("no_active_document", "#buffer: no document is active.", "Ask from within a document.")
        if MentionKind.SELECTION in kinds and not found.is_selected:
            self._warn("no_selection", "#selection: nothing is selected.", "Select some text and ask again.")
        for uri in wanted.files if wanted else ():
            if uris.key(uri) not in self._seen:
                self._name(await self.finder.by_uri(uri, is_named=True))
        for mention in mentions:
            if mention.kind is MentionKind.FILE:
                self._name(await self.finder.by_path(mention.path))

    def leave_out(self, excluded: Sequence[str]) -> None:
        """Send nothing of these documents, unless they were named."""
        self._left_out = {uris.key(uri) for uri in excluded} - self._seen
        self._seen |= self._left_out

    def _name(self, material: Material | None) -> None:
        if material is None:
            return
        if (key := uris.key(material.uri)) not in self._seen:
            self._seen.add(key)
            self.found.named.append(material)
        elif self.found.active and key == uris.key(self.found.active.uri):
            self.found.wants_all = True

    async def diagnostics(self) -> None:
        """Those near the selection, or all of the active document, else of all documents, when they are mentioned."""
        active = self.found.active
        if active is None and not self._asks_for_diagnostics:
            return
        known = [
            one
            for one in await self._around.diagnostics.of(active.uri if active else None)
            if one.source != SOURCE and uris.key(one.uri) not in self._left_out
        ]
        if not self._asks_for_diagnostics:
            known = [one for one in known if self._is_near(one)]
        lines = [line for one in sorted(known, key=_place) if (line := self._line(one))]
        if lines:
            limit = MOST_ASKED if self._asks_for_diagnostics else MOST_NEAR
            uri = active.uri if active else None
            self.found.diagnostics = Findings(lines[:limit], uri, self._asks_for_diagnostics)
        elif self._asks_for_diagnostics:
            self._warn(
                "no_diagnostics", "#diagnostics: none are known.", "They come with code actions, or from a plugin."
            )

    def _is_near(self, one: Diagnostic) -> bool:
        if (focus := self.found.focus) is None:
            return True
        return one.line <= focus[1] + NEAR and focus[0] - NEAR <= one.end_line

    def _line(self, one: Diagnostic) -> str | None:
        """A diagnostic in words, which quote the document: so they are sent only where that is."""
        active = self.found.active
        if active and uris.key(one.uri) == uris.key(active.uri):
            return one.described(active.name)
        place = self._around.sendable.place(one.uri)
        path = uris.display_path(one.uri)
        is_open = self._around.sendable.verdict(path, place) is Verdict.YES
        return one.described(place.shown if place else path) if is_open else None

    async def others(self) -> None:
        """The other open documents, the one used last first, without what git leaves out."""
        around, found = self._around, list[Material]()
        for document in around.documents.recent():
            if len(found) == MOST_OTHERS:
                break
            if uris.key(document.uri) in self._seen or uris.is_own(document.uri):
                continue
            place = around.sendable.place(document.uri)
            if around.sendable.verdict(document.path, place) is Verdict.YES:
                name = name_of(document, place)
                found.append(
                    Material(document.uri, name, document.language_id, document.buffer, document.version, place)
                )
        self.found.others = await self._without_ignored(found)
        self._seen |= {uris.key(material.uri) for material in self.found.others}

    async def _without_ignored(self, materials: Sequence[Material]) -> list[Material]:
        places = [material.place for material in materials if material.place]
        ignored = await self._around.workspace.left_out_by_git(places)
        return [material for material in materials if material.place not in ignored]

    async def imports(self) -> None:
        """What the active document imports, where that is in its workspace folder."""
        active = self.found.active
        if active is None or active.place is None:
            return
        language = active.language or language_of(active.name)
        wanted = [
            [type(active.place)(active.place.folder, names, active.place.label) for names in choices]
            for choices in imported(language, active.buffer.lines, active.place.names)
        ]
        async for place in self._present(wanted):
            if uris.key(place.uri) in self._seen:
                continue
            self._seen.add(uris.key(place.uri))
            if self._around.sendable.verdict(place.path.as_posix(), place) is not Verdict.YES:
                continue
            try:
                self.found.imports.append(await read(self._around, place))
            except OllmError:
                continue  # nobody named it, so nobody misses it
            if len(self.found.imports) == MOST_IMPORTS:
                return

    async def _present(self, wanted: Sequence[Sequence[Place]]) -> AsyncIterator[Place]:
        """The first place of each import where there is something: an open document before every file."""
        documents, workspace = self._around.documents, self._around.workspace
        opened = [next((place for place in choices if documents.get(_address(place))), None) for choices in wanted]
        tries = [place for choices, found in zip(wanted, opened, strict=True) if not found for place in choices]
        files = set(await workspace.files_among(tries, MOST_LOOKS))
        files -= await workspace.left_out_by_git(list(files))
        for choices, found in zip(wanted, opened, strict=True):
            place = found or next((place for place in choices if place in files), None)
            if place is not None:
                yield place

    def _warn(self, code: str, message: str, remedy: str) -> None:
        self.found.warnings.append(Warned(code, message, remedy))


def _address(place: Place) -> str:
    """The address of a place for looking it up only, which is a fraction of the work of escaping it."""
    return f"file:///{place.folder.as_posix().lstrip('/')}/{'/'.join(place.names)}"


def _place(one: Diagnostic) -> tuple[str, int, int, str]:
    return one.uri, one.rank, one.line, one.message
