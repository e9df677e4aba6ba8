"""Figures, growth and the comparison with committed ratios."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.check import compared, regressions
from bench.effort import Effort
from bench.figure import Figure, Findings, Growth, Point, Reference, Share, findings_from, growth
from bench.result import Result, load
from bench.table import table

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

PEER = Reference("peer", [10.0, 12.0, 11.0, 10.0, 14.0])
FIGURE = Figure("start", "ms", [4.0, 5.0, 4.4, 4.1, 5.5], PEER, goal=0.5, binding=True)
QUIET = Figure("start", "ms", [4.0, 4.04, 4.02, 3.98, 4.0], Reference("peer", [10.0, 10.0, 10.0, 10.0, 10.0]))


def slower(figure: Figure, factor: float) -> Findings:
    return Findings([replace(figure, samples=[sample * factor for sample in figure.samples])])


def test_a_ratio_is_one_of_medians_and_its_spread_is_that_of_rounds() -> None:
    assert FIGURE.ratio == pytest.approx(4.4 / 11.0)
    assert FIGURE.rounds == pytest.approx([0.4, 5 / 12, 0.4, 0.41, 5.5 / 14])
    assert FIGURE.spread == pytest.approx((0.4, 0.41))


def test_a_goal_is_about_the_ratio_where_there_is_one() -> None:
    assert FIGURE.met
    assert not replace(FIGURE, goal=0.39).met
    assert replace(FIGURE, reference=None, goal=5).met
    assert not replace(FIGURE, reference=None, goal=4).met


def test_only_binding_goals_and_growth_fail_a_run() -> None:
    steep = growth("edits", "lines", "ms", {10: [1.0], 100: [100.0]})
    missed = replace(FIGURE, goal=0.1)
    assert Findings([missed], [steep]).missed == ["start", "edits, growth"]
    assert Findings([replace(missed, binding=False)]).missed == []


@given(st.floats(0.0, 3.0), st.floats(0.01, 100.0))
def test_the_exponent_tells_how_a_cost_grows(exponent: float, cost: float) -> None:
    sizes = (10, 100, 1_000)
    grown = growth("x", "y", "ms", {size: [cost * size**exponent] for size in reversed(sizes)})
    assert [point.size for point in grown.points] == list(sizes)
    assert grown.exponent == pytest.approx(exponent, abs=1e-6)


def test_growth_is_judged_by_its_last_step_because_fixed_costs_hide_the_first() -> None:
    assert not Growth("x", "y", "ms", [Point(1, [100.0]), Point(10, [101.0]), Point(100, [10_000.0])]).met


def test_a_quiet_figure_that_grows_by_a_tenth_is_a_regression() -> None:
    (found,) = regressions(slower(QUIET, 1.1), Findings([QUIET]))
    assert (found.name, found.reference) == ("start", "peer")
    assert found.before < found.allowed < found.now
    assert "start against peer: 0.44 x, was 0.4 x" in str(found)


def test_what_did_not_change_or_became_better_is_none() -> None:
    for factor in (0.5, 1.0, 1.04):
        assert regressions(slower(QUIET, factor), Findings([QUIET])) == []


def test_noise_is_no_regression_whichever_side_measured_it() -> None:
    noisy = replace(QUIET, samples=[3.0, 5.0, 4.0, 3.4, 4.6])
    assert regressions(slower(noisy, 1.1), Findings([QUIET])) == []
    assert regressions(slower(QUIET, 1.1), Findings([noisy])) == []
    assert regressions(slower(noisy, 3.0), Findings([QUIET])) != []


def test_only_what_both_sides_compare_with_the_same_peer_is_compared() -> None:
    other = replace(QUIET, reference=Reference("another", [1.0] * 5))
    alone = replace(QUIET, reference=None)
    assert regressions(slower(QUIET, 9.0), Findings([other, alone])) == []
    assert compared(Findings([QUIET, alone]), Findings([QUIET, other, alone])) == 1


def test_a_result_is_the_same_after_it_was_written(tmp_path: Path) -> None:
    findings = Findings(
        [FIGURE], [growth("edits", "lines", "ms", {1: [1.0], 2: [2.0]})], [Share("f", 0.5)], ["A note."]
    )
    result = Result({"start": findings}, {"python": "3"}, is_full=True)
    file = tmp_path / "result.json"
    file.write_text(result.as_json())
    assert load(file) == result
    assert findings_from(json.loads(result.as_json())["parts"]["start"]) == findings


def test_a_table_shows_figures_growth_shares_and_notes() -> None:
    steep = growth("edits", "lines", "ms", {10: [1.0], 100: [100.0]})
    lines = table("Start", Findings([FIGURE], [steep], [Share("f", 0.5)], ["A note."])).splitlines()
    assert lines[0].startswith("Start")
    assert " ".join(lines[1].split()) == "start 4.4 ms 11 ms (peer) 0.4 x (0.4 to 0.41) 0.5 x ok"
    assert lines[2].strip() == "edits in ms by lines: 10: 1, 100: 100; exponent 2.00 MISSED"
    assert lines[3].split() == ["50.0%", "f"]
    assert lines[4].strip() == "Note: A note."


@pytest.mark.parametrize(("is_full", "rounds"), [(True, 9), (False, 4)])
async def test_variants_take_turns_and_the_first_round_does_not_count(is_full: bool, rounds: int) -> None:
    order: list[str] = []

    def variant(name: str) -> Callable[[], Awaitable[int]]:
        async def run() -> int:
            order.append(name)
            return len(order)

        return run

    samples = await Effort(is_full).interleaved(9, {name: variant(name) for name in "ab"})
    assert order == ["a", "b"] * (rounds + 1)
    assert samples["a"] == list(range(3, len(order) + 1, 2))
    assert samples["b"] == list(range(4, len(order) + 1, 2))


async def test_a_trial_takes_no_more_rounds_than_it_is_told() -> None:
    async def variant() -> int:
        return 1

    assert await Effort(is_full=True, most=2).interleaved(9, {"a": variant}) == {"a": [1, 1]}


def test_what_must_hold_is_every_binding_goal_and_all_growth() -> None:
    steep = growth("edits", "lines", "ms", {10: [1.0], 100: [100.0]})
    target = replace(FIGURE, name="target", binding=False)
    must_hold = Result({"start": Findings([FIGURE, target], [steep])}, {}, is_full=False).must_hold({"start": "Start"})
    assert [figure.name for figure in must_hold.figures] == ["Start: start"]
    assert must_hold.growths == [steep]
