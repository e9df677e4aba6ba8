"""Tools that only look, under the user's rules: one that a rule makes ask does ask."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ollm_lsp.core.permission import PermissionRequest
from ollm_lsp.core.shown import fenced
from ollm_lsp.core.tool import ToolOutcome, ToolStatus
from ollm_lsp.core.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.foreign_json import JsonObject
    from ollm_lsp.core.ports import Permits, Tool, ToolRun
    from ollm_lsp.core.tool import Location, ToolKind, ToolSpec


class AskingTool:
    """In everything the tool inside, but that it runs only with a permission. Most rules give it without a question."""

    def __init__(self, inner: Tool, permits: Permits) -> None:
        self._inner = inner
        self._permits = permits

    @property
    def spec(self) -> ToolSpec:
        return self._inner.spec

    @property
    def kind(self) -> ToolKind:
        return self._inner.kind

    def title(self, arguments: JsonObject) -> str:
        return self._inner.title(arguments)

    def locations(self, arguments: JsonObject) -> Sequence[Location]:
        return self._inner.locations(arguments)

    async def run(self, arguments: JsonObject, run: ToolRun) -> ToolOutcome | str:
        written = json.dumps(arguments, ensure_ascii=False, sort_keys=True)
        detail = f"The model wants to use {self.spec.name}:\n\n{fenced(visible(written), 'json')}"
        request = PermissionRequest(self.spec.name, self.kind, self.title(arguments), detail, written)
        verdict = await self._permits.permit(request, run)
        if verdict.allowed:
            return await self._inner.run(arguments, run)
        words = f" They say: {verdict.feedback}" if verdict.feedback else ""
        return ToolOutcome(f"The user does not allow it.{words}", ToolStatus.DENIED)
