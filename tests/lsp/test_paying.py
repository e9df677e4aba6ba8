"""A model elsewhere that the user chose is paid like a release: reserved, settled, and a line in the ledger."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ollm_lsp.core.budget import Limits
from ollm_lsp.core.errors import BudgetExceeded, ServerFailed
from ollm_lsp.core.events import Finished, FinishReason, TextDelta, UsageReported
from ollm_lsp.core.ledger import CallKind
from ollm_lsp.core.model import ModelId
from ollm_lsp.core.usage import Cost, Usage
from ollm_lsp.lsp.handlers.chat import send
from ollm_lsp.lsp.paying import kind_of
from ollm_lsp.lsp.protocol import ChatSendParams
from ollm_lsp.settings.defaults import default_settings
from ollm_lsp.settings.kraken_settings import KrakenSettings
from ollm_lsp.settings.resolved import OllamaSettings, OpenAISettings
from tests.support.memory_ledger import MemoryLedger
from tests.support.scripted_provider import ScriptedProvider
from tests.support.session import Peer

SAID = [TextDelta("yes"), UsageReported(Usage(12, 3)), Finished(FinishReason.STOP)]


class Elsewhere(ScriptedProvider):
    """A vendor that takes ten micro-dollars for a token."""

    def cost(self, model: str, usage: Usage) -> Cost:  # noqa: ARG002 (all cost the same)
        return Cost(10 * (usage.input_tokens + usage.output_tokens))


@pytest.mark.prop("krk-29")
async def test_a_chat_with_a_model_elsewhere_has_a_line_in_the_ledger() -> None:
    vendor = Elsewhere(*SAID)
    peer = Peer(vendor)
    peer.know_elsewhere()
    result = await send(peer.session, ChatSendParams("Hello"))
    (line,) = await peer.book.history()
    assert (line.call.provider, line.call.model) == ("scripted", "m")
    assert line.call.conversation_id == result["conversationId"]
    assert (line.usage, line.cost, line.success) == (Usage(12, 3), Cost(150), True)
    assert result["cost"]["amount"] == pytest.approx(0.00015)
    assert vendor.requests[0].max_tokens == 4096


@pytest.mark.threat("F17")
@pytest.mark.prop("krk-29")
async def test_a_chat_that_fails_elsewhere_has_a_line_as_well() -> None:
    peer = Peer(Elsewhere(ServerFailed("It broke.", remedy="Wait.")))
    peer.know_elsewhere()
    with pytest.raises(ServerFailed):
        await send(peer.session, ChatSendParams("Hello"))
    (line,) = await peer.book.history()
    assert (line.success, line.error) == (False, "server_error")


@pytest.mark.threat("T29")
@pytest.mark.prop("krk-26")
async def test_nothing_is_sent_elsewhere_that_the_budget_does_not_cover() -> None:
    vendor = Elsewhere(*SAID)
    peer = Peer(vendor)
    peer.know_elsewhere()
    peer.change(kraken=KrakenSettings(limits=Limits(session=100)))
    with pytest.raises(BudgetExceeded):
        await send(peer.session, ChatSendParams("Hello"))
    assert vendor.requests == []
    assert isinstance(peer.book, MemoryLedger)
    assert peer.book.lines == {}


async def test_a_chat_on_this_machine_costs_nothing_and_has_no_line() -> None:
    peer = Peer(ScriptedProvider(*SAID))
    peer.add_local(local := ScriptedProvider(*SAID), is_default=True)
    await send(peer.session, ChatSendParams("Hello"))
    assert len(local.requests) == 1
    assert await peer.book.history() == []


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://api.openai.com/v1", True),
        ("https://203.0.114.7/v1", True),
        ("https://models.example.org/v1", True),
        ("http://127.0.0.1:8000/v1", False),
        ("http://192.168.1.5:8000/v1", False),
        ("http://[fd00::1]:8000/v1", False),
        ("http://gpu-box:8000/v1", False),
        ("http://gpu.lan:8000/v1", False),
        ("https://lan.example.org/v1", True),
    ],
)
def test_servers_outside_the_users_own_network_are_paid(address: str, expected: bool) -> None:
    settings = default_settings(embedded_available=False)
    settings = replace(settings, providers={"x": OpenAISettings("x", address)})
    assert (kind_of(settings, ModelId("x", "m")) is CallKind.API) is expected


def test_a_model_that_a_local_ollama_passes_on_is_covered_by_a_plan() -> None:
    settings = default_settings(embedded_available=False)
    settings = replace(settings, providers={"o": OllamaSettings("o", "http://127.0.0.1:11434")})
    assert kind_of(settings, ModelId("o", "big:cloud")) is CallKind.PLAN
    assert kind_of(settings, ModelId("o", "big")) is None
