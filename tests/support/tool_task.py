"""A task of file tools: the files, the calls of a scripted model, and a window in which it is done."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from tests.support.editor import Editor, editor, environment
from tests.support.fake_ollama import Call, FakeOllama, Say
from tests.support.workspace_client import PLAIN, WorkspaceClient

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

FILES = {
    "a.py": "def add(a, b):\n    return a - b\n",
    "sub/b.py": "print('old')\r\nprint('kept')\r\n",
    "old.txt": "moved\n",
    "gone.txt": "deleted\n",
}
UNSAVED = "# typed, not saved\n"
TASK = [
    Call("edit_file", {"path": "a.py", "edits": [{"old": "    return a - b", "new": "    return a + b"}]}),
    Call("edit_file", {"path": "sub/b.py", "edits": [{"old": "print('old')", "new": "print('new ü')"}]}),
    Call("create_file", {"path": "c.py", "content": "x = 1\n"}),
    Call("rename_file", {"path": "old.txt", "new_path": "new.txt"}),
    Call("delete_file", {"path": "gone.txt"}),
]
CHANGED = {
    "a.py": UNSAVED + "def add(a, b):\n    return a + b\n",
    "c.py": "x = 1\n",
    "new.txt": "moved\n",
    "sub/b.py": "print('new ü')\r\nprint('kept')\r\n",
}


class Model:
    """Calls one tool after the other, and remembers what it was told of each."""

    def __init__(self, calls: list[Call]) -> None:
        self._calls = calls
        self.results: list[str] = []

    def __call__(self, request: dict[str, Any]) -> list[Any]:
        said = [message["content"] for message in request["messages"] if message["role"] == "tool"]
        self.results = said
        return [self._calls[len(said)]] if len(said) < len(self._calls) else [Say("done")]


@asynccontextmanager
async def window(
    tmp_path: Path,
    capabilities: dict[str, Any],
    model: Model,
    more: str = "",
    *,
    start: Callable[[Mapping[str, str]], AbstractAsyncContextManager[Editor]] = editor,
    opens: bool = True,
) -> AsyncGenerator[WorkspaceClient]:
    """A window with the task's files, of which `a.py` has unsaved changes. `start` gives the server."""
    folder = tmp_path / "work"
    if not folder.exists():
        for name, text in FILES.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(text.encode())
    async with FakeOllama(answer=model) as fake:
        settings = f"model: 'ollama:smollm2:135m'\nproviders: {{ollama: {{type: ollama, baseUrl: '{fake.url}'}}}}\n"
        environ = environment(tmp_path, settings + more)
        async with start(environ) as running:
            client = WorkspaceClient(running, folder, capabilities)
            await client.start()
            if opens:
                client.open("a.py")
                client.type("a.py", UNSAVED)
            yield client


async def run(client: WorkspaceClient, steps: int) -> dict[str, Any]:
    """Ask for the task, and decide about each step where that takes a code action."""
    chat = asyncio.ensure_future(client.editor.chat("Do it."))
    if client.capabilities is PLAIN:
        for _ in range(steps):
            await client.decide_pending()
            await client.editor.until(lambda: not client.hints())
    return await chat
