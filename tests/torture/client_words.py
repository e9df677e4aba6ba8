"""What clients say, well and badly: LSP messages as bytes, each with the responses that it must get."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.foreign_json import object_in
from ollm_lsp.lsp import protocol, server
from tests.torture.mutations import JUNK, harm_bytes, harm_value
from tests.torture.story import text

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

DOCUMENTS = tuple(f"file:///torture/{name}" for name in ("a.py", "b.md", "c.chat.md", "é%20.txt", "..%2Fx"))
MODELS = ("local:m", "ollama:m", "nobody:m", "local", ":", "")
LARGE = 3_000_000
"""Characters of a large document."""
NEVER = ("exit", "shutdown", "initialize")
"""These end or begin a life, which `lives.py` is about."""
SLOW = ("ollm.doctor", "ollm.models.pull", "ollm.models.list", protocol.MODELS_LIST, protocol.MODELS_PULL)
"""They look at the whole machine."""
METHODS = tuple(method for method in (*server.AT_ONCE, *server.IN_TASKS) if method not in (*NEVER, *SLOW))
COMMANDS = tuple(command for command in protocol.COMMANDS if command not in SLOW)
NULL = "null"
NO_IDS: tuple[Any, ...] = (None, True, 1.5, [], {}, 1e300, [1])
NO_PARAMS: tuple[Any, ...] = (None, {}, [])


@dataclass(frozen=True)
class Said:
    """The bytes of one message with its header, and for whom (ids as JSON) it must be answered."""

    raw: bytes
    answers: tuple[str, ...] = ()


@dataclass
class Client:
    """Draws messages; it remembers the ids that it used, to use some of them again."""

    chance: random.Random
    conversations: list[str] = field(default_factory=list[str])
    _numbers: int = 0
    _used: list[Any] = field(default_factory=list[Any])

    def say(self) -> Said:
        """Any message that leaves the connection usable."""
        kind = self.chance.random()
        if kind < 0.05:
            return self._broken_body()
        if kind < 0.10:
            return _framed(self._response(), self.chance)
        if kind < 0.14:
            return _framed(
                {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": self._old_id()}}, self.chance
            )
        message = self._message()
        if kind < 0.25:
            message = harm_value(message, self.chance, stays=0.99)
        elif kind < 0.55 and isinstance(message.get("params"), dict):
            message["params"] = harm_value(message["params"], self.chance)
        return _framed(message, self.chance)

    def _message(self) -> dict[str, Any]:
        method = self.chance.choice(METHODS)
        if self.chance.random() < 0.04:
            method = self.chance.choice(
                ("$/x", "x", "", "textDocument/hover", "ollm/status", "window/showMessage", "initialize")
            )
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": self._params(method)}
        is_told = method.rpartition("/")[2].startswith("did") or method in ("initialized", "$/setTrace")
        if is_told is (self.chance.random() < 0.03):
            message["id"] = self._id()
        return message

    def _id(self) -> Any:
        if self.chance.random() < 0.05:
            return self._old_id()
        if self.chance.random() < 0.05:
            return self.chance.choice(NO_IDS)
        self._numbers += 1
        number: Any = self.chance.choice(
            (self._numbers, -self._numbers, f"x{self._numbers}", f"é\ud800{self._numbers}", self._numbers * 10**30)
        )
        self._used = [*self._used[-20:], number]
        return number

    def _old_id(self) -> Any:
        return self.chance.choice(self._used) if self._used else 0

    def _response(self) -> dict[str, Any]:
        number = self.chance.choice(("ollm-1", f"ollm-{self.chance.randrange(50)}", 7, "x", self._old_id()))
        answer = self.chance.choice(("result", "error"))
        return {"jsonrpc": "2.0", "id": number, answer: self.chance.choice(JUNK)}

    def _broken_body(self) -> Said:
        chance = self.chance
        whole = json.dumps(self._message()).encode()
        bodies = (
            b"", b"{", b"\xff\xfe", b"[" * 50_000, b"nul", b"NaN", b'"x"', b"[]", b"[{}]", b"5", b"{}",
            b"\xef\xbb\xbf{}",
            b'{"a":' * 50_000, b'{"id":' + b"9" * 5000 + b"}", whole[: chance.randrange(len(whole))],
            harm_bytes(whole, chance),
        )  # fmt: skip
        return Said(_header(body := chance.choice(bodies), chance) + body, expected(body))

    def _params(self, method: str) -> Any:
        make = PARAMS.get(method)
        return make(self) if make else self.chance.choice(NO_PARAMS)

    def document(self) -> dict[str, Any]:
        return {"uri": self.chance.choice(DOCUMENTS)}

    def place(self) -> dict[str, int]:
        return {"line": self.chance.choice((0, 0, 1, 5, 2**31 - 1, -1)), "character": self.chance.randint(0, 9)}

    def range(self) -> dict[str, Any]:
        return {"start": self.place(), "end": self.place()}

    def change(self) -> dict[str, Any]:
        edit: dict[str, Any] = {"text": text(self.chance)}
        return edit if self.chance.random() < 0.2 else {**edit, "range": self.range()}

    def opened(self) -> dict[str, Any]:
        words = "x = 1\n" * (LARGE // 6) if self.chance.random() < 0.002 else text(self.chance) * 5
        return {**self.document(), "languageId": "python", "version": self.chance.randrange(9), "text": words}

    def question(self) -> dict[str, Any]:
        chance = self.chance
        question: dict[str, Any] = {
            "text": chance.choice(("Hi", "/help", "/cost", "@a.py what?", text(chance), "/model x"))
        }
        if chance.random() < 0.5:
            question["context"] = {"uri": chance.choice(DOCUMENTS), "range": self.range(), "files": [], "images": []}
        if chance.random() < 0.3:
            question |= {"conversationId": chance.choice((*self.conversations[-5:], "none"))}
        if chance.random() < 0.3:
            question |= {"partialResultToken": chance.choice(("t", 7)), "workDoneToken": "w"}
        if chance.random() < 0.2:
            question["model"] = chance.choice(MODELS)
        return question

    def argument(self) -> dict[str, Any]:
        chance = self.chance
        known: dict[str, Any] = {
            "uri": chance.choice(DOCUMENTS),
            "range": self.range(),
            "id": "proposal-1",
            "text": text(chance),
            "model": chance.choice(MODELS),
            "limit": chance.randint(-1, 5),
            "line": chance.randint(-1, 5),
            "token": "t",
        }
        return {key: value for key, value in known.items() if chance.random() < 0.7}


def _document(client: Client) -> Any:
    return {"textDocument": client.document()}


def _conversation(client: Client) -> Any:
    return {"conversationId": client.chance.choice((*client.conversations[-9:], "x")), "title": text(client.chance)}


PARAMS: dict[str, Callable[[Client], Any]] = {
    "textDocument/didOpen": lambda one: {"textDocument": one.opened()},
    "textDocument/didChange": lambda one: {
        "textDocument": {**one.document(), "version": one.chance.randrange(99)},
        "contentChanges": [one.change() for _ in range(one.chance.randrange(4))],
    },
    "textDocument/didSave": _document,
    "textDocument/didClose": _document,
    "textDocument/codeLens": _document,
    "textDocument/foldingRange": _document,
    "textDocument/documentSymbol": _document,
    "textDocument/completion": lambda one: {"textDocument": one.document(), "position": one.place()},
    "textDocument/codeAction": lambda one: {
        "textDocument": one.document(),
        "range": one.range(),
        "context": {"diagnostics": [one.chance.choice(JUNK)], "only": one.chance.choice((None, ["quickfix"], ["x"]))},
    },
    "workspace/textDocumentContent": lambda one: {"uri": one.chance.choice(("ollm:/x", "ollm://chat/x", "x", ""))},
    "workspace/executeCommand": lambda one: {
        "command": one.chance.choice(COMMANDS),
        "arguments": one.chance.choice(([one.argument()], [one.argument()], [], [one.chance.choice(JUNK)])),
    },
    "workspace/didChangeConfiguration": lambda one: {"settings": {"ollm": one.chance.choice(JUNK)}},
    "workspace/didChangeWorkspaceFolders": lambda _one: {
        "event": {"added": [{"uri": "file:///nowhere/torture", "name": "x"}], "removed": []}
    },
    "workspace/didRenameFiles": lambda one: {
        "files": [{"oldUri": DOCUMENTS[0], "newUri": one.chance.choice(DOCUMENTS)}]
    },
    "$/setTrace": lambda one: {"value": one.chance.choice(("off", "verbose", "x"))},
    "window/workDoneProgress/cancel": lambda one: {"token": one.chance.choice(("w", 7))},
    protocol.CHAT_SEND: lambda one: one.question(),
    protocol.CHAT_GET: _conversation,
    protocol.CHAT_RENAME: _conversation,
    protocol.CHAT_DELETE: _conversation,
    protocol.CONTEXT_PREVIEW: lambda one: {
        "text": text(one.chance),
        "uri": one.chance.choice(DOCUMENTS),
        "range": one.range(),
    },
    protocol.MODELS_SHOW: lambda one: {"model": one.chance.choice(MODELS)},
    protocol.MODELS_DELETE: lambda one: {"model": one.chance.choice(MODELS)},
    protocol.KRAKEN_RELEASE: lambda one: one.question(),
    protocol.KRAKEN_HISTORY: lambda one: {"limit": one.chance.randint(-2, 9)},
}


def expected(body: bytes) -> tuple[str, ...]:
    """Who must be answered, by JSON-RPC alone: the id of a request, `null` for what is no message at all."""
    try:
        message: Any = json.loads(body)
    except (ValueError, RecursionError):
        return (NULL,)
    if not isinstance(message, dict):
        return (NULL,)
    message = object_in(message)
    number: Any = message.get("id")
    if "id" in message and type(number) not in (int, str):
        return (NULL,)
    if isinstance(message.get("method"), str):
        return (json.dumps(number),) if "id" in message else ()
    if "id" in message and ("result" in message or "error" in message):
        return ()
    return (json.dumps(number),)


def _framed(message: Any, chance: random.Random) -> Said:
    body = json.dumps(message, ensure_ascii=True).encode()
    return Said(_header(body, chance) + body, expected(body))


def _header(body: bytes, chance: random.Random) -> bytes:
    length = str(len(body)).encode()
    return (
        chance.choice(
            (
                b"Content-Length: %b\r\n\r\n",
                b"content-length:%b\r\n\r\n",
                b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %b\r\n\r\n",
                b"CONTENT-LENGTH:   %b  \r\nX: y\r\n\r\n",
                b"Content-Length: 000%b\r\n\r\n",
            )
        )
        % length
    )


def answers(said: list[Said]) -> Counter[str]:
    return Counter(answer for one in said for answer in one.answers)
