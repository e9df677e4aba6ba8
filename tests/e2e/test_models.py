"""Models pulled, shown and deleted: real commands, the real server, and an Ollama that the official client knows."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.test_command_line import run
from tests.support.editor import Refused, editor, environment
from tests.support.fake_ollama import FakeOllama, Model

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.editor import Editor

MODEL = Model("qwen3:4b", 40960, ("completion", "tools", "thinking"), size=2_500_000_000, family="qwen3")


def settings(fake: FakeOllama) -> str:
    return f"model: 'ollama:qwen3:4b'\nproviders: {{ollama: {{type: ollama, baseUrl: '{fake.url}'}}}}\n"


async def refused(server: Editor, method: str, model: str) -> dict[str, Any]:
    with pytest.raises(Refused) as refusal:
        await server.request(method, {"model": model})
    return refusal.value.data


@pytest.mark.prop("lsp-3")
async def test_a_model_is_pulled_used_shown_and_deleted(tmp_path: Path) -> None:
    async with (
        FakeOllama([], library=[MODEL]) as fake,
        editor(environment(tmp_path, settings(fake))) as server,
    ):
        await server.initialize()
        missing = await refused(server, "ollm/models/show", "ollama:qwen3:4b")
        assert missing["code"] == "model_not_found"
        assert "ollm-lsp models pull ollama:qwen3:4b" in missing["remedy"]
        result = await server.request("ollm/models/pull", {"model": "ollama:qwen3:4b", "workDoneToken": "w"})
        assert result == {"model": "ollama:qwen3:4b"}
        percentages = [value["percentage"] for value in server.progress["w"] if "percentage" in value]
        assert percentages == sorted(percentages)
        assert (percentages[0], percentages[-1]) == (0, 100)
        assert len(set(percentages)) > 4
        assert "qwen3:4b" in [model["name"] for model in (await server.request("ollm/models/list"))["models"]]
        assert (await server.chat("hello"))["text"]
        shown = await server.request("ollm/models/show", {"model": "ollama:qwen3:4b"})
        assert (shown["sizeBytes"], shown["contextWindow"], shown["default"]) == (2_500_000_000, 40960, True)
        assert shown["facts"]["family"] == "qwen3"
        assert await server.request("ollm/models/delete", {"model": "ollama:qwen3:4b"}) is None
        assert not fake.models
        assert (await refused(server, "ollm/models/delete", "ollama:qwen3:4b"))["code"] == "model_not_found"


@pytest.mark.threat("F35")
async def test_cancelling_a_pull_closes_the_connection_to_ollama(tmp_path: Path) -> None:
    pace = asyncio.Semaphore(3)
    async with (
        FakeOllama([], pace=pace, library=[MODEL]) as fake,
        editor(environment(tmp_path, settings(fake))) as server,
    ):
        await server.initialize()
        number, pull = server.start_request("ollm/models/pull", {"model": "ollama:qwen3:4b", "workDoneToken": "w"})
        await server.until(lambda: any(value.get("percentage") for value in server.progress["w"]))
        server.notify("$/cancelRequest", {"id": number})
        with pytest.raises(Refused) as refusal:
            await pull
        assert refusal.value.code == -32800
        (responder,) = [
            responder
            for request, responder in zip(fake.http.requests, fake.http.responders, strict=True)
            if request.path == "/api/pull"
        ]
        await responder.gone.wait()
        assert not fake.models


async def test_what_cannot_be_pulled_is_explained(tmp_path: Path) -> None:
    async with (
        FakeOllama([], library=[MODEL], space=10**9) as fake,
        editor(environment(tmp_path, settings(fake))) as server,
    ):
        await server.initialize()
        for model, code, remedy in (
            ("qwen3:4b", "settings", "Did you mean ollama:qwen3:4b?"),
            ("ollama:qwen3:4b", "server_error", "OLLAMA_MODELS"),
            ("ollama:none", "model_not_found", "ollama.com/library"),
            ("ollama:not a name", "model_not_found", "ollama.com/library"),
            ("embedded:x", "unsupported", "These providers can: ollama."),
        ):
            refusal = await refused(server, "ollm/models/pull", model)
            assert refusal["code"] == code
            assert remedy in refusal["remedy"]
        assert not fake.models


async def test_the_commands_pull_and_delete(tmp_path: Path) -> None:
    async with FakeOllama([], library=[MODEL]) as fake:
        environ = environment(tmp_path, settings(fake))
        status, stdout, stderr = await run(environ, "models", "pull", "ollama:qwen3:4b")
        assert (status, stdout, [*fake.models]) == (0, "", ["qwen3:4b"])
        assert "of 2.5 GB" in stderr
        assert stderr.endswith("ollama:qwen3:4b is ready.\n")
        status, _, stderr = await run(environ, "models", "delete", "--yes", "ollama:qwen3:4b")
        assert (status, [*fake.models]) == (0, [])
        assert stderr == "ollama:qwen3:4b is deleted.\n"
