"""Questions to the user, which clients show one after the other: how long each may wait."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from ollm_lsp.lsp.server import Server

if TYPE_CHECKING:
    from ollm_lsp.lsp.rpc import Rpc

LONG = 1_000.0


class Nobody:
    """Reads what the server writes."""

    def write(self, data: bytes) -> None:
        del data


@pytest.fixture
def rpc() -> Rpc:
    made = Server().rpc
    made.set_writer(Nobody())  # pyright: ignore[reportArgumentType]
    return made


def asking(rpc: Rpc, number: str, seconds: float) -> asyncio.Task[Any]:
    return asyncio.create_task(rpc.ask("ollm/permission", {}, timeout=seconds, number=number, is_question=True))


def answer(rpc: Rpc, number: str, result: str) -> None:
    rpc.receive(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode())


async def settle() -> None:
    """Let everything happen that waits for nothing but its turn."""
    for _ in range(50):
        await asyncio.sleep(0)


async def test_the_time_of_a_question_begins_when_those_before_it_are_over(rpc: Rpc) -> None:
    first, second = asking(rpc, "1", LONG), asking(rpc, "2", 0)
    await settle()
    assert not second.done()
    answer(rpc, "1", "yes")
    assert await first == "yes"
    with pytest.raises(TimeoutError):
        await second


@pytest.mark.parametrize("number", ["1", "2"])
async def test_each_is_answered_whatever_the_order(rpc: Rpc, number: str) -> None:
    questions = {"1": asking(rpc, "1", LONG), "2": asking(rpc, "2", LONG)}
    await settle()
    answer(rpc, number, "early")
    assert await questions.pop(number) == "early"
    ((other, last),) = questions.items()
    assert not last.done()
    answer(rpc, other, "late")
    assert await last == "late"


async def test_a_question_that_is_withdrawn_holds_nobody_up(rpc: Rpc) -> None:
    first, second = asking(rpc, "1", LONG), asking(rpc, "2", LONG)
    third = asking(rpc, "3", 0)
    await settle()
    second.cancel()
    first.cancel()
    with pytest.raises(TimeoutError):
        await third


async def test_what_is_no_question_waits_for_none(rpc: Rpc) -> None:
    first = asking(rpc, "1", LONG)
    await settle()
    with pytest.raises(TimeoutError):
        await rpc.ask("workspace/configuration", {}, timeout=0)
    first.cancel()
