"""run_command: a program of the user's system, run once and only with their yes."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from ollm_lsp.core.control_sequences import plain
from ollm_lsp.core.errors import BadArgument, PermissionDenied, UnreadableFile
from ollm_lsp.core.foreign_json import list_in, text_in
from ollm_lsp.core.permission import PermissionRequest
from ollm_lsp.core.tool import Location, ToolKind, ToolOutcome, ToolSpec, ToolStatus
from ollm_lsp.core.visible import visible, visible_name
from ollm_lsp.processes import child
from ollm_lsp.tools import programs
from ollm_lsp.tools.output import Output
from ollm_lsp.tools.parameters import parameters
from ollm_lsp.tools.walk import Kind
from ollm_lsp.tools.watch import in_thread
from ollm_lsp.tools.words import titled

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import Sequence

    from ollm_lsp.core.foreign_json import JsonObject
    from ollm_lsp.core.ports import Permits, ToolRun
    from ollm_lsp.tools.roots import Place
    from ollm_lsp.tools.workspace import Workspace

TIME_LIMIT = 50.0
"""Seconds, a little less than a call may take: so the model reads what the program said until then."""
_LOOK_UP = 5.0
_LAST_WORDS = 0.2
"""Seconds for what is still in the pipe when the program has ended, but something that it started holds it open."""


class RunCommand:
    """Runs a program. It is asked about every time; there is no permission for it that lasts."""

    kind = ToolKind.EXECUTE
    spec = ToolSpec(
        "run_command",
        "Run a program in a workspace folder and get its output. There is no shell: no pipes, no redirection, no"
        " variables. The user is asked first.",
        parameters(
            {
                "argv": {
                    "type": "array",
                    "items": {"type": "string", "maxLength": 8192},
                    "minItems": 1,
                    "maxItems": 100,
                    "description": 'the program and its arguments, such as ["git", "status"]',
                },
                "path": {"type": "string", "maxLength": 4096, "description": "the folder to run it in"},
            },
            required=["argv"],
        ),
    )

    def __init__(self, workspace: Workspace, permits: Permits, time_limit: float = TIME_LIMIT) -> None:
        self._workspace = workspace
        self._permits = permits
        self._time_limit = time_limit

    def title(self, arguments: JsonObject) -> str:
        return f"Run {titled(_quoted(_argv(arguments)))}"

    def locations(self, arguments: JsonObject) -> Sequence[Location]:
        return [Location(self._folder(arguments).uri)]

    async def run(self, arguments: JsonObject, run: ToolRun) -> ToolOutcome:
        name, *rest = _argv(arguments)
        folder = self._folder(arguments)
        if await self._workspace.kind(folder) is not Kind.FOLDER:
            raise UnreadableFile(f"'{folder.shown}' is no folder.", remedy="Run it in a folder of the workspace.")
        program = await in_thread(lambda _: programs.found(name, self._workspace.roots), _LOOK_UP)
        if program is None:
            raise PermissionDenied(
                f"There is no program '{visible_name(name)}' outside the workspace.",
                remedy="Name a program that is installed on the user's system.",
            )
        argv = [str(program), *rest]
        verdict = await self._permits.permit(self._request(argv, folder), run)
        if not verdict.allowed:
            said = f" They say: {verdict.feedback}" if verdict.feedback else ""
            return ToolOutcome(f"The user does not want this command to run.{said}", ToolStatus.DENIED)
        return await self._outcome(argv, folder)

    def _folder(self, arguments: JsonObject) -> Place:
        written, roots = text_in(arguments.get("path")), self._workspace.roots.places
        return roots[0] if written.strip() in ("", ".") and roots else self._workspace.place(written)

    def _request(self, argv: Sequence[str], folder: Place) -> PermissionRequest:
        """Everything that will happen, from the very values that will be used."""
        detail = "\n".join(
            (
                "Run this program, without a shell:",
                "",
                *(f"    {visible(json.dumps(argument, ensure_ascii=False))}" for argument in argv),
                "",
                "in the folder",
                "",
                f"    {visible(json.dumps(str(folder.path), ensure_ascii=False))}",
                "",
                f"It may do whatever you may do. It is ended after {self._time_limit:g} seconds.",
            )
        )
        title = f"Run {titled(_quoted(argv))}"
        return PermissionRequest(self.spec.name, self.kind, title, detail, json.dumps([str(folder.path), *argv]))

    async def _outcome(self, argv: Sequence[str], folder: Place) -> ToolOutcome:
        output = Output()
        env = await in_thread(lambda _: programs.environment(self._workspace.roots), _LOOK_UP)
        was_slow = False
        async with child.started(argv, cwd=folder.path, env=env, joined=True) as process:
            try:
                async with asyncio.timeout(self._time_limit):
                    await _follow(process, output)
            except TimeoutError:
                was_slow = True
            status = process.returncode
        if was_slow:
            ended = f"It had not ended after {self._time_limit:g} s and was stopped."
        else:
            ended = f"Ended with status {status}." if status is None or status >= 0 else f"Ended by signal {-status}."
        said = plain(output.text).strip("\n")
        is_well = status == 0 and not was_slow
        return ToolOutcome(
            f"{said}\n[{ended}]" if said else f"[No output. {ended}]",
            ToolStatus.COMPLETED if is_well else ToolStatus.FAILED,
        )


async def _follow(process: Process, output: Output) -> None:
    """Take what it says until it ends, and the last words after that."""
    if process.stdout is None:
        raise AssertionError("this pipe was asked for")
    reading = asyncio.create_task(output.take(process.stdout))
    try:
        await child.exited(process)
        await asyncio.wait([reading], timeout=_LAST_WORDS)
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


def _argv(arguments: JsonObject) -> list[str]:
    """The arguments, all of which are texts without a NUL, or none."""
    given = list_in(arguments.get("argv"))
    if not given or not all(isinstance(one, str) and "\0" not in one for one in given) or not given[0]:
        raise BadArgument("A command is a list of texts.", remedy='Write it as ["program", "argument"].')
    return given


def _quoted(argv: Sequence[str]) -> str:
    return " ".join(one if one.isalnum() else json.dumps(one, ensure_ascii=False) for one in argv)
