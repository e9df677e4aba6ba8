"""A window whose local model and whose external vendor are servers of the test, with all requests kept."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.support.editor import environment
from tests.support.fake_vendors import FakeVendors
from tests.support.http_server import HttpServer
from tests.support.near_server import near_editor

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    import pytest

    from tests.support.editor import Editor
    from tests.support.http_server import Request, Responder

KEY = "key-of-the-vendor"
RICH: dict[str, Any] = {"experimental": {"ollm": {"permission": True, "status": True}}}
ASKING: dict[str, Any] = {"window": {"showMessage": {"messageActionItem": {}}}}
OPTIONS = ["allow_once", "allow_always", "reject_once"]


class LocalModel(HttpServer):
    """A server with the Chat Completions API. `says` is what it answers, one after the other; a number is a failure."""

    def __init__(self) -> None:
        super().__init__(self._answer)
        self.says: list[str | int] = []

    @property
    def histories(self) -> list[list[dict[str, Any]]]:
        """The messages of each chat."""
        return [request.json["messages"] for request in self.requests if request.method == "POST"]

    async def _answer(self, request: Request, responder: Responder) -> None:
        if request.method != "POST":
            await responder.json(200, {"data": [{"id": "m", "max_model_len": 8192}]})
            return
        said = self.says.pop(0) if self.says else "I am the local model."
        if isinstance(said, int):
            await responder.json(said, {"error": {"message": "It broke."}})
            return
        await responder.head(200, {"Content-Type": "text/event-stream"})
        choices: list[dict[str, Any]] = [{"delta": {"content": said}}, {"delta": {}, "finish_reason": "stop"}]
        for choice in choices:
            await responder.write(f"data: {json.dumps({'choices': [{'index': 0, **choice}]})}\n\n")
        await responder.write("data: [DONE]\n\n")
        await responder.end()


@dataclass
class KrakenWindow:
    """What happens in it: `says` is the user, who is asked for a permission and answers with an option."""

    editor: Editor
    vendor: FakeVendors
    local: LocalModel
    folder: Path
    says: Callable[[dict[str, Any]], str]

    @property
    def asked(self) -> list[dict[str, Any]]:
        """The questions that the user was asked."""
        kinds = ("ollm/permission", "window/showMessageRequest")
        return [one["params"] for one in self.editor.asked if one["method"] in kinds]

    @property
    def sent(self) -> list[str]:
        """What the vendor was asked, as JSON without escapes."""
        return [json.dumps(request.json, ensure_ascii=False) for request in self.vendor.questions]

    async def release(self, text: str = "Think hard.", token: str = "r", **params: Any) -> dict[str, Any]:
        return await self.editor.request("ollm/kraken/release", {"text": text, "partialResultToken": token, **params})

    def events(self, token: str = "r") -> list[dict[str, Any]]:
        return self.editor.progress[token]

    async def history(self) -> list[dict[str, Any]]:
        return (await self.editor.request("ollm/kraken/history", {}))["releases"]

    def _permission(self, params: dict[str, Any]) -> dict[str, Any]:
        assert [option["id"] for option in params["options"]] == OPTIONS
        return {"result": {"optionId": self.says(params)}}


def settings(local: LocalModel, vendor: FakeVendors, more: str = "", model: str = "local:m") -> str:
    """The user's own file: a local model, and a vendor that takes a dollar for a million tokens."""
    return f"""
model: "{model}"
providers:
  local: {{ type: openai, baseUrl: "{local.url}/v1", maxRetries: 0 }}
context: {{ exclude: ["**/.env*"] }}
kraken:
  enabled: true
  apiProviders:
    big: {{ provider: anthropic, baseUrl: "{vendor.url}", apiKey: "${{VENDOR_KEY}}", model: claude-x, maxRetries: 0 }}
  prices: {{ "claude-x": {{ input: 1, output: 1 }}, "claude-y": {{ input: 1, output: 1 }} }}
{more}
"""


@asynccontextmanager
async def kraken_window(
    tmp_path: Path,
    patch: pytest.MonkeyPatch,
    more: str = "",
    *,
    says: Callable[[dict[str, Any]], str] = lambda _: "allow_once",
    capabilities: dict[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    serve: Callable[[Mapping[str, str]], AbstractAsyncContextManager[Editor]] = near_editor,
) -> AsyncGenerator[KrakenWindow]:
    """A window with one folder; `more` is added to the section `kraken`. The server is in this process, or `serve`s."""
    folder = tmp_path / "project"
    folder.mkdir(parents=True, exist_ok=True)
    patch.setenv("VENDOR_KEY", KEY)
    async with FakeVendors() as vendor, LocalModel() as local:
        variables = environment(tmp_path, settings(local, vendor, more), **(environ or {}))
        async with serve(variables) as editor:
            window = KrakenWindow(editor, vendor, local, folder, says)
            editor.answer["ollm/permission"] = window._permission  # pyright: ignore[reportPrivateUsage]
            where = [{"uri": folder.as_uri(), "name": "project"}]
            await editor.initialize(capabilities=capabilities or RICH, workspaceFolders=where)
            yield window
