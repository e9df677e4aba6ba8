"""Conversations as rows: what is written to the database and read from it. Every text has passed the redactor."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.conversation import Response
from ollm_lsp.core.errors import StoreFailed
from ollm_lsp.core.events import FinishReason, ReasoningDelta, TextDelta
from ollm_lsp.core.model import ModelId
from ollm_lsp.core.record import ConversationRecord, Opening, ResponseRecord, Summary, total
from ollm_lsp.core.title import one_line, title_of
from ollm_lsp.core.turn import Turn
from ollm_lsp.core.usage import Cost, Usage
from ollm_lsp.settings.redactor import redactor
from ollm_lsp.store import items
from ollm_lsp.store.redacted import redacted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from sqlite3 import Connection

    from ollm_lsp.core.messages import Message
    from ollm_lsp.store.drafts import Growth


def begin(connection: Connection, conversation_id: str, opening: Opening, now: float) -> int:
    """Open a response; the result is its number."""
    messages = [redacted(message) for message in opening.input]
    connection.execute(
        "INSERT INTO conversation (id, title, created, updated) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (id) DO UPDATE SET updated = excluded.updated, "
        "title = coalesce(nullif(title, ''), excluded.title)",
        (plain(conversation_id), title_of(messages), now, now),
    )
    row = connection.execute(
        "INSERT INTO response (id, conversation_id, parent_id, provider, model, began) VALUES (?, ?, ?, ?, ?, ?)",
        (
            opening.id,
            plain(conversation_id),
            opening.parent_id,
            plain(opening.model.provider),
            plain(opening.model.name),
            now,
        ),
    )
    number = row.lastrowid
    if number is None:
        raise AssertionError("an insert has a row")
    _insert_messages(connection, number, messages, 0, is_input=True)
    return number


def add(connection: Connection, response_id: str, message: Message) -> None:
    """Put a complete message in the place of what the response has grown by."""
    number = _number(connection, response_id)
    if number is None:
        return  # its conversation was deleted meanwhile
    (count,) = connection.execute("SELECT count(*) FROM message WHERE response = ?", (number,)).fetchone()
    _insert_messages(connection, number, [redacted(message)], count, is_input=False)
    connection.execute("DELETE FROM draft WHERE response = ?", (number,))


def grow(connection: Connection, news: Mapping[str, Growth]) -> None:
    """Write what open responses have grown by."""
    for response_id, growth in news.items():
        number = _number(connection, response_id)
        if number is None:
            continue
        connection.executemany(
            "INSERT INTO draft (response, is_reasoning, text) VALUES (?, ?, ?)",
            [(number, is_reasoning, json.dumps(redactor.redact(text))) for is_reasoning, text in growth.pieces],
        )
        if growth.usage is not None:
            _set_usage(connection, number, *growth.usage)


def finish(connection: Connection, conversation_id: str, response: Response, now: float) -> None:
    """Keep a whole response, whatever of it is here already."""
    number = _number(connection, response.id)
    if number is None:
        opening = Opening(response.id, response.parent_id, response.model, response.input)
        number = begin(connection, conversation_id, opening, now)
    connection.execute("DELETE FROM draft WHERE response = ?", (number,))
    connection.execute("DELETE FROM message WHERE response = ? AND NOT is_input", (number,))
    output = [redacted(message) for message in response.output]
    _insert_messages(connection, number, output, len(response.input), is_input=False)
    _set_usage(connection, number, response.usage, response.cost)
    connection.execute(
        "UPDATE response SET finish_reason = ?, is_recap = ?, ended = ? WHERE number = ?",
        (response.finish_reason.value, response.is_recap, now, number),
    )
    connection.execute("UPDATE conversation SET updated = ? WHERE id = ?", (now, plain(conversation_id)))


def load(connection: Connection, conversation_id: str) -> ConversationRecord | None:
    """A conversation with all its responses."""
    found = connection.execute(
        "SELECT title, created, updated, chosen FROM conversation WHERE id = ?", (plain(conversation_id),)
    ).fetchone()
    if found is None:
        return None
    responses = connection.execute(
        "SELECT number, id, parent_id, provider, model, input_tokens, output_tokens, cache_read_tokens, "
        "cache_write_tokens, cost_micros, cost_currency, cost_known, finish_reason, is_recap, began, ended "
        "FROM response WHERE conversation_id = ? ORDER BY number",
        (plain(conversation_id),),
    ).fetchall()
    title, created, updated, chosen = found
    records = tuple(_response(connection, row) for row in responses)
    model = ModelId.parse(chosen) if chosen else None
    return ConversationRecord(conversation_id, title, created, updated, records, model)


def listing(connection: Connection) -> list[Summary]:
    """All conversations, the newest first."""
    costs: dict[str, list[Cost]] = {}
    for conversation_id, currency, micros, known in connection.execute(
        "SELECT conversation_id, cost_currency, sum(cost_micros), min(cost_known) FROM response "
        "GROUP BY conversation_id, cost_currency ORDER BY min(number)"
    ):
        costs.setdefault(conversation_id, []).append(Cost(micros, currency, bool(known)))
    rows = connection.execute(
        "SELECT conversation.id, title, created, updated, provider, model, "
        "(SELECT count(*) FROM response WHERE conversation_id = conversation.id) "
        "FROM conversation JOIN response ON number = "
        "(SELECT max(number) FROM response WHERE conversation_id = conversation.id) "
        "ORDER BY updated DESC, number DESC"
    )
    return [
        Summary(key, title, created, updated, ModelId(provider, model), total(costs[key]), count)
        for key, title, created, updated, provider, model, count in rows
    ]


def choose(connection: Connection, conversation_id: str, model: ModelId, now: float) -> None:
    """Keep the model that the user chose. The title comes with the first question."""
    connection.execute(
        "INSERT INTO conversation (id, title, created, updated, chosen) VALUES (?, '', ?, ?, ?) "
        "ON CONFLICT (id) DO UPDATE SET chosen = excluded.chosen",
        (plain(conversation_id), now, now, plain(str(model))),
    )


def retitle(connection: Connection, conversation_id: str, title: str) -> bool:
    """Give a conversation another title."""
    shown = one_line(redactor.redact(title))
    changed = connection.execute("UPDATE conversation SET title = ? WHERE id = ?", (shown, plain(conversation_id)))
    return changed.rowcount > 0


def delete(connection: Connection, conversation_id: str) -> bool:
    """Remove a conversation with everything that belongs to it."""
    return connection.execute("DELETE FROM conversation WHERE id = ?", (plain(conversation_id),)).rowcount > 0


def plain(text: str) -> str:
    """The text as SQLite can hold it; JSON can say half a character, UTF-8 cannot."""
    return text.encode(errors="replace").decode()


def _number(connection: Connection, response_id: str) -> int | None:
    found = connection.execute("SELECT number FROM response WHERE id = ?", (response_id,)).fetchone()
    return found and found[0]


def _insert_messages(
    connection: Connection, number: int, messages: Iterable[Message], first: int, *, is_input: bool
) -> None:
    connection.executemany(
        "INSERT INTO message (response, number, is_input, item) VALUES (?, ?, ?, ?)",
        [(number, place, is_input, items.encode(message)) for place, message in enumerate(messages, first)],
    )


def _set_usage(connection: Connection, number: int, usage: Usage, cost: Cost) -> None:
    connection.execute(
        "UPDATE response SET input_tokens = ?, output_tokens = ?, cache_read_tokens = ?, cache_write_tokens = ?, "
        "cost_micros = ?, cost_currency = ?, cost_known = ? WHERE number = ?",
        (
            usage.input_tokens,
            usage.output_tokens,
            usage.cache_read_tokens,
            usage.cache_write_tokens,
            cost.micros,
            cost.currency,
            cost.known,
            number,
        ),
    )


def _response(connection: Connection, row: tuple[Any, ...]) -> ResponseRecord:
    (
        number,
        response_id,
        parent_id,
        provider,
        model,
        *counts,
        micros,
        currency,
        known,
        reason,
        recap,
        began,
        ended,
    ) = row
    given: list[Message] = []
    output: list[Message] = []
    found = connection.execute("SELECT is_input, item FROM message WHERE response = ? ORDER BY number", (number,))
    for is_input, item in found:
        (given if is_input else output).append(_message(item, response_id))
    if reason is None and (message := _draft(connection, number)):
        output.append(message)
    response = Response(
        response_id,
        parent_id,
        ModelId(provider, model),
        tuple(given),
        tuple(output),
        Usage(*counts),
        Cost(micros, currency, bool(known)),
        _finish_reason(reason),
        bool(recap),
    )
    return ResponseRecord(response, began, ended)


def _message(item: str, response_id: str) -> Message:
    try:
        return items.decode(item)
    except items.UnreadableItem as error:
        raise StoreFailed(
            f"A message of the response {response_id} cannot be read ({error}).",
            remedy="Update ollm-lsp if a newer one wrote it, or delete this conversation.",
        ) from None


def _draft(connection: Connection, number: int) -> Message | None:
    """What a response that never came to its end had grown by."""
    turn = Turn()
    found = connection.execute("SELECT is_reasoning, text FROM draft WHERE response = ? ORDER BY number", (number,))
    for is_reasoning, text in found:
        turn.add((ReasoningDelta if is_reasoning else TextDelta)(json.loads(text)))
    return turn.message


def _finish_reason(reason: str | None) -> FinishReason:
    """Without one the server died, or another one is still at it: for us the response is cut short."""
    return FinishReason(reason) if reason in set(FinishReason) else FinishReason.ERROR
