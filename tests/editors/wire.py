"""What an editor and the server said to each other, as the tap keeps it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import psutil

from ollm_lsp.lsp.buffer import Position, PositionEncoding, Range, TextBuffer
from tests.editors.patience import until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Wire:
    """The messages of one folder's tap, in the order in which they came."""

    def __init__(self, folder: Path, screen: Callable[[], str] = lambda: "not to be seen") -> None:
        self._folder = folder
        self._screen = screen

    def messages(self, by: str, method: str | None = None) -> list[dict[str, Any]]:
        """What the `editor` or the `server` said; without a method, all of it."""
        record = self._folder / "wire.jsonl"
        # The last line may be half written.
        lines = record.read_bytes().split(b"\n")[:-1] if record.exists() else []
        said = [line["message"] for line in map(json.loads, lines) if line["by"] == by]
        return [message for message in said if method is None or message.get("method") == method]

    def params(self, by: str, method: str) -> list[Any]:
        return [message.get("params") for message in self.messages(by, method)]

    async def says(self, by: str, method: str, fits: Callable[[Any], bool] = lambda _: True) -> Any:
        """The params of the first such message, as soon as it has come."""

        def found() -> list[Any]:
            return [params for params in self.params(by, method) if fits(params)]

        await until(found, f"{method} by the {by}", self._situation)
        return found()[0]

    async def says_again(self, by: str, method: str, times: int) -> None:
        """Wait for one more of these messages than there were."""
        await until(lambda: len(self.messages(by, method)) > times, f"one more {method} by the {by}", self._situation)

    async def answer(self, by: str, method: str, fits: Callable[[Any], bool] = lambda _: True) -> dict[str, Any]:
        """What the last such request was answered by the other side."""
        await self.says(by, method, fits)
        number = [one["id"] for one in self.messages(by, method) if fits(one.get("params"))][-1]
        other = "server" if by == "editor" else "editor"

        def found() -> list[dict[str, Any]]:
            return [one for one in self.messages(other) if one.get("id") == number and "method" not in one]

        await until(found, f"an answer to {method}", self._situation)
        return found()[0]

    async def ran(self, command: str) -> dict[str, Any]:
        """What a command of the server was answered."""
        return await self.answer("editor", "workspace/executeCommand", lambda params: params["command"] == command)

    async def server_ends(self) -> None:
        """Wait until the process is gone."""
        number = int((self._folder / "server.pid").read_text())
        await until(lambda: not psutil.pid_exists(number), "the server's end", self._situation)

    def text(self, uri: str) -> str:
        """What the editor's buffer holds, by all that the editor has told of it."""
        encoding = self.capabilities()["positionEncoding"]
        (opened,) = (params for params in self.params("editor", "textDocument/didOpen") if _is(params, uri))
        buffer = TextBuffer(opened["textDocument"]["text"], PositionEncoding(encoding))
        told = [params for params in self.params("editor", "textDocument/didChange") if _is(params, uri)]
        for change in (change for params in told for change in params["contentChanges"]):
            if "range" in change:
                buffer.edit(_range(change["range"]), change["text"])
            else:
                buffer = TextBuffer(change["text"], PositionEncoding(encoding))
        return buffer.text

    def capabilities(self) -> dict[str, Any]:
        """What the server announced."""
        return next(one["result"] for one in self.messages("server") if "capabilities" in (one.get("result") or {}))[
            "capabilities"
        ]

    def log(self) -> str:
        log = self._folder / "server.log"
        return log.read_text(errors="replace")[-3000:] if log.exists() else "none"

    def _situation(self) -> str:
        return f"server's log:\n{self.log()}\nscreen:\n{self._screen()}"


def _is(params: dict[str, Any], uri: str) -> bool:
    return params["textDocument"]["uri"] == uri


def _range(raw: dict[str, Any]) -> Range:
    start, end = (Position(raw[side]["line"], raw[side]["character"]) for side in ("start", "end"))
    return Range(start, end)
