"""The stores: what was kept comes back, also after a restart; what cannot be kept harms nobody."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import sys
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ollm_lsp.core.conversation import Conversations
from ollm_lsp.core.errors import StoreFailed
from ollm_lsp.core.events import FinishReason, ReasoningDelta, TextDelta, UsageChanged
from ollm_lsp.core.memory_store import MemoryStore
from ollm_lsp.core.messages import Message, Reasoning, Role, Text
from ollm_lsp.core.model import ModelId
from ollm_lsp.core.record import total
from ollm_lsp.core.tool import ToolCall
from ollm_lsp.core.usage import UNKNOWN_COST, Cost, Usage
from ollm_lsp.settings.redactor import redactor
from ollm_lsp.store import response_store, schema
from ollm_lsp.store.response_store import SqliteStore
from tests.core.values import patient
from tests.support.kept import MODEL, answer, opening, response, responses

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from ollm_lsp.core.conversation import Response
    from ollm_lsp.core.ports import ResponseStore
    from ollm_lsp.core.record import ConversationRecord

KEY = "sk-canary-0123456789abcdef"


@asynccontextmanager
async def stored(folder: Path, busy_timeout: float = 5.0) -> AsyncGenerator[SqliteStore]:
    store = SqliteStore(folder / "conversations.db", busy_timeout=busy_timeout)
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def any_store(kind: str, folder: Path) -> AsyncGenerator[ResponseStore]:
    clock = count(1).__next__
    store = SqliteStore(folder / "conversations.db", clock) if kind == "sqlite" else MemoryStore(clock)
    try:
        yield store
    finally:
        await store.close()


async def load(store: ResponseStore, conversation_id: str = "c") -> ConversationRecord:
    record = await store.load(conversation_id)
    assert record is not None
    return record


async def only(store: ResponseStore) -> Response:
    (kept,) = (await load(store)).responses
    return kept.response


async def written(store: SqliteStore) -> None:
    """Wait until what was handed over without waiting is in the file."""
    store.flush()
    await store.list()


def file_of(folder: Path) -> sqlite3.Connection:
    return sqlite3.connect(folder / "conversations.db", isolation_level=None)


def everything_in(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(folder.iterdir()))


@pytest.mark.prop("eng-3")
@settings(patient, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(responses, st.booleans())
async def test_any_response_comes_back_as_it_was(tmp_path: Path, kept: Response, is_begun: bool) -> None:
    async with stored(tmp_path) as store:
        if is_begun:
            await store.begin("c", opening(kept))
            for message in kept.output:
                store.add("r", message)
        await store.finish("c", kept)
        assert await only(store) == kept
        assert await store.delete("c")
        assert await store.load("c") is None


@pytest.mark.prop("eng-3")
@pytest.mark.parametrize("kind", ["sqlite", "memory"])
async def test_conversations_are_listed_the_newest_first(kind: str, tmp_path: Path) -> None:
    async with any_store(kind, tmp_path) as store:
        for conversation_id, asked in (("a", "First\nquestion?"), ("b", "Second question?")):
            kept = response(f"{conversation_id}1", asked=asked)
            await store.begin(conversation_id, opening(kept))
            await store.finish(conversation_id, kept)
        other = ModelId("vllm", "other")
        await store.finish("a", response("a2", "a1", model=other, cost=Cost(7)))
        first, second = await store.list()
        assert (first.id, first.title, first.responses, first.model) == ("a", "First question?", 2, other)
        assert (second.id, second.title, second.responses, second.model) == ("b", "Second question?", 1, MODEL)
        assert (first.cost, second.cost) == (Cost(12), Cost(5))
        assert first.created < second.created < second.updated < first.updated
        record = await load(store, "a")
        assert (record.title, record.created, record.updated) == (first.title, first.created, first.updated)
        assert [kept.response.parent_id for kept in record.responses] == [None, "a1"]
        assert all(kept.ended is not None and kept.began <= kept.ended for kept in record.responses)


@pytest.mark.prop("eng-3")
@pytest.mark.parametrize("kind", ["sqlite", "memory"])
async def test_a_conversation_can_be_renamed_and_deleted(kind: str, tmp_path: Path) -> None:
    async with any_store(kind, tmp_path) as store:
        for conversation_id in ("a", "b"):
            await store.finish(conversation_id, response(f"{conversation_id}1"))
        assert await store.retitle("a", " New\ntitle ")
        assert not await store.retitle("nowhere", "x")
        assert not await store.delete("nowhere")
        assert (await load(store, "a")).title == "New title"
        await store.finish("a", response("a2", "a1", asked="No title"))
        assert (await load(store, "a")).title == "New title"
        assert await store.delete("a")
        assert await store.load("a") is None
        assert [summary.id for summary in await store.list()] == ["b"]


@pytest.mark.prop("eng-3")
async def test_costs_of_two_currencies_are_not_added(tmp_path: Path) -> None:
    assert total([]) == Cost()
    async with stored(tmp_path) as store:
        await store.finish("c", response("1", cost=Cost(5)))
        await store.finish("c", response("2", cost=Cost(6)))
        assert (await store.list())[0].cost == Cost(11)
        await store.finish("c", response("3", cost=UNKNOWN_COST))
        assert (await store.list())[0].cost == Cost(11, known=False)
        await store.finish("d", response("4", cost=Cost(1, "EUR")))
        await store.finish("d", response("5", cost=Cost(2, "USD")))
        assert (await store.list())[0].cost == Cost(1, "EUR", known=False)


@pytest.mark.prop("eng-3")
async def test_a_conversation_goes_on_and_branches_after_a_restart(tmp_path: Path) -> None:
    async with stored(tmp_path) as store:
        for name, parent in (("1", None), ("2", "1"), ("3", "2")):
            await store.finish("c", response(name, parent))
    async with stored(tmp_path) as store:
        conversation = await Conversations(lambda: "id").open("c", store)
        assert conversation.head == "3"
        conversation.append(branch := response("4", "1"))
        await store.finish("c", branch)
    async with stored(tmp_path) as store:
        conversation = await Conversations(lambda: "id").open("c", store)
        histories = {name: conversation.history(name, MODEL) for name in "1234"}
        assert {name: [message.text for message in path[1::2]] for name, path in histories.items()} == {
            "1": ["answer 1"],
            "2": ["answer 1", "answer 2"],
            "3": ["answer 1", "answer 2", "answer 3"],
            "4": ["answer 1", "answer 4"],
        }


@pytest.mark.threat("F43")
@pytest.mark.prop("eng-3")
@pytest.mark.prop("core-5")
async def test_a_response_that_never_ended_is_cut_short_and_keeps_its_words(tmp_path: Path) -> None:
    kept = response("r")
    call = Message(Role.ASSISTANT, (Text("I look."), ToolCall("1", "read", {"path": "a"})))
    async with stored(tmp_path) as store:
        await store.begin("c", opening(kept))
        store.grow("r", TextDelta("I look."))
        store.add("r", call)
        store.grow("r", UsageChanged(Usage(7, 8), Cost(9), 0, None))
        for delta in (
            ReasoningDelta("Hm, "),
            ReasoningDelta("so. "),
            TextDelta("It is \ud83d"),
            TextDelta("\ude00 du"),
        ):
            store.grow("r", delta)
            await written(store)
    async with stored(tmp_path) as store:
        cut = await only(store)
        rest = Message(Role.ASSISTANT, (Reasoning("Hm, so. "), Text("It is \N{GRINNING FACE} ")))
        assert cut == replace(
            kept, output=(call, rest), usage=Usage(7, 8), cost=Cost(9), finish_reason=FinishReason.ERROR
        )
        assert (await load(store)).responses[0].ended is None
        await store.finish("c", kept)
        assert await only(store) == kept


@pytest.mark.prop("eng-3")
async def test_a_response_that_only_began_costs_nobody_knows_what(tmp_path: Path) -> None:
    async with stored(tmp_path) as store:
        await store.begin("c", opening(response("r")))
        cut = await only(store)
        assert (cut.output, cut.cost, cut.finish_reason) == ((), UNKNOWN_COST, FinishReason.ERROR)


async def test_growth_is_written_soon_without_anybody_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_store, "DRAFT_INTERVAL", 0)
    async with stored(tmp_path) as store, asyncio.timeout(60):
        await store.begin("c", opening(response("r")))
        store.grow("r", TextDelta("some words "))
        while not (await only(store)).output:
            await asyncio.sleep(0)
        assert (await only(store)).text == "some words "
        store.grow("gone", TextDelta("of a conversation that was deleted "))
        store.add("gone", answer("x"))
        await written(store)
        assert len(await store.list()) == 1


async def test_whoever_is_cancelled_leaves_whole_records(tmp_path: Path) -> None:
    async with stored(tmp_path) as store:
        tasks = [asyncio.ensure_future(store.finish("c", response(str(number)))) for number in range(20)]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert len((await load(store)).responses) == 20


@pytest.mark.prop("krk-41")
async def test_no_secret_is_in_the_file(tmp_path: Path) -> None:
    redactor.add(KEY)
    async with stored(tmp_path) as store:
        kept = response("r", None, answer(f"It is {KEY}."), asked=f"Is {KEY} right? " + "word " * 7 + KEY)
        await store.begin("c", opening(kept))
        for delta in ("It is ", KEY[:9], KEY[9:], " and "):
            store.grow("r", TextDelta(delta))
            await written(store)
        assert "***" in (await only(store)).text
        assert KEY[:9].encode() not in everything_in(tmp_path)
        store.add("r", answer(KEY))
        await store.finish("c", kept)
        await store.retitle("c", KEY)
        assert KEY[:9].encode() not in everything_in(tmp_path)
    assert KEY[:9].encode() not in everything_in(tmp_path)


@pytest.mark.prop("eng-3")
async def test_what_is_deleted_is_in_no_file_any_more(tmp_path: Path) -> None:
    canary = "wheelbarrow"
    async with stored(tmp_path) as store:
        for number in range(5):
            kept = response(str(number), None, answer(canary * 3_000), asked=canary)
            await store.begin("c", opening(kept))
            store.grow(kept.id, TextDelta(f"{canary} "))
            await written(store)
            await store.finish("c", kept)
        assert canary.encode() in everything_in(tmp_path)
        assert await store.delete("c")
        assert canary.encode() not in everything_in(tmp_path)


@pytest.mark.threat("T27")
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
async def test_only_the_user_can_read_the_files(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "state"
    old = os.umask(0)
    try:
        async with stored(folder) as store:
            await store.finish("c", response("r"))
            assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {0o600}
            assert folder.stat().st_mode & 0o777 == 0o700
    finally:
        os.umask(old)


@pytest.mark.threat("F46")
@pytest.mark.prop("eng-3")
async def test_a_newer_schema_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    with closing(file_of(tmp_path)) as file:
        schema.upgrade(file, [*schema.MIGRATIONS, ["CREATE TABLE future (x)"]])
    before = everything_in(tmp_path)
    async with stored(tmp_path) as store:
        for refuse in (store.finish("c", response("r")), store.list(), store.load("c"), store.delete("c")):
            with pytest.raises(StoreFailed, match="newer") as refused:
                await refuse
            assert "Update ollm-lsp" in refused.value.remedy
    assert everything_in(tmp_path) == before


@pytest.mark.threat("F46")
@pytest.mark.parametrize("damage", [b"This is not a database. " * 400, b"SQLite format 3\0" + b"\xff" * 8192])
async def test_a_damaged_file_is_a_clear_error_until_it_is_moved_away(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "conversations.db"
    path.write_bytes(damage)
    async with stored(tmp_path) as store:
        for _ in range(2):
            with pytest.raises(StoreFailed, match="damaged") as refused:
                await store.finish("c", response("r"))
            assert "Move it away" in refused.value.remedy
        assert path.read_bytes() == damage
        path.rename(tmp_path / "damaged.db")
        await store.finish("c", response("r"))
        assert len(await store.list()) == 1


async def test_a_message_that_cannot_be_read_spoils_only_its_conversation(tmp_path: Path) -> None:
    async with stored(tmp_path) as store:
        for name in ("a", "b"):
            await store.finish(name, response(name))
        with closing(file_of(tmp_path)) as file:
            file.execute("UPDATE message SET item = '{}' WHERE response = 1")
            file.execute("UPDATE response SET finish_reason = 'bored' WHERE number = 2")
        with pytest.raises(StoreFailed, match="response a cannot be read"):
            await store.load("a")
        assert (await load(store, "b")).responses[0].response.finish_reason is FinishReason.ERROR
        assert len(await store.list()) == 2
        assert await store.delete("a")


async def test_a_file_that_was_moved_away_is_made_anew(tmp_path: Path) -> None:
    async with stored(tmp_path / "state") as store:
        await store.finish("a", response("1"))
        shutil.move(tmp_path / "state", tmp_path / "old")
        await store.finish("b", response("2"))
        assert [summary.id for summary in await store.list()] == ["b"]


@pytest.mark.threat("F46")
async def test_a_place_that_cannot_be_used_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    async with stored(tmp_path / "file" / "state") as store:
        with pytest.raises(StoreFailed, match="cannot be kept") as refused:
            await store.finish("c", response("r"))
        assert "OLLM_STATE_DIR" in refused.value.remedy


@pytest.mark.threat("F45")
@pytest.mark.prop("eng-6")
async def test_whoever_holds_the_file_is_waited_for_and_then_named(tmp_path: Path) -> None:
    async with stored(tmp_path, busy_timeout=0.05) as store:
        await store.finish("c", response("1"))
        with closing(file_of(tmp_path)) as file:
            file.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreFailed, match="locked") as refused:
                await store.finish("c", response("2"))
            assert "Close the program" in refused.value.remedy
            assert len((await load(store)).responses) == 1
            file.execute("COMMIT")
        await store.finish("c", response("2"))
        assert len((await load(store)).responses) == 2


@pytest.mark.threat("F45")
@pytest.mark.prop("eng-6")
async def test_two_servers_keep_their_responses_in_one_file_at_once(tmp_path: Path) -> None:
    async with stored(tmp_path) as one, stored(tmp_path) as other:

        async def keep(store: SqliteStore, name: str) -> None:
            for number in range(10):
                kept = response(f"{name}{number}")
                await store.begin("c", opening(kept))
                await store.finish("c", kept)

        await asyncio.gather(keep(one, "a"), keep(other, "b"))
        for store in (one, other):
            names = [kept.response.id for kept in (await load(store)).responses]
            assert sorted(names) == sorted(f"{name}{number}" for name in "ab" for number in range(10))


async def test_odd_ids_are_not_found_and_odd_models_are_kept(tmp_path: Path) -> None:
    async with stored(tmp_path) as store:
        assert await store.load("\ud800\0") is None
        assert not await store.delete("\ud800")
        assert not await store.retitle("\ud800", "\ud800")
        await store.finish("c", response("r", model=ModelId("p", "m\ud800")))
        assert (await only(store)).model == ModelId("p", "m?")


@pytest.mark.threat("F46")
@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root on Linux can mount a small disk")
async def test_a_full_disk_is_a_clear_error_and_loses_nothing_that_was_kept(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = await asyncio.create_subprocess_exec("mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(disk))
    assert await mount.wait() == 0
    try:
        async with stored(disk) as store:
            kept: list[str] = []

            async def fill() -> None:
                for number in range(1_000):
                    await store.finish("c", response(str(number), None, answer("word " * 1_000)))
                    kept.append(str(number))

            with pytest.raises(StoreFailed, match="full") as refused:
                await fill()
            assert "Free some space" in refused.value.remedy
            assert kept
            remount = await asyncio.create_subprocess_exec("mount", "-o", "remount,size=10m", str(disk))
            assert await remount.wait() == 0
            await store.finish("c", response("last"))
            assert [step.response.id for step in (await load(store)).responses] == [*kept, "last"]
    finally:
        await (await asyncio.create_subprocess_exec("umount", "-l", str(disk))).wait()


@pytest.mark.parametrize("kind", ["sqlite", "memory"])
async def test_the_model_that_was_chosen_is_kept_also_before_the_first_question(kind: str, tmp_path: Path) -> None:
    chosen = ModelId("ollama", "qwen3:4b")
    async with any_store(kind, tmp_path) as store:
        await store.choose("c", chosen)
        assert (await load(store)).model == chosen
        assert await store.list() == []
        await store.finish("c", response("r"))
        assert (await load(store)).model == chosen
        (listed,) = await store.list()
        assert listed.title == (await load(store)).title != ""
        await store.choose("c", MODEL)
        assert (await load(store)).model == MODEL
        assert len((await load(store)).responses) == 1
