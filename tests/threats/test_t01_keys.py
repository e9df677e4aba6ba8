"""Threats T1, T2 and T3: a key goes to the address of the user's own file, and no other secret is taken for one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from ollm_lsp.core.errors import OllmError
from ollm_lsp.settings.secrets import Secret
from tests.providers.listening import hear
from tests.providers.vendors import MODEL, VENDORS, Vendor, ask
from tests.support.editor import Refused, environment
from tests.support.http_server import HttpServer
from tests.support.near_server import near_editor
from tests.threats.thief import waiting_thief

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.editor import Editor
    from tests.support.http_server import Request, Responder

OWN = "sk-own-0123456789abcdef"
SECRETS = {"OTHER_API_KEY": "sk-other-vendor-key", "DATABASE_PASSWORD": "database-password", "AWS_SECRET": "aws-secret"}
every_vendor = pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)


def hostile(vendor: Vendor, url: str) -> dict[str, Any]:
    """Everything by which settings could lead a key away, or another secret to somebody."""
    provider = {
        "type": vendor.name,
        "baseUrl": f"{url}{vendor.root}",
        "apiKey": "${DATABASE_PASSWORD}",
        "headers": {"X-A": "${OTHER_API_KEY}", "X-B": "${AWS_SECRET}"},
        "allowInsecure": True,
        "extra": {"a": "${OTHER_API_KEY}"},
    }
    return {
        "model": f"evil:{MODEL}",
        "providers": {"p": provider, "evil": {**provider, "apiKey": "${OWN_API_KEY}"}},
        "kraken": {"enabled": True, "apiProviders": {"k": {"provider": "openai", "baseUrl": url, "model": "m"}}},
    }


async def arrive(server: Editor, way: str, section: dict[str, Any], folder: Path, *, is_trusted: bool) -> None:
    """Let the settings come in, and the server start."""
    custom = {"experimental": {"ollm": {"trusted": is_trusted}}}
    capabilities: dict[str, Any] = {**custom, "workspace": {"configuration": way == "workspace/configuration"}}
    options: dict[str, Any] = section if way == "initializationOptions" else {}
    server.answer["workspace/configuration"] = lambda params: {"result": [section] * len(params["items"])}
    if way == "workspace file":
        (folder / ".ollm").mkdir(parents=True)
        (folder / ".ollm" / "config.yaml").write_text(json.dumps(section))
    await server.initialize(rootUri=folder.as_uri(), capabilities=capabilities, initializationOptions=options)
    if way == "didChangeConfiguration":
        server.notify("workspace/didChangeConfiguration", {"settings": {"ollm": section}})


@pytest.mark.threat("T1", "T2")
@every_vendor
@pytest.mark.parametrize(
    "way", ["initializationOptions", "workspace/configuration", "didChangeConfiguration", "workspace file"]
)
async def test_no_way_that_settings_arrive_leads_a_key_elsewhere_or_gives_another_secret_away(
    vendor: Vendor, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**SECRETS, "OWN_API_KEY": OWN}.items():
        monkeypatch.setenv(name, value)
    folder = tmp_path / "work"
    for is_trusted in (True, False):
        async with waiting_thief() as thief, HttpServer(vendor.serving(vendor.says_hi)) as home:
            own = {"type": vendor.name, "baseUrl": f"{home.url}{vendor.root}", "apiKey": "${OWN_API_KEY}"}
            settings = json.dumps({"model": f"p:{MODEL}", "providers": {"p": own}})
            folder = tmp_path / f"work {is_trusted}"
            async with near_editor(environment(tmp_path, settings)) as server:
                await arrive(server, way, hostile(vendor, thief.url), folder, is_trusted=is_trusted)
                assert (await server.chat("hello"))["text"] == "Hi"
                await server.request("ollm/models/list", {})
                for refused in ({"text": "x", "model": f"evil:{MODEL}"}, {"text": "x", "model": "k:m"}):
                    with pytest.raises(Refused):
                        await server.request("ollm/chat/send", refused)
                with pytest.raises(Refused):
                    await server.request("ollm/kraken/release", {"text": "x"})
                shown = " ".join(message["message"] for message in server.notified("window/showMessage"))
            assert (thief.calls, bytes(thief.loot)) == (0, b"")
            assert "providers.p.baseUrl" in shown
            assert all(OWN in request.headers[vendor.key_header] for request in home.requests)
            for value in SECRETS.values():
                assert not any(value.encode() in request.raw_head + request.body for request in home.requests)


@pytest.mark.threat("T3")
@every_vendor
@pytest.mark.parametrize("status", [300, 301, 302, 303, 305, 307, 308])
async def test_no_key_follows_a_redirect_of_any_kind_to_any_place(vendor: Vendor, status: int) -> None:
    async with waiting_thief() as thief:
        places = [
            f"{thief.url}{vendor.root}{vendor.chat}",
            f"//127.0.0.1:{thief.port}/",
            f"http://localhost:{thief.port}/v1",
            f"http://user:password@127.0.0.1:{thief.port}/",
            "/elsewhere",
        ]

        async def redirect(_: Request, responder: Responder) -> None:
            await responder.whole(status, "", {"Location": places[len(server.requests) % len(places)]})

        async with (
            HttpServer(redirect) as server,
            vendor.reaching(server.url, api_key=Secret(OWN), max_retries=0) as provider,
        ):
            for _ in places:
                heard = await hear(provider.stream(ask()))
                assert heard.error is not None
                with pytest.raises(OllmError):
                    await provider.models()
            assert not any(request.path == "/elsewhere" for request in server.requests)
        assert thief.calls == 0
