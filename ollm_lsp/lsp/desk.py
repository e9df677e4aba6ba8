"""The desk: what of this session the tools of a chat work with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcException

from ollm_lsp.core.diagnostic import Diagnostic, Severity
from ollm_lsp.core.foreign_json import count_in, list_in, object_in, text_in
from ollm_lsp.core.snapshot import Snapshot
from ollm_lsp.lsp import protocol, uris
from ollm_lsp.lsp.permission import EditorOfSession

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ollm_lsp.core.ports import Tool
    from ollm_lsp.lsp.documents import Document
    from ollm_lsp.lsp.session import Session
    from ollm_lsp.settings.resolved import Settings
    from ollm_lsp.tools.toolset import Desk

DIAGNOSTICS_TIME = 10.0
_SEVERITIES = {1: Severity.ERROR, 2: Severity.WARNING, 3: Severity.INFORMATION, 4: Severity.HINT}


async def tools_for(
    session: Session, settings: Settings, conversation_id: str, *, is_external: bool, sees: bool
) -> tuple[Tool, ...]:
    """The tools of a chat in this session; `sees` is whether its model does."""
    toolset = await session.services.toolset()
    return toolset.tools(desk_of(session, settings, conversation_id, is_external=is_external, sees=sees))


def desk_of(
    session: Session, settings: Settings, conversation_id: str, *, is_external: bool, sees: bool = False
) -> Desk:
    """Where the tools of a conversation work."""
    from ollm_lsp.tools.toolset import Desk  # noqa: PLC0415 (start-up time)

    found = map(uris.folder, session.folders)
    folders = tuple(folder for folder in found if folder and folder.is_absolute() and folder.is_dir())
    editor, diagnostics = EditorOfSession(session), DiagnosticsOfSession(session)
    return Desk(
        folders,
        BuffersOfSession(session),
        editor,
        diagnostics,
        settings,
        conversation_id,
        is_external=is_external,
        sees=sees,
    )


class BuffersOfSession:
    """The open documents as tools see them."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def get(self, uri: str) -> Snapshot | None:
        document = self._session.documents.get(uri)
        return _snapshot(document) if document else None

    def all(self) -> Sequence[Snapshot]:
        return [_snapshot(document) for document in self._session.documents.recent()]

    def uris(self) -> Sequence[str]:
        return [document.uri for document in self._session.documents.recent()]


class DiagnosticsOfSession:
    """What other language servers have found: asked for where the client can tell, else what it has told."""

    def __init__(self, session: Session, seconds: float = DIAGNOSTICS_TIME) -> None:
        self._session = session
        self._seconds = seconds

    async def of(self, uri: str | None) -> Sequence[Diagnostic]:
        found = await self._asked(uri) if self._session.client.diagnostics else self._told(uri)
        return list(found)

    async def _asked(self, uri: str | None) -> Iterator[Diagnostic]:
        params = {} if uri is None else {"uri": uri}
        try:
            answer = await self._session.rpc.ask(protocol.DIAGNOSTICS, params, timeout=self._seconds)
        except (TimeoutError, JsonRpcException):
            return self._told(uri)
        if isinstance(answer, dict):
            answer = object_in(answer).get("diagnostics")
        entries = [object_in(entry) for entry in list_in(answer)]
        # Either each entry names its document, or it is a document with a list of its own.
        return (
            diagnostic_of(text_in(entry.get("uri")) or uri or "", one)
            for entry in entries
            for one in (list_in(entry.get("diagnostics")) if "diagnostics" in entry else [entry])
        )

    def _told(self, uri: str | None) -> Iterator[Diagnostic]:
        for place, found in self._session.diagnostics.items():
            if uri is None or uris.key(uri) == uris.key(place):
                yield from (diagnostic_of(place, one) for one in found)


def _snapshot(document: Document) -> Snapshot:
    return Snapshot(document.uri, document.buffer.text, document.version)


def diagnostic_of(uri: str, raw: Any) -> Diagnostic:
    """A diagnostic as LSP has it, whatever is missing or wrong in it."""
    one = object_in(raw)
    where = object_in(one.get("range"))
    line = count_in(object_in(where.get("start")).get("line"))
    severity = _SEVERITIES.get(count_in(one.get("severity")), Severity.ERROR)
    code = one.get("code")
    return Diagnostic(
        uri,
        line,
        max(line, count_in(object_in(where.get("end")).get("line"))),
        severity,
        text_in(one.get("message")),
        text_in(one.get("source")) or None,
        str(code) if isinstance(code, str | int) else None,
    )
