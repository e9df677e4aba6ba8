"""Slash commands in a chat: what they answer, that no model is asked, and that none reads it later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ollm_lsp.core.errors import ConnectionFailed, ModelNotFound, SettingsError, Unsupported
from ollm_lsp.core.events import Finished, FinishReason, TextDelta, UsageReported
from ollm_lsp.core.kraken import KrakenBudget, KrakenKind, KrakenProvider, KrakenState, KrakenStatus
from ollm_lsp.core.ledger import Call, CallKind, LedgerLine
from ollm_lsp.core.model import ModelId, ModelInfo
from ollm_lsp.core.slash import NAMES
from ollm_lsp.core.usage import FREE, UNKNOWN_COST, Cost, Usage
from ollm_lsp.lsp.handlers.chat import send
from ollm_lsp.lsp.protocol import ChatContext, ChatSendParams, Position, Range
from ollm_lsp.lsp.standard import TextDocumentItem
from tests.support.scripted_provider import ScriptedProvider
from tests.support.session import Peer

if TYPE_CHECKING:
    from collections.abc import Sequence

SAID = [TextDelta("yes"), UsageReported(Usage(1200, 34)), Finished(FinishReason.STOP)]


class Listing(ScriptedProvider):
    """A provider that tells its models, or why it cannot."""

    names: Sequence[str] | Exception = ("m", "big:latest", "big:7b")

    async def models(self) -> list[ModelInfo]:
        if isinstance(self.names, Exception):
            raise self.names
        return [ModelInfo(ModelId(self.name, name)) for name in self.names]


class Talk:
    """Messages in one conversation, with a model elsewhere and one on this machine."""

    def __init__(self, cost: Cost = FREE) -> None:
        self.elsewhere = Listing(*SAID, cost=cost)
        self.here = Listing(*SAID, name="local")
        self.peer = Peer(self.elsewhere)
        self.peer.add_local(self.here, is_default=True)
        self.session = self.peer.session
        self.conversation_id: str | None = None

    async def say(self, text: str, **more: Any) -> dict[str, Any]:
        params = ChatSendParams(text, self.conversation_id, partial_result_token="p", work_done_token="w", **more)
        result = await send(self.session, params)
        self.conversation_id = result["conversationId"]
        return result

    async def restart(self) -> None:
        """Another server, with what this one has kept."""
        self.session = self.peer.session

    @property
    def asked(self) -> int:
        return len(self.here.requests) + len(self.elsewhere.requests)


ORDERS = [
    "/help",
    "/model",
    "/model local:big:7b",
    "/cost",
    "/kraken",
    "/k status",
    "/release history",
    "/kraken config",
]


@pytest.mark.parametrize("order", ORDERS)
async def test_an_order_is_told_as_an_answer_and_no_model_ever_hears_of_it(order: str) -> None:
    talk = Talk()
    first = await talk.say("one")
    result = await talk.say(order)
    assert talk.asked == 1
    assert (result["finishReason"], result["usage"]["inputTokens"], result["cost"]["amount"]) == ("stop", 0, 0)
    events = [value for value in talk.peer.values("p") if value.get("responseId") == result["responseId"]]
    assert [event["type"] for event in events] == ["started"]
    started, text, finished = talk.peer.values("p")[-3:]
    assert (started["type"], text["text"], finished) == (
        "started",
        result["text"],
        {"type": "finished", "reason": "stop"},
    )
    assert talk.peer.values("w")[-1] == {"kind": "end", "message": "Done"}
    # Whoever goes on from the order goes on from what was before it, also by its id.
    for more in ({}, {"parent_id": result["responseId"]}):
        await talk.say("two", **more)
        texts = [message.text for message in talk.here.requests[-1].messages[1:]]
        assert texts[:2] == ["one", "yes"]
        assert texts[-1] == "two"
        assert not any(order in text for text in texts)
    store = await talk.session.store()
    record = await store.load(result["conversationId"])
    assert record is not None
    assert result["responseId"] not in [kept.response.id for kept in record.responses]
    assert record.responses[0].response.id == first["responseId"]


async def test_a_conversation_may_begin_with_an_order() -> None:
    talk = Talk()
    begun = await talk.say("/help")
    assert (await talk.say("one"))["conversationId"] == begun["conversationId"]
    (listed,) = await (await talk.session.store()).list()
    assert listed.title == "one"


async def test_help_names_every_order_and_every_mention() -> None:
    text = (await Talk().say("/help"))["text"]
    assert all(f"/{name}" in text for name in NAMES)
    assert "#file:" in text


async def test_an_unknown_order_is_an_error_with_what_may_have_been_meant() -> None:
    talk = Talk()
    with pytest.raises(Unsupported) as error:
        await talk.say("/hlep me")
    assert error.value.remedy.startswith("Did you mean /help?")
    assert [value["type"] for value in talk.peer.values("p")] == ["error", "finished"]


async def test_a_message_that_begins_with_a_path_is_no_order() -> None:
    talk = Talk()
    await talk.say("/etc/hosts is what?")
    assert talk.asked == 1


async def test_the_model_is_told_with_all_that_could_be_chosen() -> None:
    text = (await Talk().say("/model"))["text"]
    assert text.startswith("`local:m` answers in this conversation.")
    assert "| `local:m` (default) |" in text
    assert "| `local:big:7b` |" in text


async def test_a_chosen_model_answers_from_then_on_also_after_a_restart() -> None:
    talk = Talk()
    await talk.say("one")
    chosen = await talk.say("/model local:big:7b")
    assert chosen["model"] == "local:big:7b"
    assert "does not run on this machine" not in chosen["text"]
    assert (await talk.say("two"))["model"] == "local:big:7b"
    await talk.restart()
    assert (await talk.say("three"))["model"] == "local:big:7b"
    assert (await talk.say("four", model="local:m"))["model"] == "local:m"
    assert (await talk.say("/model local:m"))["model"] == "local:m"
    await talk.restart()
    assert (await talk.say("five"))["model"] == "local:m"


async def test_a_model_chosen_before_the_first_question_is_kept_and_gives_no_title() -> None:
    talk = Talk()
    await talk.say("/model local:big")
    store = await talk.session.store()
    assert await store.list() == []
    await talk.restart()
    assert (await talk.say("one"))["model"] == "local:big"
    assert [listed.title for listed in await store.list()] == ["one"]


async def test_other_conversations_keep_their_model() -> None:
    talk = Talk()
    await talk.say("/model local:big:7b")
    talk.conversation_id = None
    assert (await talk.say("one"))["model"] == "local:m"


async def test_a_model_elsewhere_is_chosen_with_a_word_on_what_goes_there() -> None:
    talk = Talk()
    talk.peer.know_elsewhere()
    assert "does not run on this machine" in (await talk.say("/model scripted:m"))["text"]


@pytest.mark.parametrize(
    ("written", "kind", "meant"),
    [
        ("big:7b", SettingsError, "Did you mean local:big:7b?"),
        ("bgi", SettingsError, "Write it as provider:name"),
        ("lcal:big:7b", SettingsError, "Did you mean local:big:7b"),
        ("local:big:8b", ModelNotFound, "Did you mean local:big:7b"),
        ("local:", SettingsError, "Write it as provider:name"),
    ],
)
async def test_a_model_that_is_not_there_is_an_error_with_those_that_are_near(
    written: str, kind: type[Exception], meant: str
) -> None:
    talk = Talk()
    with pytest.raises(kind) as error:
        await talk.say(f"/model {written}")
    assert meant in str(error.value)
    assert (await talk.say("one"))["model"] == "local:m"


async def test_a_model_that_cannot_be_checked_is_taken_with_a_word_on_that() -> None:
    talk = Talk()
    talk.here.names = ConnectionFailed("Nobody answers.", remedy="Start it.")
    result = await talk.say("/model local:other")
    assert "could not be checked: Nobody answers." in result["text"]
    assert result["model"] == "local:other"


async def test_the_cost_is_summed_over_the_answers_of_each_model() -> None:
    talk = Talk(cost=Cost(2_500))
    assert "Nothing was asked" in (await talk.say("/cost"))["text"]
    await talk.say("one")
    assert (await talk.say("/cost"))["text"].splitlines()[-1] == "| local:m | 1 | 1,200 | 34 | free |"
    for number in range(2):
        await talk.say(f"more {number}", model="scripted:m")
    assert (await talk.say("/cost"))["text"].splitlines()[-2:] == [
        "| scripted:m | 2 | 2,400 | 68 | 0.0050 USD |",
        "| together | 3 | 3,600 | 102 | 0.0050 USD |",
    ]


async def test_a_price_that_nobody_knows_is_said_to_be_unknown() -> None:
    talk = Talk(cost=UNKNOWN_COST)
    await talk.say("one", model="scripted:m")
    text = (await talk.say("/cost"))["text"]
    assert "| 34 | unknown |" in text
    assert "it may have cost more" in text


class Awake:
    """A Kraken that could be released."""

    async def status(self) -> KrakenStatus:
        claude = KrakenProvider("claude", KrakenKind.CLI, "sonnet", is_available=True, version="2.0")
        codex = KrakenProvider(
            "codex", KrakenKind.CLI, "o", is_available=False, needs_login=True, problem="Not in.", remedy="Log in."
        )
        budget = KrakenBudget(10_000_000, 1_250_000, 0, 8_750_000)
        return KrakenStatus(KrakenState.READY, (claude, codex), budget)

    async def providers(self) -> Sequence[KrakenProvider]:
        return (await self.status()).providers

    async def history(self, limit: int | None = None) -> list[LedgerLine]:
        line = LedgerLine(0, Call(CallKind.CLI, "claude", "sonnet", "c"), Usage(7, 8), Cost(1_250_000))
        return [line][:limit]


@pytest.mark.prop("krk-47")
async def test_the_kraken_tells_its_state_and_its_history_under_each_of_its_names() -> None:
    talk = Talk()
    talk.peer.external = Awake()
    for name in ("kraken", "k", "release", "Kraken"):
        status = (await talk.say(f"/{name} status"))["text"]
        assert "State: ready" in status
        assert "| codex | cli | o | no | Not in. Log in. |" in status
        assert "1.2500 of 10.00 USD" in status
        history = (await talk.say(f"/{name} history"))["text"]
        assert "| 1970-01-01T00:00:00.000Z | claude | sonnet | 7 + 8 | 1.2500 USD | answered |" in history


@pytest.mark.prop("krk-47")
async def test_a_prompt_for_the_kraken_is_refused_with_what_to_do_first() -> None:
    talk = Talk()
    with pytest.raises(SettingsError) as error:
        await talk.say("/kraken status of the project?")
    assert "/kraken config" in error.value.remedy
    assert talk.peer.values("p")[-1] == {"type": "finished", "reason": "error"}
    assert talk.asked == 0


def open_document(talk: Talk) -> None:
    item = TextDocumentItem("file:///work/app.py", "def f():\n    return x\n\n\nprint(y)\n", "python", 1)
    talk.session.documents.open(item)
    talk.session.diagnostics[item.uri] = [
        {"range": {"start": {"line": line}, "end": {"line": line}}, "severity": 1, "message": f"{name} is unknown"}
        for line, name in ((1, "x"), (4, "y"))
    ]


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        ("/explain", "Explain what the selected python code does."),
        ("/explain  in German", "Be brief.\n\nin German"),
        ("/fix", "- app.py:2: error: x is unknown"),
        ("/tests", "Write tests for the selected python code of app.py"),
    ],
)
async def test_an_action_is_asked_by_its_prompt_and_kept_as_it_was_typed(typed: str, asked: str) -> None:
    talk = Talk()
    open_document(talk)
    where = Range(Position(0, 0), Position(1, 0))
    result = await talk.say(typed, context=ChatContext("file:///work/app.py", where))
    sent = talk.here.requests[-1].messages[-1].text
    assert asked in sent
    assert "def f():" in sent
    _, _, problems = sent.partition("These problems")
    assert "y is unknown" not in problems, "it is outside the selection"
    assert result["text"] == "yes"
    await talk.say("and now?")
    assert [message.text for message in talk.here.requests[-1].messages[1:3]] == [typed, "yes"]


async def test_an_action_without_a_document_is_asked_all_the_same() -> None:
    talk = Talk()
    await talk.say("/explain monads")
    assert talk.here.requests[-1].messages[-1].text.endswith("monads")


async def test_the_context_of_a_question_is_told_without_asking_it() -> None:
    talk = Talk()
    open_document(talk)
    text = (await talk.say("/context why?", context=ChatContext("file:///work/app.py")))["text"]
    assert "app.py" in text
    assert "tokens for local:m" in text
    assert "def f():" not in text
    assert talk.asked == 0
