"""A language server that complains about one word, as the language's own might: `python -m tests.editors.linter`."""

from __future__ import annotations

from lsprotocol import types
from pygls.lsp.server import LanguageServer

WORD = "Hello"
COMPLAINT = f"{WORD} is impolite"

server = LanguageServer("linter", "1")


@server.feature(types.TEXT_DOCUMENT_DID_OPEN)
def look(params: types.DidOpenTextDocumentParams) -> None:
    """Complain about the first of these words."""
    document = params.text_document
    found = [(number, line.find(WORD)) for number, line in enumerate(document.text.splitlines()) if WORD in line]
    diagnostics = [
        types.Diagnostic(
            types.Range(types.Position(number, start), types.Position(number, start + len(WORD))),
            COMPLAINT,
            severity=types.DiagnosticSeverity.Warning,
            source="linter",
        )
        for number, start in found[:1]
    ]
    server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(document.uri, diagnostics))


if __name__ == "__main__":
    server.start_io()
