"""External providers: reached by the names of the settings, checked without a prompt, agents only where trusted."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ollm_lsp.core.errors import SettingsError, Unsupported
from ollm_lsp.core.kraken import KrakenKind
from ollm_lsp.core.messages import Message
from ollm_lsp.core.request import ChatRequest
from ollm_lsp.core.usage import Usage
from ollm_lsp.providers import external
from ollm_lsp.providers.external import Externals
from ollm_lsp.providers.prices import cost_at
from ollm_lsp.settings.kraken_settings import ApiSettings, CliAgentSettings, KrakenSettings
from ollm_lsp.settings.resolved import AnthropicSettings
from ollm_lsp.settings.secrets import Secret
from tests.support.fake_vendors import ANSWER, FakeVendors
from tests.support.http_server import HttpServer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.http_server import Request, Responder

REQUEST = ChatRequest("claude-x", (Message.user("Hello"),))


def vendor(url: str) -> ApiSettings:
    settings = AnthropicSettings("kraken/big", url, api_key=Secret("${BIG_KEY}"), max_retries=0)
    return ApiSettings("big", settings, "claude-x")


async def externals(tmp_path: Path, *entries: ApiSettings, enabled: bool = True) -> Externals:
    made = Externals(tmp_path, {"PATH": os.defpath, "HOME": str(tmp_path)})
    await made.update(KrakenSettings(enabled, api={entry.name: entry for entry in entries}), [tmp_path])
    return made


@pytest.mark.prop("krk-11")
async def test_a_vendor_is_checked_by_its_key_and_its_answer_without_a_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with FakeVendors() as server:
        entry = vendor(server.url)
        made = await externals(tmp_path, entry)
        monkeypatch.delenv("BIG_KEY", raising=False)
        found = await made.check(entry)
        assert (found.is_available, found.kind) == (False, KrakenKind.API)
        assert "BIG_KEY" in (found.problem or "")
        assert found.code == "settings"
        assert server.requests == []
        monkeypatch.setenv("BIG_KEY", "good")
        assert (await made.check(entry)).is_available
        assert server.questions == []
        async with made.lease(entry, is_trusted=False) as provider:
            assert (await provider.complete(REQUEST)).text == ANSWER
        await made.close()


@pytest.mark.prop("krk-11")
@pytest.mark.prop("krk-12")
async def test_a_vendor_that_does_not_answer_in_time_is_not_available(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def stall(_: Request, responder: Responder) -> None:
        await responder.stall()

    monkeypatch.setenv("BIG_KEY", "good")
    monkeypatch.setattr(external, "CHECK_TIME", 0.05)
    async with HttpServer(stall) as server:
        made = await externals(tmp_path, entry := vendor(server.url))
        found = await made.check(entry)
        assert (found.is_available, found.remedy) == (False, "Look at your network, and try again.")
        assert found.code == "timeout"
        await made.close()


@pytest.mark.prop("krk-25")
async def test_a_gateway_on_this_machine_is_not_free_but_costs_what_its_vendor_takes(tmp_path: Path) -> None:
    made = await externals(tmp_path, entry := vendor("http://127.0.0.1:4000"))
    usage = Usage(1_000, 1_000)
    async with made.lease(entry, is_trusted=False) as provider:
        taken = provider.cost("claude-sonnet-4-5", usage)
        assert taken == cost_at("https://api.anthropic.com", "claude-sonnet-4-5", usage)
        assert taken.known
        assert taken.micros > 0
        assert not provider.cost("model-of-our-own", usage).known
    await made.close()


@pytest.mark.prop("krk-40")
async def test_those_that_are_switched_off_cannot_be_reached(tmp_path: Path) -> None:
    made = await externals(tmp_path, entry := vendor("http://127.0.0.1:9"), enabled=False)
    with pytest.raises(SettingsError):
        async with made.lease(entry, is_trusted=True):
            pass
    await made.close()


@pytest.mark.prop("krk-10")
async def test_an_agent_that_is_not_there_tells_how_to_install_it(tmp_path: Path) -> None:
    made = await externals(tmp_path)
    found = await made.check(CliAgentSettings("coder", "codex"))
    assert (found.name, found.kind, found.is_available) == ("coder", KrakenKind.CLI, False)
    assert "npm" in (found.remedy or "")
    assert found.code == "cli_not_found"
    await made.close()


@pytest.mark.threat("T16")
async def test_an_agent_works_only_in_a_workspace_that_is_trusted(tmp_path: Path) -> None:
    made = await externals(tmp_path)
    entry = CliAgentSettings("claude", "claude")
    async with made.lease(entry, is_trusted=False) as provider:
        with pytest.raises(Unsupported, match="do not trust"):
            await provider.complete(replace(REQUEST, model="sonnet"))
    await made.close()
