"""Settings that many ask for at once: they are read once for all of them, and never too early for anybody."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import pytest

from ollm_lsp.app import App

if TYPE_CHECKING:
    from pathlib import Path

    from ollm_lsp.settings.layers import Resolution


class SlowApp:
    """An app whose readings can be held up. Each is counted when it begins."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.file = folder / "config.yaml"
        self.app = App({"OLLM_CONFIG": str(self.file), "OLLM_STATE_DIR": str(folder)})
        self.readings = 0
        self.may_go_on = threading.Event()
        self._has_begun = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        read = self.app.source.current

        def current() -> Resolution:
            self.readings += 1
            found = read()
            self._loop.call_soon_threadsafe(self._has_begun.set)
            assert self.may_go_on.wait(60)
            return found

        monkeypatch.setattr(self.app.source, "current", current)

    async def begin(self) -> asyncio.Task[Resolution]:
        """Ask, and come back when the reading holds what was in the file."""
        asked = asyncio.create_task(self.app.settings())
        await self._has_begun.wait()
        return asked


@pytest.fixture
async def slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SlowApp:
    return SlowApp(tmp_path, monkeypatch)


async def test_many_who_ask_at_once_share_a_reading(slow: SlowApp) -> None:
    first = await slow.begin()
    others = [asyncio.create_task(slow.app.settings()) for _ in range(100)]
    slow.may_go_on.set()
    await asyncio.gather(first, *others)
    assert slow.readings == 2


async def test_who_asks_during_a_reading_gets_the_next(slow: SlowApp) -> None:
    slow.file.write_text('model: "ollama:old"\n')
    first = await slow.begin()
    slow.file.write_text('model: "ollama:new"\n')
    second = asyncio.create_task(slow.app.settings())
    await asyncio.sleep(0)
    slow.may_go_on.set()
    assert (await first).settings.model.name == "old"
    assert (await second).settings.model.name == "new"


async def test_who_gives_up_takes_the_reading_from_nobody(slow: SlowApp) -> None:
    first = await slow.begin()
    impatient, patient = (asyncio.create_task(slow.app.settings()) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    impatient.cancel()
    slow.may_go_on.set()
    assert (await patient).settings.model
    assert (await slow.app.settings()).settings.model
