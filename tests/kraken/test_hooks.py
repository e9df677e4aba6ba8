"""Hooks: told in their order and without secrets, obeyed when they say no, skipped when they fail."""

from __future__ import annotations

import json
import logging
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from ollm_lsp.kraken.hooks import MOST_OUTPUT, Hooks, Moment, Objection
from ollm_lsp.settings.kraken_settings import HookSettings, HooksSettings
from ollm_lsp.settings.redactor import redactor

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM = "python-of-the-test"
TELL = "import sys; open('told', 'a').write(sys.stdin.read() + '\\n')"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the hooks here are for POSIX")


def hook(code: str, timeout: float = 60.0) -> HookSettings:
    return HookSettings((PROGRAM, "-c", code), timeout)


def hooks(home: Path, *before: HookSettings, after: Sequence[HookSettings] = ()) -> Hooks:
    def find(name: str) -> Path | None:
        return Path(sys.executable) if name == PROGRAM else None

    settings = HooksSettings(before, tuple(after), tuple(after))
    return Hooks(settings, find, {"PATH": os.defpath, "OWN": "1"}, home)


def told(home: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (home / "told").read_text().splitlines()]


def lives(pid: int) -> bool:
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False


@pytest.mark.prop("krk-34")
@pytest.mark.prop("krk-41")
async def test_a_hook_is_told_everything_but_secrets(tmp_path: Path) -> None:
    redactor.add("a-secret-for-a-hook")
    facts = {"provider": "openai", "shared": ["a.py", "a-secret-for-a-hook"], "event": "forged"}
    assert await hooks(tmp_path, hook(TELL)).run(Moment.BEFORE, facts) is None
    assert told(tmp_path) == [{"event": "before_kraken", "provider": "openai", "shared": ["a.py", "***"]}]


@pytest.mark.prop("krk-35")
@pytest.mark.parametrize("moment", [Moment.AFTER, Moment.ESCALATE])
async def test_each_moment_has_hooks_of_its_own(tmp_path: Path, moment: Moment) -> None:
    assert await hooks(tmp_path, hook("print('false')"), after=[hook(TELL)]).run(moment, {"cost": 5}) is None
    assert told(tmp_path) == [{"event": moment.value, "cost": 5}]


@pytest.mark.prop("krk-34")
async def test_hooks_run_in_the_order_in_which_they_stand(tmp_path: Path) -> None:
    marks = [hook(f"open('order', 'a').write('{number}')") for number in range(4)]
    await hooks(tmp_path, *marks).run(Moment.BEFORE, {})
    assert (tmp_path / "order").read_text() == "0123"


@pytest.mark.prop("krk-36")
@pytest.mark.parametrize(
    ("answer", "reason"),
    [("false", ""), ('{"allow": false}', ""), ('{"allow": false, "reason": "Not today."}', "Not today.")],
)
async def test_a_no_cancels_and_nobody_else_is_asked(tmp_path: Path, answer: str, reason: str) -> None:
    asked = hooks(tmp_path, hook("print('true')"), hook(f"print({answer!r})"), hook(TELL))
    assert await asked.run(Moment.BEFORE, {}) == Objection(PROGRAM, reason)
    assert not (tmp_path / "told").exists()


@pytest.mark.parametrize("answer", ["", "true", "null", "0", '{"allow": true}', '{"allow": "false"}', "[false]"])
async def test_whatever_is_not_exactly_a_no_lets_it_go_on(tmp_path: Path, answer: str) -> None:
    assert await hooks(tmp_path, hook(f"print({answer!r})")).run(Moment.BEFORE, {}) is None


@pytest.mark.prop("krk-37")
@pytest.mark.parametrize(
    ("failing", "words"),
    [
        (hook("import sys; print('false'); sys.exit('it broke')"), "status 1. it broke"),
        (hook("print('no')"), "not JSON"),
        (hook(f"print(' ' * {MOST_OUTPUT + 1})"), "too much"),
        (HookSettings(("nobody-has-this",)), "no such program"),
        (hook("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"), "status -11"),
    ],
)
async def test_a_hook_that_fails_is_logged_and_skipped(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, failing: HookSettings, words: str
) -> None:
    with caplog.at_level(logging.WARNING):
        assert await hooks(tmp_path, failing, hook(TELL)).run(Moment.BEFORE, {}) is None
    assert len(told(tmp_path)) == 1
    assert words in caplog.text


@pytest.mark.threat("F42")
@pytest.mark.prop("krk-37")
async def test_a_hook_that_does_not_end_is_ended_with_all_that_it_started(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    fork = "import os, time; os.fork(); open(f'pid-{os.getpid()}', 'w'); time.sleep(3600)"
    assert await hooks(tmp_path, hook(fork, timeout=1), hook("print('false')")).run(Moment.BEFORE, {}) is not None
    assert "within 1 seconds" in caplog.text
    pids = [int(name.removeprefix("pid-")) for name in os.listdir(tmp_path)]  # noqa: PTH208 (of an async test)
    assert not any(lives(pid) for pid in pids)


@pytest.mark.threat("T17")
async def test_a_hook_gets_neither_our_environment_nor_our_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-for-hooks")
    look = "import json, os; json.dump([dict(os.environ), os.getcwd()], open('seen', 'w'))"
    await hooks(tmp_path, hook(look)).run(Moment.BEFORE, {})
    environment, folder = json.loads((tmp_path / "seen").read_text())
    assert "OPENAI_API_KEY" not in environment
    assert environment["OWN"] == "1"
    assert folder == str(tmp_path)


async def test_a_hook_that_reads_nothing_is_no_failure(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert await hooks(tmp_path, hook("pass")).run(Moment.BEFORE, {"much": "x" * 1_000_000}) is None
    assert caplog.text == ""
