"""The real server with providers of a test's making: `python -m tests.lsp.managing_server RECORD`.

`shop` manages models; what a pull does is the model's name: `small` comes, `endless` never does, `missing` fails.
`plain` manages none, and `keyless` cannot even be made. RECORD gets a line for whatever happens to `shop`.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.errors import ModelNotFound, SettingsError, StoreFailed
from ollm_lsp.core.events import Activity
from ollm_lsp.core.finding import Finding, Level
from ollm_lsp.core.fit import any_object
from ollm_lsp.core.memory_store import MemoryStore
from ollm_lsp.core.model import Capabilities, ModelDetails, ModelId, ModelInfo
from ollm_lsp.kraken.hooks import Hooks
from ollm_lsp.lsp.lazy_types import import_types
from ollm_lsp.lsp.log import configure
from ollm_lsp.settings.kraken_settings import HooksSettings
from ollm_lsp.settings.layers import Resolution
from ollm_lsp.settings.problems import Problem
from ollm_lsp.settings.resolved import OpenAISettings, Settings
from ollm_lsp.store.texts import keep
from ollm_lsp.tools.toolset import Toolset
from tests.support.memory_ledger import MemoryLedger
from tests.support.scripted_provider import ScriptedProvider
from tests.support.session import NoKraken

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager

    from ollm_lsp.core.ports import Fits, GrantStore, Kraken, Ledger, ProposalStore, Provider, ResponseStore

NAMES = ("keyless", "plain", "shop")


class Shop(ScriptedProvider):
    """A provider with models to fetch."""

    def __init__(self, record: Path) -> None:
        super().__init__(name="shop")
        self._record = record

    async def pull(self, model: str) -> AsyncGenerator[Activity]:
        try:
            yield Activity("Looking for the model", 0)
            match model:
                case "small":
                    yield Activity("1.0 GB of 2.0 GB", 50)
                    yield Activity("Done", 100)
                case "endless":
                    await asyncio.Event().wait()
                case _:
                    raise ModelNotFound("There is no such model.", remedy="Choose another.")
        finally:
            for _ in range(1000):  # closing a connection takes its time, too
                await asyncio.sleep(0)
            self._write(f"closed {model}")

    async def show(self, model: str) -> ModelDetails:
        info = ModelInfo(ModelId("shop", model), Capabilities(context_window=4096), 7)
        return ModelDetails(info, {"family": "small ones"})

    async def delete(self, model: str) -> None:
        self._write(f"deleted {model}")

    def _write(self, line: str) -> None:
        with self._record.open("a") as record:
            record.write(f"{line}\n")


class FixedServices:
    """The same settings and providers all the time; with no file to write to, the settings are broken."""

    def __init__(self, record: Path) -> None:
        providers = {name: OpenAISettings(name, "http://127.0.0.1:9") for name in NAMES}
        problem = Problem("config.yaml", "", "The file cannot be read.", "Correct it.")
        is_broken = not record.exists()
        self._resolution = Resolution(Settings(ModelId("shop", "small"), providers), (), problem if is_broken else None)
        self._record = record
        self._shop = Shop(record)

    def narrow(self, editor: Mapping[str, Any], folders: Sequence[Path]) -> None:
        """Nobody's settings matter here."""

    async def settings(self) -> Resolution:
        return self._resolution

    @asynccontextmanager
    async def provider(self, name: str) -> AsyncGenerator[Provider]:
        if name == "keyless":
            raise SettingsError("The key is missing.", remedy="Set it.")
        yield self._shop if name == "shop" else ScriptedProvider(name=name)

    async def store(self, *, is_kept: bool) -> ResponseStore:  # noqa: ARG002 (part of the contract)
        return MemoryStore(time)

    async def toolset(self) -> Toolset:
        return Toolset()

    async def proposals(self) -> ProposalStore:
        raise StoreFailed("There is none.", remedy="None is needed.")

    async def keep_text(self, text: str) -> str:
        return keep(self._record.parent, text)

    async def kraken(self) -> Kraken:
        return NoKraken()

    def external(self, name: str, *, is_trusted: bool) -> AbstractAsyncContextManager[Provider]:
        raise SettingsError(f"There is no {name} ({is_trusted}).", remedy="None is needed.")

    async def ledger(self) -> Ledger:
        return MemoryLedger()

    async def hooks(self) -> Hooks:
        return Hooks(HooksSettings(), lambda _: None, {}, self._record.parent)

    async def grants(self) -> GrantStore:
        raise StoreFailed("There is none.", remedy="None is needed.")

    async def settings_file(self) -> str:
        raise SettingsError("There is none.", remedy="None is needed.")

    async def examine(self) -> AsyncGenerator[Finding]:
        yield Finding("shop", Level.WARNING, "is closed | on Sundays.", "Come back tomorrow.")

    async def keep_chat(self, text: str) -> str:  # noqa: ARG002 (part of the contract)
        raise StoreFailed("There is no place.", remedy="None is needed.")

    async def fits(self) -> Fits:
        return any_object

    async def sweep(self) -> None:
        """Nobody left anything."""

    async def close(self) -> None:
        """There is nothing to close."""


if __name__ == "__main__":
    import_types()
    from ollm_lsp.lsp.server import serve  # after that: the types take seconds when they are not built lazily

    configure()
    sys.exit(serve(FixedServices(Path(sys.argv[1]))))
