"""What breaks gives one clear error, and the next chat works when the cause is gone."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from ollm_lsp.providers import model_file
from tests.support.editor import Editor, Refused, editor, environment

if TYPE_CHECKING:
    from pathlib import Path

LONG = "Count from one to five hundred in words, one number per line."


def install_model(tmp_path: Path, model: Path) -> None:
    """Put the model where the server would fetch it to."""
    folder = tmp_path / "state" / "models"
    folder.mkdir(parents=True)
    os.link(model, folder / model_file.FILE_NAME)


def model_process(server: Editor) -> psutil.Process:
    (child,) = psutil.Process(server.process.pid).children()
    return child


def texts(server: Editor, token: str) -> list[dict[str, Any]]:
    return [event for event in server.progress[token] if event["type"] == "text"]


@pytest.mark.prop("core-35")
async def test_a_killed_model_process_is_one_error_and_is_started_anew(real_model_path: Path, tmp_path: Path) -> None:
    install_model(tmp_path, real_model_path)
    async with editor(environment(tmp_path)) as server:
        await server.initialize()
        _, answer = server.start_request("ollm/chat/send", {"text": LONG, "partialResultToken": "first"})
        await server.until(lambda: texts(server, "first"))
        model_process(server).kill()
        with pytest.raises(Refused) as refusal:
            await answer
        assert refusal.value.data["code"] == "server_error"
        assert "SIGKILL" in refusal.value.message
        assert "again" in refusal.value.data["remedy"]
        kinds = [event["type"] for event in server.progress["first"]]
        assert kinds.count("error") == kinds.count("finished") == 1
        assert (await server.chat("Say hi."))["text"]
        # Killed while nobody asks, it is not even an error.
        model_process(server).kill()
        assert (await server.chat("Say hi."))["text"]


@pytest.mark.threat("F42")
async def test_a_frozen_model_process_can_be_cancelled_and_does_not_outlive_the_server(
    real_model_path: Path, tmp_path: Path
) -> None:
    install_model(tmp_path, real_model_path)
    async with editor(environment(tmp_path)) as server:
        await server.initialize()
        number, answer = server.start_request("ollm/chat/send", {"text": LONG, "partialResultToken": "first"})
        await server.until(lambda: texts(server, "first"))
        child = model_process(server)
        child.send_signal(signal.SIGSTOP)
        server.notify("$/cancelRequest", {"id": number})
        with pytest.raises(Refused) as refusal:
            await answer
        assert refusal.value.code == -32800
    assert not psutil.pid_exists(child.pid)


@pytest.mark.threat("F42")
async def test_the_model_process_ends_with_a_killed_server(real_model_path: Path, tmp_path: Path) -> None:
    install_model(tmp_path, real_model_path)
    async with editor(environment(tmp_path)) as server:
        await server.initialize()
        await server.chat("Say hi.")
        child = model_process(server)
        server.process.kill()
        await server.wait()
        await asyncio.to_thread(psutil.wait_procs, [child], timeout=30)
        assert not child.is_running()


@pytest.mark.threat("F41")
async def test_shutdown_ends_a_running_chat_and_its_model(real_model_path: Path, tmp_path: Path) -> None:
    install_model(tmp_path, real_model_path)
    async with editor(environment(tmp_path)) as server:
        await server.initialize()
        _, answer = server.start_request("ollm/chat/send", {"text": LONG, "partialResultToken": "first"})
        await server.until(lambda: texts(server, "first"))
        child = model_process(server)
        assert await server.request("shutdown") is None
        with pytest.raises(Refused) as refusal:
            await answer
        assert refusal.value.code == -32800
        assert server.progress["first"][-1] == {"type": "finished", "reason": "cancelled"}
        server.notify("exit")
        assert await server.wait() == 0
        assert not psutil.pid_exists(child.pid)


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root on Linux can mount a small disk")
async def test_a_full_disk_is_one_clear_error_and_the_next_chat_works(real_model_path: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = await asyncio.create_subprocess_exec("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk))
    assert await mount.wait() == 0
    try:
        (disk / "ballast").write_bytes(bytes(900_000))
        async with editor(environment(tmp_path, OLLM_STATE_DIR=str(disk / "state"))) as server:
            await server.initialize()
            with pytest.raises(Refused) as refusal:
                await server.chat("Say hi.")
            assert refusal.value.data["code"] == "store"
            assert "MB" in refusal.value.message
            assert "OLLM_STATE_DIR" in refusal.value.data["remedy"]
            assert not list((disk / "state" / "models").iterdir())
            remount = await asyncio.create_subprocess_exec("mount", "-o", "remount,size=300m", str(disk))
            assert await remount.wait() == 0
            shutil.copy(real_model_path, disk / "state" / "models" / model_file.FILE_NAME)
            assert (await server.chat("Say hi."))["text"]
    finally:
        await (await asyncio.create_subprocess_exec("umount", "-l", str(disk))).wait()


@pytest.mark.threat("F46")
async def test_a_state_directory_that_cannot_be_made_does_not_keep_a_model_from_answering(
    real_model_path: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("not a directory")
    settings = f"providers: {{embedded: {{type: embedded, modelPath: '{real_model_path}'}}}}\n"
    async with editor(environment(tmp_path, settings, OLLM_STATE_DIR=str(tmp_path / "file" / "state"))) as server:
        await server.initialize()
        assert (await server.chat("Say hi."))["text"]


@pytest.mark.prop("krk-40")
async def test_a_broken_settings_file_is_one_clear_error_until_it_is_mended(
    real_model_path: Path, tmp_path: Path
) -> None:
    install_model(tmp_path, real_model_path)
    async with editor(environment(tmp_path, "model: embedded:smollm2\nchat: [oops\n")) as server:
        await server.initialize()
        with pytest.raises(Refused) as refusal:
            await server.chat("Say hi.")
        assert refusal.value.data["code"] == "settings"
        assert "line" in refusal.value.message
        assert [event["type"] for event in server.progress["events"]] == ["error", "finished"]
        (tmp_path / "config.yaml").write_text("model: embedded:smollm2\n")
        assert (await server.chat("Say hi."))["text"]


@pytest.mark.prop("core-16")
async def test_without_settings_network_and_model_the_error_says_what_to_do(tmp_path: Path) -> None:
    nowhere = environment(tmp_path, PIP_INDEX_URL="http://127.0.0.1:9/", PIP_NO_INDEX="", PIP_FIND_LINKS="")
    async with editor(nowhere) as server:
        assert (await server.initialize())["serverInfo"]["name"] == "ollm-lsp"
        with pytest.raises(Refused) as refusal:
            await server.chat("Say hi.")
        assert refusal.value.code == -32803
        assert refusal.value.data["code"] == "connection"
        assert "modelPath" in refusal.value.data["remedy"]
        assert server.progress["events"][-1] == {"type": "finished", "reason": "error"}
        assert not list((tmp_path / "state" / "models").iterdir())


async def test_without_the_embedded_runtime_ollama_is_asked_and_the_error_says_how_to_start_it(tmp_path: Path) -> None:
    program = (
        "import importlib.util as util, sys\n"
        "find = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name == 'xllamacpp' else find(name, *rest)\n"
        "from ollm_lsp.cli import main\n"
        "sys.exit(main([]))\n"
    )
    settings = "providers: {ollama: {type: ollama, baseUrl: 'http://127.0.0.1:9'}}\n"
    async with editor(environment(tmp_path, settings), command=(sys.executable, "-c", program)) as server:
        await server.initialize()
        with pytest.raises(Refused) as refusal:
            await server.chat("Say hi.")
        assert refusal.value.data["code"] == "connection"
        assert "127.0.0.1:9" in refusal.value.message
        assert "ollama serve" in refusal.value.data["remedy"]


async def test_cancelling_the_fetch_of_the_model_leaves_nothing_behind(tmp_path: Path) -> None:
    async with editor(environment(tmp_path)) as server:
        await server.initialize()
        number, answer = server.start_request("ollm/chat/send", {"text": "Say hi.", "workDoneToken": "work"})
        await server.until(lambda: any("Fetching" in value.get("message", "") for value in server.progress["work"]))
        fetching = psutil.Process(server.process.pid).children()
        assert fetching
        server.notify("$/cancelRequest", {"id": number})
        with pytest.raises(Refused) as refusal:
            await answer
        assert refusal.value.code == -32800
        assert not any(child.is_running() for child in fetching)
        assert not list((tmp_path / "state" / "models").iterdir())


async def test_a_second_chat_in_a_busy_conversation_is_refused(real_model_path: Path, tmp_path: Path) -> None:
    install_model(tmp_path, real_model_path)
    async with editor(environment(tmp_path)) as server:
        await server.initialize()
        first = await server.chat("Say hi.")
        conversation = first["conversationId"]
        number, answer = server.start_request(
            "ollm/chat/send", {"text": LONG, "conversationId": conversation, "partialResultToken": "second"}
        )
        await server.until(lambda: texts(server, "second"))
        with pytest.raises(Refused) as refusal:
            await server.chat("And?", conversationId=conversation)
        assert refusal.value.data["code"] == "busy"
        server.notify("$/cancelRequest", {"id": number})
        with pytest.raises(Refused):
            await answer
        with pytest.raises(Refused) as refusal:
            await server.chat("And?", conversationId="none")
        assert refusal.value.data["code"] == "conversation_not_found"
