"""The gate: rules first, then answers that stand; what is left, the user is asked."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from ollm_lsp.core.decision import Decision
from ollm_lsp.core.grant import Grant
from ollm_lsp.core.permission import Verdict

if TYPE_CHECKING:
    from ollm_lsp.core.tool import ToolKind
    from ollm_lsp.tools.grants import Grants
    from ollm_lsp.tools.permission_rules import PermissionRules, Ruling


@dataclass(frozen=True, slots=True)
class Matter:
    """What a tool wants to do, as far as rules and standing answers look at it; paths begin inside the workspace."""

    tool: str
    kind: ToolKind
    paths: tuple[str, ...]
    about: str = ""
    """What a standing answer is bound to beside all that the rules look at."""
    is_external: bool = False
    is_folder: bool = False

    @property
    def scope(self) -> str:
        """What a standing answer is bound to beside the tool."""
        return json.dumps([self.kind, sorted(self.paths), self.is_external, self.about])


class Gate:
    """The gate of one workspace, whose folder is known by `workspace` (see `grants.identity_of`)."""

    def __init__(self, rules: PermissionRules, grants: Grants, workspace: str) -> None:
        self._rules = rules
        self._grants = grants
        self._workspace = workspace

    async def verdict(self, matter: Matter, conversation_id: str) -> Verdict | None:
        """What is settled without a question; nothing means that the user has to be asked."""
        ruling = self._ruling(matter)
        match ruling.decision:
            case Decision.DENY:
                return Verdict(allowed=False, feedback=ruling.reason)
            case Decision.ALLOW:
                return Verdict(allowed=True)
            case Decision.ASK:
                return await self._standing(matter, ruling, conversation_id)
            case _:
                assert_never(ruling.decision)

    def may_stand(self, matter: Matter) -> bool:
        """Whether the user can be offered a yes that stands: not for commands, nor for what is protected."""
        ruling = self._ruling(matter)
        return ruling.decision is not Decision.DENY and ruling.may_stand

    async def keep(self, matter: Matter, conversation_id: str, *, allows: bool, for_good: bool) -> None:
        """Let an answer stand. A yes that may not stand is dropped, a no always stands."""
        if allows and not self.may_stand(matter):
            return
        self._grants.remember(self._grant(matter), conversation_id, allows=allows)
        if for_good:
            await self._grants.keep(self._grant(matter), allows=allows)

    async def _standing(self, matter: Matter, ruling: Ruling, conversation_id: str) -> Verdict | None:
        answer = await self._grants.answer(self._grant(matter), conversation_id)
        if answer is None or (answer and not ruling.may_stand):
            return None
        return Verdict(answer, None if answer else "The user has said that they will not allow this.")

    def _ruling(self, matter: Matter) -> Ruling:
        return self._rules.decide(
            matter.tool, matter.kind, matter.paths, is_external=matter.is_external, is_folder=matter.is_folder
        )

    def _grant(self, matter: Matter) -> Grant:
        return Grant(matter.tool, matter.scope, self._workspace, self._rules.digest)
