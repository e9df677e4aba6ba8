"""Editing while the user types and saves and others write to the disk: nothing is lost, and nothing else is touched."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ollm_lsp.core.errors import StaleDocument
from ollm_lsp.core.lines import ending, split, usual_ending
from ollm_lsp.core.tool import ToolStatus
from ollm_lsp.tools.edit_file import EditFile
from ollm_lsp.tools.proposing import Proposing
from ollm_lsp.tools.read_log import ReadLog
from ollm_lsp.tools.write_file import WriteFile
from tests.support.model_editor import MARK, ModelEditor
from tests.support.quiet_run import QuietRun
from tests.support.scale import scaled

if TYPE_CHECKING:
    from collections.abc import Generator

    from ollm_lsp.core.change import Proposal

pytestmark = pytest.mark.large
EXAMPLES = scaled(1_000)
"""For each way to keep a file: five thousand runs in all, when the tests are large."""
PATH = "a.txt"
TOKEN = re.compile(r"<u\d+>")
"""What the user types. No token is typed twice."""


@dataclass(frozen=True)
class Types:
    """The user types a token, or takes some characters away."""

    place: int
    removes: int


@dataclass(frozen=True)
class Saves:
    """The user saves."""


@dataclass(frozen=True)
class Foreign:
    """Another program adds a line to the file on the disk."""

    place: int


@dataclass(frozen=True)
class Reads:
    """The model reads the file."""


Disturbance: TypeAlias = Types | Saves | Foreign


@dataclass(frozen=True)
class Edits:
    """The model replaces some lines that it knows, in one way or the other. Meanwhile other things happen."""

    line: int
    span: int
    writes_all: bool
    meanwhile: tuple[Disturbance, ...]


numbers = st.integers(0, 30)
disturbances = st.one_of(
    st.builds(Types, numbers, st.sampled_from([0, 0, 0, 1, 5])), st.builds(Saves), st.builds(Foreign, numbers)
)
edits = st.builds(Edits, numbers, st.integers(1, 3), st.booleans(), st.lists(disturbances, max_size=3).map(tuple))
actions = st.lists(st.one_of(disturbances, st.builds(Reads), edits, edits), min_size=1, max_size=8)
line_endings = st.sampled_from([["\n"], ["\r\n"], ["\n", "\r\n"], ["\r\n", "\n", "\r"]])


def text_of(size: int, ends: list[str], has_final: bool) -> str:
    lines = [f"line é {number}{ends[number % len(ends)]}" for number in range(size)]
    return "".join(lines) if has_final else "".join(lines).rstrip("\r\n")


texts = st.builds(text_of, st.integers(1, 12), line_endings, st.booleans())


@dataclass
class Run:
    """One file, its editor, and a model that edits it."""

    text: str
    encoding: str
    editor: ModelEditor = field(default_factory=ModelEditor)
    log: ReadLog = field(default_factory=ReadLog)
    numbers: count[int] = field(default_factory=count)
    meanwhile: list[Disturbance] = field(default_factory=list[Disturbance])
    statuses: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.editor.disk[PATH] = self.text.encode(self.encoding)
        self.editor.answer = self.answer
        proposing = Proposing(self.editor, self.editor, self.log)
        self.edit_file, self.write_file = EditFile(proposing), WriteFile(proposing)
        self.before = self.text

    async def answer(self, _: Proposal) -> None:
        """The user says yes after something else has happened."""
        if self.meanwhile:
            self.disturb(self.meanwhile.pop(0))
        self.before = self.editor.snapshot(PATH).text

    def disturb(self, action: Disturbance) -> None:
        match action:
            case Foreign(place):
                lines = split(self.editor.disk[PATH].decode(self.encoding))
                lines.insert(place % (len(lines) + 1), f"<u{next(self.numbers)}>\n")
                self.editor.change_on_disk(PATH, "".join(lines).encode(self.encoding))
            case Saves() if PATH in self.editor.buffers:
                self.editor.save(PATH)
            case Types(place, removes) if PATH in self.editor.buffers:
                text = self.editor.buffers[PATH].text
                start = place * 7 % (len(text) + 1)
                typed = "" if removes else f"<u{next(self.numbers)}>"
                self.editor.type(PATH, start, min(len(text), start + removes), typed)
            case _:
                pass  # nobody types into a file that is not open

    async def edit(self, action: Edits) -> None:
        known = self.log.base(self.editor.snapshot(PATH)).text
        lines = split(known)
        start = action.line % max(1, len(lines))
        old = "".join(lines[start : start + action.span])
        if known.count(old) != 1:
            return
        new = f"model {next(self.numbers)}{usual_ending(known) if ending(old) else ''}"
        wanted = known.replace(old, new)
        arguments: dict[str, Any] = {"path": PATH, "edits": [{"old": old, "new": new}]}
        if writes_all := action.writes_all and ("\r" in wanted or "\r" not in known):
            arguments = {"path": PATH, "content": wanted}
        self.meanwhile = list(action.meanwhile)
        made = len(self.editor.made)
        try:
            outcome = await (self.write_file if writes_all else self.edit_file).run(arguments, QuietRun())
        except StaleDocument:
            self.statuses.append("stale")
            assert len(self.editor.made) == made
            assert new not in self.editor.snapshot(PATH).text
            return
        self.statuses.append(outcome.status)
        assert outcome.status is ToolStatus.COMPLETED
        assert len(self.editor.made) == made + 1
        self.check(known, old, new)

    def check(self, known: str, old: str, new: str) -> None:
        """The edit did what it was computed for to the text as it was then, and nothing else."""
        after, before = self.editor.snapshot(PATH).text, self.before
        unknown = set(TOKEN.findall(before)) - set(TOKEN.findall(known))
        assert unknown <= set(TOKEN.findall(after)), "what the user typed and the model never saw was lost"
        assert before.count(old) >= 1
        if before.count(old) == 1:
            assert after == before.replace(old, new)
        assert set(self.editor.made) <= set(self.editor.shown)


@pytest.fixture(scope="module")
def loop() -> Generator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


async def play(run: Run, script: list[Disturbance | Reads | Edits]) -> None:
    for action in script:
        match action:
            case Reads():
                run.log.note(run.editor.snapshot(PATH))
            case Edits():
                await run.edit(action)
            case _:
                run.disturb(action)


@pytest.mark.threat("F19", "F20", "F24")
@pytest.mark.prop("lsp-4")
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("encoding", "is_open"),
    [("utf-8", True), ("utf-8", False), ("utf-8-sig", True), ("utf-8-sig", False), ("latin-1", True)],
)
def test_no_keystroke_is_lost_and_every_edit_does_exactly_what_it_was_computed_for(
    encoding: str, is_open: bool, loop: asyncio.Runner
) -> None:
    statuses: set[str] = set()

    @settings(deadline=None, max_examples=EXAMPLES, database=None)
    @given(texts, actions)
    def interleave(text: str, script: list[Disturbance | Reads | Edits]) -> None:
        run = Run(text, encoding)
        if is_open:
            run.editor.open(PATH, encoding)
        loop.run(play(run, script))
        if PATH in run.editor.buffers:
            run.editor.save(PATH)
        assert run.editor.disk[PATH].startswith(MARK) is (encoding == "utf-8-sig")
        assert run.editor.disk[PATH].decode(encoding) == run.editor.snapshot(PATH).text
        statuses.update(run.statuses)

    interleave()
    assert statuses == {"completed", "stale"}
