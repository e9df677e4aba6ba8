"""search_text: lines of files and open buffers that hold a text."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from itertools import groupby
from typing import TYPE_CHECKING

from ollm_lsp.core.copyable import copyable
from ollm_lsp.core.errors import BadArgument
from ollm_lsp.core.foreign_json import text_in
from ollm_lsp.core.lines import split
from ollm_lsp.core.tool import Location, ToolKind, ToolSpec
from ollm_lsp.tools import programs, walk
from ollm_lsp.tools.file_pattern import FilePattern
from ollm_lsp.tools.find_files import folders_of, is_in
from ollm_lsp.tools.gitignore import rules_on_the_way
from ollm_lsp.tools.hits import MAX_HITS, Hit, told, verified
from ollm_lsp.tools.parameters import parameters
from ollm_lsp.tools.ripgrep import Ripgrep
from ollm_lsp.tools.search import Query
from ollm_lsp.tools.slow_search import SlowSearch
from ollm_lsp.tools.watch import in_thread
from ollm_lsp.tools.words import titled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ollm_lsp.core.foreign_json import JsonObject
    from ollm_lsp.core.ports import ToolRun
    from ollm_lsp.core.snapshot import Snapshot
    from ollm_lsp.tools.roots import Place
    from ollm_lsp.tools.search import Engine, Found
    from ollm_lsp.tools.workspace import Workspace

TIME_LIMIT = 5.0
MAX_FOUND = 2_000
"""Lines that an engine may find before it is stopped; some of them may have to be dropped."""


class SearchText:
    """Searches with ripgrep if it is installed. A file that is open is searched in its buffer only."""

    kind = ToolKind.SEARCH
    spec = ToolSpec(
        "search_text",
        "Search for a text in the files and open buffers of the workspace. The result has lines 'path:line: text'."
        " Files in .gitignore are left out.",
        parameters(
            {
                "query": {"type": "string", "minLength": 1, "maxLength": 1000, "description": "what to look for"},
                "regex": {"type": "boolean", "description": "the query is a regular expression (default: false)"},
                "ignore_case": {"type": "boolean", "description": "default: false"},
                "path": {"type": "string", "maxLength": 4096, "description": "a folder or file; nothing for all"},
                "files": {"type": "string", "minLength": 1, "maxLength": 500, "description": "a glob, such as *.py"},
            },
            required=["query"],
        ),
    )

    def __init__(self, workspace: Workspace, engine: Engine | None = None, time_limit: float = TIME_LIMIT) -> None:
        """Without an engine it is chosen at each call: ripgrep may be installed meanwhile."""
        self._workspace = workspace
        self._engine = engine
        self._time_limit = time_limit

    def title(self, arguments: JsonObject) -> str:
        return f"Search for {titled(text_in(arguments.get('query')))}"

    def locations(self, arguments: JsonObject) -> Sequence[Location]:
        path = text_in(arguments.get("path"))
        return [Location(self._workspace.place(path).uri)] if path else []

    async def run(self, arguments: JsonObject, run: ToolRun) -> str:  # noqa: ARG002 (part of the contract)
        query = _query(arguments)
        search = _Search(self._workspace, self._engine or await chosen_engine(self._workspace), query)
        path = text_in(arguments.get("path"))
        was_slow = False
        try:
            async with asyncio.timeout(self._time_limit):
                if outside := self._workspace.elsewhere(path):
                    await search.in_buffers([(copyable(outside.uri), outside)])
                else:
                    await search.in_places(await self._tops(path))
        except TimeoutError:
            was_slow = True
        hits = [*search.hits, *await in_thread(lambda watch: list(verified(search.found, watch)), self._time_limit)]
        return told(hits, query, is_cut=search.is_cut, was_slow=was_slow)

    async def _tops(self, path: str) -> Sequence[Place]:
        """Where to look; a place that is none is refused as it would be for reading."""
        tops = folders_of(self._workspace, path)
        for top in tops:
            kind = await self._workspace.kind(top)
            if kind is not walk.Kind.FOLDER and not self._workspace.buffer(top):
                await self._workspace.head(top, 1)
        return tops


class _Search:
    """One search: its hits in buffers, and what an engine has found in files and nobody has looked at yet."""

    def __init__(self, workspace: Workspace, engine: Engine, query: Query) -> None:
        self.hits: list[Hit] = []
        self.found: list[Found] = []
        self.is_cut = False
        self._workspace = workspace
        self._engine = engine
        self._query = query

    async def in_places(self, tops: Sequence[Place]) -> None:
        opened = [
            (place.shown, snapshot)
            for place, snapshot in self._workspace.buffers()
            if place and self._workspace.may_read(place) and any(is_in(place, top, self._query.files) for top in tops)
        ]
        await self.in_buffers(opened)
        for top in tops:
            await self._in_files(top)

    async def in_buffers(self, buffers: Sequence[tuple[str, Snapshot]]) -> None:
        if not buffers:
            return
        found = await self._engine.in_texts(self._query, [snapshot.text for _, snapshot in buffers])
        self.hits += await in_thread(lambda _: list(_hits(buffers, found)), TIME_LIMIT)

    async def _in_files(self, top: Place) -> None:
        rules = await in_thread(lambda _: rules_on_the_way(top), TIME_LIMIT)
        wanted: dict[Place, bool] = {}
        async with aclosing(self._engine.in_files(self._query, top)) as stream:
            async for one in stream:
                place = one.place
                if place not in wanted:
                    is_ignored = rules is not None and rules.covers(place, is_folder=False)
                    wanted[place] = not is_ignored and await self._is_wanted(place, top)
                if wanted[place]:
                    self.found.append(one)
                if len(self.found) >= MAX_FOUND or len(self.found) + len(self.hits) > 2 * MAX_HITS:
                    self.is_cut = True
                    return

    async def _is_wanted(self, place: Place, top: Place) -> bool:
        """Whether hits in a file count: not when it is open, because then its buffer was searched."""
        return (
            is_in(place, top, self._query.files)
            and self._workspace.may_read(place)
            and await self._workspace.opened(place) is None
        )


def _hits(buffers: Sequence[tuple[str, Snapshot]], found: Sequence[tuple[int, int]]) -> Iterator[Hit]:
    for index, group in groupby(found, key=lambda one: one[0]):
        name, snapshot = buffers[index]
        lines = split(snapshot.text)
        yield from (Hit(name, line, lines[line - 1].rstrip("\r\n")) for _, line in group)


async def chosen_engine(workspace: Workspace) -> Engine:
    """ripgrep if the user has it, from outside the workspace; else our own."""

    def choose(_: object) -> Engine:
        program, env = programs.found("rg", workspace.roots), programs.environment(workspace.roots)
        return Ripgrep(program, env) if program else SlowSearch(env)

    return await in_thread(choose, TIME_LIMIT)


def _query(arguments: JsonObject) -> Query:
    text, files = text_in(arguments.get("query")), text_in(arguments.get("files"))
    if not text or "\n" in text or "\r" in text or "\0" in text:
        raise BadArgument("A search is for a text within one line.", remedy="Search for one of its lines.")
    return Query(
        text,
        is_regex=arguments.get("regex") is True,
        ignores_case=arguments.get("ignore_case") is True,
        files=FilePattern(files) if files else None,
    )
