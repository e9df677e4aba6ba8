"""The editing tools: what they propose, what they refuse, and what the model is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ollm_lsp.core.applied import Applied, Done, Failed
from ollm_lsp.core.change import EditText, Proposal, RenameFile
from ollm_lsp.core.errors import BadArgument, OllmError, OutsideWorkspace, PermissionDenied, StaleDocument
from ollm_lsp.core.tool import ToolKind, ToolOutcome, ToolStatus
from ollm_lsp.core.toolbox import Toolbox
from ollm_lsp.tools.create_file import CreateFile
from ollm_lsp.tools.delete_file import DeleteFile
from ollm_lsp.tools.edit_file import EditFile
from ollm_lsp.tools.proposing import ATTEMPTS, Proposing
from ollm_lsp.tools.read_log import ReadLog, tag_of
from ollm_lsp.tools.rename_file import RenameFile as RenameTool
from ollm_lsp.tools.schema import fits
from ollm_lsp.tools.write_file import WriteFile
from tests.support.model_editor import ModelEditor, no
from tests.support.quiet_run import QuietRun

if TYPE_CHECKING:
    from ollm_lsp.core.ports import Tool

TEXT = "one\ntwo\nthree\nfour\nfive\n"


class Bench:
    """An editor with a file, and the tools of a conversation."""

    def __init__(self, text: str = TEXT, path: str = "src/a.py") -> None:
        self.editor = ModelEditor({path: text.encode()}, {"", "src", "docs"})
        self.log = ReadLog()
        self.path = path
        proposing = Proposing(self.editor, self.editor, self.log)
        kinds = (EditFile, WriteFile, CreateFile, RenameTool, DeleteFile)
        self.tools: dict[str, Tool] = {kind.spec.name: kind(proposing) for kind in kinds}

    def read(self) -> str:
        return self.log.note(self.editor.snapshot(self.path))

    async def call(self, tool: str, **arguments: Any) -> ToolOutcome:
        assert fits(self.tools[tool].spec.parameters, arguments) is None
        outcome = await self.tools[tool].run(arguments, QuietRun())
        assert isinstance(outcome, ToolOutcome)
        return outcome

    async def edit(self, old: str, new: str, **more: Any) -> ToolOutcome:
        return await self.call("edit_file", path=self.path, edits=[{"old": old, "new": new}], **more)

    @property
    def text(self) -> str:
        return self.editor.snapshot(self.path).text

    @property
    def is_untouched(self) -> bool:
        return self.editor.made == []


async def test_an_edit_is_made_and_the_new_state_is_told() -> None:
    bench = Bench()
    outcome = await bench.edit("two\n", "2\n2b\n")
    assert bench.text == "one\n2\n2b\nthree\nfour\nfive\n"
    tag = tag_of(bench.editor.snapshot("src/a.py"))
    assert outcome == ToolOutcome(f"src/a.py was edited. Its tag is now {tag}.\n     2\t2\n     3\t2b")
    assert (await bench.edit("four\n", "", base=tag)).text.endswith("1 line removed before line 5")


async def test_an_edit_of_text_that_was_never_read_is_computed_on_what_is_there() -> None:
    bench = Bench()
    bench.editor.open("src/a.py")
    bench.editor.type("src/a.py", 0, 0, "zero\n")
    assert (await bench.edit("zero", "0")).status is ToolStatus.COMPLETED
    assert bench.text == f"0\n{TEXT}"


@pytest.mark.threat("F23")
async def test_a_file_that_changed_elsewhere_since_it_was_read_is_merged_and_the_model_is_told() -> None:
    bench = Bench()
    tag = bench.read()
    bench.editor.change_on_disk("src/a.py", TEXT.replace("five", "FIVE").encode())
    outcome = await bench.edit("one", "1", base=tag)
    assert bench.text == "1\ntwo\nthree\nfour\nFIVE\n"
    assert "changes that you have not seen" in outcome.text
    assert "tag" not in outcome.text


async def test_what_the_model_has_not_seen_is_not_undone_by_its_next_edit() -> None:
    bench = Bench()
    bench.read()
    bench.editor.open("src/a.py")
    bench.editor.type("src/a.py", 0, 3, "USER")
    await bench.edit("five", "5")
    await bench.call("write_file", path="src/a.py", content="one\ntwo\nthree\nfour\n5\nsix\n")
    assert bench.text == "USER\ntwo\nthree\nfour\n5\nsix\n"


@pytest.mark.threat("F23")
@pytest.mark.parametrize("tool", ["edit_file", "write_file"])
async def test_a_file_that_changed_in_the_same_place_is_refused(tool: str) -> None:
    bench = Bench()
    bench.read()
    bench.editor.change_on_disk("src/a.py", TEXT.replace("two", "TWO").encode())
    arguments: dict[str, Any] = {"edits": [{"old": "two", "new": "2"}]}
    if tool == "write_file":
        arguments = {"content": TEXT.replace("two", "2")}
    with pytest.raises(StaleDocument, match="Read the file again"):
        await bench.call(tool, path="src/a.py", **arguments)
    assert bench.is_untouched
    assert bench.editor.shown == []


async def test_a_base_that_was_never_read_is_refused() -> None:
    bench = Bench()
    with pytest.raises(StaleDocument, match="You have read no text '0123456789ab'"):
        await bench.edit("one", "1", base="0123456789ab")
    assert bench.is_untouched


@pytest.mark.threat("F20")
async def test_what_the_user_types_while_they_are_asked_is_kept_and_they_are_asked_anew() -> None:
    bench = Bench()
    bench.read()
    bench.editor.open("src/a.py")
    proposals: list[Proposal] = []

    async def answer(proposal: Proposal) -> None:
        proposals.append(proposal)
        if len(proposals) == 1:
            bench.editor.type("src/a.py", len(TEXT), len(TEXT), "typed\n")

    bench.editor.answer = answer
    assert (await bench.edit("one", "1")).status is ToolStatus.COMPLETED
    assert bench.text == TEXT.replace("one", "1") + "typed\n"
    assert len(bench.editor.shown) == 2
    assert bench.editor.made == bench.editor.shown[1:]


async def test_a_user_who_never_stops_typing_gets_no_edit() -> None:
    bench = Bench()
    bench.editor.open("src/a.py")

    async def answer(_: Proposal) -> None:
        bench.editor.type("src/a.py", 0, 0, "x\n")

    bench.editor.answer = answer
    with pytest.raises(StaleDocument):
        await bench.edit("four", "4")
    assert len(bench.editor.shown) == ATTEMPTS
    assert bench.is_untouched


async def test_a_no_reaches_the_model_with_its_feedback() -> None:
    bench = Bench()
    bench.editor.answer = no("use tabs")
    outcome = await bench.edit("one", "1")
    assert outcome.status is ToolStatus.DENIED
    assert "They say: use tabs" in outcome.text
    bench.editor.answer = no()
    for tool, arguments in CALLS:
        outcome = await bench.call(tool, **arguments)
        assert (tool, outcome.status) == (tool, ToolStatus.DENIED)
        assert "nothing was changed" in outcome.text
    assert bench.is_untouched
    assert bench.text == TEXT


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("edit_file", {"path": "src/a.py", "edits": [{"old": "one", "new": "1"}]}),
    ("write_file", {"path": "src/a.py", "content": "new"}),
    ("create_file", {"path": "src/b.py", "content": "new"}),
    ("rename_file", {"path": "src/a.py", "new_path": "docs/a.py"}),
    ("delete_file", {"path": "src/a.py"}),
]


@pytest.mark.parametrize(("tool", "arguments"), CALLS)
async def test_a_failure_of_the_editor_is_told_exactly(tool: str, arguments: dict[str, Any]) -> None:
    bench = Bench()

    async def answer(proposal: Proposal) -> Applied:
        return Failed("The disk is full.", proposal.changes[0])

    bench.editor.answer = answer
    outcome = await bench.call(tool, **arguments)
    assert outcome.status is ToolStatus.FAILED
    assert outcome.text.startswith("The disk is full. It failed at file:///work/")
    assert outcome.text.endswith("Nothing was changed.")


@pytest.mark.threat("F19")
@pytest.mark.parametrize(("tool", "arguments"), CALLS[2:])
async def test_an_editor_that_says_done_and_did_nothing_is_not_believed(tool: str, arguments: dict[str, Any]) -> None:
    bench = Bench()

    async def answer(_: Proposal) -> Applied:
        return Done()

    bench.editor.answer = answer
    assert (await bench.call(tool, **arguments)).status is ToolStatus.FAILED


async def test_an_edit_that_changes_nothing_is_not_proposed() -> None:
    bench = Bench()
    assert "says that already" in (await bench.edit("one", "one")).text
    assert bench.editor.shown == []


async def test_a_text_that_is_not_there_is_told_with_the_nearest() -> None:
    bench = Bench("def greet(name):\n    return name\n")
    outcome = await bench.edit("def greet(nme):\n", "")
    assert outcome.status is ToolStatus.FAILED
    assert "     1\tdef greet(name):" in outcome.text
    assert bench.editor.shown == []


@pytest.mark.threat("F24")
async def test_writing_keeps_line_endings_and_the_byte_order_mark() -> None:
    bench = Bench("\ufeffone\r\ntwo\r\n")
    bench.editor.open("src/a.py")
    await bench.call("write_file", path="src/a.py", content="one\nTWO\n")
    bench.editor.save_all()
    assert bench.editor.disk["src/a.py"] == b"\xef\xbb\xbfone\r\nTWO\r\n"


async def test_a_file_is_created_where_nothing_is() -> None:
    bench = Bench()
    outcome = await bench.call("create_file", path="src/new.py", content="x\n")
    assert outcome.text == f"src/new.py was created. Its tag is {tag_of(bench.editor.snapshot('src/new.py'))}."
    assert bench.editor.disk["src/new.py"] == b"x\n"


@pytest.mark.threat("T20", "F40")
@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("create_file", {"path": "src/a.py", "content": ""}, "there already"),
        ("create_file", {"path": "src", "content": ""}, "there already"),
        ("create_file", {"path": "src/a.py/b", "content": ""}, "is a file"),
        ("edit_file", {"path": "src/none.py", "edits": [{"old": "a", "new": "b"}]}, "create_file"),
        ("write_file", {"path": "src", "content": ""}, "create_file"),
        ("rename_file", {"path": "src/none", "new_path": "b"}, "is not a file or folder"),
        ("rename_file", {"path": "src/a.py", "new_path": "missing/a.py"}, "folder of missing/a.py is not there"),
        ("rename_file", {"path": "src/a.py", "new_path": "docs"}, "there already"),
        ("rename_file", {"path": "src/a.py", "new_path": "src/a.py"}, "the same"),
        ("rename_file", {"path": "src", "new_path": "src/b"}, "inside it"),
        ("delete_file", {"path": "src"}, "no file"),
        ("delete_file", {"path": "none"}, "not there"),
    ],
)
async def test_what_would_do_damage_is_refused_without_a_question(
    tool: str, arguments: dict[str, Any], words: str
) -> None:
    bench = Bench()
    outcome = await bench.call(tool, **arguments)
    assert outcome.status is ToolStatus.FAILED
    assert words in outcome.text
    assert bench.editor.shown == []


@pytest.mark.threat("T20")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("delete_file", {"path": ".git/config"}),
        ("delete_file", {"path": "sub/.GIT./HEAD"}),
        ("delete_file", {"path": ".g\u200cit/HEAD"}),
        ("delete_file", {"path": "notes.bak"}),
        ("rename_file", {"path": ".git", "new_path": "old-git"}),
        ("rename_file", {"path": "src/a.py", "new_path": ".git/hooks/pre-commit"}),
    ],
)
async def test_version_control_and_backups_are_never_deleted_or_moved(tool: str, arguments: dict[str, Any]) -> None:
    bench = Bench()
    for path in (".git/config", "notes.bak", "sub/.GIT./HEAD", ".g\u200cit/HEAD"):
        bench.editor.disk[path] = b""
    bench.editor.folders |= {".git", ".git/hooks"}
    with pytest.raises(PermissionDenied):
        await bench.call(tool, **arguments)
    assert bench.editor.shown == []


async def test_a_moved_file_is_still_the_one_that_was_read() -> None:
    bench = Bench()
    bench.read()
    assert (await bench.call("rename_file", path="src/a.py", new_path="docs/b.py")).text == "src/a.py is now docs/b.py."
    bench.editor.change_on_disk("docs/b.py", TEXT.replace("five", "FIVE").encode())
    bench.path = "docs/b.py"
    await bench.edit("one", "1")
    assert bench.text == TEXT.replace("one", "1").replace("five", "FIVE")


async def test_a_deleted_file_is_gone_and_one_that_changed_is_not_deleted() -> None:
    bench = Bench()
    bench.read()
    bench.editor.change_on_disk("src/a.py", b"new\n")
    with pytest.raises(StaleDocument):
        await bench.call("delete_file", path="src/a.py")
    bench.read()
    assert (await bench.call("delete_file", path="src/a.py")).text == "src/a.py was deleted."
    assert "src/a.py" not in bench.editor.disk


@pytest.mark.threat("T20")
async def test_a_file_that_cannot_be_read_is_not_deleted_because_it_could_not_be_brought_back() -> None:
    bench = Bench()
    bench.editor.disk["src/a.py"] = b"\xff\xfe\x00"
    with pytest.raises(OllmError):
        await bench.call("delete_file", path="src/a.py")
    assert bench.editor.shown == []


@pytest.mark.parametrize(("tool", "arguments"), CALLS)
async def test_every_tool_stays_inside_and_says_where_and_what_it_does(tool: str, arguments: dict[str, Any]) -> None:
    bench = Bench()
    kinds = [ToolKind.EDIT, ToolKind.EDIT, ToolKind.CREATE, ToolKind.MOVE, ToolKind.DELETE]
    assert bench.tools[tool].kind is dict(zip(bench.tools, kinds, strict=True))[tool]
    assert arguments["path"] in bench.tools[tool].title(arguments)
    assert bench.tools[tool].locations(arguments)[0].uri == f"file:///work/{arguments['path']}"
    with pytest.raises(OutsideWorkspace):
        await bench.tools[tool].run({**arguments, "path": "../x"}, QuietRun())
    lying = bench.tools[tool].title({**arguments, "path": "a\u202e\nb"})
    assert "\n" not in lying
    assert "⟨U+202E⟩⟨U+000A⟩" in lying


@pytest.mark.parametrize(("tool", "arguments"), CALLS)
@pytest.mark.parametrize("wrong", [None, 5, "a\0b", "a\ud800"])
async def test_arguments_that_no_file_could_hold_are_refused(tool: str, arguments: dict[str, Any], wrong: Any) -> None:
    bench = Bench()
    for name in arguments:
        with pytest.raises(BadArgument):
            await bench.tools[tool].run({**arguments, name: wrong}, QuietRun())
    if tool == "edit_file":
        broken: list[Any] = [[], [1], [{"old": "one"}], [{"old": wrong, "new": ""}]]
        for edits in broken:
            with pytest.raises(BadArgument):
                await bench.tools[tool].run({**arguments, "edits": edits}, QuietRun())
    assert bench.editor.shown == []


def test_the_tools_fit_into_a_toolbox() -> None:
    assert [spec.name for spec in Toolbox(Bench().tools.values()).specs] == [name for name, _ in CALLS]


async def test_a_proposal_names_its_tool_and_its_change() -> None:
    bench = Bench()
    seen: list[Proposal] = []

    async def answer(proposal: Proposal) -> None:
        seen.append(proposal)

    bench.editor.answer = answer
    await bench.edit("one", "1")
    await bench.call("rename_file", path="src/a.py", new_path="docs/a.py")
    assert [(proposal.tool, proposal.title) for proposal in seen] == [
        ("edit_file", "Edit src/a.py"),
        ("rename_file", "Move src/a.py to docs/a.py"),
    ]
    assert seen[0].id != seen[1].id
    assert isinstance(seen[0].changes[0], EditText)
    assert seen[1].changes == (RenameFile("file:///work/src/a.py", "file:///work/docs/a.py"),)
