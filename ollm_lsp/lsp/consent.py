"""The user's consent to a release: who is asked, what is shared, what it may cost. Every doubt is a no."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcException

from ollm_lsp.core.foreign_json import object_in
from ollm_lsp.core.kraken import KrakenKind
from ollm_lsp.core.money import MICROS, in_dollars
from ollm_lsp.core.permission import Option, PermissionRequest, Reply
from ollm_lsp.core.shown import fenced, inert
from ollm_lsp.core.tool import ToolKind
from ollm_lsp.lsp.permission import ANSWER_TIME, EditorOfSession

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.kraken.release import Plan
    from ollm_lsp.kraken.selection import Candidate
    from ollm_lsp.lsp.session import Session

NOBODY_TO_ASK = (
    "If your editor did not ask you, it cannot. "
    "Write `confirmBeforeRelease: false` under kraken.policies to release without it."
)
NONE = "None of them"
OPTIONS = (Option.ALLOW_ONCE, Option.ALLOW_ALWAYS, Option.REJECT_ONCE)


async def ask(session: Session, plan: Plan) -> Reply:
    """Ask whether a release may happen."""
    client, name = session.client, plan.target.name
    title = f"Release the Kraken: {name} ({plan.model})"
    request = PermissionRequest("kraken", ToolKind.OTHER, title, described(plan), name)
    labels = {Option.ALLOW_ALWAYS: f"Always allow {name} here"}
    editor = EditorOfSession(session)
    if client.permission or client.asks_messages:
        return await editor.choose(request, OPTIONS, labels, {"estimate": estimate(plan), "briefing": plan.sent})
    # There is no other way, and clients that do not announce it, such as eglot, can ask all the same.
    reply = await editor.by_message(request, OPTIONS, labels)
    return reply if reply.option.allows else Reply(feedback=NOBODY_TO_ASK)


def estimate(plan: Plan) -> dict[str, Any]:
    """What it may take at most, for clients that show it in a way of their own."""
    cost = {"amount": plan.most.micros / MICROS, "currency": plan.most.currency, "known": plan.most.known}
    return {"tokens": plan.tokens, "cost": cost}


def described(plan: Plan) -> str:
    """Everything that the user decides by, as Markdown: the briefing is there as it will be sent."""
    lines = [
        f"**{plan.target.name}** ({inert(plan.model)}) would be asked. {inert(plan.task.reason)}".rstrip(),
        f"- Shared: {inert(', '.join(plan.briefing.shared))} (about {plan.tokens:,} tokens)",
        f"- Cost: {_cost(plan)}",
    ]
    if plan.target.kind is KrakenKind.CLI:
        lines.append("- It may read the files of this workspace. What it wants to change is shown to you first.")
    if plan.mask.found:
        fate = "They are replaced by placeholders:" if plan.is_masked else "They are sent as they are:"
        lines.append(f"- It looks like there are secrets in it. {fate}")
        lines += [f"  - {inert(str(secret))}" for secret in plan.mask.found]
    return "\n".join([*lines, "", "What is sent:", "", fenced(plan.sent, "markdown")])


async def choose_provider(session: Session, usable: Sequence[Candidate], others: Sequence[Candidate]) -> str | None:
    """Let the user pick one. A client that cannot show choices gets the first, which it is asked about anyway."""
    if not session.client.asks_messages:
        return usable[0].name
    lines = [f"{one.name}: {one.model or 'its own choice'}" for one in usable]
    lines += [f"{one.name}: not available. {one.error}".rstrip() for one in others]
    message = "\n".join(["ollm: Who shall be asked?", *lines])
    actions = [{"title": NONE}, *({"title": one.name} for one in usable)]
    params = {"type": 3, "message": message, "actions": actions}
    try:
        answer = await session.rpc.ask("window/showMessageRequest", params, timeout=ANSWER_TIME, is_question=True)
    except (TimeoutError, JsonRpcException):
        return None
    chosen = object_in(answer).get("title")
    return next((one.name for one in usable if one.name == chosen), None)


def _cost(plan: Plan) -> str:
    if plan.is_plan:
        return "covered by your plan"
    most = f"up to {in_dollars(plan.most.micros)}"
    if not plan.most.known:
        most += ", as its price is unknown and the dearest is assumed"
    if plan.turns > 1:
        most += f" for each of at most {plan.turns} turns"
    return most if plan.remaining is None else f"{most}; {in_dollars(plan.remaining)} of your budget are left"
