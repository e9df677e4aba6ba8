"""The register of children: whoever a killed server and its killed guardians left is ended by the next server."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from ollm_lsp.processes import child
from ollm_lsp.processes.register import Register, identity, register
from tests.support.editor import editor, environment

if TYPE_CHECKING:
    from collections.abc import Generator

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells when a process began")
ROOT = Path(__file__).parents[2]
MARK = "0123456789abcdef" * 2
SERVER = """
import asyncio, sys
from pathlib import Path
from ollm_lsp.processes import child
from ollm_lsp.processes.register import register

async def main():
    register.place = Path(sys.argv[1])
    argv = ["/bin/sh", "-c", "trap '' TERM; setsid sleep 3600 & sleep 3600 & echo; sleep 3600; sleep 3600"]
    async with child.started(argv, cwd=Path("/"), env={"HOME": sys.argv[1]}) as process:
        await process.stdout.readline()
        print(process.pid, flush=True)
        await asyncio.sleep(3600)

asyncio.run(main())
"""


def lives(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def of_home(home: Path) -> list[int]:
    """All who were started with that home, wherever they went; the guardian has another."""
    found: list[int] = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("HOME") == str(home) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


def killed_with_its_guardian(place: Path) -> list[int]:
    """A server whose guardian died first: the family that both left."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, str(place)], stdout=subprocess.PIPE, cwd=ROOT, text=True
    ) as server:
        assert server.stdout
        group = int(server.stdout.readline())
        for guardian in psutil.Process(server.pid).children():
            if guardian.pid != group:
                guardian.kill()
                guardian.wait()
        while len(left := of_home(place)) < 4:
            time.sleep(0.02)
        server.kill()
    return left


@pytest.fixture
def left(tmp_path: Path) -> Generator[list[int]]:
    pids = killed_with_its_guardian(tmp_path)
    try:
        yield pids
    finally:
        for pid in pids:
            if lives(pid):
                os.kill(pid, signal.SIGKILL)


@pytest.mark.threat("F42")
async def test_what_a_server_and_its_guardian_left_is_swept_with_all_descendants(
    left: list[int], tmp_path: Path
) -> None:
    assert all(map(lives, left)), "there would be nothing to sweep"
    assert await Register(tmp_path).sweep() == 1
    assert not any(map(lives, left))
    assert [*tmp_path.iterdir()] == []  # noqa: ASYNC240 (nobody else waits)
    assert await Register(tmp_path).sweep() == 0


@pytest.mark.threat("F42")
async def test_a_new_server_sweeps_what_the_last_one_left(tmp_path: Path) -> None:
    left = killed_with_its_guardian(tmp_path / "state" / "processes")
    async with editor(environment(tmp_path)) as server:
        await server.initialize()
        while any(map(lives, left)):
            await server.request("ollm/chat/list")


@pytest.mark.threat("F42")
async def test_children_of_servers_that_live_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(register, "place", tmp_path)
    async with child.started(["/bin/sleep", "3600"], cwd=Path("/"), env={}) as process:
        assert await Register(tmp_path).sweep() == 0
        assert process.returncode is None
        (folder,) = tmp_path.iterdir()  # noqa: ASYNC240 (nobody else waits)
        (file,) = folder.iterdir()
        assert file.read_text() == identity(process.pid)
    assert [*tmp_path.iterdir()] == []  # noqa: ASYNC240 (as above)


@pytest.mark.threat("F42")
@pytest.mark.parametrize(
    "text",
    ["", "{pid}", "{pid}-1-{boot}", "{pid}-{began}-another-boot", "1-1-1", "-1", "0-1-1", "\x00", "é", "9" * 5000],
)
async def test_a_number_that_may_be_somebody_elses_by_now_is_not_killed(text: str, tmp_path: Path) -> None:
    with subprocess.Popen(["/bin/sleep", "3600"], start_new_session=True) as stranger:  # noqa: ASYNC220 (nobody else waits)
        try:
            name = identity(stranger.pid)
            assert name
            pid, began, boot = name.split("-", 2)
            folder = tmp_path / f"{pid}-1-{boot}"
            folder.mkdir()
            (folder / MARK).write_text(text.format(pid=pid, began=began, boot=boot), encoding="utf-8")
            (folder / "no mark").write_text(name)
            assert await Register(tmp_path).sweep() == 0
            assert stranger.poll() is None
            assert not (folder / MARK).exists()
        finally:
            stranger.kill()


@pytest.mark.threat("F42")
async def test_who_threw_the_mark_away_is_found_by_the_group(tmp_path: Path) -> None:
    with subprocess.Popen(["/bin/sleep", "3600"], start_new_session=True) as orphan:  # noqa: ASYNC220 (as above)
        name = identity(orphan.pid)
        assert name
        folder = tmp_path / f"{orphan.pid}-1-{name.split('-', 2)[2]}"
        folder.mkdir()
        (folder / MARK).write_text(name)
        assert await Register(tmp_path).sweep() == 1
        assert orphan.wait() == -signal.SIGTERM


async def test_a_place_that_cannot_be_written_keeps_no_child_from_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(register, "place", tmp_path / "file" / "below")
    async with child.started(["/bin/echo", "yes"], cwd=Path("/"), env={}) as process:
        assert process.stdout
        assert await process.stdout.read() == b"yes\n"
    assert await Register(tmp_path / "file").sweep() == 0


USERS: dict[str, str] = {
    "a hook": """
from ollm_lsp.kraken.hooks import Hooks, Moment
from ollm_lsp.settings.kraken_settings import HookSettings, HooksSettings
hook = HookSettings(("sh", "-c", "touch began; sleep 3600"), 3600.0)
work = Hooks(HooksSettings((hook,), (), ()), lambda _: Path("/bin/sh"), env, home).run(Moment.BEFORE, {})
""",
    "a search": """
from ollm_lsp.tools.roots import Place
from ollm_lsp.tools.search import Query
from ollm_lsp.tools.slow_search import SlowSearch
(home / "hard").write_text("a" * 60 + "!")
async def search():
    (home / "began").touch()
    async for _ in SlowSearch(env).in_files(Query("(a+)+$", is_regex=True), Place(home, ())):
        pass
work = search()
""",
}
KILLED = """
import asyncio, sys
from pathlib import Path
home = Path(sys.argv[1])
env = {{"HOME": sys.argv[1], "PATH": "/bin:/usr/bin"}}
{work}
asyncio.run(work)
"""


@pytest.mark.threat("F42")
@pytest.mark.parametrize("user", USERS)
def test_whatever_a_server_runs_ends_with_it(user: str, tmp_path: Path) -> None:
    program = KILLED.format(work=USERS[user])
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], cwd=ROOT) as server:
        while not (tmp_path / "began").exists() or not of_home(tmp_path):
            assert server.poll() is None
            time.sleep(0.02)
        server.kill()
    while of_home(tmp_path):
        time.sleep(0.02)


def test_the_identity_of_a_process_is_its_own_and_goes_with_it() -> None:
    with subprocess.Popen(["/bin/sleep", "3600"]) as one, subprocess.Popen(["/bin/sleep", "3600"]) as other:
        first, second = identity(one.pid), identity(other.pid)
        assert first
        assert second
        assert first != second
        assert identity(one.pid) == first
        one.kill()
        other.kill()
    assert identity(one.pid) is None
