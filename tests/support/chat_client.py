"""An editor with chat documents: it makes edits as its kind does, and shows what the server offers in them."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ollm_lsp.lsp.buffer import Position, PositionEncoding, Range, TextBuffer
from tests.support.editor import environment
from tests.support.fake_ollama import FakeOllama
from tests.support.near_server import near_editor
from tests.support.workspace_client import ACTIONS, HELIX

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from pathlib import Path

    from tests.support.editor import Editor
    from tests.support.fake_ollama import Step

FEATURES = ("completion", "codeLens", "foldingRange", "documentSymbol")
RICH: dict[str, Any] = {
    "general": {"positionEncodings": ["utf-16"]},
    "workspace": {
        "applyEdit": True,
        "workspaceEdit": {"documentChanges": True},
        "codeLens": {"refreshSupport": True},
        "textDocumentContent": {},
    },
    "textDocument": {**ACTIONS, **{feature: {"dynamicRegistration": True} for feature in FEATURES}},
    "window": {"showDocument": {"support": True}, "workDoneProgress": True},
}
"""As VS Code: it answers before it tells the change."""
PLAIN: dict[str, Any] = {"textDocument": ACTIONS, "workspace": {"applyEdit": True}}
"""It knows no versions, tells whole texts, shows no documents and never answers an edit."""
CLIENTS = {"rich": RICH, "helix": HELIX, "plain": PLAIN}
"""Helix tells the change before it answers."""


@dataclass
class ChatClient:
    """One window with chat documents."""

    editor: Editor
    fake: FakeOllama
    folder: Path
    kind: str
    buffers: dict[str, TextBuffer] = field(default_factory=dict[str, TextBuffer])
    versions: dict[str, int] = field(default_factory=dict[str, int])
    edits: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    initialized: dict[str, Any] = field(default_factory=dict[str, Any])
    _later: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    async def start(self) -> None:
        self.editor.answer |= {
            "workspace/applyEdit": self._apply,
            "window/showDocument": lambda _: {"result": {"success": True}},
            "window/workDoneProgress/create": lambda _: {"result": None},
            "workspace/configuration": lambda params: {"result": [None] * len(params["items"])},
            "workspace/codeLens/refresh": lambda _: {"result": None},
            "client/registerCapability": lambda _: {"result": None},
        }
        folder = {"uri": self.folder.as_uri(), "name": "work"}
        capabilities = CLIENTS[self.kind]
        self.initialized = await self.editor.initialize(capabilities=capabilities, workspaceFolders=[folder])

    def open(self, name: str, text: str) -> str:
        """Open a document that is nowhere on the disk."""
        uri = f"untitled:{name}" if "/" not in name else name
        encoding = self.initialized["capabilities"]["positionEncoding"]
        self.buffers[uri], self.versions[uri] = TextBuffer(text, PositionEncoding(encoding)), 1
        self.editor.open(uri, text, "plaintext")
        return uri

    def text(self, uri: str) -> str:
        return self.buffers[uri].text

    def type(self, uri: str, offset: int, text: str, erase: int = 0) -> None:
        before = self.text(uri)
        self._change(uri, TextBuffer(before, PositionEncoding.UTF32), offset, offset + erase, text)

    def close(self, uri: str) -> None:
        del self.buffers[uri]
        self.editor.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    async def run(self, command: str, **argument: Any) -> Any:
        return await self.editor.request("workspace/executeCommand", {"command": command, "arguments": [argument]})

    async def send(self, uri: str, **argument: Any) -> Any:
        """Send a document and wait for the whole answer."""
        return await self.run("ollm.chat.send", uri=uri, workDoneToken="work", **argument)

    async def lenses(self, uri: str) -> list[tuple[int, str]]:
        found = await self.editor.request("textDocument/codeLens", {"textDocument": {"uri": uri}})
        return [(lens["range"]["start"]["line"], lens["command"]["title"]) for lens in found]

    async def actions(self, uri: str, line: int) -> dict[str, Any]:
        place = {"line": line, "character": 0}
        none: list[Any] = []
        params: dict[str, Any] = {
            "textDocument": {"uri": uri},
            "range": {"start": place, "end": place},
            "context": {"diagnostics": none},
        }
        found = await self.editor.request("textDocument/codeAction", params)
        return {action["title"]: action["command"] for action in found}

    async def complete(self, uri: str) -> list[str] | None:
        """What is offered at the end of a document, applied to its last line."""
        text = self.text(uri)
        line = text.rpartition("\n")[2]
        units = line.encode("utf-16-le")
        place = {"line": text.count("\n"), "character": len(units) // 2}
        params = {"textDocument": {"uri": uri}, "position": place}
        found = await self.editor.request("textDocument/completion", params)
        if found is None:
            return None
        edits = [item["textEdit"] for item in found["items"]]
        assert all(edit["range"]["end"] == place for edit in edits)
        starts = [units[: 2 * edit["range"]["start"]["character"]].decode("utf-16-le") for edit in edits]
        return [start + edit["newText"] for start, edit in zip(starts, edits, strict=True)]

    def asked(self) -> list[list[tuple[str, str]]]:
        """What the model was sent: role and words of every message but the system prompt."""
        return [
            [(message["role"], message["content"]) for message in body["messages"] if message["role"] != "system"]
            for body in self.fake.bodies()
        ]

    def _apply(self, params: dict[str, Any]) -> dict[str, Any] | None:
        for uri, edits in params["edit"].get("changes", {}).items():
            self._make(uri, edits)
            return None
        (step,) = params["edit"]["documentChanges"]
        uri, version = step["textDocument"]["uri"], step["textDocument"]["version"]
        if uri not in self.buffers or version != self.versions[uri]:
            return {"result": {"applied": False}}
        if self.kind == "rich":
            making = asyncio.ensure_future(self._make_later(uri, step["edits"]))
            self._later.add(making)
            making.add_done_callback(self._later.discard)
        else:
            self._make(uri, step["edits"])
        return {"result": {"applied": True}}

    async def _make_later(self, uri: str, edits: list[dict[str, Any]]) -> None:
        await asyncio.sleep(0)
        self._make(uri, edits)
        await self.editor.tell()

    def _make(self, uri: str, edits: list[dict[str, Any]]) -> None:
        (edit,) = edits
        self.edits.append(edit)
        start, end = (
            Position(edit["range"][side]["line"], edit["range"][side]["character"]) for side in ("start", "end")
        )
        buffer = self.buffers[uri]
        first, last = buffer.offsets(Range(start, end))
        self._change(uri, buffer, first, last, edit["newText"], edit["range"])

    def _change(
        self, uri: str, buffer: TextBuffer, start: int, end: int, text: str, where: dict[str, Any] | None = None
    ) -> None:
        whole = buffer.text[:start] + text + buffer.text[end:]
        self.buffers[uri].replace_all(whole)
        self.versions[uri] += 3
        change = {"range": where, "text": text} if where and self.kind != "plain" else {"text": whole}
        document = {"uri": uri, "version": self.versions[uri]}
        self.editor.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})


class Script:
    """A model that says one thing after the other."""

    def __init__(self, *answers: Sequence[Step]) -> None:
        self._answers = list(answers)

    def __call__(self, _request: dict[str, Any]) -> Sequence[Step]:
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


@asynccontextmanager
async def chat_client(
    tmp_path: Path, kind: str, *answers: Sequence[Step], pace: asyncio.Semaphore | None = None, more: str = ""
) -> AsyncGenerator[ChatClient]:
    """A window of that kind, whose model says these things."""
    folder = tmp_path / "work"
    folder.mkdir(exist_ok=True)
    async with FakeOllama(answer=Script(*answers), pace=pace) as fake:
        settings = f"model: 'ollama:smollm2:135m'\nproviders: {{ollama: {{type: ollama, baseUrl: '{fake.url}'}}}}\n"
        async with near_editor(environment(tmp_path, settings + "chat: {tools: false}\n" + more)) as running:
            client = ChatClient(running, fake, folder, kind)
            await client.start()
            yield client
