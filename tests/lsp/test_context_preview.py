"""ollm/context/preview and ollm.context.show: they tell exactly what the provider would get, and send nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ollm_lsp.core.events import Finished, FinishReason, TextDelta
from ollm_lsp.core.model import Capabilities
from ollm_lsp.core.tokens import estimate_request, text_of
from ollm_lsp.lsp.handlers.chat import send
from ollm_lsp.lsp.handlers.context import preview, shown
from ollm_lsp.lsp.protocol import ChatContext, ChatSendParams, ContextPreviewParams, Position, Range
from ollm_lsp.lsp.standard import TextDocumentItem
from tests.support.editor import environment
from tests.support.fake_ollama import FakeOllama, Model, words
from tests.support.near_server import near_editor
from tests.support.scripted_provider import ScriptedProvider
from tests.support.session import Peer
from tests.support.tools import FakeTool

if TYPE_CHECKING:
    from pathlib import Path

    from ollm_lsp.core.request import ChatRequest

DONE = [TextDelta("done"), Finished(FinishReason.STOP)]
URI = "file:///work/a.py"
HERE = Range(Position(1, 0), Position(2, 0))
TEXT = "first = 1\nsecond = 2\nthird = 3\n"


class Counting(ScriptedProvider):
    """A provider with a tokenizer of its own: a token is a word."""

    async def count(self, request: ChatRequest) -> int | None:
        return sum(len(message.text.split()) for message in request.messages)


def peer_of(provider: ScriptedProvider) -> Peer:
    peer = Peer(provider)
    peer.offered = (FakeTool(),)
    return peer


def joined(parts: list[dict[str, Any]], *sources: str) -> str:
    return "".join(part["text"] for part in parts if part["source"] in sources)


CONTEXT = ("import", "openBuffer", "attached", "activeDocument", "diagnostics", "selection", "question")


@pytest.mark.prop("lsp-2")
@pytest.mark.parametrize("can", [True, False], ids=["native tools", "ReAct"])
async def test_the_preview_is_what_the_provider_receives_token_for_token(can: bool) -> None:
    provider = ScriptedProvider(*DONE, capabilities=Capabilities(tools=can, context_window=8_000))
    peer = peer_of(provider)
    session = peer.session
    for name, text in {"a": TEXT, "b": "other = 4\n", "c": "x = 1\n" * 20_000}.items():
        session.documents.open(TextDocumentItem(f"file:///work/{name}.py", text, "python"))
    begun = await send(session, ChatSendParams("hello"))
    asked: dict[str, Any] = {"conversation_id": begun["conversationId"], "text": "Why #buffer?"}
    told = await preview(session, ContextPreviewParams(**asked, uri=URI, range=HERE))
    await send(session, ChatSendParams(**asked, context=ChatContext(URI, HERE)))
    assert len(provider.requests) == 2
    request = provider.requests[-1]
    parts = told["parts"]
    assert joined(parts, "system") == request.messages[0].text
    assert [part["text"] for part in parts if part["source"] == "history"] == [
        "".join(map(text_of, message.parts)) for message in request.messages[1:-1]
    ]
    assert joined(parts, *CONTEXT) == request.messages[-1].text
    assert {part["source"] for part in parts} >= {"openBuffer", "activeDocument", "selection"}
    assert bool(joined(parts, "tools")) == bool(request.tools) == can
    assert told["totalTokens"] == estimate_request(request)
    assert (told["limit"], told["isEstimate"]) == (8_000, True)
    (selection,) = [part for part in parts if part["source"] == "selection"]
    assert selection["range"] == {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}}
    assert (selection["uri"], selection["reason"]) == (URI, "selected")


async def test_the_tokens_are_those_that_the_provider_counts_where_it_can() -> None:
    provider = Counting(*DONE)
    session = peer_of(provider).session
    session.documents.open(TextDocumentItem(URI, TEXT, "python"))
    told = await preview(session, ContextPreviewParams("Why?", URI))
    await send(session, ChatSendParams("Why?", context=ChatContext(URI)))
    assert told["totalTokens"] == await provider.count(provider.requests[-1])
    assert told["isEstimate"] is False


async def test_a_preview_sends_nothing_and_leaves_no_conversation() -> None:
    provider = ScriptedProvider(*DONE)
    session = peer_of(provider).session
    await preview(session, ContextPreviewParams())
    assert provider.requests == []
    assert await (await session.store()).list() == []


async def test_what_a_chat_would_warn_of_is_in_the_preview() -> None:
    session = peer_of(ScriptedProvider(*DONE)).session
    told = await preview(session, ContextPreviewParams("#file:none.py", uri="file:///none.py"))
    assert [warning["code"] for warning in told["warnings"]] == ["not_open", "not_found"]
    assert all(warning["remedy"] for warning in told["warnings"])


async def test_a_conversation_that_is_too_long_is_not_summarised_for_a_preview() -> None:
    long = [TextDelta("word " * 300), Finished(FinishReason.STOP)]
    provider = ScriptedProvider(*long, capabilities=Capabilities(context_window=1_000))
    session = Peer(provider).session
    result: dict[str, Any] = {"conversationId": None}
    for number in range(2):
        result = await send(session, ChatSendParams(f"question {number}", result["conversationId"]))
    asked = len(provider.requests)
    told = await preview(session, ContextPreviewParams("and?", conversation_id=result["conversationId"]))
    assert [warning["code"] for warning in told["warnings"]] == ["compaction_due"]
    assert len(provider.requests) == asked


async def test_the_page_for_people_has_every_part_and_every_word() -> None:
    session = peer_of(ScriptedProvider(*DONE)).session
    session.documents.open(TextDocumentItem(URI, f"{TEXT}# a | b ```\n", "python"))
    told = await preview(session, ContextPreviewParams("Why #selection?", URI))
    title, page = shown(told)
    assert title == "Context"
    table, _, text = page.partition("## What would be sent")
    assert table.count("\n| ") == len(told["parts"]) + 2
    assert "#selection: nothing is selected." in table
    assert f"about {told['totalTokens']:,} of {told['limit']:,} tokens for scripted:m" in table
    assert all(part["text"] in text for part in told["parts"])


MODEL = Model("qwen3:4b", context_length=8_192)


async def test_ollama_gets_what_the_command_has_shown(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "near.py").write_text("near = 'on disk'\n")
    (folder / "AGENTS.md").write_text("Use tabs.\n")
    uri = (folder / "a.py").as_uri()

    async with FakeOllama([MODEL], lambda _: words("Because.")) as fake:
        settings = f"model: 'ollama:{MODEL.name}'\nproviders: {{ollama: {{type: ollama, baseUrl: '{fake.url}'}}}}\n"
        async with near_editor(environment(tmp_path, settings)) as server:
            capabilities = {"window": {"showDocument": {"support": True}}}
            folders = [{"uri": folder.as_uri(), "name": "project"}]
            await server.initialize(capabilities=capabilities, workspaceFolders=folders)
            server.answer["window/showDocument"] = lambda _: {"result": {"success": True}}
            server.open(uri, "from near import near\n" + TEXT)
            server.open((folder / "b.py").as_uri(), "unsaved = True\n")
            where = {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}}
            context = {"uri": uri, "range": where}
            asked = {"text": "Why #file:near.py?"}
            show = {"command": "ollm.context.show", "arguments": [{**asked, **context}]}
            told = await server.request("workspace/executeCommand", show)
            assert fake.bodies() == []
            assert told == await server.request("ollm/context/preview", {**asked, **context})
            (page,) = {asked["params"]["uri"] for asked in server.asked if asked["method"] == "window/showDocument"}
            server.open(page, "what was shown", "markdown")
            await server.chat(asked["text"], context=context)
            (body,) = fake.bodies()
        parts = told["parts"]
        assert [message["content"] for message in body["messages"]] == [
            joined(parts, "system"),
            joined(parts, *CONTEXT),
        ]
        assert "Use tabs." in body["messages"][0]["content"]
        sources = ["system", "tools", "openBuffer", "attached", "activeDocument", "selection", "question"]
        assert [part["source"] for part in parts] == sources
        assert "near = 'on disk'" in parts[3]["text"]
        assert [tool["function"]["name"] in parts[1]["text"] for tool in body["tools"]] == [True] * len(body["tools"])
        shown_text = (tmp_path / "state" / "shown" / page.rsplit("/", 1)[-1]).read_text()
        assert all(part["text"] in shown_text for part in parts)
