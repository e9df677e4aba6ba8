"""Faults that no single area owns: F3, F27, F28, F45, F47 and F48."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
from asyncio import events
from pathlib import Path
from time import thread_time
from typing import TYPE_CHECKING, Any

import pytest

from ollm_lsp.core.errors import ConnectionFailed
from ollm_lsp.core.events import TextDelta
from ollm_lsp.providers.framing import NdjsonFramer
from ollm_lsp.providers.wire import agent_claude, agent_codex, agent_gemini
from ollm_lsp.store.response_store import SqliteStore
from ollm_lsp.terminal import file_editor
from tests.lsp.test_homecoming import EDIT, TEXT, at_home, saying
from tests.providers.listening import hear
from tests.providers.vendors import VENDORS, Vendor, ask, no_waiting
from tests.providers.vendors import at_home as host_at_home
from tests.support.editor import environment
from tests.support.fake_ollama import FakeOllama, Say
from tests.support.near_server import near_editor
from tests.support.scale import IS_LARGE

if TYPE_CHECKING:
    from tests.support.workspace_client import WorkspaceClient

ROOT = Path(__file__).parents[2]
SEPARATED = "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg"
LINES: dict[str, tuple[Any, dict[str, Any]]] = {
    "codex": (
        agent_codex,
        {"type": "item.completed", "item": {"id": "1", "type": "agent_message", "text": SEPARATED}},
    ),
    "gemini": (agent_gemini, {"type": "message", "role": "assistant", "content": SEPARATED, "delta": True}),
    "claude": (
        agent_claude,
        {"type": "assistant", "message": {"content": [{"type": "text", "text": SEPARATED}]}, "session_id": "s"},
    ),
}


@pytest.mark.threat("F3")
@pytest.mark.parametrize("tool", list(LINES))
def test_separators_inside_a_line_of_an_agent_end_no_line(tool: str) -> None:
    wire, line = LINES[tool]
    raw = json.dumps(line, ensure_ascii=False).encode() + b"\n"
    for cut in range(len(raw) + 1):
        framer, decoder = NdjsonFramer(), wire.Decoder(str)
        frames = [*framer.feed(raw[:cut]), *framer.feed(raw[cut:]), *framer.close()]
        said = [event.text for one in frames for event in decoder.feed(one) if isinstance(event, TextDelta)]
        # Control characters are taken out by the decoder, line separators are text.
        assert "".join(said).strip() == "a\u2028b\u2029cdefg"


@pytest.mark.threat("F27")
@pytest.mark.parametrize("spoilt", ["first", "second"])
async def test_of_an_edit_of_several_files_nothing_is_made_when_one_of_them_has_changed(
    spoilt: str, tmp_path: Path
) -> None:
    async with at_home(tmp_path, saying(f"{EDIT}\n\n{EDIT.replace('app.py', 'b.py')}")) as home:
        client: WorkspaceClient = home.client
        (client.folder / "b.py").write_text(TEXT)
        name = "app.py" if spoilt == "first" else "b.py"
        asks = client.editor.answer["ollm/permission"]

        def meanwhile(params: dict[str, Any]) -> Any:
            (client.folder / name).write_text(TEXT.replace("a - b", "a * b"))
            return asks(params)

        client.editor.answer["ollm/permission"] = meanwhile
        await home.release()
        other = "b.py" if spoilt == "first" else "app.py"
        files = client.files()
        assert files[name] == TEXT.replace("a - b", "a * b")
        assert files[other] == TEXT, "half of an edit is none"
        assert client.applied == []


@pytest.mark.threat("F27")
@pytest.mark.parametrize("made", [0, 1])
async def test_an_editor_that_fails_half_way_is_told_of_as_it_is(made: int, tmp_path: Path) -> None:
    async with at_home(tmp_path, saying(f"{EDIT}\n\n{EDIT.replace('app.py', 'b.py')}")) as home:
        client = home.client
        (client.folder / "b.py").write_text(TEXT)
        makes = client.editor.answer["workspace/applyEdit"]

        def half(params: dict[str, Any]) -> Any:
            params["edit"]["documentChanges"] = params["edit"]["documentChanges"][:made]
            makes(params)
            return {"result": {"applied": False, "failedChange": made, "failureReason": "disk full"}}

        client.editor.answer["workspace/applyEdit"] = half
        result = await home.release()
        changed = [name for name, text in client.files().items() if text != TEXT]
        assert changed == ["app.py", "b.py"][:made]
        told = result["text"].rpartition("\n\n")[2]
        assert "disk full" in told
        assert "Changed: app.py, b.py" not in told


STEPS = ["os.fsync", "file_editor.Path.chmod", "file_editor.Path.replace"]
KILLED = """
import os, sys
from pathlib import Path
from ollm_lsp.terminal import file_editor
{step} = lambda *a, **k: os._exit(9)
file_editor.put_in_place(Path(sys.argv[1]), b"new" * 100_000)
"""


@pytest.mark.threat("F28")
@pytest.mark.parametrize("step", STEPS)
def test_a_file_is_whole_whenever_its_writer_is_killed(step: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o640)
    run = subprocess.run([sys.executable, "-c", KILLED.format(step=step), str(path)], cwd=ROOT, check=False)
    assert run.returncode == 9
    assert path.read_bytes() == b"old"
    file_editor.put_in_place(path, b"new")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", 0o640)
    assert [one.name for one in tmp_path.iterdir()] == ["file"], "what the killed one left is gone"


@pytest.mark.threat("F28")
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", ["os.fsync", "Path.chmod", "Path.replace"])
def test_a_file_that_cannot_be_written_stays_and_nothing_is_left_behind(
    step: str, error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise error

    path = tmp_path / "file"
    path.write_bytes(b"old")
    owner, _, name = step.partition(".")
    monkeypatch.setattr(getattr(file_editor, owner), name, fail)
    with pytest.raises(type(error)):
        file_editor.put_in_place(path, b"new")
    assert path.read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


WRITERS, WRITES = 8, 1_000 if IS_LARGE else 25
WRITER = """
import asyncio, sys
from pathlib import Path
from tests.store.test_response_store import response
from ollm_lsp.store.response_store import SqliteStore
async def main():
    store = SqliteStore(Path(sys.argv[1]), busy_timeout=300)
    for number in range(int(sys.argv[3])):
        await store.finish("c", response(f"{sys.argv[2]}-{number}"))
    await store.close()
asyncio.run(main())
"""


@pytest.mark.threat("F45")
@pytest.mark.large
async def test_eight_servers_write_into_one_file_and_not_one_row_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "conversations.db"
    writers = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", WRITER, str(path), str(n), str(WRITES), cwd=ROOT)
        for n in range(WRITERS)
    ]
    assert [await writer.wait() for writer in writers] == [0] * WRITERS
    store = SqliteStore(path)
    record = await store.load("c")
    await store.close()
    assert record is not None
    assert len({step.response.id for step in record.responses}) == WRITERS * WRITES


LONG = "".join(f"line {number} = {'x' * 80}\n" for number in range(100_000))
"""About ten megabytes."""


async def longest_turn(tmp_path: Path, changes: int) -> float:
    """The most processor time that one turn of the server's loop takes, while somebody types and a model answers."""
    longest = 0.0
    run = events.Handle._run

    def timed(handle: Any) -> None:
        nonlocal longest
        began = thread_time()
        run(handle)
        longest = max(longest, thread_time() - began)

    chance = random.Random(47)
    async with FakeOllama(answer=lambda _: [Say("word ")] * 300) as fake:
        settings = f"model: 'ollama:smollm2:135m'\nproviders: {{ollama: {{type: ollama, baseUrl: '{fake.url}'}}}}\n"
        async with near_editor(environment(tmp_path, settings)) as server:
            await server.initialize()
            server.open("file:///long.txt", LONG)
            await server.chat("Hello.")  # what is loaded on first use is loaded
            patch = pytest.MonkeyPatch()
            patch.setattr(events.Handle, "_run", timed)
            try:
                chat = asyncio.ensure_future(server.chat("Hello.", context={"uri": "file:///long.txt"}))
                for version in range(2, changes + 2):
                    place = {"line": chance.randrange(100_000), "character": 3}
                    change = {"range": {"start": place, "end": place}, "text": chance.choice("a\nb")}
                    document = {"uri": "file:///long.txt", "version": version}
                    server.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
                    await asyncio.sleep(0)
                await chat
            finally:
                patch.undo()
    return longest


@pytest.mark.threat("F47")
async def test_ten_megabytes_and_a_thousand_changes_never_hold_up_the_loop(tmp_path: Path) -> None:
    # The best of three: what the machine adds differs, what the server takes does not.
    turns = [await longest_turn(tmp_path, 300) for _ in range(3)]
    assert min(turns) < 0.05


async def nobody(_reader: Any, writer: asyncio.StreamWriter) -> None:
    writer.close()


@pytest.mark.threat("F48")
@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
async def test_a_proxy_that_is_gone_is_a_connection_error_after_the_usual_attempts(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = no_waiting(monkeypatch)
    host_at_home(monkeypatch)
    gone = await asyncio.start_server(nobody, "127.0.0.1", 0)
    port = gone.sockets[0].getsockname()[1]
    gone.close()
    await gone.wait_closed()
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{port}")
    async with vendor.reaching("http://models.example") as provider:
        heard = await hear(provider.stream(ask()))
    assert isinstance(heard.error, ConnectionFailed)
    assert len(waits) == 3
