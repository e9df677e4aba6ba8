"""Finding what somebody named: the open document first, then the file, and else a warning with its reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_lsp.core.copyable import copyable
from ollm_lsp.core.errors import OllmError, OutsideWorkspace
from ollm_lsp.core.events import Warned
from ollm_lsp.core.visible import visible_name
from ollm_lsp.lsp import uris
from ollm_lsp.lsp.buffer import TextBuffer
from ollm_lsp.lsp.context.material import Material, language_of
from ollm_lsp.tools.sendable import Verdict

if TYPE_CHECKING:
    from ollm_lsp.lsp.context.surroundings import Surroundings
    from ollm_lsp.lsp.documents import Document
    from ollm_lsp.tools.roots import Place


class Finder:
    """Finds documents in their surroundings. What cannot be had of those that were named is in `warnings`."""

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self.warnings: list[Warned] = []

    async def by_uri(self, uri: str, *, is_named: bool) -> Material | None:
        """A document by its address. One that only happens to be active is not named."""
        if document := self._around.documents.get(uri):
            return self.opened(document, is_named=is_named)
        place = self._around.sendable.place(uri)
        if place is None:
            name = uris.display_path(uri).rsplit("/", 1)[-1]
            self._warn("not_open", f"{visible_name(name)} is not open in the editor.", "Open it and ask again.")
            return None
        return await self._file(place)

    async def by_path(self, path: str) -> Material | None:
        """A document by the path that somebody wrote: of an open one, below a folder of the workspace, or its end."""
        recent = self._around.documents.recent()
        for document in recent:
            if path in self._spellings(document):
                return self.opened(document, is_named=True)
        try:
            places = self._around.workspace.roots.candidates(path)
        except OutsideWorkspace as error:
            places, remedy = [], error.remedy
        else:
            remedy = "Write its path from a folder of the workspace, or open it."
        if found := await self._around.workspace.files_among(places):
            return await self._file(found[0])
        for document in recent:
            if document.path.endswith(f"/{path}"):
                return self.opened(document, is_named=True)
        self._warn("not_found", f"There is no file {visible_name(path)} in the workspace.", remedy)
        return None

    def opened(self, document: Document, *, is_named: bool) -> Material | None:
        """An open document, if it may be sent."""
        place = self._around.sendable.place(document.uri)
        name = name_of(document, place)
        verdict = self._around.sendable.verdict(document.path, place)
        if verdict is Verdict.YES or (verdict is Verdict.WHEN_NAMED and is_named):
            return Material(document.uri, name, document.language_id, document.buffer, document.version, place)
        self._refuse(name, verdict)
        return None

    async def _file(self, place: Place) -> Material | None:
        verdict = self._around.sendable.verdict(place.path.as_posix(), place)
        if verdict in (Verdict.EXCLUDED, Verdict.DENIED):
            self._refuse(place.shown, verdict)
            return None
        try:
            return await read(self._around, place)
        except OllmError as error:
            self._warn(
                "not_open", f"{place.shown} is not open in the editor. {error.message}", "Open it and ask again."
            )
            return None

    def _spellings(self, document: Document) -> tuple[str, ...]:
        place = self._around.sendable.place(document.uri)
        inside = (place.written, place.shown, "/".join(place.names)) if place else ()
        return (document.path, document.uri, *inside)

    def _refuse(self, name: str, verdict: Verdict) -> None:
        match verdict:
            case Verdict.EXCLUDED:
                self._warn("excluded", f"{name} is excluded from the context.", "See context.exclude.")
            case Verdict.DENIED:
                remedy = "Choose a model on this machine, or see tools.permissions."
                self._warn("denied", f"{name} is not sent: it may hold secrets, or a rule denies it.", remedy)
            case Verdict.WHEN_NAMED | Verdict.YES:
                remedy = f"Mention it as #file:{name} if the model shall read it."
                self._warn("not_named", f"{name} is sent only if you name it.", remedy)

    def _warn(self, code: str, message: str, remedy: str) -> None:
        self.warnings.append(Warned(code, message, remedy))


async def read(around: Surroundings, place: Place) -> Material:
    """The text at a place, by the rules of the tools; raises what their reader raises."""
    snapshot = await around.workspace.read(place)
    buffer = TextBuffer(snapshot.text, around.documents.encoding)
    return Material(place.uri, place.shown, language_of(place.names[-1]), buffer, snapshot.version, place)


def name_of(document: Document, place: Place | None) -> str:
    """What a model knows an open document by: where it can, the path that its tools understand."""
    return place.shown if place else copyable(document.path)
