"""Which branch of a conversation a written chat follows."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ollm_lsp.core.chat_file import Exchange
    from ollm_lsp.core.conversation import Response

_ORDER = re.compile(r"\s*/[A-Za-z]")


def followed(
    responses: Sequence[Response], exchanges: Sequence[Exchange], clean: Callable[[str], str]
) -> tuple[str | None, int]:
    """The last response of the longest branch that says what was written, and how many exchanges it holds.

    Spaces and line endings do not count: editors trim them. Nor does what a slash command was before it became a
    question. A summary of the branch stands in for it.
    """
    children: defaultdict[str | None, list[Response]] = defaultdict(list)
    known = {response.id for response in responses}
    for response in responses:
        children[response.parent_id if response.parent_id in known else None].append(response)

    def below(parent_id: str | None) -> list[Response]:
        """The next answers, those after a summary too, the newest first."""
        found: list[Response] = []
        for child in reversed(children[parent_id]):
            found += below(child.id) if child.is_recap else [child]
        return found

    ends: Sequence[str | None] = [None]
    depth = 0
    for exchange in exchanges:
        fitting = [answer.id for end in ends for answer in below(end) if _says(answer, exchange, clean)]
        if not fitting:
            break
        ends, depth = fitting, depth + 1
    last = ends[0]
    while recaps := [child for child in children[last] if last is not None and child.is_recap]:
        last = recaps[-1].id
    return last, depth


def _says(response: Response, exchange: Exchange, clean: Callable[[str], str]) -> bool:
    asked = "".join(message.text for message in response.input)
    return _squeezed(clean(response.text)) == _squeezed(exchange.answer) and (
        _squeezed(clean(asked)) == _squeezed(clean(exchange.question)) or _ORDER.match(exchange.question) is not None
    )


def _squeezed(text: str) -> str:
    return "".join(text.split())
