"""ollm/kraken/release, and the command for a piece of code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ollm_lsp.lsp import to_wire
from ollm_lsp.lsp.answering import answer
from ollm_lsp.lsp.protocol import ChatContext, ReleaseParams

if TYPE_CHECKING:
    from ollm_lsp.lsp.protocol import ReleaseHereParams
    from ollm_lsp.lsp.session import Session

HERE = "Look at the selected code and what is around it: say what is wrong or weak there, and show how to do it better."


async def release(session: Session, params: ReleaseParams) -> dict[str, Any]:
    """Ask an external provider, with the user's consent."""
    made = await answer(session, params, title="Releasing the Kraken")
    result = to_wire.chat_result(made.conversation_id, made.response, made.seconds)
    return {**result, "provider": made.response.model.provider}


async def release_here(session: Session, params: ReleaseHereParams) -> dict[str, Any]:
    """The same for a piece of code."""
    context = params.context or ChatContext(params.uri, params.range)
    return await release(
        session,
        ReleaseParams(
            (params.text or "").strip() or HERE,
            params.conversation_id,
            params.parent_id,
            None,
            params.tools,
            context,
            params.work_done_token,
            params.partial_result_token,
            provider=params.provider,
            inherit_context=params.inherit_context,
            return_to_local=params.return_to_local,
            max_turns=params.max_turns,
        ),
    )


def release_shown(result: dict[str, Any]) -> tuple[str, str]:
    """The answer."""
    return "The Kraken", result["text"]
