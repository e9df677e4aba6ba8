"""A window in which actions are run: a workspace, a scripted model, and what it was asked."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.support.editor import environment
from tests.support.fake_ollama import FakeOllama, Say
from tests.support.near_server import near_editor
from tests.support.workspace_client import WorkspaceClient

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from tests.support.fake_ollama import Step

CODE = "import os\n\n\nclass Sums:\n    def add(self, a, b):\n        return a - b\n\n\nprint(Sums().add(1, 2))\n"
FIXED = CODE.replace("a - b", "a + b")
ANSWER = "```python\ndef add(self, a, b):\n    return a + b\n```\nIt subtracted."
ADD = {"start": {"line": 4, "character": 0}, "end": {"line": 6, "character": 0}}
CURSOR = {"start": {"line": 5, "character": 9}, "end": {"line": 5, "character": 9}}
PROBLEM = {"range": CURSOR, "message": "it does not add", "severity": 1, "source": "pyright", "code": "sums"}


@dataclass
class Saying:
    """A model that says what it is told to, and remembers what it was asked."""

    says: list[Step]
    asked: list[str] = field(default_factory=list[str])

    def __call__(self, request: dict[str, Any]) -> list[Step]:
        self.asked.append(request["messages"][-1]["content"])
        assert not request.get("tools")
        return self.says


@dataclass
class Window:
    """A client, and the model behind the server."""

    client: WorkspaceClient
    model: Saying
    fake: FakeOllama

    @property
    def uri(self) -> str:
        return (self.client.folder / "sums.py").as_uri()

    @property
    def text(self) -> str:
        return self.client.text("sums.py")

    async def actions(self, where: dict[str, Any] = ADD, **context: Any) -> list[dict[str, Any]]:
        context = {"diagnostics": [], **context}
        params = {"textDocument": {"uri": self.uri}, "range": where, "context": context}
        return await self.client.editor.request("textDocument/codeAction", params)

    async def command(self, command: str, /, *, place: bool = True, **argument: Any) -> Any:
        at = {"uri": self.uri, "range": ADD} if place else {}
        params = {"command": command, "arguments": [{**at, **argument}], "workDoneToken": "work"}
        return await self.client.editor.request("workspace/executeCommand", params)

    def shown(self) -> list[str]:
        """What the user was told by messages."""
        return [told["message"] for told in self.client.editor.notified("window/showMessage")]


@asynccontextmanager
async def acting(
    tmp_path: Path, capabilities: dict[str, Any], says: str | list[Step] = ANSWER, settings: str = "", code: str = CODE
) -> AsyncGenerator[Window]:
    """A window with one open file, `sums.py`."""
    folder = tmp_path / "work"
    folder.mkdir(exist_ok=True)
    (folder / "sums.py").write_bytes(code.encode())
    model = Saying([Say(says)] if isinstance(says, str) else says)
    async with FakeOllama(answer=model) as fake:
        written = f"model: 'ollama:smollm2:135m'\nproviders: {{ollama: {{type: ollama, baseUrl: '{fake.url}'}}}}\n"
        async with near_editor(environment(tmp_path, written + settings)) as editor:
            client = WorkspaceClient(editor, folder, capabilities)
            await client.start()
            client.open("sums.py")
            yield Window(client, model, fake)
