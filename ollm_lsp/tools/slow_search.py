"""The engine of a search where there is no ripgrep: Python's regular expressions, in a process that can be ended."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.errors import UnreadableFile
from ollm_lsp.core.foreign_json import object_in
from ollm_lsp.core.visible import visible
from ollm_lsp.processes import child
from ollm_lsp.tools.search import Found
from ollm_lsp.tools.watch import in_thread

if TYPE_CHECKING:
    from asyncio import StreamReader
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from ollm_lsp.tools.roots import Place
    from ollm_lsp.tools.search import Query

_TIME_LIMIT = 30.0
_PIECE = 1 << 16
_ARGV = (sys.executable, "-I", "-m", "ollm_lsp.tools.search_child")


class SlowSearch:
    """`search_child`, seen from the language server."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env

    async def in_files(self, query: Query, top: Place) -> AsyncGenerator[Found]:
        files = query.files.written if query.files else None
        order = {**_order(query), "folder": str(top.folder), "names": top.names, "files": files}
        async with child.started(_ARGV, cwd=_cwd(), env=self._env, feed=json.dumps(order).encode()) as process:
            async for names, line, beginning in _answers(process.stdout, query):
                yield Found(type(top)(top.folder, tuple(names), top.label), line, beginning)

    async def in_texts(self, query: Query, texts: Sequence[str]) -> Sequence[tuple[int, int]]:
        order = await in_thread(lambda _: json.dumps({**_order(query), "texts": texts}).encode(), _TIME_LIMIT)
        async with child.started(_ARGV, cwd=_cwd(), env=self._env, feed=order) as process:
            return [(index, line) async for index, line in _answers(process.stdout, query)]


def _order(query: Query) -> dict[str, object]:
    return {"text": query.text, "regex": query.is_regex, "ignore_case": query.ignores_case}


async def _answers(stream: StreamReader | None, query: Query) -> AsyncGenerator[Any]:
    if stream is None:
        raise AssertionError("this pipe was asked for")
    held = b""
    while piece := await stream.read(_PIECE):
        *lines, held = (held + piece).split(b"\n")
        for line in lines:
            answer = json.loads(line)
            if not isinstance(answer, list):
                why = visible(str(object_in(answer).get("error")))[:300]
                raise UnreadableFile(
                    f"'{visible(query.text[:200])}' is no regular expression: {why}.",
                    remedy="Write another pattern, or search for a plain text without regex.",
                )
            yield answer


def _cwd() -> Path:
    return Path(sys.executable).parent
