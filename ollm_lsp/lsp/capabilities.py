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
from ollm_lsp.lsp.protocol import CODE_ACTION_KINDS, COMMANDS, CONTENT_SCHEME, VERSION
from ollm_lsp.lsp.uris import CHAT_SUFFIX

CHAT_FEATURES: dict[str, dict[str, Any]] = {
    "completion": {"triggerCharacters": ["/", "#", ":"]},
    "codeLens": {},
    "foldingRange": {},
    "documentSymbol": {"label": "ollm"},
}
"""What the server offers in chat documents only, with its options."""
_PREFERENCE = (PositionEncoding.UTF8, PositionEncoding.UTF16, PositionEncoding.UTF32)


@dataclass(frozen=True, slots=True)
class ClientCapabilities:
    """What may be sent to this client."""

    encoding: PositionEncoding = PositionEncoding.UTF16
    progress: bool = False
    configuration: bool = False
    registers_configuration: bool = False
    """Whether it tells of changed settings only who has asked for that."""
    is_ours: bool = False
    """Whether it announced something beyond LSP, so that it has views of its own for results."""
    is_trusted: bool = True
    """Whether the user trusts the workspace, as far as the client knows of such a thing."""
    status: bool = False
    permission: bool = False
    diagnostics: bool = False
    apply_edit: bool = False
    document_changes: bool = False
    resource_operations: frozenset[str] = frozenset()
    confirms_edits: bool = False
    asks_messages: bool = False
    show_document: bool = False
    action_literals: bool = False
    """Whether code actions may be more than plain commands."""
    disabled_actions: bool = False
    generated_tag: bool = False
    """Whether code actions can be marked as the work of a model."""
    virtual_documents: bool = False
    refreshes_lenses: bool = False
    registers: frozenset[str] = frozenset()
    """Those of the features for chat documents that can be registered for them alone."""

    @classmethod
    def of(cls, capabilities: dict[str, Any], options: Any) -> ClientCapabilities:
        """Read them; custom ones may also come in `initializationOptions.clientCapabilities`."""
        offered = list_in(object_in(capabilities.get("general")).get("positionEncodings"))
        window, workspace = object_in(capabilities.get("window")), object_in(capabilities.get("workspace"))
        document = object_in(capabilities.get("textDocument"))
        edits = object_in(workspace.get("workspaceEdit"))
        actions = object_in(document.get("codeAction"))
        custom = object_in(object_in(capabilities.get("experimental")).get("ollm"))
        custom |= object_in(object_in(options).get("clientCapabilities"))
        return cls(
            encoding=next((wanted for wanted in _PREFERENCE if wanted in offered), PositionEncoding.UTF16),
            progress=window.get("workDoneProgress") is True,
            configuration=workspace.get("configuration") is True,
            registers_configuration=object_in(workspace.get("didChangeConfiguration")).get("dynamicRegistration")
            is True,
            is_ours=bool(custom),
            is_trusted=custom.get("trusted", True) is True,
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
            action_literals="codeActionLiteralSupport" in actions,
            disabled_actions=actions.get("disabledSupport") is True,
            generated_tag=1 in list_in(object_in(actions.get("tagSupport")).get("valueSet")),
            virtual_documents="textDocumentContent" in workspace,
            refreshes_lenses=object_in(workspace.get("codeLens")).get("refreshSupport") is True,
            registers=frozenset(
                feature
                for feature in CHAT_FEATURES
                if object_in(document.get(feature)).get("dynamicRegistration") is True
            ),
        )


def initialize_result(client: ClientCapabilities) -> dict[str, Any]:
    """The answer to `initialize`."""
    return {
        "capabilities": {
            "positionEncoding": client.encoding.value,
            "textDocumentSync": {"openClose": True, "change": 2, "save": {"includeText": False}},
            "codeActionProvider": {"codeActionKinds": list(CODE_ACTION_KINDS)},
            **{f"{name}Provider": options for name, options in CHAT_FEATURES.items() if name not in client.registers},
            "executeCommandProvider": {"commands": list(COMMANDS)},
            "workspace": {
                "workspaceFolders": {"supported": True, "changeNotifications": True},
                "fileOperations": {"didRename": {"filters": [{"scheme": "file", "pattern": {"glob": "**/*"}}]}},
                **({"textDocumentContent": {"schemes": [CONTENT_SCHEME]}} if client.virtual_documents else {}),
            },
            "experimental": {"ollm": {"version": VERSION}},
        },
        "serverInfo": {"name": "ollm-lsp", "version": __version__},
    }


def chat_registrations(client: ClientCapabilities) -> list[dict[str, Any]]:
    """What is registered for chat documents alone, so that other documents do not have to ask."""
    selector = [{"pattern": f"**/*{CHAT_SUFFIX}"}]
    return [
        {
            "id": f"ollm-{feature}",
            "method": f"textDocument/{feature}",
            "registerOptions": {"documentSelector": selector, **options},
        }
        for feature, options in CHAT_FEATURES.items()
        if feature in client.registers
    ]
