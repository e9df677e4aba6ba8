"""The toolbox: calls run side by side, and nothing that a tool does can hurt the chat."""

from __future__ import annotations

import asyncio
import gc
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.errors import StoreFailed
from ollm_lsp.core.fit import any_object
from ollm_lsp.core.image import Image
from ollm_lsp.core.tool import Location, ToolCall, ToolKind, ToolOutcome, ToolResult, ToolStatus
from ollm_lsp.core.toolbox import MAX_RESULT, Toolbox
from tests.core.values import patient
from tests.support.clock import Clock
from tests.support.tools import PATH, FakeTool, Stubborn, forever

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.events import ToolChanged
    from ollm_lsp.core.foreign_json import JsonObject
    from ollm_lsp.core.ports import ToolRun

PENDING, AWAITING, RUNNING = ToolStatus.PENDING, ToolStatus.AWAITING_PERMISSION, ToolStatus.RUNNING
COMPLETED, FAILED, DENIED = ToolStatus.COMPLETED, ToolStatus.FAILED, ToolStatus.DENIED


class Told:
    """Everything that a toolbox tells."""

    def __init__(self) -> None:
        self.changes: list[ToolChanged] = []
        self.news = asyncio.Event()

    def __call__(self, change: ToolChanged) -> None:
        self.changes.append(change)
        self.news.set()

    async def until(self, status: ToolStatus) -> None:
        while not any(change.status is status for change in self.changes):
            self.news.clear()
            await self.news.wait()

    def statuses(self, event_id: str = "0") -> list[ToolStatus]:
        return [change.status for change in self.changes if change.id == event_id]

    @property
    def results(self) -> dict[str, ToolResult]:
        return {change.id: change.result for change in self.changes if change.result}


def call(name: str = "read", **arguments: Any) -> ToolCall:
    return ToolCall(f"call of {name}", name, arguments or {"path": "a"})


def announced(toolbox: Toolbox, *calls: ToolCall) -> Sequence[ToolChanged]:
    return [toolbox.announced(str(number), made) for number, made in enumerate(calls)]


async def run(toolbox: Toolbox, *calls: ToolCall, max_chars: int = MAX_RESULT) -> Told:
    told = Told()
    await toolbox.run_all(announced(toolbox, *calls), told, max_chars=max_chars)
    return told


async def result_of(does: object, **options: Any) -> ToolResult:
    told = await run(Toolbox([FakeTool(does=does)], **options), call())
    assert told.statuses()[0] is RUNNING
    assert told.statuses()[-1].is_settled
    assert len(told.statuses()) == 2
    result = told.results["0"]
    assert (result.call_id, result.name) == ("call of read", "read")
    assert result.is_error is (told.statuses()[-1] is not COMPLETED)
    return result


@pytest.mark.prop("core-8")
async def test_ten_calls_run_side_by_side() -> None:
    """Each waits until all ten run: if only one of them had to wait for another, none would ever end."""
    everybody = asyncio.Event()
    tools: list[FakeTool] = []

    async def meet(arguments: JsonObject, run: ToolRun) -> object:
        if all(tool.started for tool in tools):
            everybody.set()
        await everybody.wait()
        return f"met as {arguments['path']}"

    tools += [FakeTool(f"tool{number}", meet) for number in range(10)]
    told = await run(Toolbox(tools), *(call(f"tool{number}", path=str(number)) for number in range(10)))
    assert [told.results[str(number)].text for number in range(10)] == [f"met as {number}" for number in range(10)]


@pytest.mark.prop("core-8")
async def test_one_tool_serves_many_calls_at_once() -> None:
    tool: FakeTool
    everybody = asyncio.Event()

    async def meet(arguments: JsonObject, run: ToolRun) -> object:
        if tool.started == 5:
            everybody.set()
        await everybody.wait()
        return run.id

    tool = FakeTool(does=meet)
    told = await run(Toolbox([tool]), *[call()] * 5)
    assert {event_id: result.text for event_id, result in told.results.items()} == {str(n): str(n) for n in range(5)}


async def test_a_call_is_shown_with_the_kind_title_and_places_of_its_tool() -> None:
    toolbox = Toolbox([FakeTool("write", kind=ToolKind.EDIT)])
    (shown,) = announced(toolbox, call("write"))
    assert (shown.kind, shown.title, shown.locations) == (ToolKind.EDIT, "write a", (Location("file:///a", 1),))
    assert (shown.status, shown.result) == (PENDING, None)
    assert toolbox.specs[0].name == "write"


@pytest.mark.parametrize("made", [call("read", nonsense=1), call("nobody")])
async def test_a_call_that_cannot_be_described_is_shown_by_its_name(made: ToolCall) -> None:
    (shown,) = announced(Toolbox([FakeTool()]), made)
    assert (shown.title, shown.locations) == (made.name, ())


@pytest.mark.prop("core-32")
@pytest.mark.parametrize(
    ("called", "hint"),
    [
        ("raed_file", "Did you mean read_file?"),
        ("READ_FILE", "Did you mean read_file?"),
        ("xyz", "The tools are list, read_file."),
    ],
)
async def test_an_unknown_tool_is_named_with_those_that_it_may_be(called: str, hint: str) -> None:
    tools = [FakeTool("read_file"), FakeTool("list")]
    told = await run(Toolbox(tools), call(called))
    assert told.statuses() == [FAILED]
    assert told.results["0"].text == f"There is no tool '{called}'. {hint}"
    assert not any(tool.started for tool in tools)


async def test_where_there_are_no_tools_the_model_is_told_so() -> None:
    result = (await run(Toolbox(), call("read"))).results["0"]
    assert "Answer without tools" in result.text
    assert result.is_error


@pytest.mark.threat("F13")
@pytest.mark.prop("core-32")
async def test_arguments_that_do_not_fit_never_reach_the_tool() -> None:
    def fits(schema: JsonObject, arguments: JsonObject, /) -> str | None:
        assert schema is PATH
        return None if "path" in arguments else "'path' is missing"

    tool = FakeTool()
    told = await run(Toolbox([tool], fits=fits), call(), call(other=1))
    assert tool.started == 1
    assert told.results["0"].text == "text"
    assert "'path' is missing" in told.results["1"].text
    assert told.statuses("1") == [FAILED]


def test_without_a_check_anything_that_is_an_object_fits() -> None:
    assert any_object(PATH, {"a": 1}) is None
    assert any_object(PATH, [1]) is not None
    assert any_object(PATH, "{}") is not None


@pytest.mark.prop("core-32")
async def test_a_check_that_fails_is_a_failure_of_that_call_only() -> None:
    def fits(schema: JsonObject, arguments: JsonObject, /) -> str | None:
        raise RecursionError("schema")

    told = await run(Toolbox([FakeTool()], fits=fits), call())
    assert "RecursionError" in told.results["0"].text


class Unprintable(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


@pytest.mark.prop("core-32")
@pytest.mark.parametrize(
    ("raised", "words"),
    [
        (ValueError("bad path"), "failed. ValueError: bad path"),
        (KeyError(), "failed. KeyError."),
        (StoreFailed("The disk is full.", remedy="Delete something."), "failed. The disk is full. Delete something."),
        (TimeoutError("slow disk"), "failed. TimeoutError: slow disk"),
        (asyncio.CancelledError(), "stopped before it had a result"),
        (GeneratorExit(), "GeneratorExit"),
        (ExceptionGroup("two", [ValueError(), OSError()]), "ExceptionGroup"),
        (Unprintable(), "failed. Unprintable."),
        (OSError("\ud800"), "OSError"),
    ],
)
async def test_what_a_tool_raises_is_an_error_for_the_model(raised: BaseException, words: str) -> None:
    result = await result_of(raised)
    assert result.is_error
    assert words in result.text
    result.text.encode()


@pytest.mark.prop("core-32")
@pytest.mark.parametrize(
    "garbage",
    [None, 7, b"bytes", ["text"], object(), ToolOutcome(7), ToolOutcome("x", RUNNING), ToolOutcome("x", "done")],  # pyright: ignore[reportArgumentType] - garbage
)  # fmt: skip
async def test_what_is_no_result_is_an_error_for_the_model(garbage: object) -> None:
    result = await result_of(garbage)
    assert result.is_error
    assert "read" in result.text


async def test_a_tool_that_is_no_coroutine_is_an_error_for_the_model() -> None:
    class Sync(FakeTool):
        def run(self, arguments: JsonObject, run: ToolRun) -> Any:  # noqa: ARG002 (part of the contract)
            return "text"

    told = await run(Toolbox([Sync()]), call())
    assert told.results["0"].is_error


@pytest.mark.prop("core-32")
@patient
@given(st.text("aé😀\ud83d\ude00\udc00\0\n", max_size=30), st.integers(1, 20))
async def test_whatever_text_a_tool_returns_the_model_can_read_it(text: str, max_chars: int) -> None:
    told = await run(Toolbox([FakeTool(does=text)]), call(), max_chars=max_chars)
    result = told.results["0"]
    result.text.encode()
    kept = text[:max_chars]
    try:
        kept.encode()
    except UnicodeEncodeError:
        assert result.is_error
        assert "broken text" in result.text
    else:
        assert not result.is_error
        assert result.text == text if len(text) <= max_chars else result.text.startswith(f"{kept}\n[Cut off")


async def test_a_result_that_is_too_long_is_cut_and_says_so() -> None:
    result = await result_of("x" * (MAX_RESULT + 1))
    assert not result.is_error
    assert result.text.count("x") == MAX_RESULT
    assert result.text.endswith("[Cut off: these are 100,000 of 100,001 characters. Ask for less.]")


async def test_a_tool_can_say_that_it_failed_or_was_not_allowed() -> None:
    toolbox = Toolbox([FakeTool("a", ToolOutcome("no file", FAILED)), FakeTool("b", ToolOutcome("no", DENIED))])
    told = await run(toolbox, call("a"), call("b"))
    assert (told.statuses("0"), told.statuses("1")) == ([RUNNING, FAILED], [RUNNING, DENIED])
    assert [result.is_error for result in told.results.values()] == [True, True]


@pytest.mark.prop("core-32")
async def test_a_tool_that_hangs_is_stopped_and_the_others_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    slow, gate = FakeTool("slow", forever), asyncio.Event()

    async def wait(arguments: JsonObject, run: ToolRun) -> object:
        await gate.wait()
        return "done"

    quick = FakeTool("quick", wait)
    toolbox, told = Toolbox([slow, quick], time_limit=60), Told()
    task = asyncio.create_task(toolbox.run_all(announced(toolbox, call("slow"), call("quick")), told))
    await slow.running.wait()
    await quick.running.wait()
    await clock.advance(50)
    assert told.results == {}
    gate.set()
    await told.until(COMPLETED)
    await clock.advance(11)
    await task
    assert told.results["1"].text == "done"
    assert "had not finished after 60 s" in told.results["0"].text
    assert slow.cancelled == 1


@pytest.mark.prop("core-32")
@pytest.mark.prop("core-34")
async def test_a_tool_that_ignores_its_time_limit_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, stubborn = Clock(monkeypatch), Stubborn()
    tool = FakeTool(does=stubborn)
    toolbox, told = Toolbox([tool], time_limit=60, grace=1), Told()
    task = asyncio.create_task(toolbox.run_all(announced(toolbox, call()), told))
    await tool.running.wait()
    await clock.advance(61)
    await stubborn.told.wait()
    await clock.advance(2)
    await task
    assert told.statuses() == [RUNNING, FAILED]
    stubborn.gate.set()
    await stubborn.ended.wait()
    assert told.statuses() == [RUNNING, FAILED], "its late result is nobody's"


@pytest.mark.prop("core-34")
async def test_who_cancels_waits_for_the_tools_that_clean_up_and_for_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, stubborn, cleaned = Clock(monkeypatch), Stubborn(), asyncio.Event()

    async def tidy(arguments: JsonObject, run: ToolRun) -> object:
        try:
            return await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            cleaned.set()

    tools = [FakeTool("tidy", tidy), FakeTool("stubborn", stubborn)]
    toolbox, told = Toolbox(tools, grace=5), Told()
    task = asyncio.create_task(toolbox.run_all(announced(toolbox, call("tidy"), call("stubborn")), told))
    for tool in tools:
        await tool.running.wait()
    task.cancel()
    await cleaned.wait()
    await stubborn.told.wait()
    await clock.advance(6)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert told.results == {}
    stubborn.gate.set()
    await stubborn.ended.wait()


@pytest.mark.prop("core-34")
async def test_after_a_cancel_no_task_is_left() -> None:
    before, tool = asyncio.all_tasks(), FakeTool(does=forever)
    toolbox = Toolbox([tool])
    task = asyncio.create_task(toolbox.run_all(announced(toolbox, *[call()] * 5), Told()))
    await tool.running.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert asyncio.all_tasks() == before
    assert tool.cancelled == tool.started


@pytest.mark.prop("core-34")
async def test_a_tool_that_fails_while_it_is_stopped_makes_nobody_complain() -> None:
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))

    async def fail(arguments: JsonObject, run: ToolRun) -> object:
        try:
            return await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise ValueError("while cleaning up") from None

    tool = FakeTool(does=fail)
    toolbox = Toolbox([tool])
    task = asyncio.create_task(toolbox.run_all(announced(toolbox, call()), Told()))
    await tool.running.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    # asyncio complains when nobody holds the failed task any more, not even the loop for its last step.
    del task
    await asyncio.sleep(0)
    gc.collect()
    assert complaints == []


async def test_a_listener_that_fails_stops_the_other_tools() -> None:
    before, tool = asyncio.all_tasks(), FakeTool("slow", forever)

    def tell(change: ToolChanged) -> None:
        if change.status is COMPLETED:
            raise BrokenPipeError

    toolbox = Toolbox([tool, FakeTool("quick")])
    with pytest.raises(BrokenPipeError):
        await toolbox.run_all(announced(toolbox, call("slow"), call("quick")), tell)
    assert tool.cancelled == 1
    assert asyncio.all_tasks() == before


async def test_nothing_to_run_is_nothing_to_wait_for() -> None:
    assert (await run(Toolbox())).changes == []


async def test_while_the_user_is_asked_the_time_limit_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, answer, work = Clock(monkeypatch), asyncio.Event(), asyncio.Event()

    async def ask(arguments: JsonObject, run: ToolRun) -> object:
        with run.asking():
            await answer.wait()
        await work.wait()
        return "written"

    toolbox, told = Toolbox([FakeTool(does=ask)], time_limit=60), Told()
    task = asyncio.create_task(toolbox.run_all(announced(toolbox, call()), told))
    await told.until(AWAITING)
    await clock.advance(10_000)
    assert told.statuses() == [RUNNING, AWAITING]
    answer.set()
    await clock.advance(59)
    assert told.statuses() == [RUNNING, AWAITING, RUNNING]
    work.set()
    await task
    assert told.statuses() == [RUNNING, AWAITING, RUNNING, COMPLETED]


async def test_after_the_answer_the_time_limit_counts_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)

    async def ask(arguments: JsonObject, run: ToolRun) -> object:
        with run.asking():
            pass
        return await asyncio.Event().wait()

    tool = FakeTool(does=ask)
    toolbox, told = Toolbox([tool], time_limit=60), Told()
    task = asyncio.create_task(toolbox.run_all(announced(toolbox, call()), told))
    await tool.running.wait()
    await clock.advance(61)
    await task
    assert told.statuses() == [RUNNING, AWAITING, RUNNING, FAILED]


async def test_a_tool_that_was_stopped_can_ask_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, asked, ended = Clock(monkeypatch), False, asyncio.Event()

    async def ask_late(arguments: JsonObject, run: ToolRun) -> object:
        nonlocal asked
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            with run.asking():
                asked = True
        finally:
            ended.set()
        return "done"

    tool = FakeTool(does=ask_late)
    toolbox, told = Toolbox([tool], time_limit=60), Told()
    task = asyncio.create_task(toolbox.run_all(announced(toolbox, call()), told))
    await tool.running.wait()
    await clock.advance(61)
    await task
    await ended.wait()
    assert not asked
    assert told.statuses() == [RUNNING, FAILED]


async def test_images_reach_the_model_with_a_result_but_not_with_a_failure() -> None:
    image = Image("image/png", b"x")
    assert (await result_of(ToolOutcome("seen", images=(image,)))).images == (image,)
    failed = await result_of(ToolOutcome("no", FAILED, (image,)))
    assert (failed.text, failed.is_error, failed.images) == ("no", True, ())
    broken = await result_of(ToolOutcome("\ud800", images=(image,)))
    assert (broken.is_error, broken.images) == (True, ())


@pytest.mark.prop("core-32")
async def test_what_is_no_image_is_left_out() -> None:
    result = await result_of(ToolOutcome("seen", images=("no image",)))  # pyright: ignore[reportArgumentType] - garbage
    assert (result.text, result.images) == ("seen", ())
