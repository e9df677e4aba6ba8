"""read_file: the text of a file, whole or some lines of it; a picture for a model that sees."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ollm_lsp.core.copyable import copyable
from ollm_lsp.core.errors import BadArgument, UnreadableFile
from ollm_lsp.core.foreign_json import count_in, text_in
from ollm_lsp.core.image import Image
from ollm_lsp.core.lines import split
from ollm_lsp.core.tool import Location, ToolKind, ToolOutcome, ToolSpec
from ollm_lsp.tools import picture
from ollm_lsp.tools.parameters import parameters
from ollm_lsp.tools.read_log import tag_of
from ollm_lsp.tools.watch import in_thread
from ollm_lsp.tools.words import titled

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ollm_lsp.core.foreign_json import JsonObject
    from ollm_lsp.core.ports import ToolRun
    from ollm_lsp.core.snapshot import Snapshot
    from ollm_lsp.tools.roots import Place
    from ollm_lsp.tools.workspace import Workspace

MAX_LINES = 2_000
MAX_CHARS = 60_000
LONGEST_LINE = 4_000
_TIME_LIMIT = 30.0


class ReadFile:
    """Reads. The text is given as it is, without line numbers, so that it can be quoted in an edit."""

    kind = ToolKind.READ
    spec = ToolSpec(
        "read_file",
        "Read a text file of the workspace, or an open buffer with its unsaved text. The first line of the result tells"
        " the lines and the tag of the text; the text itself follows.",
        parameters(
            {
                "path": {"type": "string", "minLength": 1, "maxLength": 4096, "description": "such as src/main.py"},
                "from_line": {"type": "integer", "minimum": 1, "maximum": 2**31, "description": "first line, from 1"},
                "to_line": {"type": "integer", "minimum": 1, "maximum": 2**31, "description": "last line"},
            },
            required=["path"],
        ),
    )

    def __init__(
        self, workspace: Workspace, note: Callable[[Snapshot], object] | None = None, *, sees: bool = False
    ) -> None:
        """`note` hears of every text that the model gets to know; `sees` is whether it can be shown a picture."""
        self._workspace = workspace
        self._note = note
        self._sees = sees
        if sees:
            self.spec = replace(self.spec, description=f"{self.spec.description} An image is shown to you.")

    def title(self, arguments: JsonObject) -> str:
        return f"Read {titled(text_in(arguments.get('path')))}"

    def locations(self, arguments: JsonObject) -> Sequence[Location]:
        line = count_in(arguments.get("from_line"))
        return [Location(self._workspace.place(text_in(arguments.get("path"))).uri, line - 1 if line else None)]

    async def run(self, arguments: JsonObject, run: ToolRun) -> ToolOutcome | str:  # noqa: ARG002 (part of the contract)
        written = text_in(arguments.get("path"))
        first, last = count_in(arguments.get("from_line")) or 1, count_in(arguments.get("to_line")) or None
        if last is not None and last < first:
            raise BadArgument(f"to_line {last} is before from_line {first}.", remedy="Give them in order.")
        if snapshot := self._workspace.elsewhere(written):
            return await _shown(copyable(snapshot.uri), snapshot, first, last)
        place = self._workspace.place(written)
        try:
            snapshot = await self._workspace.read(place)
        except UnreadableFile:
            if outcome := await self._picture(place):
                return outcome
            raise
        if self._note is not None:
            self._note(snapshot)
        return await _shown(place.shown, snapshot, first, last)

    async def _picture(self, place: Place) -> ToolOutcome | None:
        try:
            data = await self._workspace.head(place, picture.MAX_SHOWN + 1 if self._sees else picture.HEAD)
        except UnreadableFile:
            return None
        found = picture.found(data)
        if found is None:
            return None
        what = f"{place.shown} is a {found}."
        if not self._sees:
            return ToolOutcome(f"{what} It cannot be shown as text, and you cannot see images. Ask the user about it.")
        if problem := picture.problem(found, data):
            return ToolOutcome(f"{what} It is not shown: {problem}.")
        return ToolOutcome(f"{what} It is shown to you.", images=(Image(found.mime_type, data),))


async def _shown(name: str, snapshot: Snapshot, first: int, last: int | None) -> str:
    return await in_thread(lambda _: shown_lines(name, snapshot, first, last), _TIME_LIMIT)


def shown_lines(name: str, snapshot: Snapshot, first: int, last: int | None) -> str:
    """Some lines of a text under a line that says what they are; what is left out is said at the end."""
    lines = split(snapshot.text)
    tag = tag_of(snapshot)
    if not lines:
        return f"{name} is empty, tag {tag}"
    if first > len(lines):
        raise UnreadableFile(f"'{name}' has only {len(lines):,} lines.", remedy="Read it from an earlier line.")
    wanted = lines[first - 1 : last]
    taken: list[str] = []
    left = MAX_CHARS
    for line in wanted[:MAX_LINES]:
        shown = (
            line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}[… {len(line):,} characters in this line]\n"
        )
        left -= len(shown)
        if left < 0 and taken:
            break
        taken.append(shown)
    end = first + len(taken) - 1
    head = f"{name}, lines {first} to {end} of {len(lines)}, tag {tag}\n"
    rest = "" if len(taken) == len(wanted) else f"[Cut here. Go on with from_line {end + 1}.]"
    text = "".join(taken)
    return head + text + (f"{'' if text.endswith(chr(10)) else chr(10)}{rest}" if rest else "")
