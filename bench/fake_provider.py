"""A server with the Chat Completions API, and with that of Ollama, that streams one HTTP chunk per token.

It prints its port. The model `full` never stops and is as fast as the network. The model `paced-200-300` sends 300
tokens, 200 a second, and each token is the time at which it was sent, in nanoseconds of the machine's monotonic clock.
A model whose name is a number sends so many tokens, as fast as the network is.
"""

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WORD = "token "


class Handler(BaseHTTPRequestHandler):
    """Answers a chat."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._json({"object": "list", "data": []})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            match self.path, *body["model"].split("-"):
                case "/api/show", *_:
                    self._json({"capabilities": ["completion"], "model_info": {"bench.context_length": 100_000}})
                case "/api/chat", count:
                    self._head("application/x-ndjson")
                    self._lines(int(count))
                case _, "paced", rate, count:
                    self._head("text/event-stream")
                    self._paced(int(rate), int(count))
                case _, "full":
                    self._head("text/event-stream")
                    self._full()
                case _, *count:
                    self._head("text/event-stream")
                    self._events(int(count[0]))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _head(self, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _json(self, value: object) -> None:
        content = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _full(self) -> None:
        chunk = _chunk(_token(WORD))
        while True:
            self.wfile.write(chunk)

    def _paced(self, rate: int, count: int) -> None:
        began = time.monotonic()
        for number in range(count):
            time.sleep(max(0.0, began + number / rate - time.monotonic()))
            self.wfile.write(_chunk(_token(f"{time.monotonic_ns()} ")))
        self._stop()

    def _events(self, count: int) -> None:
        chunk = _chunk(_token(WORD))
        for _ in range(count):
            self.wfile.write(chunk)
        self._stop()

    def _stop(self) -> None:
        self.wfile.write(_chunk(_token("", "stop")))
        self.wfile.write(_chunk("[DONE]"))
        self.wfile.write(b"0\r\n\r\n")

    def _lines(self, count: int) -> None:
        chunk = _encode(_line(WORD))
        for _ in range(count):
            self.wfile.write(chunk)
        counts = {"done_reason": "stop", "prompt_eval_count": 10, "eval_count": count}
        self.wfile.write(_encode(_line("", **counts)))
        self.wfile.write(b"0\r\n\r\n")

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing."""


def _token(text: str, finish: str | None = None) -> str:
    choice = {"index": 0, "delta": {"content": text}, "logprobs": None, "finish_reason": finish}
    head = {"id": "chatcmpl-bench", "object": "chat.completion.chunk", "created": 1700000000, "model": "bench"}
    return json.dumps({**head, "choices": [choice]}, separators=(",", ":"))


def _line(text: str, **end: object) -> str:
    message = {"role": "assistant", "content": text}
    head = {"model": "bench", "created_at": "2026-01-01T00:00:00.000000Z", "message": message, "done": bool(end)}
    return json.dumps({**head, **end}, separators=(",", ":")) + "\n"


def _chunk(data: str) -> bytes:
    return _encode(f"data: {data}\n\n")


def _encode(text: str) -> bytes:
    """The text as a chunk of HTTP."""
    content = text.encode()
    return b"%x\r\n%b\r\n" % (len(content), content)


if __name__ == "__main__":
    # As many as ask at once: the usual five would let the others wait for a second.
    ThreadingHTTPServer.request_queue_size = 1_000
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        print(server.server_port, flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            sys.exit()
