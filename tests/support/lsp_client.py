"""pytest-lsp's client, able to take our chat events."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

from lsprotocol import types as lsp
from pygls.protocol import default_converter
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES, register_lsp_features

from tests.support.editor import SERVER

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping


def make_client() -> LanguageClient:
    """A client whose `$/progress` handler takes every value; pytest-lsp's own raises on values without `kind`."""

    def progress(ls: LanguageClient, params: Any) -> None:
        ls.progress_reports.setdefault(params.token, []).append(params.value)

    client = LanguageClient(converter_factory=default_converter)
    register_lsp_features(client, {**DEFAULT_CLIENT_FEATURES, lsp.PROGRESS: progress})
    return client


@asynccontextmanager
async def lsp_client(environ: Mapping[str, str], editor: str = "visual-studio-code") -> AsyncGenerator[LanguageClient]:
    """A session with the real server, as that editor would begin it."""
    config = ClientServerConfig(server_command=list(SERVER), client_factory=make_client, server_env=dict(environ))
    client = await config.start()
    assert isinstance(client, LanguageClient)
    await client.initialize_session(lsp.InitializeParams(capabilities=client_capabilities(editor)))
    try:
        yield client
    finally:
        await client.shutdown_session()
        await client.stop()


def send(client: LanguageClient, method: str, params: dict[str, Any], number: str | None = None) -> asyncio.Task[Any]:
    """Send a request now; pytest-lsp's coroutine sends nothing before it is awaited."""
    return asyncio.ensure_future(client.protocol.send_request_async(method, params, msg_id=number))


def values(client: LanguageClient, token: str) -> list[dict[str, Any]]:
    """Everything that came on a progress token."""
    return cast("list[dict[str, Any]]", client.progress_reports.get(token, []))


async def until(client: LanguageClient, token: str, kind: str) -> None:
    """Wait for a chat event of that type."""
    while not any(value["type"] == kind for value in values(client, token)):
        await client.wait_for_notification(lsp.PROGRESS)
