"""A server with the Chat Completions API that streams one HTTP chunk per token. It prints its port.

The model `full` never stops and is as fast as the network. The model `paced` sends `PACED` tokens, 200 a second, and
each token is the time at which it was sent, in nanoseconds of the machine's monotonic clock.
"""

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WORD = "token "
RATE = 200
PACED = 300


class Handler(BaseHTTPRequestHandler):
    """Answers a chat."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            (self._paced if body["model"] == "paced" else self._full)()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _full(self) -> None:
        chunk = _chunk(_token(WORD))
        while True:
            self.wfile.write(chunk)

    def _paced(self) -> None:
        began = time.monotonic()
        for number in range(PACED):
            time.sleep(max(0.0, began + number / RATE - time.monotonic()))
            self.wfile.write(_chunk(_token(f"{time.monotonic_ns()} ")))
        self.wfile.write(_chunk(_token("", "stop")))
        self.wfile.write(_chunk("[DONE]"))
        self.wfile.write(b"0\r\n\r\n")

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing."""


def _token(text: str, finish: str | None = None) -> str:
    choice = {"index": 0, "delta": {"content": text}, "logprobs": None, "finish_reason": finish}
    head = {"id": "chatcmpl-bench", "object": "chat.completion.chunk", "created": 1700000000, "model": "bench"}
    return json.dumps({**head, "choices": [choice]}, separators=(",", ":"))


def _chunk(data: str) -> bytes:
    event = f"data: {data}\n\n".encode()
    return b"%x\r\n%b\r\n" % (len(event), event)


if __name__ == "__main__":
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        print(server.server_port, flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            sys.exit()
