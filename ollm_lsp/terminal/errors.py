"""Why a request to the server has no result.

ClientError
├── RequestFailed   the server answered with an error
└── ServerDied      it did not start, it ended, or what it says is not LSP
"""

from __future__ import annotations

from typing import Any

from ollm_lsp.terminal.payload import Payload


class ClientError(Exception):
    """A request has no result."""


class RequestFailed(ClientError):
    """The server's answer is an error; `code` is the JSON-RPC code, `data` holds our code and remedy."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    @property
    def remedy(self) -> str:
        return Payload(self.data).text("remedy")


class ServerDied(ClientError):
    """There is no server to talk to; the message ends with its last lines on stderr."""

    remedy = "`ollm-lsp doctor` checks the installation and the settings."
