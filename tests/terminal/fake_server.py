"""A scripted language server: `python fake_server.py SCENARIO RECORD`.

SCENARIO is a JSON file with `answers`, one list of steps for each `ollm/chat/send`, `models`, the answer to
`ollm/models/list`, `replies`, the answers to other requests by method, and `pull`, the values of its work-done progress
before the reply; without a reply it waits for `$/cancelRequest`; `kept` are the answers to `ollm/chat/list` and
`ollm/chat/get`. Every message that comes in is written to RECORD as a line of JSON. Steps:

    text DELTA, event VALUE     a chat event on the partialResultToken
    work VALUE                  work-done progress on the workDoneToken
    notify METHOD PARAMS        a notification
    request METHOD PARAMS       a request, whose response is awaited
    ask METHOD PARAMS ID        a request, whose response is not awaited
    raw TEXT                    something that is not LSP
    result FIELDS, error ERROR  the end of the answer, after its `finished` event
    await_cancel                wait for `$/cancelRequest` and answer as the contract says
    ignore_cancel               wait for `$/cancelRequest`, then say so and never answer
    hang                        never answer
    die STATUS WORDS            write WORDS on stderr and exit
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NoReturn

RESULT = {
    "responseId": "r1",
    "model": "ollama:fake",
    "text": "",
    "finishReason": "stop",
    "usage": {"inputTokens": 12, "outputTokens": 34},
    "cost": {"amount": 0, "currency": "USD", "known": True},
    "durationMs": 2500,
}


class FakeServer:
    def __init__(self, scenario: dict[str, Any], record: Path) -> None:
        self.answers = iter(scenario.get("answers", []))
        self.models: dict[str, Any] = scenario.get("models", {})
        self.replies: dict[str, Any] = scenario.get("replies", {})
        self.pulling: list[Any] = scenario.get("pull", [])
        self.kept: dict[str, Any] = scenario.get("kept", {})
        self.start = scenario.get("start", "fine")
        self.record = record
        self.conversations = 0
        self.shut_down = False

    def run(self) -> NoReturn:
        while True:
            message = self.receive()
            match message.get("method"):
                case "initialize":
                    self.initialize(message["id"])
                case "ollm/chat/send":
                    self.chat(message["id"], message["params"])
                case "ollm/models/list":
                    self.send({"id": message["id"], **self.models})
                case "ollm/models/pull":
                    self.pull(message["id"], message["params"])
                case str(method) if method in self.replies:
                    self.send({"id": message["id"], **self.replies[method]})
                case "ollm/chat/list" | "ollm/chat/get" as method:
                    self.send({"id": message["id"], **self.kept[method.rpartition("/")[2]]})
                case "shutdown":
                    self.shut_down = True
                    self.send({"id": message["id"], "result": None})
                case _:
                    pass

    def pull(self, number: int, params: dict[str, Any]) -> None:
        for value in self.pulling:
            self.progress(params["workDoneToken"], value)
        reply = self.replies.get("ollm/models/pull")
        if reply is None:
            self.receive_until("method", "$/cancelRequest")
        self.send({"id": number, **(reply or {"error": {"code": -32800, "message": "cancelled"}})})

    def initialize(self, number: int) -> None:
        if self.start == "hang":
            self.wait_for_end()
        if self.start == "die":
            self.die(3, "no module named ollm")
        capabilities = {"positionEncoding": "utf-8", "experimental": {"ollm": {"version": 1}}}
        self.send({"id": number, "result": {"capabilities": capabilities}})

    def chat(self, number: int, params: dict[str, Any]) -> None:
        known = params.get("conversationId")
        if known is None:
            self.conversations += 1
            known = f"c{self.conversations}"
        elif not self.kept and known not in {f"c{old}" for old in range(1, self.conversations + 1)}:
            data = {"code": "conversation_not_found", "remedy": "Start a new one."}
            self.send({"id": number, "error": {"code": -32803, "message": "No such one.", "data": data}})
            return
        ids = {"conversationId": known, "responseId": "r1", "provider": "ollama", "model": "fake"}
        token = params["partialResultToken"]
        self.progress(token, {"type": "started", **ids})
        for step, *values in next(self.answers):
            self.play(step, values, number, params, known)

    def play(self, step: str, values: list[Any], number: int, params: dict[str, Any], known: str) -> None:
        token = params["partialResultToken"]
        match step, values:
            case "text", [delta]:
                self.progress(token, {"type": "text", "text": delta})
            case "event", [value]:
                self.progress(token, value)
            case "work", [value]:
                self.progress(params["workDoneToken"], value)
            case "notify", [method, fields]:
                self.send({"method": method, "params": fields})
            case "request", [method, fields]:
                self.send({"id": f"s-{method}", "method": method, "params": fields})
                self.receive_until("id", f"s-{method}")
            case "ask", [method, fields, name]:
                self.send({"id": name, "method": method, "params": fields})
            case "raw", [text]:
                self.write(text.encode())
            case _:
                self.end_chat(step, values, number, token, known)

    def end_chat(self, step: str, values: list[Any], number: int, token: str, known: str) -> None:
        match step, values:
            case "result", [fields]:
                result = {**RESULT, "conversationId": known, **fields}
                self.progress(token, {"type": "finished", "reason": result["finishReason"]})
                self.send({"id": number, "result": result})
            case "error", [error]:
                self.progress(token, {"type": "error", "message": error["message"], **error["data"]})
                self.progress(token, {"type": "finished", "reason": "error"})
                self.send({"id": number, "error": error})
            case "await_cancel", []:
                self.receive_until("method", "$/cancelRequest")
                self.progress(token, {"type": "finished", "reason": "cancelled"})
                self.send({"id": number, "error": {"code": -32800, "message": "cancelled"}})
            case "ignore_cancel", []:
                self.receive_until("method", "$/cancelRequest")
                self.progress(token, {"type": "text", "text": "(ignored)"})
                self.wait_for_end()
            case "hang", []:
                self.wait_for_end()
            case "die", [status, words]:
                self.die(status, words)
            case _:
                raise ValueError(f"no such step: {step} {values}")

    def receive_until(self, field: str, value: str) -> None:
        while self.receive().get(field) != value:
            pass

    def wait_for_end(self) -> NoReturn:
        while True:
            self.receive()

    def die(self, status: int, words: str) -> NoReturn:
        sys.stderr.write(f"{words}\n")
        sys.exit(status)

    def progress(self, token: str, value: Any) -> None:
        self.send({"method": "$/progress", "params": {"token": token, "value": value}})

    def receive(self) -> dict[str, Any]:
        length = 0
        while (line := sys.stdin.buffer.readline()).strip():
            length = int(line.partition(b":")[2])
        if not line:
            sys.exit(1)
        message = json.loads(sys.stdin.buffer.read(length))
        with self.record.open("a") as record:
            record.write(json.dumps(message) + "\n")
        if message.get("method") == "exit":
            sys.exit(0 if self.shut_down else 1)
        return message

    def send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.write(b"content-length: %d\r\n\r\n%b" % (len(body), body))

    def write(self, content: bytes) -> None:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    FakeServer(json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])).run()
