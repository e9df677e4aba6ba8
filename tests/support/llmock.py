"""llmock, a third party's imitation of the cloud providers, as a process of its own; and how to script it.

It repeats the question. `python -m tests.support.llmock` prints its port and ends with its input.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx

from tests.support import server_process

if TYPE_CHECKING:
    from collections.abc import Generator

CONTEXT = 2000
"""Longer prompts are refused; llmock counts four characters as a token."""


class LLMock:
    """A running llmock."""

    def __init__(self, port: int, client: httpx.Client) -> None:
        self.port = port
        self._client = client

    def will(self, *behaviors: dict[str, Any]) -> None:
        """Let the next requests go as told, and forget those before."""
        self._client.post("/_llmock/reset").raise_for_status()
        if behaviors:
            self._client.post("/_llmock/scenario", json={"behaviors": behaviors}).raise_for_status()

    def requests(self) -> list[dict[str, Any]]:
        """The requests since then, each with its path, body and status."""
        return self._client.get("/_llmock/requests").json()["requests"]

    def verdict(self) -> dict[str, Any]:
        """What llmock says of how its client behaved."""
        return self._client.get("/_llmock/verdict").json()


def stall(after: int) -> dict[str, Any]:
    """The stream falls silent for longer than any test, after so many events."""
    return {"type": "stream_fault", "kind": "stall", "after_chunks": after, "stall_seconds": 3600}


@contextmanager
def llmock() -> Generator[LLMock]:
    with (
        server_process.own(__name__) as port,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=30) as client,
    ):
        yield LLMock(port, client)


def main() -> None:
    """Serve until the input ends."""
    os.environ["LLMOCK_CONTEXT_WINDOW"] = str(CONTEXT)
    # Imported here, because they bring a whole web framework along.
    from llmock.simulation import MockResponseSettings  # noqa: PLC0415
    from llmock.testing import LLMockServer  # noqa: PLC0415

    server = LLMockServer(responses=MockResponseSettings(response_style="echo")).start()
    print(server.port, flush=True)  # noqa: T201 (that is how its starter hears of it)
    sys.stdin.buffer.read()
    # A stalled answer would keep it from ending.
    os._exit(0)


if __name__ == "__main__":
    main()
