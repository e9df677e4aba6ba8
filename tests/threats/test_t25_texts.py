"""Threats T23 and T25: what a model or a server says acts on no client, and loads nothing when it is shown."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any
from unicodedata import category

import pytest
from markdown_it import MarkdownIt

from ollm_lsp.core.change import CreateFile, Proposal, RenameFile
from ollm_lsp.core.shown import code, inert, shown
from tests.support.editor import Refused, environment
from tests.support.fake_ollama import Call, FakeOllama, Model, Say, Think
from tests.support.near_server import near_editor
from tests.support.tool_task import Model as Task
from tests.support.tool_task import window
from tests.support.workspace_client import HELIX, RICH, path_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SEQUENCES = [
    *("\x1b[2J", "\x1b]0;title\x07", "\x9b31m", "\x1bP+q\x1b\\", "\x90x\x9c"),
    *("\x08\x08", "\x00", "\x7f", "\x85", "\x0c"),
]
REMOTE = [
    "![x](https://evil.example/?q=1)",
    "![x][r]\n\n[r]: https://evil.example",
    "[click](command:evil)",
    "[file](file:///etc/passwd)",
    '<img src="https://evil.example">',
    "<https://evil.example>",
    "` ![x](https://evil.example) `",
    "``` ![x](https://evil.example)",
    "\\![x](https://evil.example)",
    "[![x](https://evil.example)](data:text/html,x)",
]
LOADING = {"image", "link_open", "html_inline", "html_block"}


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, member in value.items():  # pyright: ignore[reportUnknownVariableType] (JSON)
            if key != "arguments":  # what a tool is called with is data, and shown by nobody as it is
                yield from strings(member)
    elif isinstance(value, list):
        for member in value:  # pyright: ignore[reportUnknownVariableType] (JSON)
            yield from strings(member)


def any_link(url: str) -> bool:
    """As a client that has no rule about links."""
    del url
    return True


def loaded(markdown: str) -> set[str]:
    """What of a page a client would load or could be made to follow, by a parser of CommonMark."""
    parser = MarkdownIt("commonmark").enable("table")
    parser.validateLink = any_link
    tokens = parser.parse(markdown)
    found = {token.type for token in tokens} | {one.type for token in tokens for one in token.children or ()}
    return found & LOADING


@pytest.mark.threat("T25")
@pytest.mark.parametrize("cut", [False, True], ids=["whole", "in pieces"])
async def test_no_control_sequence_of_a_model_reaches_a_client_or_a_document(tmp_path: Path, cut: bool) -> None:
    text = "a".join(["", *SEQUENCES, "\n\tend"])
    pieces = list(text) if cut else [text]
    tool = Call(f"read_{SEQUENCES[0]}", {"path": SEQUENCES[1]})

    def answer(request: dict[str, Any]) -> list[Any]:
        if any(message["role"] == "tool" for message in request["messages"]):
            return [*map(Think, pieces), *map(Say, pieces)]
        return [tool]

    async with FakeOllama(answer=answer) as fake:
        settings = f"model: 'ollama:smollm2:135m'\nproviders: {{ollama: {{type: ollama, baseUrl: '{fake.url}'}}}}\n"
        (tmp_path / "work").mkdir()
        async with near_editor(environment(tmp_path, settings)) as server:
            await server.initialize(rootUri=(tmp_path / "work").as_uri())
            result = await server.chat("hello")
            with pytest.raises(Refused):
                await server.chat("hello", model=f"ollama:{SEQUENCES[0]}")
            await server.request("ollm/chat/get", {"conversationId": result["conversationId"]})
            opened = {"command": "ollm.chat.open", "arguments": [{"conversationId": result["conversationId"]}]}
            made = await server.request("workspace/executeCommand", opened)
        said = [server.progress, server.responses, [params for _, params in server.notifications]]
        document = path_of(made["uri"]).read_text()
    joined = "".join(event["text"] for event in server.progress["events"] if event["type"] == "text")
    assert joined == result["text"]
    assert joined.endswith("a\n\tend")
    acting = [one for one in (*strings(said), document) if any(category(x) == "Cc" and x not in "\n\r\t" for x in one)]
    assert acting == []


@pytest.mark.threat("T23")
@pytest.mark.parametrize("payload", REMOTE)
def test_words_of_others_become_neither_image_nor_link_nor_html(payload: str) -> None:
    assert loaded(f"- {payload}") or "```" in payload or payload.startswith("` "), "the payload is one"
    assert loaded(f"- {inert(payload)} and more") == set()
    assert loaded(f"| a | b |\n| --- | --- |\n| {inert(' '.join(payload.split()))} | x |") == set()
    assert loaded(f"Edit {code(payload.partition(chr(10))[0])}") == set()


@pytest.mark.threat("T23")
@pytest.mark.parametrize("payload", REMOTE)
def test_no_question_about_a_change_loads_anything(payload: str) -> None:
    changes = (CreateFile(f"file:///{payload}.json", payload), RenameFile("file:///a", f"file:///{payload}"))
    for change in changes:
        assert loaded(shown(Proposal("1", "t", "t", (change,)), str)) == set()


@pytest.mark.threat("T23")
async def test_no_page_of_ours_loads_what_a_server_or_a_workspace_brings(tmp_path: Path) -> None:
    names = [payload.replace("\n", " ") for payload in REMOTE]
    async with FakeOllama(models=[Model("smollm2:135m"), *map(Model, names)]) as fake:
        settings = f"model: 'ollama:smollm2:135m'\nproviders: {{ollama: {{type: ollama, baseUrl: '{fake.url}'}}}}\n"
        async with near_editor(environment(tmp_path, settings)) as server:
            server.answer["window/showDocument"] = lambda _: {"result": {"success": True}}
            server.answer["workspace/configuration"] = lambda params: {"result": [None] * len(params["items"])}
            await server.initialize(capabilities=HELIX)
            for name in names:
                server.open(f"untitled:{name}", "text")
            for command in ("ollm.models.list", "ollm.doctor", "ollm.context.show", "ollm.kraken.status"):
                await server.request("workspace/executeCommand", {"command": command, "arguments": [{}]})
            told = [(await server.chat(order))["text"] for order in ("/model", "/context hello", "/cost", "/kraken")]
            opened = [one["params"]["uri"] for one in server.asked if one["method"] == "window/showDocument"]
            pages = [path_of(uri).read_text() for uri in opened]
    assert len(pages) >= 3
    assert sum("evil.example" in page for page in (*pages, *told)) >= 3, "they were shown"
    assert [loaded(page) for page in (*pages, *told)] == [set()] * (len(pages) + len(told))


@pytest.mark.threat("T24")
async def test_a_rejected_change_reaches_neither_the_disk_nor_a_real_document(tmp_path: Path) -> None:
    text = '{"$schema": "https://evil.example/?secret"}'
    calls = [
        Call("create_file", {"path": "a.json", "content": text}),
        Call("write_file", {"path": "old.txt", "content": text}),
    ]
    async with partial(window, start=near_editor)(tmp_path, RICH, Task(calls), opens=False) as client:
        client.decides = lambda _: "reject_once"
        before = client.files()
        await client.editor.chat("Do it.")
        assert client.files() == before
        assert client.applied == []
        assert "remote addresses" in client.asked[0]
        assert [one["method"] for one in client.editor.asked] == ["ollm/permission"] * 2
