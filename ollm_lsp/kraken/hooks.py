"""Hooks: programs of the user that are told of a release, and may stop it.

A hook gets one JSON object on its standard input, without secrets, and is run without a shell, in the user's home
directory and with an environment of ours. Only the user's own settings name hooks.
"""

from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, cast

from ollm_lsp.core.errors import OllmError
from ollm_lsp.processes.child import exited, started
from ollm_lsp.settings.redactor import redactor

if TYPE_CHECKING:
    from asyncio import StreamReader
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from ollm_lsp.core.foreign_json import JsonObject
    from ollm_lsp.settings.kraken_settings import HookSettings, HooksSettings

MOST_OUTPUT: Final = 64 * 1024
"""Bytes of a hook's answer; one that says more is taken as failed."""
_SHOWN: Final = 300

_log = logging.getLogger(__name__)


class Moment(StrEnum):
    """When hooks are run."""

    BEFORE = "before_kraken"
    AFTER = "after_kraken"
    ESCALATE = "kraken_escalate"


@dataclass(frozen=True, slots=True)
class Objection:
    """A hook's no."""

    hook: str
    reason: str = ""


class HookFailed(Exception):
    """A hook could not be run, or did not answer as it should."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """The hooks of the user. `find` gives the program of a name, where no workspace can have put it."""

    settings: HooksSettings
    find: Callable[[str], Path | None]
    environment: Mapping[str, str]
    home: Path

    async def run(self, moment: Moment, facts: JsonObject) -> Objection | None:
        """Run all hooks of a moment in their order. The first no ends it; one that fails is logged and skipped."""
        message = json.dumps(redactor.redact_json({**facts, "event": moment.value})).encode()
        for hook in cast("tuple[HookSettings, ...]", getattr(self.settings, moment.value)):
            name = hook.command[0]
            try:
                answer = await self._ask(hook, message)
            except HookFailed as error:
                _log.warning("The %s hook %s failed and is skipped: %s", moment.value, name, error)
                continue
            if (objection := _objection(name, answer)) is not None:
                return objection
        return None

    async def _ask(self, hook: HookSettings, message: bytes) -> object:
        program = self.find(hook.command[0])
        if program is None:
            raise HookFailed("There is no such program outside the workspace.")
        argv = [str(program), *hook.command[1:]]
        try:
            async with (
                asyncio.timeout(hook.timeout),
                started(argv, cwd=self.home, env=self.environment, feed=message) as process,
            ):
                if process.stdout is None or process.stderr is None:
                    raise AssertionError("these pipes were asked for")
                output, complaints, status = await asyncio.gather(
                    _read(process.stdout, MOST_OUTPUT), _read(process.stderr, _SHOWN), exited(process)
                )
        except TimeoutError:
            raise HookFailed(f"It did not end within {hook.timeout:g} seconds.") from None
        except OllmError as error:
            raise HookFailed(error.message) from None
        if status:
            said = redactor.redact(complaints.decode(errors="replace")).strip()
            raise HookFailed(f"It ended with status {status}. {said}".strip())
        if len(output) > MOST_OUTPUT:
            raise HookFailed("It answered too much.")
        return _answer(output)


async def _read(stream: StreamReader, most: int) -> bytes:
    """The beginning of a stream, and one byte more when there is more; the rest is read and dropped."""
    kept = b""
    while piece := await stream.read(MOST_OUTPUT):
        kept = (kept + piece)[: most + 1]
    return kept


def _answer(output: bytes) -> object:
    if not output.strip():
        return None
    try:
        return json.loads(output)
    except ValueError:
        raise HookFailed("Its answer is not JSON.") from None


def _objection(hook: str, answer: object) -> Objection | None:
    if answer is False:
        return Objection(hook)
    if isinstance(answer, dict):
        members = cast("dict[str, Any]", answer)
        if members.get("allow") is False:
            reason = members.get("reason")
            return Objection(hook, redactor.redact(reason)[:_SHOWN] if isinstance(reason, str) else "")
    return None
