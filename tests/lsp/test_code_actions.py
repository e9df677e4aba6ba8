"""What can be chosen where, as each client understands it. No model is asked for any of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.acting import ADD, CODE, CURSOR, PROBLEM, acting
from tests.support.workspace_client import CLIENTS, CONFIRMING, PLAIN, RICH

if TYPE_CHECKING:
    from pathlib import Path

OTHER = {**PROBLEM, "message": "a is\n  " + "very " * 20 + "bad"}
OURS = {**PROBLEM, "source": "ollm", "code": "ai-comment"}
OWN = "actions: {custom: [{title: Swap, prompt: x, kind: edit}, {title: Praise, prompt: y}]}\n"
ALWAYS = ["Document", "Edit with an instruction", "Explain", "Ask about this", "Generate tests"]
KRAKEN = "ollm: Release the Kraken on this"


def titles(actions: list[dict[str, Any]]) -> list[str]:
    return [action["title"].removeprefix("ollm: ") for action in actions]


@pytest.mark.parametrize("kind", list(CLIENTS))
async def test_what_is_offered_for_a_selection_and_a_cursor(kind: str, tmp_path: Path) -> None:
    async with acting(tmp_path, CLIENTS[kind]) as window:
        selected, at_cursor = await window.actions(ADD), await window.actions(CURSOR)
        assert all(action["title"].startswith("ollm: ") for action in selected)
        kraken = [KRAKEN.removeprefix("ollm: ")] if kind != "plain" else []
        assert titles(selected) == ["Refactor", *ALWAYS, *kraken]
        assert titles(at_cursor) == ALWAYS
        one_character = {"start": CURSOR["start"], "end": {**CURSOR["end"], "character": 10}}
        assert titles(await window.actions(one_character)) == ALWAYS, "as Helix has it where nothing is selected"
        assert window.fake.http.requests == [], "no provider was asked"


async def test_every_action_has_its_kind_its_command_and_its_marks(tmp_path: Path) -> None:
    async with acting(tmp_path, RICH, settings=OWN) as window:
        await window.client.editor.request("ollm/chat/list", {})  # which waits for the settings
        actions = await window.actions(ADD, diagnostics=[PROBLEM])
        kinds = {
            "Fix: it does not add": "quickfix.ollm",
            "Refactor": "refactor.rewrite.ollm",
            "Document": "refactor.rewrite.ollm",
            "Edit with an instruction": "refactor.rewrite.ollm",
            "Swap": "refactor.rewrite.ollm",
            "Praise": "source.ollm",
            "Explain": "source.ollm",
            "Ask about this": "source.ollm",
            "Generate tests": "source.ollm",
        }
        *alive, kraken = actions
        assert dict(zip(titles(alive), (action["kind"] for action in alive), strict=True)) == kinds
        for action in alive:
            assert action["tags"] == [1]
            assert "isPreferred" not in action, "an editor may run what is preferred unasked"
            (argument,) = action["command"]["arguments"]
            assert (argument["uri"], argument["range"]) == (window.uri, ADD)
        assert alive[0]["diagnostics"] == alive[0]["command"]["arguments"][0]["diagnostics"] == [PROBLEM]
        assert (kraken["title"], kraken["kind"]) == (KRAKEN, "source.ollm")
        assert kraken["disabled"]["reason"]
        assert "command" not in kraken
    async with acting(tmp_path, PLAIN) as window:
        for action in await window.actions(ADD):
            assert set(action) == {"title", "kind", "command"}, "nothing that the client did not announce"


async def test_a_client_that_knows_no_literals_gets_commands(tmp_path: Path) -> None:
    old: dict[str, Any] = {**PLAIN, "textDocument": {}}
    async with acting(tmp_path, old) as window:
        found = await window.actions(ADD, diagnostics=[PROBLEM])
        assert {tuple(sorted(one)) for one in found} == {("arguments", "command", "title")}
        assert {one["command"] for one in found} == {f"ollm.{name}" for name in
            ("fix", "refactor", "document", "edit", "explain", "ask", "tests")}  # fmt: skip


async def test_there_is_a_fix_for_each_diagnostic_of_others_and_one_for_all(tmp_path: Path) -> None:
    async with acting(tmp_path, RICH) as window:
        fixes = [
            one for one in await window.actions(CURSOR, diagnostics=[PROBLEM, OURS, OTHER]) if "Fix" in one["title"]
        ]
        assert [fix["diagnostics"] for fix in fixes] == [[PROBLEM], [OTHER], [PROBLEM, OTHER]]
        assert fixes[1]["title"].startswith("ollm: Fix: a is very very")
        assert all(len(fix["title"]) < 80 for fix in fixes)
        assert fixes[2]["title"] == "ollm: Fix all 2 problems here"
        assert not any("Fix" in one["title"] for one in await window.actions(CURSOR, diagnostics=[OURS]))


async def test_the_word_at_the_cursor_is_no_selection_and_all_of_a_line_is_one(tmp_path: Path) -> None:
    async with acting(tmp_path, RICH, "No code.") as window:
        for first, last, block in ((8, 14, "def add(self, a, b):\n    return a - b\n"), (8, 20, "return a - b\n")):
            where = {"start": {"line": 5, "character": first}, "end": {"line": 5, "character": last}}
            is_selected = block.startswith("return")
            assert ("Refactor" in titles(await window.actions(where))) is is_selected
            await window.command("ollm.refactor", range=where)
            assert f"```python\n{block}```" in window.model.asked[-1]


async def test_a_fix_is_of_what_is_around_a_diagnostic_unless_several_lines_are_selected(tmp_path: Path) -> None:
    word = {"start": {"line": 5, "character": 8}, "end": {"line": 5, "character": 14}}
    problem = {**PROBLEM, "range": word}
    async with acting(tmp_path, RICH) as window:
        for selected, meant in ((word, {"start": word["start"], "end": word["start"]}), (ADD, ADD)):
            fixes = [
                one["command"]["arguments"][0]["range"]
                for one in await window.actions(selected, diagnostics=[problem, OTHER])
                if "Fix" in one["title"]
            ]
            assert fixes == [meant, CURSOR if selected == word else ADD, meant]


@pytest.mark.parametrize(
    ("only", "found"),
    [
        (["quickfix"], ["Fix: it does not add"]),
        (["quickfix.ollm"], ["Fix: it does not add"]),
        (["refactor"], ["Document", "Edit with an instruction"]),
        (["refactor.rewrite", "quickfix"], ["Fix: it does not add", "Document", "Edit with an instruction"]),
        (["source"], ["Explain", "Ask about this", "Generate tests"]),
        ([""], ["Fix: it does not add", *ALWAYS]),
        (["source.fixAll"], []),
        (["source.organizeImports", "refactor.extract", "quick", "quickfix.ollm.more"], []),
        ([], []),
    ],
)
async def test_a_filter_lets_through_what_is_below_its_kinds(only: list[str], found: list[str], tmp_path: Path) -> None:
    async with acting(tmp_path, CONFIRMING) as window:
        assert titles(await window.actions(CURSOR, only=only, diagnostics=[PROBLEM])) == found


async def test_of_thousands_of_diagnostics_the_first_have_a_fix_and_odd_ranges_do_not_matter(tmp_path: Path) -> None:
    odd = [{"message": "x", "range": range_} for range_ in (None, {"start": {"line": "q"}}, 7)]
    async with acting(tmp_path, RICH) as window:
        fixes = [
            one for one in await window.actions(CURSOR, diagnostics=odd + [PROBLEM] * 5_000) if "Fix" in one["title"]
        ]
        assert len(fixes) == 21
        assert fixes[-1]["title"] == "ollm: Fix the first 20 problems here"
        assert [fix["command"]["arguments"][0]["range"] for fix in fixes[:3]] == [CURSOR] * 3


async def test_an_editor_that_asks_by_itself_gets_few_and_before_saving_none(tmp_path: Path) -> None:
    async with acting(tmp_path, RICH) as window:
        assert await window.actions(CURSOR, triggerKind=2) == []
        assert titles(await window.actions(CURSOR, triggerKind=2, diagnostics=[PROBLEM])) == ["Fix: it does not add"]
        for only in (["quickfix"], ["source"], ["source.fixAll"], ["refactor"]):
            assert await window.actions(ADD, triggerKind=2, only=only, diagnostics=[PROBLEM]) == []
        assert titles(await window.actions(CURSOR, triggerKind=1)) == ALWAYS


async def test_nothing_is_offered_in_a_chat_or_in_what_is_not_open(tmp_path: Path) -> None:
    async with acting(tmp_path, RICH) as window:
        (window.client.folder / "talk.ollm.md").write_text("## You\n\nHi <!-- do AI! -->\n")
        window.client.open("talk.ollm.md")
        for name in ("talk.ollm.md", "closed.py"):
            document = {"uri": (window.client.folder / name).as_uri()}
            params: dict[str, Any] = {"textDocument": document, "range": ADD, "context": {"diagnostics": [PROBLEM]}}
            actions = await window.client.editor.request("textDocument/codeAction", params)
            assert [action["title"] for action in actions if action["title"] != "Send"] == []


async def test_the_kinds_and_the_commands_are_announced(tmp_path: Path) -> None:
    async with acting(tmp_path, RICH) as window:
        (answer,) = [one for one in window.client.editor.responses if "capabilities" in (one.get("result") or {})]
        provider = answer["result"]["capabilities"]["codeActionProvider"]
        assert provider == {"codeActionKinds": ["quickfix.ollm", "refactor.rewrite.ollm", "source.ollm"]}
        offered = {one["command"]["command"] for one in await window.actions(ADD) if "command" in one}
        assert offered <= set(answer["result"]["capabilities"]["executeCommandProvider"]["commands"])


HINTED = "x = 1  # make it two AI!\n# why AI?\ns = 'AI!'\n# AI!\n"


async def test_comments_for_the_model_are_marked_after_a_pause_and_unmarked_when_they_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ollm_lsp.lsp.ai_hints.PAUSE", 0.01)
    async with acting(tmp_path, PLAIN, code=CODE) as window:
        client = window.client
        client.type("sums.py", HINTED)
        await client.editor.until(lambda: len(client.hints()) == 2)
        (_, do), (_, answer) = client.hints()
        assert do["range"] == {"start": {"line": 0, "character": 7}, "end": {"line": 0, "character": 24}}
        assert (do["severity"], do["source"], do["code"]) == (4, "ollm", "ai-comment")
        assert "do this" in do["message"]
        assert "answer this by a code action: why" in answer["message"]
        client.replace("sums.py", CODE)
        await client.editor.until(lambda: not client.hints())
        client.type("sums.py", HINTED)
        await client.editor.until(lambda: len(client.hints()) == 2)
        client.close("sums.py")
        await client.editor.until(lambda: not client.hints())
        assert window.fake.http.requests == []


async def test_comments_are_not_marked_where_the_setting_is_off_but_offered_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ollm_lsp.lsp.ai_hints.PAUSE", 0.0)
    async with acting(tmp_path, PLAIN, code=HINTED, settings="actions: {aiComments: false}\n") as window:
        line = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
        for _ in range(5):
            assert "Do: make it two" in titles(await window.actions(line))
        assert window.client.hints() == []
