"""A release: the steps from a task to the answer of an external provider, each of which can end it.

    pick → brief → look for secrets → estimate → budget → before_kraken → permission → run → after_kraken

Until the run nothing has left the machine, and whatever ends a release before leaves the conversation as it was. The
money is reserved and settled around each request of the run, by `PaidProvider`.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from ollm_lsp.core.edit_blocks import HOW_TO_PROPOSE
from ollm_lsp.core.errors import BudgetExceeded, OllmError, PermissionDenied
from ollm_lsp.core.events import Warned
from ollm_lsp.core.kraken import KrakenKind
from ollm_lsp.core.messages import Message
from ollm_lsp.core.money import in_dollars
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.core.tokens import DEFAULT_LIMIT, context_room, estimate, estimate_request
from ollm_lsp.core.usage import FREE
from ollm_lsp.kraken.briefing import Matters, brief
from ollm_lsp.kraken.hooks import Moment
from ollm_lsp.kraken.mask import EXPLANATION, Mask
from ollm_lsp.kraken.selection import Hint, choose, rank

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractAsyncContextManager

    from ollm_lsp.core.conversation import Response
    from ollm_lsp.core.foreign_json import JsonObject
    from ollm_lsp.core.model import Capabilities
    from ollm_lsp.core.permission import Verdict
    from ollm_lsp.core.ports import Ledger
    from ollm_lsp.core.tool import ToolSpec
    from ollm_lsp.core.usage import Cost
    from ollm_lsp.kraken.briefing import Briefing
    from ollm_lsp.kraken.hooks import Hooks
    from ollm_lsp.kraken.paid_provider import PaidProvider
    from ollm_lsp.kraken.selection import Candidate
    from ollm_lsp.settings.kraken_settings import KrakenSettings

NOTHING_SENT = "Nothing was sent."


@dataclass(frozen=True, slots=True)
class Task:
    """What is wanted of whom. Without a provider's name the user is asked, unless the system suggests the release."""

    goal: str
    provider: str | None = None
    reason: str = ""
    inherits: bool = True
    is_suggested: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """A release that is about to happen: everything that the user decides by."""

    task: Task
    target: Candidate
    provider: PaidProvider = field(repr=False)
    capabilities: Capabilities
    tools: tuple[ToolSpec, ...]
    system: Message
    room: int
    """Tokens that a briefing may have."""
    briefing: Briefing
    mask: Mask
    is_masked: bool
    turns: int
    tokens: int = 0
    most: Cost = FREE
    """The most that one request of it can cost. Each of its turns is one."""
    remaining: int | None = None

    @property
    def model(self) -> str:
        return self.target.model or ""

    @property
    def is_plan(self) -> bool:
        return self.provider.is_plan

    @property
    def sent(self) -> str:
        """The briefing as it leaves the machine."""
        return self.mask.mask(self.briefing.text) if self.is_masked else self.briefing.text


class Ports(Protocol):
    """What a release needs of the session in which it happens."""

    async def candidates(self) -> Sequence[Candidate]: ...

    async def pick(self, usable: Sequence[Candidate], others: Sequence[Candidate]) -> str | None:
        """Let the user choose one; nothing when they choose none. Where they cannot be asked, the first it is."""
        ...

    def provider(self, target: Candidate) -> AbstractAsyncContextManager[PaidProvider]: ...

    async def system(self, window: int) -> str:
        """What goes before every conversation."""
        ...

    async def tools(self, capabilities: Capabilities) -> tuple[ToolSpec, ...]:
        """The tools that the provider may call."""
        ...

    @property
    def max_turns(self) -> int: ...

    async def matters(self, task: Task, target: Candidate, room: int) -> Matters:
        """What the provider could be told, by the rules about what may be shared."""
        ...

    async def permit(self, plan: Plan) -> Verdict: ...

    async def run(self, plan: Plan) -> Response:
        """Let the provider answer, in the same conversation."""
        ...

    def warn(self, warning: Warned) -> None: ...

    def later(self, moment: Moment, facts: JsonObject) -> None:
        """Run hooks in the background, when nobody waits any more."""
        ...


@dataclass(frozen=True, slots=True)
class Release:
    """The steps in their order."""

    settings: KrakenSettings
    ledger: Ledger
    hooks: Hooks
    ports: Ports

    async def run(self, task: Task) -> Response:
        """Go through all steps; whatever ends it is raised, with what to do about it."""
        target = await self._pick(task)
        async with self.ports.provider(target) as provider:
            plan = await self._plan(task, target, provider)
            await self._admit(plan)
            if (edited := await self._ask_user(plan)) is not None:
                plan = await self._replan(plan, edited)
                await self._admit(plan)
            return await self._run(plan)

    async def _pick(self, task: Task) -> Candidate:
        candidates = await self.ports.candidates()
        hint = Hint()
        chosen = choose(candidates, self.settings, hint, task.provider)
        ranked = rank(candidates, self.settings, hint)
        is_settled = task.provider or task.is_suggested or chosen.name == self.settings.default_provider
        if is_settled or len(ranked) == 1:
            return chosen
        others = [one for one in candidates if one not in ranked]
        name = await self.ports.pick(ranked, others)
        if name is None:
            raise PermissionDenied(f"No external provider was chosen. {NOTHING_SENT}", remedy="Choose one, or none.")
        return choose(candidates, self.settings, hint, name)

    async def _plan(self, task: Task, target: Candidate, provider: PaidProvider) -> Plan:
        capabilities = await provider.capabilities(target.model or "")
        tools = await self.ports.tools(capabilities)
        window = capabilities.context_window or target.context_window or DEFAULT_LIMIT
        rules = await self.ports.system(window)
        is_masked = self.settings.policies.mask_secrets
        told = [EXPLANATION] * is_masked + [HOW_TO_PROPOSE] * (target.kind is KrakenKind.CLI)
        system = Message.system("\n\n".join([rules, *told]))
        room = max(1, context_room(window) - estimate((system,)))
        briefing = brief(await self._matters(task, target, room), room, inherits=task.inherits)
        turns = self.ports.max_turns if tools else 1
        plan = Plan(task, target, provider, capabilities, tools, system, room, briefing, Mask(), is_masked, turns)
        return await self._priced(plan)

    async def _replan(self, plan: Plan, edited: str) -> Plan:
        """The same with the briefing as the user made it, who has seen placeholders in the place of secrets."""
        if not edited.strip():
            raise PermissionDenied(
                f"You left nothing of the briefing. {NOTHING_SENT}", remedy="Leave at least a question."
            )
        text = plan.mask.restore(edited) if plan.is_masked else edited
        goal = brief(Matters(text), plan.room, inherits=False)
        return await self._priced(replace(plan, briefing=replace(goal, shared=("what you made of the briefing",))))

    async def _priced(self, plan: Plan) -> Plan:
        """The plan for its briefing: the secrets that are in it, and what it may cost."""
        mask = await asyncio.to_thread(plan.mask.and_over, {"what is shared": plan.briefing.text})
        if mask.found[len(plan.mask.found) :]:
            self.ports.warn(_secrets(mask, is_masked=plan.is_masked))
        plan = replace(plan, mask=mask)
        request = ChatRequest(plan.model, (plan.system, Message.user(plan.sent)), plan.tools)
        account = await self.ledger.account()
        return replace(
            plan,
            tokens=estimate_request(request),
            most=plan.provider.most(request),
            remaining=account.remaining(self.settings.limits),
        )

    async def _matters(self, task: Task, target: Candidate, room: int) -> Matters:
        """What could be told. When that cannot be found out, the task alone travels, with a word about it."""
        if not task.inherits:
            return Matters(task.goal)
        try:
            return await self.ports.matters(task, target, room)
        except OllmError as error:
            self.ports.warn(Warned("briefing", f"The provider is told no more than the task: {error.message}"))
            return Matters(task.goal, task.reason, note="The conversation and the open files could not be passed on.")

    async def _admit(self, plan: Plan) -> None:
        await self._check_budget(plan)
        await self._ask_hooks(plan)

    async def _check_budget(self, plan: Plan) -> None:
        """Refuse now what would be refused later, before anybody is asked."""
        try:
            (await self.ledger.account()).admit(self.settings.limits, plan.most.micros)
        except BudgetExceeded as error:
            if not plan.most.known:
                error.remedy = (
                    f"The price of {plan.model or 'its model'} is not known, so the dearest is assumed. Name a model "
                    f"for {plan.target.name} whose price is known, or write it under kraken.prices."
                )
            raise
        policies = self.settings.policies
        if policies.show_cost_warnings and plan.most.micros > policies.cost_warning_threshold:
            limit = in_dollars(policies.cost_warning_threshold)
            message = f"This may cost up to {in_dollars(plan.most.micros)}, which is more than {limit}."
            self.ports.warn(Warned("cost", message, "See kraken.policies.costWarningThreshold."))

    async def _ask_hooks(self, plan: Plan) -> None:
        if objection := await self.hooks.run(Moment.BEFORE, _facts(plan)):
            why = f": {objection.reason}" if objection.reason else "."
            raise PermissionDenied(
                f"The hook {objection.hook} does not allow the release{why} {NOTHING_SENT}",
                remedy="See kraken.hooks.before_kraken in your settings.",
            )

    async def _ask_user(self, plan: Plan) -> str | None:
        """Raises unless they say yes; gives the briefing if they changed it."""
        verdict = await self.ports.permit(plan)
        if not verdict.allowed:
            raise PermissionDenied(
                f"You did not allow the release to {plan.target.name}. {NOTHING_SENT}",
                remedy=verdict.feedback or "Ask again when you want it.",
            )
        return None if verdict.briefing == plan.sent else verdict.briefing

    async def _run(self, plan: Plan) -> Response:
        facts = _facts(plan)
        try:
            response = await self.ports.run(plan)
        except asyncio.CancelledError:
            self.ports.later(Moment.AFTER, {**facts, "success": False, "error": "cancelled"})
            raise
        except OllmError as error:
            await self.hooks.run(Moment.AFTER, {**facts, "success": False, "error": error.code})
            raise
        usage = {"inputTokens": response.usage.input_tokens, "outputTokens": response.usage.output_tokens}
        spent = {"usage": usage, "costMicros": response.cost.micros, "costKnown": response.cost.known}
        await self.hooks.run(Moment.AFTER, {**facts, "success": True, **spent})
        return response


def _facts(plan: Plan) -> JsonObject:
    """What hooks are told: no text of the user's files."""
    return {
        "provider": plan.target.name,
        "model": plan.model,
        "kind": plan.target.kind.value,
        "reason": plan.task.reason,
        "shared": list(plan.briefing.shared),
        "tokens": plan.tokens,
        "mostMicros": plan.most.micros,
        "secrets": len(plan.mask.found),
    }


def _secrets(mask: Mask, *, is_masked: bool) -> Warned:
    kinds = ", ".join(dict.fromkeys(secret.kind for secret in mask.found))
    told = f"What is shared holds {len(mask.found)} text{'s' * (len(mask.found) > 1)} that look like secrets ({kinds})."
    if is_masked:
        return Warned("secrets_masked", f"{told} They are replaced by placeholders.")
    return Warned("secrets_shared", f"{told} They are sent as they are.", "Set kraken.policies.maskSecrets to true.")
