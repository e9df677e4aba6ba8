"""Every recording of every wire, cut and cut off at every byte."""

from __future__ import annotations

import pytest

from ollm_lsp.core.errors import ServerFailed
from tests.providers.recorded import COMPLETE, FAILED, FOLDER, WIRES, Recording
from tests.providers.replay import (
    Outcome,
    assert_complete_only_after,
    assert_cuts_change_nothing,
    assert_never_acts,
    play,
)

pytestmark = pytest.mark.large
complete = pytest.mark.parametrize("recording", COMPLETE, ids=str)
failed = pytest.mark.parametrize("recording", FAILED, ids=str)


def test_every_file_is_played_and_every_wire_has_answers_and_failures() -> None:
    files = {f"{path.parent.name}/{path.name}" for wire in WIRES for path in (FOLDER / wire).iterdir()}
    assert files == {recording.path for recording in (*COMPLETE, *FAILED)}
    assert {recording.wire for recording in COMPLETE} == {recording.wire for recording in FAILED} == {*WIRES.values()}


@pytest.mark.prop("core-15")
@pytest.mark.prop("krk-6")
@complete
def test_a_recording_gives_exactly_its_events(recording: Recording) -> None:
    assert play(recording.wire, [recording.raw]) == Outcome(recording.events)


@pytest.mark.threat("F2", "F3")
@pytest.mark.prop("core-15")
@complete
def test_a_recording_cut_in_two_anywhere_gives_the_same_events(recording: Recording) -> None:
    assert_cuts_change_nothing(recording.wire, recording.raw)


@pytest.mark.threat("F4")
@pytest.mark.prop("core-28")
@complete
def test_a_recording_that_breaks_off_before_its_terminal_signal_is_incomplete(recording: Recording) -> None:
    assert_complete_only_after(recording.wire, recording.raw, recording.terminal)


@pytest.mark.threat("F6")
@pytest.mark.prop("core-28")
@pytest.mark.prop("eng-7")
@failed
def test_a_recording_of_a_failure_gives_its_error_however_it_is_cut(recording: Recording) -> None:
    outcome = play(recording.wire, [recording.raw])
    assert (outcome.events, outcome.error) == (recording.events, ServerFailed)
    assert recording.terminal.decode() in outcome.message
    assert_cuts_change_nothing(recording.wire, recording.raw)
    assert_never_acts(recording.wire, recording.raw)
