"""Models fetched, shown and deleted through the real server, with a provider that a test wrote down."""

from __future__ import annotations

import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.editor import Refused, editor

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from tests.support.editor import Editor

ROOT = Path(__file__).parents[2]


@asynccontextmanager
async def managing(record: Path, **capabilities: Any) -> AsyncGenerator[Editor]:
    command = (sys.executable, "-m", "tests.lsp.managing_server", str(record))
    async with editor(os.environ | {"PYTHONPATH": str(ROOT)}, command=command) as server:
        await server.initialize(capabilities=capabilities)
        yield server


@pytest.fixture
def record(tmp_path: Path) -> Path:
    path = tmp_path / "record"
    path.touch()
    return path


def happened(record: Path) -> list[str]:
    """What the provider wrote down."""
    return record.read_text().splitlines()


async def refused(server: Editor, method: str, model: str) -> Refused:
    with pytest.raises(Refused) as refusal:
        await server.request(method, {"model": model, "workDoneToken": "w"})
    return refusal.value


@pytest.mark.prop("lsp-3")
async def test_a_pull_tells_its_percentage_and_names_the_model(record: Path) -> None:
    async with managing(record) as server:
        result = await server.request("ollm/models/pull", {"model": "shop:small", "workDoneToken": "w"})
        assert result == {"model": "shop:small"}
        begin, *reports, end = server.progress["w"]
        assert begin == {"kind": "begin", "title": "Fetching shop:small", "cancellable": True, "percentage": 0}
        assert [(report["message"], report["percentage"]) for report in reports] == [
            ("Looking for the model", 0),
            ("1.0 GB of 2.0 GB", 50),
            ("Done", 100),
        ]
        assert end == {"kind": "end", "message": "Fetched"}
        failed = await refused(server, "ollm/models/pull", "shop:missing")
        assert (failed.code, failed.data) == (-32803, {"code": "model_not_found", "remedy": "Choose another."})
        assert server.progress["w"][-1] == {"kind": "end", "message": "Not fetched"}
        assert happened(record) == ["closed small", "closed missing"]


@pytest.mark.threat("F35")
@pytest.mark.prop("lsp-3")
async def test_a_stopped_pull_has_closed_the_providers_stream_when_it_is_answered(record: Path) -> None:
    async with managing(record) as server:
        for token, by_button in (("a", False), ("b", True)):
            number, pull = server.start_request("ollm/models/pull", {"model": "shop:endless", "workDoneToken": token})
            await server.until(lambda token=token: len(server.progress[token]) > 1)
            before = happened(record)
            if by_button:
                server.notify("window/workDoneProgress/cancel", {"token": token})
            else:
                server.notify("$/cancelRequest", {"id": number})
            with pytest.raises(Refused) as refusal:
                await pull
            assert happened(record) == [*before, "closed endless"]
            assert refusal.value.code == -32800
            assert server.progress[token][-1] == {"kind": "end", "message": "Not fetched"}
        assert await server.request("ollm/models/pull", {"model": "shop:small"})


async def test_a_progress_of_the_servers_own_is_made_for_a_pull_and_can_stop_it(record: Path) -> None:
    tokens: list[str] = []

    def create(params: dict[str, Any]) -> dict[str, Any]:
        tokens.append(params["token"])
        return {"result": None}

    async with managing(record, window={"workDoneProgress": True}) as server:
        server.answer["window/workDoneProgress/create"] = create
        _, pull = server.start_request("ollm/models/pull", {"model": "shop:endless"})
        await server.until(lambda: tokens and len(server.progress[tokens[0]]) > 1)
        server.notify("window/workDoneProgress/cancel", {"token": tokens[0]})
        with pytest.raises(Refused) as refusal:
            await pull
        assert refusal.value.code == -32800
        assert happened(record) == ["closed endless"]


async def test_show_and_delete_reach_the_provider_and_others_are_refused_with_a_remedy(record: Path) -> None:
    async with managing(record) as server:
        shown = await server.request("ollm/models/show", {"model": "shop:small"})
        assert (shown["id"], shown["sizeBytes"], shown["contextWindow"]) == ("shop:small", 7, 4096)
        assert (shown["default"], shown["facts"]) == (True, {"family": "small ones"})
        assert await server.request("ollm/models/delete", {"model": "shop:a:b"}) is None
        assert happened(record) == ["deleted a:b"]
        for method in ("ollm/models/pull", "ollm/models/show", "ollm/models/delete"):
            unable = await refused(server, method, "plain:x")
            assert (unable.code, unable.data["code"]) == (-32803, "unsupported")
            assert unable.data["remedy"] == "These providers can: shop."
            for text in ("qwen3:4b", "llama3"):
                nowhere = await refused(server, method, text)
                assert (nowhere.code, nowhere.data["code"]) == (-32803, "settings")
                assert nowhere.data["remedy"].startswith(f"Did you mean shop:{text}? ")
                assert nowhere.data["remedy"].endswith("keyless, plain, shop.")
            assert (await refused(server, method, "keyless:x")).message == "The key is missing."
            assert (await refused(server, method, "shop:")).data["code"] == "settings"
            assert (await refused(server, method, " ")).code == -32602
        assert happened(record) == ["deleted a:b"]
        assert not server.progress["w"]


async def test_nothing_is_deleted_while_nobody_knows_which_server_the_user_means(tmp_path: Path) -> None:
    record = tmp_path / "none"
    async with managing(record) as server:
        refusal = await refused(server, "ollm/models/delete", "shop:small")
        assert (refusal.message, refusal.data) == (
            "config.yaml: The file cannot be read.",
            {"code": "settings", "remedy": "Correct it."},
        )
    assert not record.exists()
