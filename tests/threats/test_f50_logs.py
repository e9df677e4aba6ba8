"""Fault F50: a log that nobody reads, that cannot be written, or that grows, stops nobody."""

from __future__ import annotations

import asyncio
import logging
import os
from typing import TYPE_CHECKING

import pytest

from ollm_lsp.lsp import log
from ollm_lsp.providers import model_process
from ollm_lsp.providers.model_process import ModelProcess
from tests.providers.test_embedded import replace_host
from tests.support.editor import SERVER, Editor, environment

if TYPE_CHECKING:
    from pathlib import Path

NOISE = 3_000
"""Messages, each of which is worth a line in the log: several times what a pipe holds."""


@pytest.mark.threat("F50")
@pytest.mark.parametrize("stderr", ["a pipe that nobody reads", "a disk that is full", "closed"])
async def test_a_log_that_goes_nowhere_holds_up_nobody(stderr: str, tmp_path: Path) -> None:
    reader, writer = os.pipe()
    full = os.open("/dev/full", os.O_WRONLY)
    command = ("/bin/sh", "-c", 'exec "$@" 2>&-', "sh", *SERVER) if stderr == "closed" else SERVER
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=full if stderr == "a disk that is full" else writer,
        env=environment(tmp_path, OLLM_LOG="debug"),
        limit=1 << 26,
    )
    editor = Editor(process)
    try:
        await editor.initialize()
        for _ in range(NOISE):
            editor.notify("textDocument/didOpen", {"textDocument": {"uri": 1}})
        assert await editor.request("shutdown") is None
        editor.notify("exit")
        assert await editor.wait() == 0
    finally:
        for descriptor in (reader, writer, full):
            os.close(descriptor)


@pytest.mark.threat("F50")
def test_what_is_logged_is_written_in_its_order_and_what_is_too_much_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "log"
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY)
    handler = log.PatientHandler(descriptor)
    for number in range(100):
        handler.handle(logging.LogRecord("n", logging.WARNING, "p", 1, "line %d \ud800", (number,), None))
    handler.flush()
    os.close(descriptor)
    assert path.read_text().splitlines() == [f"line {number} ?" for number in range(100)]


@pytest.mark.threat("F50")
async def test_the_log_of_the_embedded_model_begins_anew_when_it_is_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_process, "MAX_LOG", 1_000)
    noisy = (
        "print(json.dumps({'port': 7}), flush=True)\n"
        "while sys.stdin.readline():\n    sys.stderr.write('x' * 600); sys.stderr.flush(); print(flush=True)\n"
    )
    replace_host(tmp_path, monkeypatch, noisy)
    path = tmp_path / "log"
    process = await ModelProcess.launch(tmp_path / "m", context=1, threads=1, log=path)
    child = vars(process)["_process"]
    assert child.stdin is not None
    assert child.stdout is not None
    sizes: list[int] = []
    for _ in range(6):
        child.stdin.write(b"\n")
        await child.stdout.readline()
        sizes.append(path.stat().st_size)
        process.trim_log()
    await process.close()
    assert sizes == [600, 1_200] * 3
    path.unlink()
    process.trim_log()
