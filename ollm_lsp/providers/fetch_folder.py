"""The folder in which a model is fetched: it goes with the fetch, and after a kill with the next start."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ollm_lsp.processes.holding import held

if TYPE_CHECKING:
    from collections.abc import Generator

_PREFIX = "fetch-"


@contextmanager
def fetch_folder(folder: Path) -> Generator[Path]:
    """A new folder in another one, held as long as the block takes."""
    with ExitStack() as stack:
        with held(folder, waits=True):  # so that no sweep comes between the making and the hold
            work = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=folder))
            stack.enter_context(held(work))
        try:
            yield work
        finally:
            shutil.rmtree(work, ignore_errors=True)


def sweep(folder: Path) -> None:
    """Remove the folders of fetches that nobody holds any more."""
    with suppress(OSError), held(folder, waits=True):
        for work in folder.glob(f"{_PREFIX}*"):
            with suppress(OSError), held(work) as is_left:
                if is_left:
                    shutil.rmtree(work, ignore_errors=True)
