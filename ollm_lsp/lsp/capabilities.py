"""What the client can do, read from its raw JSON, and what the server announces.

The client's capabilities are hundreds of fields of which we need a handful; building lsprotocol's classes for all of
them would be most of the time that `initialize` takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ollm_lsp import __version__
from ollm_lsp.core.foreign_json import list_in, object_in
from ollm_lsp.lsp.buffer import PositionEncoding
from ollm_lsp.lsp.protocol import COMMANDS, VERSION

_PREFERENCE = (PositionEncoding.UTF8, PositionEncoding.UTF16, PositionEncoding.UTF32)


@dataclass(frozen=True, slots=True)
class ClientCapabilities:
    """What may be sent to this client."""

    encoding: PositionEncoding = PositionEncoding.UTF16
    progress: bool = False
    configuration: bool = False
    status: bool = False
    permission: bool = False
    diagnostics: bool = False
    apply_edit: bool = False
    document_changes: bool = False
    resource_operations: frozenset[str] = frozenset()
    confirms_edits: bool = False
    asks_messages: bool = False
    show_document: bool = False

    @classmethod
    def of(cls, capabilities: dict[str, Any], options: Any) -> ClientCapabilities:
        """Read them; custom ones may also come in `initializationOptions.clientCapabilities`."""
        offered = list_in(object_in(capabilities.get("general")).get("positionEncodings"))
        window, workspace = object_in(capabilities.get("window")), object_in(capabilities.get("workspace"))
        edits = object_in(workspace.get("workspaceEdit"))
        custom = object_in(object_in(capabilities.get("experimental")).get("ollm"))
        custom |= object_in(object_in(options).get("clientCapabilities"))
        return cls(
            encoding=next((wanted for wanted in _PREFERENCE if wanted in offered), PositionEncoding.UTF16),
            progress=window.get("workDoneProgress") is True,
            configuration=workspace.get("configuration") is True,
            status=custom.get("status") is True,
            permission=custom.get("permission") is True,
            diagnostics=custom.get("diagnostics") is True,
            apply_edit=workspace.get("applyEdit") is True,
            document_changes=edits.get("documentChanges") is True,
            resource_operations=frozenset(
                kind for kind in list_in(edits.get("resourceOperations")) if isinstance(kind, str)
            ),
            confirms_edits="changeAnnotationSupport" in edits,
            asks_messages="showMessage" in window,
            show_document=object_in(window.get("showDocument")).get("support") is True,
        )


def initialize_result(client: ClientCapabilities) -> dict[str, Any]:
    """The answer to `initialize`."""
    return {
        "capabilities": {
            "positionEncoding": client.encoding.value,
            "textDocumentSync": {"openClose": True, "change": 2, "save": {"includeText": False}},
            "codeActionProvider": {"codeActionKinds": ["quickfix.ollm"]},
            "executeCommandProvider": {"commands": list(COMMANDS)},
            "workspace": {"workspaceFolders": {"supported": True, "changeNotifications": True}},
            "experimental": {"ollm": {"version": VERSION}},
        },
        "serverInfo": {"name": "ollm-lsp", "version": __version__},
    }
