"""lsprotocol's classes built late convert exactly as those built at once."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from lsprotocol.converters import get_converter
from pytest_lsp import client_capabilities

PROGRAM = """
import json, sys
if sys.argv[1] == "lazy":
    from ollm_lsp.lsp.lazy_types import import_types
    import_types()
from lsprotocol import converters, types
converter = converters.get_converter()
params = json.load(sys.stdin)
initialize = converter.structure(params["initialize"], types.InitializeParams)
change = converter.structure(params["change"], types.DidChangeTextDocumentParams)
edit = types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(
    text_document=types.OptionalVersionedTextDocumentIdentifier(uri="file:///a", version=3),
    edits=[types.TextEdit(types.Range(types.Position(0, 1), types.Position(2, 3)), "new")])])
unbuilt = [name for name, kind in types.ALL_TYPES_MAP.items()
           if type(getattr(kind, "__dict__", {}).get("__attrs_attrs__")).__name__ == "Unbuilt"]
values = converter.unstructure([initialize, change, edit])
print(json.dumps({"values": values, "repr": repr(edit), "unbuilt": len(unbuilt)}))
"""


def convert(how: str) -> dict[str, Any]:
    capabilities = get_converter().unstructure(client_capabilities("visual-studio-code"))
    params = {
        "initialize": {"processId": 1, "rootUri": None, "capabilities": capabilities},
        "change": {
            "textDocument": {"uri": "file:///a", "version": 2},
            "contentChanges": [
                {"text": "whole"},
                {"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}, "text": ""},
            ],
        },
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, how], input=json.dumps(params), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_lazy_and_eager_classes_convert_alike_and_most_are_never_built() -> None:
    lazy, eager = convert("lazy"), convert("eager")
    assert lazy.pop("unbuilt") > 300
    assert eager.pop("unbuilt") == 0
    assert lazy == eager
