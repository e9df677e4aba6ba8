"""Folders, the editor's settings and renamed files: what follows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ollm_lsp.lsp import uris
from tests.support.editor import environment
from tests.support.fake_ollama import Call
from tests.support.near_server import near_editor
from tests.support.tool_task import Model, window
from tests.support.workspace_client import HELIX, PLAIN, RICH

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.editor import Editor

SETTINGS = """\
model: "ollama:everywhere"
providers: { ollama: { type: ollama, baseUrl: "http://127.0.0.1:9" } }
"""
STATUS: dict[str, Any] = {"experimental": {"ollm": {"status": True}}}


async def model(server: Editor, name: str) -> None:
    """Wait until the status tells that model."""
    await server.until(
        lambda: server.notified("ollm/status")[-1:] and server.notified("ollm/status")[-1]["model"] == name
    )


def folder(path: Path, model: str | None = None) -> dict[str, str]:
    path.mkdir(exist_ok=True)
    if model is not None:
        (path / ".ollm").mkdir()
        (path / ".ollm" / "config.yaml").write_text(f'model: "{model}"\n')
    return {"uri": path.as_uri(), "name": path.name}


def change(server: Editor, **event: Any) -> None:
    server.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": [], **event}})


async def test_each_folder_may_have_settings_and_the_first_one_counts(tmp_path: Path) -> None:
    one, two = folder(tmp_path / "one", "ollama:one"), folder(tmp_path / "two", "ollama:two")
    async with near_editor(environment(tmp_path, SETTINGS)) as server:
        await server.initialize(capabilities=STATUS, workspaceFolders=[one, two])
        await model(server, "ollama:one")
        # Other clients escape other characters, or write a slash behind a folder.
        change(server, removed=[{"uri": f"{one['uri'].replace('one', '%6Fne')}/", "name": "one"}])
        await model(server, "ollama:two")
        change(server, removed=[two])
        await model(server, "ollama:everywhere")
        change(server, added=[two, two])
        await model(server, "ollama:two")
        change(server, removed=[two])
        await model(server, "ollama:everywhere")
        told = [status["model"].removeprefix("ollama:") for status in server.notified("ollm/status")]
        assert told == ["one", "two", "everywhere", "two", "everywhere"]


async def test_what_the_editor_told_stays_when_folders_change(tmp_path: Path) -> None:
    async with near_editor(environment(tmp_path, SETTINGS)) as server:
        options = {"model": "ollama:initial"}
        await server.initialize(capabilities=STATUS, initializationOptions=options)
        await model(server, "ollama:initial")
        told = {"settings": {"ollm": {"model": "ollama:told"}}}
        server.notify("workspace/didChangeConfiguration", told)
        await model(server, "ollama:told")
        change(server, added=[folder(tmp_path / "one")])
        await server.request("ollm/chat/list", {})
        assert server.notified("ollm/status")[-1]["model"] == "ollama:told"
        # Many editors send this with nothing in it.
        server.notify("workspace/didChangeConfiguration", {"settings": {}})
        await model(server, "ollama:initial")


async def test_a_settings_file_that_is_saved_shows_in_the_status_at_once(tmp_path: Path) -> None:
    async with near_editor(environment(tmp_path, SETTINGS)) as server:
        await server.initialize(capabilities=STATUS)
        await model(server, "ollama:everywhere")
        for name in ("another", "third", "last"):
            environment(tmp_path, SETTINGS.replace("everywhere", name))
            server.notify("textDocument/didSave", {"textDocument": {"uri": (tmp_path / "config.yaml").as_uri()}})
        await model(server, "ollama:last")
        # Two saves may be seen at once, but none is told late.
        assert [status["model"] for status in server.notified("ollm/status")].count("ollama:last") == 1


@pytest.mark.parametrize("wants", [True, False])
async def test_who_tells_of_changed_settings_only_when_asked_is_asked(wants: bool, tmp_path: Path) -> None:
    capabilities = {"workspace": {"configuration": True, "didChangeConfiguration": {"dynamicRegistration": wants}}}
    async with near_editor(environment(tmp_path)) as server:
        server.answer["workspace/configuration"] = lambda _: {"result": [None]}
        server.answer["client/registerCapability"] = lambda _: {"result": None}
        await server.initialize(capabilities={**capabilities, **STATUS})
        await server.until(lambda: server.notified("ollm/status"))
        registered = [one["params"] for one in server.asked if one["method"] == "client/registerCapability"]
        assert [one["registrations"][0]["method"] for one in registered] == (
            ["workspace/didChangeConfiguration"] if wants else []
        )


@pytest.mark.parametrize("capabilities", [RICH, PLAIN, HELIX], ids=["rich", "plain", "helix"])
async def test_every_client_is_told_that_renames_are_of_interest(capabilities: dict[str, Any], tmp_path: Path) -> None:
    async with near_editor(environment(tmp_path)) as server:
        server.answer["workspace/configuration"] = lambda _: {"result": [None]}
        announced = (await server.initialize(capabilities=capabilities))["capabilities"]["workspace"]
        (filter_,) = announced["fileOperations"]["didRename"]["filters"]
        assert filter_ == {"scheme": "file", "pattern": {"glob": "**/*"}}
        assert announced["workspaceFolders"]["changeNotifications"] is True


@pytest.mark.parametrize(
    ("uri", "old", "new", "moved"),
    [
        ("file:///w/a.py", "file:///w/a.py", "file:///w/b.py", "file:///w/b.py"),
        ("file:///w/a%20b.py", "file:///w/a b.py", "file:///w/c%20d.py", "file:///w/c%20d.py"),
        ("file:///w/x/a%20b.py", "file:///w/x", "file:///w/y", "file:///w/y/a%20b.py"),
        ("file:///w/x/a.py", "file:///w/x/", "file:///w/y/", "file:///w/y/a.py"),
        ("file:///w/xx/a.py", "file:///w/x", "file:///w/y", None),
        ("file:///w/x", "file:///w/x/a.py", "file:///w/y", None),
    ],
)
def test_a_document_moves_with_its_folder(uri: str, old: str, new: str, moved: str | None) -> None:
    assert uris.moved(uri, old, new) == moved


async def test_a_proposal_for_a_renamed_file_is_a_no_that_tells_the_new_name(tmp_path: Path) -> None:
    edit = Call("edit_file", {"path": "a.py", "edits": [{"old": "a - b", "new": "a + b"}]})
    model = Model([edit])
    async with window(tmp_path, PLAIN, model, start=near_editor) as client:
        chat = client.editor.start_request("ollm/chat/send", {"text": "Do it."})[1]
        await client.editor.until(client.hints)
        (uri, _), *_ = client.hints()
        new = uri.replace("a.py", "b.py")
        client.editor.notify("workspace/didRenameFiles", {"files": [{"oldUri": uri, "newUri": new}]})
        assert (await chat)["text"] == "done"
        assert client.hints() == []
        assert "renamed" in model.results[0]
        assert "b.py" in model.results[0]
        assert client.applied == []
