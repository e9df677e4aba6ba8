"""A recap: what led to a response, summarised, so that a conversation can go on from there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ollm_lsp.core.compaction import Outcome
from ollm_lsp.core.conversation import Response
from ollm_lsp.core.events import FinishReason

if TYPE_CHECKING:
    from ollm_lsp.core.compaction import Compacted, Compactor
    from ollm_lsp.core.conversation import Conversation
    from ollm_lsp.core.model import ModelId


@dataclass(frozen=True, slots=True)
class Recap:
    """What became of a history; `response` is there when it was summarised."""

    compacted: Compacted
    response: Response | None


async def recap(
    conversation: Conversation,
    response_id: str | None,
    reader: ModelId,
    compactor: Compactor,
    *,
    window: int,
    recap_id: str,
) -> Recap:
    """Compact what led to a response, for a model with that window. A summary becomes a response that follows it.

    Without a summary nothing is added: next time there may be one, and until then nothing is lost.
    """
    compacted = await compactor.compact(conversation.history(response_id, reader), window=window)
    if compacted.outcome is not Outcome.SUMMARISED:
        return Recap(compacted, None)
    response = Response(
        id=recap_id,
        parent_id=response_id,
        model=compactor.model,
        input=compacted.messages,
        output=(),
        usage=compacted.usage,
        cost=compactor.cost(compacted.usage),
        finish_reason=FinishReason.STOP,
        is_recap=True,
    )
    conversation.append(response)
    return Recap(compacted, response)
