"""The commands, in a client with views of its own, in one that shows messages only, and in one like Helix."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.lsp.managing_server import FixedServices
from tests.support.editor import Refused, environment
from tests.support.near_server import near_editor
from tests.support.workspace_client import HELIX, PLAIN, RICH, path_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from tests.support.editor import Editor

CLIENTS: dict[str, dict[str, Any]] = {"rich": RICH, "plain": PLAIN, "helix": HELIX}
every_client = pytest.mark.parametrize("kind", list(CLIENTS))
WAYS: dict[str, Any] = {"rich": [], "plain": ["message"], "helix": ["document"]}
"""How a client is shown what is longer than a line."""


@asynccontextmanager
async def window(tmp_path: Path, kind: str, *, is_real: bool = False) -> AsyncGenerator[Editor]:
    record = tmp_path / "record"
    record.touch()
    services = None if is_real else FixedServices(record)
    async with near_editor(environment(tmp_path), services) as server:
        server.answer["window/workDoneProgress/create"] = lambda _: {"result": None}
        server.answer["workspace/configuration"] = lambda params: {"result": [None] * len(params["items"])}
        server.answer["window/showDocument"] = lambda _: {"result": {"success": True}}
        await server.initialize(capabilities=CLIENTS[kind])
        yield server


async def command(server: Editor, name: str, **argument: Any) -> Any:
    return await server.request("workspace/executeCommand", {"command": name, "arguments": [argument]})


def shown(server: Editor) -> list[tuple[str, str]]:
    """What the user was shown: by which way, and the text."""
    told = [("message", params["message"]) for params in server.notified("window/showMessage")]
    opened = [one["params"]["uri"] for one in server.asked if one["method"] == "window/showDocument"]
    return told + [("document", path_of(uri).read_text()) for uri in opened]


@every_client
async def test_the_models_are_listed_as_a_table(kind: str, tmp_path: Path) -> None:
    async with window(tmp_path, kind) as server:
        listed = await command(server, "ollm.models.list")
        assert [error["provider"] for error in listed["errors"]] == ["keyless"]
        assert [way for way, _ in shown(server)] == WAYS[kind]
        for _, text in shown(server):
            assert "keyless: The key is missing. Set it." in text


@every_client
async def test_a_model_is_fetched_with_a_progress_that_can_stop_it(kind: str, tmp_path: Path) -> None:
    async with window(tmp_path, kind) as server:
        assert await command(server, "ollm.models.pull", model="shop:small", workDoneToken="w") == {
            "model": "shop:small"
        }
        assert [value["kind"] for value in server.progress["w"]] == ["begin", "report", "report", "report", "end"]
        told = [] if kind == "rich" else [("message", "ollm: Models\n\nFetched shop:small.")]
        assert shown(server) == told
        params = {"command": "ollm.models.pull", "arguments": [{"model": "shop:endless"}], "workDoneToken": "v"}
        _, pull = server.start_request("workspace/executeCommand", params)
        await server.until(lambda: len(server.progress["v"]) > 1)
        assert await command(server, "ollm.cancel", token="w") == {"stopped": 0}
        assert await command(server, "ollm.cancel", token="v") == {"stopped": 1}
        with pytest.raises(Refused) as refused:
            await pull
        assert refused.value.code == -32800


@every_client
async def test_everything_that_runs_can_be_stopped_by_a_command(kind: str, tmp_path: Path) -> None:
    async with window(tmp_path, kind) as server:
        pulls = [
            server.start_request("ollm/models/pull", {"model": "shop:endless", "workDoneToken": token})[1]
            for token in ("a", "b")
        ]
        await server.until(lambda: all(len(server.progress[token]) > 1 for token in ("a", "b")))
        assert await command(server, "ollm.cancel") == {"stopped": 2}
        for pull in pulls:
            with pytest.raises(Refused):
                await pull
        assert await command(server, "ollm.cancel") == {"stopped": 0}
        told = ["ollm: Cancel\n\nStopped 2 at once.", "ollm: Cancel\n\nNothing was running."]
        assert [text for _, text in shown(server)] == ([] if kind == "rich" else told)


@every_client
async def test_the_check_up_is_told_as_a_table(kind: str, tmp_path: Path) -> None:
    async with window(tmp_path, kind) as server:
        finding = {"subject": "shop", "level": "warning", "message": "is closed | on Sundays."}
        result = await command(server, "ollm.doctor", workDoneToken="w")
        assert result == {"findings": [{**finding, "remedy": "Come back tomorrow."}]}
        assert [value["kind"] for value in server.progress["w"]] == ["begin", "report", "end"]
        assert [way for way, _ in shown(server)] == WAYS[kind]
        for _, text in shown(server):
            assert "| warning | shop | is closed \\| on Sundays. Come back tomorrow. |" in text


@pytest.mark.prop("krk-48")
@every_client
async def test_the_kraken_tells_that_nothing_is_set_up_and_what_to_do(kind: str, tmp_path: Path) -> None:
    async with window(tmp_path, kind) as server:
        budget = {"limit": 0, "spent": 0, "reserved": 0, "remaining": 0, "currency": "USD"}
        status: dict[str, Any] = {"state": "none", "providers": [], "budget": budget}
        assert await command(server, "ollm.kraken.status") == status
        assert await server.request("ollm/kraken/status", {}) == status
        assert await command(server, "ollm.kraken.history", limit=5) == {"releases": []}
        assert await server.request("ollm/kraken/history", {"limit": 5}) == {"releases": []}
        texts = [text for _, text in shown(server)]
        assert len(texts) == (0 if kind == "rich" else 2)
        if texts:
            assert any("ollm.kraken.config" in text for text in texts)
            assert any("never released" in text for text in texts)
        with pytest.raises(Refused) as refused:
            await command(server, "ollm.kraken.release", text="Think hard.")
        assert (refused.value.code, refused.value.data["code"]) == (-32803, "settings")
        assert "ollm.kraken.config" in refused.value.data["remedy"]
        assert any(text.startswith("ollm: External providers are switched off") for _, text in shown(server))


async def test_a_history_of_fewer_than_no_releases_is_refused(tmp_path: Path) -> None:
    async with window(tmp_path, "plain") as server:
        with pytest.raises(Refused) as refused:
            await server.request("ollm/kraken/history", {"limit": -1})
        assert refused.value.code == -32602


@every_client
async def test_the_settings_file_is_made_once_and_opened(kind: str, tmp_path: Path) -> None:
    async with window(tmp_path, kind, is_real=True) as server:
        file = tmp_path / "config.yaml"
        assert await command(server, "ollm.kraken.config") == {"uri": file.as_uri()}
        assert all(line.startswith("#") for line in file.read_text().splitlines() if line)
        ways = {"rich": [], "plain": ["message"], "helix": ["document"]}
        assert [way for way, _ in shown(server)] == ways[kind]
        if kind == "plain":
            assert str(file) in shown(server)[0][1]
        file.write_text('model: "ollama:mine"\n')
        await command(server, "ollm.kraken.config")
        assert file.read_text() == 'model: "ollama:mine"\n'


async def test_a_settings_file_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    environ = environment(tmp_path) | {"OLLM_CONFIG": str(tmp_path / "file" / "config.yaml")}
    (tmp_path / "file").touch()
    async with near_editor(environ) as server:
        await server.initialize(capabilities=PLAIN)
        with pytest.raises(Refused) as refused:
            await command(server, "ollm.kraken.config")
        assert refused.value.data["code"] == "settings"
        assert "OLLM_CONFIG" in refused.value.data["remedy"]


@every_client
async def test_an_order_that_is_sent_by_the_command_is_answered_and_shown(kind: str, tmp_path: Path) -> None:
    async with window(tmp_path, kind, is_real=True) as server:
        answered = await command(server, "ollm.chat.send", text="/help")
        assert "`/kraken" in answered["text"]
        assert [way for way, _ in shown(server)] == WAYS[kind]
        assert all(answered["text"] in text for _, text in shown(server))


@pytest.mark.parametrize("argument", [[1], "x", 5, True])
async def test_an_argument_that_is_no_object_is_refused_before_anything_runs(argument: Any, tmp_path: Path) -> None:
    async with window(tmp_path, "plain") as server:
        with pytest.raises(Refused) as refused:
            await server.request("workspace/executeCommand", {"command": "ollm.doctor", "arguments": [argument]})
        assert (refused.value.code, refused.value.data["code"]) == (-32602, "invalid_params")
        assert shown(server) == [("message", f"ollm: expected an object @ params. {refused.value.data['remedy']}")]
        for none in ([], [None]):
            assert await server.request("workspace/executeCommand", {"command": "ollm.cancel", "arguments": none})


async def test_a_chat_that_fails_does_not_end_its_progress_as_done(tmp_path: Path) -> None:
    async with window(tmp_path, "plain", is_real=True) as server:
        for number, params in enumerate(({"text": "/release it"}, {"text": "Hi", "model": "nobody:m"})):
            with pytest.raises(Refused):
                await server.request("ollm/chat/send", {**params, "workDoneToken": f"w{number}"})
            assert server.progress[f"w{number}"][-1] == {"kind": "end", "message": "Failed"}


@every_client
async def test_the_status_of_the_kraken_tells_of_a_settings_file_that_cannot_be_read(kind: str, tmp_path: Path) -> None:
    async with window(tmp_path, kind, is_real=True) as server:
        (tmp_path / "config.yaml").write_text("kraken: [")
        asked: tuple[tuple[str, dict[str, Any]], ...] = (
            ("ollm/kraken/status", {}),
            ("ollm/chat/send", {"text": "/kraken status"}),
            ("workspace/executeCommand", {"command": "ollm.kraken.status"}),
        )
        for method, params in asked:
            with pytest.raises(Refused, match="not valid YAML") as refused:
                await server.request(method, params)
            assert refused.value.data["code"] == "settings"
