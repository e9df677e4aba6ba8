"""The Kraken's options: off by default, each wrong one named, and none lost in a way that allows more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.core.budget import Limits
from ollm_lsp.core.price import Price
from ollm_lsp.providers.registry import build
from ollm_lsp.settings.dollars import at_least, at_most
from ollm_lsp.settings.kraken_settings import CliAgentSettings, HookSettings, KrakenSettings, PolicySettings, Trigger
from ollm_lsp.settings.layers import Layer, Resolution
from ollm_lsp.settings.resolve import resolve
from ollm_lsp.settings.resolved import AnthropicSettings, GoogleSettings, OpenAISettings
from ollm_lsp.settings.secrets import Secret
from ollm_lsp.settings.source import SettingsSource
from ollm_lsp.settings.yaml_file import parse
from tests.settings.raw import patient

CONTRACT = """
enabled: true
defaultProvider: claude
maxCostPerSession: 10.00
autoEscalate: { enabled: false, triggerOn: [modelFailure, contextOverflow, userRequest] }
cliProviders:
  claude: { enabled: true, tool: claude, timeout: 600, defaultModel: sonnet }
  gemini: { enabled: true, tool: gemini, timeout: 600, defaultModel: gemini-2.5-pro }
  codex:  { enabled: true, tool: codex,  timeout: 600, defaultModel: gpt-5-codex }
apiProviders:
  openai:    { enabled: true, provider: openai,    apiKey: "${OPENAI_API_KEY}",    model: gpt-4o, maxTokens: 8192 }
  anthropic: { enabled: true, provider: anthropic, apiKey: "${ANTHROPIC_API_KEY}", model: claude-sonnet-4-5 }
  google:    { enabled: true, provider: google,    apiKey: "${GEMINI_API_KEY}",    model: gemini-2.5-flash }
policies:
  { confirmBeforeRelease: true, showCostWarnings: true, costWarningThreshold: 1.00, logKrakenUsage: true,
    allowedProviders: null }
hooks: { before_kraken: [], after_kraken: [], kraken_escalate: [] }
"""
"""As the wire contract has it."""
API = {"provider": "openai", "apiKey": "${OPENAI_API_KEY}", "model": "gpt-4o"}

BAD: list[tuple[dict[str, Any], str, str]] = [
    ({"enabled": "yes"}, "enabled", "true or false"),
    ({"enable": True}, "enable", "Did you mean enabled?"),
    ({"defaultProvider": "nobody"}, "defaultProvider", "no external provider of that name"),
    ({"autoEscalate": {"triggerOn": ["boredom"]}}, "autoEscalate.triggerOn[0]", "'modelFailure'"),
    ({"cliProviders": {"x": {}}}, "cliProviders.x.tool", "required"),
    ({"cliProviders": {"x": {"tool": "aider"}}}, "cliProviders.x.tool", "'claude'"),
    ({"cliProviders": {"x": {"tool": "codex", "tmeout": 1}}}, "cliProviders.x.tmeout", "Did you mean timeout?"),
    ({"cliProviders": {"x": {"tool": "codex", "path": "bin/codex"}}}, "cliProviders.x.path", "full path"),
    ({"cliProviders": {"x": {"tool": "codex", "proxyUrl": "http://a.test"}}}, "cliProviders.x.proxyUrl", "https"),
    ({"cliProviders": {"a b": {"tool": "codex"}}}, "cliProviders.a b", "letters, digits"),
    ({"apiProviders": {"x": {"model": "m"}}}, "apiProviders.x", "openai, anthropic, google"),
    ({"apiProviders": {"x": API | {"provider": "ollama"}}}, "apiProviders.x", "openai, anthropic, google"),
    ({"apiProviders": {"x": API | {"model": ""}}}, "apiProviders.x.model", "empty"),
    ({"apiProviders": {"x": {"provider": "google", "apiKey": "${A_KEY}"}}}, "apiProviders.x.model", "required"),
    ({"apiProviders": {"x": {"provider": "openai", "model": "m"}}}, "apiProviders.x", "wants a key"),
    ({"apiProviders": {"x": API | {"baseUrl": "http://a.example"}}}, "apiProviders.x.baseUrl", "allowInsecure"),
    ({"apiProviders": {"x": API | {"maxToken": 5}}}, "apiProviders.x.maxToken", "Did you mean maxTokens?"),
    ({"apiProviders": {"x": API | {"timeouts": {"total": -1}}}}, "apiProviders.x.timeouts.total", "more than 0"),
    ({"apiProviders": {"x": API}, "cliProviders": {"x": {"tool": "codex"}}}, "apiProviders.x", "same name"),
    ({"policies": {"costWarningThreshold": -1}}, "policies.costWarningThreshold", "at least 0"),
    ({"hooks": {"after_kraken": [{"command": []}]}}, "hooks.after_kraken[0].command", "empty"),
    ({"hooks": {"after_kraken": [{"command": ["bin/x"]}]}}, "hooks.after_kraken[0].command", "whole path"),
    ({"hooks": {"after_kraken": [{"command": ["x"], "timeot": 1}]}}, "hooks.after_kraken[0].timeot", "timeout?"),
    ({"hooks": {"afterKraken": []}}, "hooks.afterKraken", "Did you mean after_kraken?"),
    ({"prices": {"m": {"input": 1}}}, "prices.m.output", "required"),
    ({"prices": {"m": {"input": 1, "output": "2"}}}, "prices.m.output", "number"),
]  # fmt: skip


def resolved(kraken: object) -> Resolution:
    return resolve(Layer("file", {"kraken": kraken}), embedded_available=False)


def clean(kraken: object) -> KrakenSettings:
    resolution = resolved(kraken)
    assert resolution.problems == ()
    return resolution.settings.kraken


@pytest.mark.prop("krk-40")
@pytest.mark.parametrize("options", [None, {}, {"cliProviders": {"claude": {"tool": "claude"}}}])
def test_everything_external_is_off_unless_the_user_switches_it_on(options: object) -> None:
    kraken = clean(options)
    assert not kraken.enabled
    assert not kraken.escalation.enabled
    assert not kraken.api
    assert kraken.policies == PolicySettings()
    assert kraken.limits == Limits(None, 10_000_000, None)


@pytest.mark.prop("krk-38")
def test_the_example_of_the_wire_contract_is_understood() -> None:
    kraken = clean(parse(CONTRACT))
    assert kraken.enabled
    assert kraken.default_provider == "claude"
    assert kraken.limits == Limits(None, 10_000_000, None)
    assert kraken.escalation.triggers == set(Trigger)
    assert kraken.cli["codex"] == CliAgentSettings("codex", "codex", "gpt-5-codex", None, 600)
    assert set(kraken.cli) == {"claude", "gemini", "codex"}
    kinds = {name: type(entry.provider) for name, entry in kraken.api.items()}
    assert kinds == {"openai": OpenAISettings, "anthropic": AnthropicSettings, "google": GoogleSettings}
    assert kraken.policies == PolicySettings()


def test_every_other_option_arrives() -> None:
    kraken = clean(
        {
            "maxCostPerRequest": 0.25,
            "maxCostPerSession": 3,
            "maxCostPerDay": 0.000001,
            "cliProviders": {
                "far": {
                    "tool": "codex",
                    "path": "/opt/codex",
                    "idleTimeout": 9,
                    "proxyUrl": "https://proxy.example",
                    "proxyApiKey": "${PROXY_API_KEY}",
                },
                "near": {"tool": "gemini", "enabled": False},
            },
            "apiProviders": {"off": API | {"enabled": False}, "on": API | {"timeouts": {"total": 5}, "maxRetries": 1}},
            "policies": {"logKrakenUsage": False, "maskSecrets": False, "allowedProviders": ["far"]},
            "hooks": {
                "before_kraken": [{"command": ["~/bin/ask", "-q"], "timeout": 2}, {"command": ["second"]}],
                "after_kraken": [{"command": ["/bin/log"]}],
            },
            "prices": {"on:gpt-4o": {"input": 0.15, "output": 0.6, "cacheRead": 0.075}},
        }
    )
    assert kraken.limits == Limits(250_000, 3_000_000, 1)
    assert kraken.cli == {
        "far": CliAgentSettings(
            "far", "codex", None, Path("/opt/codex"), 600, 9, "https://proxy.example", Secret("${PROXY_API_KEY}")
        )
    }
    assert set(kraken.api) == {"on"}
    provider = kraken.api["on"].provider
    assert isinstance(provider, OpenAISettings)
    assert (provider.name, provider.limits.total, provider.max_retries) == ("kraken/on", 5, 1)
    assert kraken.policies == PolicySettings(
        log_kraken_usage=False, mask_secrets=False, allowed_providers=frozenset({"far"})
    )
    ask = str(Path.home() / "bin/ask")
    assert kraken.hooks.before_kraken == (HookSettings((ask, "-q"), 2), HookSettings(("second",)))
    assert kraken.hooks.after_kraken == (HookSettings(("/bin/log",)),)
    assert kraken.prices == {"on:gpt-4o": Price(150_000, 600_000, 75_000, None)}


@pytest.mark.prop("krk-5")
@pytest.mark.parametrize("kind", ["openai", "anthropic", "google"])
async def test_a_vendor_s_model_is_reached_by_the_provider_of_its_type(kind: str, tmp_path: Path) -> None:
    kraken = clean({"apiProviders": {"x": API | {"provider": kind}}})
    provider = build(kraken.api["x"].provider, tmp_path)
    assert provider.name == "kraken/x"
    await provider.close()


@pytest.mark.prop("krk-39")
def test_a_key_is_read_from_the_environment_at_use(monkeypatch: pytest.MonkeyPatch) -> None:
    provider = clean({"apiProviders": {"x": API}}).api["x"].provider
    assert isinstance(provider, OpenAISettings)
    assert provider.api_key is not None
    monkeypatch.setenv("OPENAI_API_KEY", "one-of-the-keys")
    assert provider.api_key.reveal() == "one-of-the-keys"
    monkeypatch.setenv("OPENAI_API_KEY", "another-of-the-keys")
    assert provider.api_key.reveal() == "another-of-the-keys"


@pytest.mark.prop("krk-39")
def test_a_changed_file_counts_at_once(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    source = SettingsSource(file, embedded_available=False)
    assert not source.current().settings.kraken.enabled
    file.write_text("kraken: { enabled: true, maxCostPerDay: 2 }")
    assert source.current().settings.kraken == KrakenSettings(enabled=True, limits=Limits(day=2_000_000))
    file.write_text("kraken: { enabled: true, maxCostPerDay: 1 }")
    assert source.current().settings.kraken.limits.day == 1_000_000


@pytest.mark.prop("krk-38")
@pytest.mark.parametrize(("options", "key", "words"), BAD)
def test_a_bad_option_is_named_in_plain_words_and_switches_off_only_itself(
    options: dict[str, Any], key: str, words: str
) -> None:
    good: dict[str, Any] = {"enabled": True, "cliProviders": {"good": {"tool": "claude"}}}
    merged = {**good, **options, "cliProviders": {**good["cliProviders"], **options.get("cliProviders", {})}}
    resolution = resolved(merged)
    (problem,) = resolution.problems
    assert problem.key == f"kraken.{key}"
    assert words in f"{problem.message} {problem.remedy}"
    kraken = resolution.settings.kraken
    assert kraken.enabled is (key != "enabled")
    assert "good" in kraken.cli
    assert not {"x", "a b"} & {*kraken.api, *(kraken.cli if "same name" not in words else ())}
    assert (kraken.hooks.after_kraken, kraken.prices) == ((), {})


@pytest.mark.prop("krk-46")
@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"maxCostPerDay": "five"}, "maxCostPerDay"),
        ({"maxCostPerSession": -1}, "maxCostPerSession"),
        ({"maxCostPerRequest": True}, "maxCostPerRequest"),
        ({"policies": "none"}, "policies"),
        ({"policies": {"allowedProviders": "claude"}}, "policies.allowedProviders"),
        ({"hooks": []}, "hooks"),
        ({"hooks": {"before_kraken": "guard"}}, "hooks.before_kraken"),
        ({"hooks": {"before_kraken": [{"command": ["./guard"]}]}}, "hooks.before_kraken[0].command"),
    ],
)
def test_a_bound_that_was_lost_keeps_the_kraken_off(options: dict[str, Any], key: str) -> None:
    resolution = resolved({"enabled": True} | options)
    assert not resolution.settings.kraken.enabled
    first, off = resolution.problems
    assert first.key == f"kraken.{key}"
    assert (off.key, off.remedy) == ("kraken", f"Mend kraken.{key}.")


def test_an_allowed_provider_that_cannot_be_leaves_the_others() -> None:
    resolution = resolved({"enabled": True, "policies": {"allowedProviders": ["claude", 3]}})
    assert resolution.settings.kraken.enabled
    assert resolution.settings.kraken.policies.allowed_providers == {"claude"}


def test_a_key_in_the_file_gives_a_warning_that_does_not_repeat_it() -> None:
    literal = "sk-literal-of-the-test"
    resolution = resolved(
        {
            "apiProviders": {"x": API | {"apiKey": literal}},
            "cliProviders": {"y": {"tool": "codex", "proxyUrl": "https://p.example", "proxyApiKey": literal}},
        }
    )
    keys = {problem.key: problem.severity for problem in resolution.problems}
    assert keys == {"kraken.apiProviders.x.apiKey": "warning", "kraken.cliProviders.y.proxyApiKey": "warning"}
    assert literal not in repr(resolution)
    assert {*resolution.settings.kraken.api, *resolution.settings.kraken.cli} == {"x", "y"}


@patient
@given(st.integers(0, 10**12))
def test_an_amount_with_up_to_six_decimals_is_exact(micros: int) -> None:
    written = float(f"{micros // 10**6}.{micros % 10**6:06d}")
    assert at_most(written) == at_least(written) == micros


def test_smaller_amounts_are_rounded_to_the_safe_side() -> None:
    assert (at_most(0.0000015), at_least(0.0000015)) == (1, 2)
