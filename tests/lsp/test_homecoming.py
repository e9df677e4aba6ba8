"""The changes of an agent come home as proposals: made by the editor, with a yes, on the text as it is by now."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.agents import MODELS, RECORDINGS, Part, RecordedStage
from tests.support.editor import environment
from tests.support.kraken import LocalModel
from tests.support.near_server import near_editor
from tests.support.workspace_client import CLIENTS, PLAIN, RICH, WorkspaceClient

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

TEXT = "def add(a, b):\n    return a - b\n\n\ndef other():\n    pass\n"
FIXED = TEXT.replace("a - b", "a + b")
EDIT = "app.py\n<<<<<<< SEARCH\n    return a - b\n=======\n    return a + b\n>>>>>>> REPLACE"
NEW = "`new.md`\n```\n<<<<<<< SEARCH\n=======\n# New\n>>>>>>> REPLACE\n```"
SECRET = "sk-" + "proj-abcdefghijklmnopqrstT3BlbkFJabcd"


def saying(text: str, *acts: dict[str, Any]) -> Part:
    """Codex, whose model does and says that."""
    lines: list[dict[str, Any]] = [
        {"type": "thread.started", "thread_id": "t"},
        *({"type": "item.completed", "item": {"id": f"a{number}", **act}} for number, act in enumerate(acts)),
        {"type": "item.completed", "item": {"id": "i", "type": "agent_message", "text": text}},
        {"type": "turn.completed", "usage": {"input_tokens": 1500, "output_tokens": 42}},
    ]
    return Part("".join(f"{json.dumps(line)}\n" for line in lines), login="Logged in\n")


@dataclass
class Home:
    """A window whose agent plays a part."""

    client: WorkspaceClient
    stage: RecordedStage
    local: LocalModel

    async def release(self, text: str = "Mend it.", **params: Any) -> dict[str, Any]:
        wanted = {"text": text, "partialResultToken": "r", **params}
        release = asyncio.ensure_future(self.client.editor.request("ollm/kraken/release", wanted))
        if self.client.capabilities is PLAIN:
            await self.client.decide_pending()
        return await release

    @property
    def titles(self) -> list[str]:
        return [question.partition("\n")[0] for question in self.client.asked]

    @property
    def rows(self) -> list[tuple[str, str]]:
        """How far the proposal came, as the chat shows it."""
        events = self.client.editor.progress["r"]
        calls = [event for event in events if event["type"] == "toolCall" and event["name"] == "propose_changes"]
        return [(call["title"], call["status"]) for call in calls]


@asynccontextmanager
async def at_home(
    tmp_path: Path, part: Part, capabilities: dict[str, Any] = RICH, tool: str = "codex"
) -> AsyncGenerator[Home]:
    (tmp_path / "stage").mkdir()
    stage = RecordedStage(tool, tmp_path / "stage")
    stage.play(part)
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "app.py").write_text(TEXT)
    async with LocalModel() as local:
        settings = f"""
model: "local:m"
providers: {{ local: {{ type: openai, baseUrl: "{local.url}/v1", maxRetries: 0 }} }}
kraken:
  enabled: true
  policies: {{ confirmBeforeRelease: false }}
  cliProviders: {{ {tool}: {{ tool: {tool}, defaultModel: {MODELS[tool]} }} }}
"""
        environ = environment(tmp_path, settings, PATH=stage.environment["PATH"], GEMINI_API_KEY="dummy")
        async with near_editor(environ) as editor:
            client = WorkspaceClient(editor, folder, capabilities)
            await client.start()
            yield Home(client, stage, local)


@pytest.mark.threat("T16")
@pytest.mark.prop("krk-22")
@pytest.mark.prop("lsp-4")
@pytest.mark.parametrize("kind", list(CLIENTS))
async def test_what_an_agent_writes_as_an_edit_is_proposed_and_made_by_the_editor(kind: str, tmp_path: Path) -> None:
    async with at_home(tmp_path, saying(f"The sign is wrong.\n\n{EDIT}"), CLIENTS[kind]) as home:
        home.client.open("app.py")
        home.client.type("app.py", "# typed, not saved\n")
        result = await home.release()
        assert home.client.text("app.py") == f"# typed, not saved\n{FIXED}"
        assert result["text"].endswith("*Changed: app.py.*")
        assert home.rows == [
            ("Propose changes: app.py", "awaitingPermission"),
            ("Propose changes: app.py", "completed"),
        ]
        assert (tmp_path / "work" / "app.py").read_text() == TEXT, "nobody but the editor writes"
        assert "You cannot change files yourself." in home.stage.received
        await home.client.editor.chat("Is it good now?", conversationId=result["conversationId"])
        assert "*Changed: app.py.*" in str(home.local.histories[-1]), "the local model goes on with it"


@pytest.mark.threat("T16")
async def test_a_no_with_words_changes_nothing_and_the_local_model_hears_it(tmp_path: Path) -> None:
    async with at_home(tmp_path, saying(EDIT)) as home:
        answer = {"result": {"optionId": "reject_once", "feedback": "Not that way."}}
        home.client.editor.answer["ollm/permission"] = lambda _: answer
        result = await home.release()
        assert result["finishReason"] == "stop"
        assert result["text"].endswith("*Not changed: app.py (you said no: Not that way).*")
        assert home.rows[-1][1] == "denied"
        assert home.client.files() == {"app.py": TEXT}
        await home.client.editor.chat("And now?", conversationId=result["conversationId"])
        assert "Not that way" in str(home.local.histories[-1])


async def test_edits_of_several_files_are_one_question_and_new_files_another(tmp_path: Path) -> None:
    other = EDIT.replace("app.py", "b.py")
    async with at_home(tmp_path, saying(f"{EDIT}\n\n{other}\n\n{NEW}")) as home:
        (home.client.folder / "b.py").write_text(TEXT)
        result = await home.release()
        assert home.titles == ["codex: app.py, b.py", "codex: new.md"]
        assert home.client.files() == {"app.py": FIXED, "b.py": FIXED, "new.md": "# New\n"}
        assert result["text"].endswith("*Changed: app.py, b.py, new.md.*")


@pytest.mark.threat("F20")
@pytest.mark.prop("krk-22")
async def test_what_the_user_left_out_of_a_proposal_is_not_told_as_changed(tmp_path: Path) -> None:
    async with at_home(tmp_path, saying(f"{EDIT}\n\n{EDIT.replace('app.py', 'b.py')}")) as home:
        (home.client.folder / "b.py").write_text(TEXT)
        chosen = [{"uri": (home.client.folder / "b.py").as_uri()}]
        answer = {"result": {"optionId": "allow_once", "changes": chosen}}
        home.client.editor.answer["ollm/permission"] = lambda _: answer
        result = await home.release()
        assert home.client.files() == {"app.py": TEXT, "b.py": FIXED}
        assert result["text"].endswith("*Changed: b.py. Not changed: app.py (you left it out).*")


async def test_one_file_under_two_names_is_one_change(tmp_path: Path) -> None:
    other = "    pass\n=======\n    return 1"
    second = EDIT.replace("app.py", str(tmp_path / "work" / "app.py")).replace(
        "    return a - b\n=======\n    return a + b", other
    )
    async with at_home(tmp_path, saying(f"{EDIT}\n\n{second}\n\n./{EDIT}")) as home:
        result = await home.release()
        assert home.titles == ["codex: app.py"]
        assert home.client.files() == {"app.py": FIXED.replace("pass", "return 1")}
        assert result["text"].endswith("*Changed: app.py.*")


@pytest.mark.prop("lsp-4")
async def test_what_is_typed_while_the_agent_works_or_the_user_thinks_stays(tmp_path: Path) -> None:
    async with at_home(tmp_path, saying(EDIT)) as home:
        home.client.open("app.py")
        asked: list[Any] = []

        def decide(params: dict[str, Any]) -> dict[str, Any]:
            asked.append(params)
            if len(asked) == 1:
                home.client.type("app.py", "# typed meanwhile\n")
            return {"result": {"optionId": "allow_once"}}

        home.client.editor.answer["ollm/permission"] = decide
        await home.release()
        assert len(asked) == 2, "the text was another one, so the user is asked anew"
        assert home.client.text("app.py") == f"# typed meanwhile\n{FIXED}"


@pytest.mark.prop("krk-42")
async def test_a_placeholder_in_a_change_becomes_the_secret_again(tmp_path: Path) -> None:
    edit = 'app.py\n<<<<<<< SEARCH\nkey = "⟦S1⟧"\n=======\nold_key = "⟦S1⟧"\n>>>>>>> REPLACE'
    async with at_home(tmp_path, saying(edit)) as home:
        (home.client.folder / "app.py").write_text(f'key = "{SECRET}"\n')
        home.client.open("app.py")
        await home.release("Rename it.", context={"uri": (home.client.folder / "app.py").as_uri()})
        assert SECRET not in home.stage.received
        assert home.client.text("app.py") == f'old_key = "{SECRET}"\n'


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("../out.py\n" + EDIT.partition("\n")[2], "Not changed: ../out.py ("),
        ("/etc/hostname\n" + EDIT.partition("\n")[2], "Not changed: /etc/hostname ("),
        (".env\n" + EDIT.partition("\n")[2], "Not changed: .env ("),
        ("none.py\n" + EDIT.partition("\n")[2], "Not changed: none.py (there is no such file)."),
        (EDIT.replace("a - b", "a * b"), "Not changed: app.py (The text to replace is not in the file."),
        (NEW.replace("new.md", "app.py"), "Not changed: app.py (it is there already)."),
        (EDIT.removesuffix(">>>>>>> REPLACE"), "because they cannot be understood. A change has no end."),
        (EDIT.replace("a + b", "a - b"), "Nothing to change: app.py."),
    ],
    ids=["outside", "absolute", "secrets", "missing", "no match", "there already", "cut", "same"],
)
async def test_an_edit_that_cannot_be_made_is_told_and_asks_nobody(said: str, told: str, tmp_path: Path) -> None:
    async with at_home(tmp_path, saying(said)) as home:
        (tmp_path / "out.py").write_text(TEXT)
        (home.client.folder / ".env").write_text(TEXT)
        result = await home.release()
        assert told in result["text"].rpartition("\n\n")[2]
        assert home.client.asked == []
        assert home.client.files() == {".env": TEXT, "app.py": TEXT}
        assert (tmp_path / "out.py").read_text() == TEXT


async def test_a_file_that_an_agent_was_not_allowed_to_write_is_proposed(tmp_path: Path) -> None:
    recorded = (RECORDINGS / "gemini" / "tool-write-plan.ndjson").read_text()
    part = Part(recorded.replace("/home/user/project", str(tmp_path / "work")))
    async with at_home(tmp_path, part, tool="gemini") as home:
        result = await home.release()
        assert home.titles == ["gemini: h3.txt"]
        assert home.client.files() == {"app.py": TEXT, "h3.txt": "written by mock\n"}
        assert result["text"].endswith("*Changed: h3.txt.*")


async def test_an_agent_that_wrote_by_itself_is_told_of(tmp_path: Path) -> None:
    act = {"type": "file_change", "changes": [{"path": "app.py", "kind": "update"}], "status": "completed"}
    async with at_home(tmp_path, saying("Done.", act)) as home:
        result = await home.release()
        assert result["text"].endswith("*codex says that it changed these itself, outside of the editor: app.py.*")
        assert home.client.asked == []


async def test_a_cancelled_question_is_withdrawn_and_the_answer_is_paid_by_what_it_took(tmp_path: Path) -> None:
    async with at_home(tmp_path, saying(EDIT)) as home:
        editor = home.client.editor
        editor.answer.pop("ollm/permission")
        _, release = editor.start_request(
            "ollm/kraken/release", {"text": "Mend it.", "workDoneToken": "w", "partialResultToken": "r"}
        )
        await editor.until(lambda: [one for one in editor.asked if one["method"] == "ollm/permission"])
        editor.notify("window/workDoneProgress/cancel", {"token": "w"})
        result = await release
        assert result["finishReason"] == "cancelled"
        assert editor.notified("$/cancelRequest")
        assert home.client.files() == {"app.py": TEXT}
        (line,) = (await editor.request("ollm/kraken/history", {}))["releases"]
        assert (line["success"], line["usage"]["outputTokens"]) == (True, 42)
