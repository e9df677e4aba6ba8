"""The user's layer: one bad setting switches off one thing, never the server."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given

from ollm_lsp.core.actions import BUILT_IN, EXPLAIN, Action, Form
from ollm_lsp.core.model import ModelId
from ollm_lsp.settings.address import is_loopback
from ollm_lsp.settings.layers import Layer, Resolution
from ollm_lsp.settings.resolve import resolve
from ollm_lsp.settings.resolved import (
    AnthropicSettings,
    ChatSettings,
    EmbeddedSettings,
    GoogleSettings,
    HttpSettings,
    OllamaSettings,
    OpenAISettings,
    Settings,
    TimeLimits,
)
from ollm_lsp.settings.secrets import Secret
from tests.settings.raw import patient, raw

if TYPE_CHECKING:
    from ollm_lsp.settings.problems import Problem

USER = "~/.ollm/config.yaml"


def resolved(options: object, *, embedded: bool = False) -> Resolution:
    return resolve(Layer(USER, options), embedded_available=embedded)


def clean(options: object, *, embedded: bool = False) -> Settings:
    resolution = resolved(options, embedded=embedded)
    assert resolution.problems == ()
    return resolution.settings


def only_problem(resolution: Resolution) -> Problem:
    assert len(resolution.problems) == 1, resolution.problems
    return resolution.problems[0]


def vllm(**options: object) -> dict[str, Any]:
    return {"providers": {"vllm": {"type": "openai", "baseUrl": "http://127.0.0.1:8000/v1"} | options}}


def remote(**options: object) -> dict[str, Any]:
    return vllm(baseUrl="http://models.example:8000/v1", apiKey="${VLLM_API_KEY}", **options)


@pytest.mark.prop("krk-40")
def test_without_settings_only_this_machine_is_used() -> None:
    settings = clean(None)
    assert settings.model == ModelId("ollama", "qwen2.5-coder:7b")
    assert settings.providers == {"ollama": OllamaSettings("ollama", "http://127.0.0.1:11434")}
    assert settings.context.open_buffers
    assert settings.context.exclude == ("**/.env*",)


def test_the_embedded_model_is_the_default_where_it_is_installed() -> None:
    settings = clean({}, embedded=True)
    assert settings.model == ModelId("embedded", "smollm2")
    assert set(settings.providers) == {"ollama", "embedded"}
    embedded = settings.providers["embedded"]
    assert isinstance(embedded, EmbeddedSettings)
    assert embedded.threads == max(1, (os.cpu_count() or 1) // 2)


def test_the_file_of_an_embedded_model_names_it() -> None:
    options = {"providers": {"embedded": {"type": "embedded", "modelPath": "~/models/some.Q4.gguf"}}}
    settings = clean(options, embedded=True)
    assert settings.model == ModelId("embedded", "some.Q4")
    embedded = settings.providers["embedded"]
    assert isinstance(embedded, EmbeddedSettings)
    assert embedded.model_path == Path.home() / "models/some.Q4.gguf"
    assert clean(options).model.provider == "ollama"


def test_every_option_arrives_in_the_settings() -> None:
    settings = clean(
        {
            "model": "vllm:Qwen/Qwen3:latest",
            "timeouts": {"connect": 3, "idle": 2.5},
            "providers": {
                "vllm": {
                    "type": "openai",
                    "baseUrl": "https://models.example/v1/",
                    "apiKey": "${VLLM_API_KEY}",
                    "headers": {"X-Team": "${TEAM_TOKEN}", "X-Title": "ollm-lsp"},
                    "extra": {"top_k": 20, "chat_template_kwargs": {"enable_thinking": False}},
                    "contextWindow": 32768,
                    "maxRetries": 0,
                    "timeouts": {"firstToken": 7, "connect": 4},
                },
                "far": {
                    "type": "ollama",
                    "baseUrl": "http://10.0.0.2:11434",
                    "allowInsecure": True,
                    "keepAlive": 300,
                    "think": False,
                    "contextWindow": 4096,
                },
                "openai": {"type": "openai", "apiKey": "${OPENAI_API_KEY}"},
                "claude": {"type": "anthropic", "apiKey": "${ANTHROPIC_API_KEY}", "maxTokens": 500},
                "gemini": {"type": "google", "apiKey": "${keyring:gemini}", "maxTokens": 600, "maxRetries": 10},
                "own": {
                    "type": "embedded",
                    "modelPath": "/models/a.gguf",
                    "threads": 3,
                    "contextWindow": 4096,
                    "idleTimeout": 60,
                },
            },
            "chat": {
                "systemPrompt": "Be brief.",
                "maxTurns": 20,
                "toolTimeout": 5,
                "tools": False,
                "keepConversations": False,
            },
            "context": {"openBuffers": False, "maxTokens": 1000, "exclude": ["*.pem"]},
        }
    )
    common = TimeLimits(connect=3, idle=2.5)
    assert settings.model == ModelId("vllm", "Qwen/Qwen3:latest")
    assert settings.providers == {
        "ollama": OllamaSettings("ollama", "http://127.0.0.1:11434", limits=common),
        "vllm": OpenAISettings(
            "vllm",
            "https://models.example/v1",
            api_key=Secret("${VLLM_API_KEY}"),
            headers={"X-Team": Secret("${TEAM_TOKEN}"), "X-Title": Secret("ollm-lsp")},
            extra={"top_k": 20, "chat_template_kwargs": {"enable_thinking": False}},
            context_window=32768,
            max_retries=0,
            limits=TimeLimits(connect=4, first_token=7, idle=2.5),
        ),
        "far": OllamaSettings(
            "far", "http://10.0.0.2:11434", keep_alive="300s", think=False, context_window=4096, limits=common
        ),
        "openai": OpenAISettings(
            "openai", "https://api.openai.com/v1", api_key=Secret("${OPENAI_API_KEY}"), limits=common
        ),
        "claude": AnthropicSettings(
            "claude",
            "https://api.anthropic.com",
            api_key=Secret("${ANTHROPIC_API_KEY}"),
            max_tokens=500,
            limits=common,
        ),
        "gemini": GoogleSettings(
            "gemini",
            "https://generativelanguage.googleapis.com/v1beta",
            api_key=Secret("${keyring:gemini}"),
            max_tokens=600,
            max_retries=10,
            limits=common,
        ),
        "own": EmbeddedSettings("own", Path("/models/a.gguf"), 4096, 3, 60, common),
    }
    assert settings.chat == ChatSettings(
        "Be brief.", max_turns=20, tool_timeout=5, tools=False, keep_conversations=False
    )
    assert settings.context.open_buffers is False
    assert settings.context.max_tokens == 1000
    assert settings.context.exclude == ("*.pem",)


def test_a_null_is_the_same_as_leaving_the_key_out() -> None:
    nothing = dict.fromkeys(["model", "providers", "timeouts", "chat", "context"])
    assert clean(nothing) == clean({})
    assert clean({"chat": {"systemPrompt": None}, "context": {"maxTokens": None, "exclude": None}}) == clean({})


@pytest.mark.prop("krk-38")
@pytest.mark.parametrize(
    ("options", "key", "words"),
    [
        ({"model": 3}, "model", "text is expected"),
        ({"model": "gpt"}, "model", "provider:name"),
        ({"modle": "ollama:x"}, "modle", "Did you mean model?"),
        ({"zzz": 1}, "zzz", "Known here: actions, chat, context, kraken, model, providers, timeouts, tools."),
        ({"chat": {"system_prompt": "x"}}, "chat.system_prompt", "Did you mean systemPrompt?"),
        ({"chat": []}, "chat", "mapping"),
        ({"timeouts": {"connect": "yes"}}, "timeouts.connect", "number is expected"),
        ({"timeouts": {"connect": True}}, "timeouts.connect", "number is expected"),
        ({"timeouts": {"total": 0}}, "timeouts.total", "more than 0"),
        ({"timeouts": {"total": float("inf")}}, "timeouts.total", "number is expected"),
        ({"timeouts": {"total": 86401}}, "timeouts.total", "at most 86400"),
        ({"model": "ollama:" + "x" * 300}, "model", "at most 300 characters"),
        ({"timeouts": {"total": float("nan")}}, "timeouts.total", "number"),
        ({"context": {"openBuffers": "no"}}, "context.openBuffers", "true or false"),
        ({"context": {"maxTokens": 0}}, "context.maxTokens", "at least 1"),
        ({"context": {"maxTokens": 1.5}}, "context.maxTokens", "whole number"),
        ({"context": {"exclude": "**/*.pem"}}, "context.exclude", "list is expected"),
        ({"context": {"exclude": ["[z-a]"]}}, "context.exclude[0]", "not a pattern"),
        ({"context": {"exclude": [""]}}, "context.exclude[0]", "empty"),
        ({"actions": {"prompts": {"expalin": "x"}}}, "actions.prompts.expalin", "The actions are explain, fix"),
        ({"actions": {"prompts": {"explain": ""}}}, "actions.prompts.explain", "empty"),
        ({"actions": {"custom": {}}}, "actions.custom", "list is expected"),
        ({"actions": {"custom": [{"title": "x"}]}}, "actions.custom[0].prompt", "required"),
        ({"actions": {"custom": [{"title": "x", "prompt": "x", "kind": "do"}]}}, "actions.custom[0].kind", "'edit'"),
        ({"providers": []}, "providers", "mapping"),
        ({"providers": {"a:b": {"type": "ollama"}}}, "providers.a:b", "letters, digits"),
        ({"providers": {"x": {}}}, "providers.x", "has no type"),
        ({"providers": {"x": {"type": "olama"}}}, "providers.x", "ollama, openai, anthropic, google, embedded"),
        ({"providers": {"x": {"type": "openai"}}}, "providers.x", "set baseUrl if you mean another server"),
        ({"providers": {"x": {"type": "anthropic"}}}, "providers.x", "wants a key"),
        ({"providers": {"x": {"type": "google"}}}, "providers.x", 'Write apiKey: "${NAME}"'),
        ({"providers": {"x": None}}, "providers.x", "mapping"),
        (vllm(base_url="x"), "providers.vllm.base_url", "Did you mean baseUrl?"),
        (vllm(baseUrl="localhost:80"), "providers.vllm.baseUrl", "http:// or https://"),
        (vllm(apiKey="${HOME}"), "providers.vllm.apiKey", "HOME does not look like an API key"),
        (vllm(apiKey=1), "providers.vllm.apiKey", "text is expected"),
        (vllm(timeouts={"idle": -1}), "providers.vllm.timeouts.idle", "more than 0"),
        (vllm(timeouts={"idel": 1}), "providers.vllm.timeouts.idel", "Did you mean idle?"),
        ({"providers": {"o": {"type": "ollama", "keepAlive": "long"}}}, "providers.o.keepAlive", "span of time"),
        (vllm(headers={"a b": "x"}), "providers.vllm.headers.a b", "not the name of a header"),
        (vllm(headers={"authorization": "x"}), "providers.vllm.headers.authorization", "write apiKey"),
        (vllm(headers={"X-Goog-Api-Key": "x"}), "providers.vllm.headers.X-Goog-Api-Key", "write apiKey"),
        (vllm(headers={"Host": "x"}), "providers.vllm.headers.Host", "sets this header itself"),
        (vllm(headers={"X-A": "x", "x-a": "y"}), "providers.vllm.headers", "twice"),
        (vllm(headers={f"X-{n}": "x" for n in range(51)}), "providers.vllm.headers", "more than 50"),
        (vllm(headers={"X-A": 1}), "providers.vllm.headers.X-A", "text is expected"),
        (vllm(headers={"X-A": "a\r\nb"}), "providers.vllm.headers.X-A", "printable ASCII"),
        (vllm(headers={"X-A": ""}), "providers.vllm.headers.X-A", "printable ASCII"),
        (vllm(headers={"X-A": "Bearer ${A_TOKEN}"}), "providers.vllm.headers.X-A", "stands alone"),
        (vllm(headers={"X-A": "${HOME}"}), "providers.vllm.headers.X-A", "HOME does not look like an API key"),
        (vllm(headers=["X-A"]), "providers.vllm.headers", "mapping"),
        (vllm(extra={"stream": False}), "providers.vllm.extra", "ollm-lsp itself writes stream"),
        (vllm(extra={"seed": float("nan")}), "providers.vllm.extra", "cannot hold"),
        (vllm(extra={"seed": 10**5000}), "providers.vllm.extra", "cannot hold"),
        (vllm(extra={"a": {1: 2}}), "providers.vllm.extra", "cannot hold"),
        (vllm(extra={"a": [{"b": date(2020, 1, 1)}]}), "providers.vllm.extra", "dates in quotes"),
        (vllm(extra="top_k"), "providers.vllm.extra", "mapping"),
        (vllm(maxRetries=11), "providers.vllm.maxRetries", "at most 10"),
        (vllm(maxRetries=-1), "providers.vllm.maxRetries", "at least 0"),
        (vllm(allowInsecure="yes", baseUrl="http://10.0.0.1"), "providers.vllm.allowInsecure", "true or false"),
        ({"providers": {"o": {"type": "ollama", "think": "much"}}}, "providers.o.think", "how much a model thinks"),
        ({"providers": {"o": {"type": "ollama", "think": [True]}}}, "providers.o.think", "true or false"),
        ({"providers": {"o": {"type": "ollama", "keepAlive": True}}}, "providers.o.keepAlive", "text is expected"),
        ({"providers": {"e": {"type": "embedded", "modelPath": "a.gguf"}}}, "providers.e.modelPath", "full path"),
        ({"providers": {"e": {"type": "embedded", "modelPath": "~xyzzy/a"}}}, "providers.e.modelPath", "full path"),
        ({"providers": {"e": {"type": "embedded", "threads": 0}}}, "providers.e.threads", "at least 1"),
        ({3: "x"}, "<int>", "not a text"),
        ([], "", "not a mapping"),
        ("model: x", "", "not a mapping"),
    ],
)  # fmt: skip
def test_a_bad_setting_is_named_in_plain_words_and_nothing_else_suffers(options: object, key: str, words: str) -> None:
    resolution = resolved(options)
    problem = only_problem(resolution)
    assert (problem.source, problem.key) == (USER, key)
    assert words in f"{problem.message} {problem.remedy}"
    assert problem.remedy
    assert resolution.settings == clean({})


def test_a_bad_provider_leaves_the_others_and_the_rest_alone() -> None:
    providers = vllm(baseUrl=5, apiKey=6)["providers"] | {"good": {"type": "ollama"}}
    resolution = resolved({"model": "good:x", "providers": providers})
    assert [problem.key for problem in resolution.problems] == [
        "providers.vllm.baseUrl",
        "providers.vllm.apiKey",
    ]
    assert set(resolution.settings.providers) == {"ollama", "good"}
    assert resolution.settings.model == ModelId("good", "x")


def test_a_list_without_its_bad_entries_lets_through_no_more_than_the_default() -> None:
    resolution = resolved({"context": {"exclude": ["*.a", 1, "*.b", "[z-a]"]}})
    assert [problem.key for problem in resolution.problems] == ["context.exclude[1]", "context.exclude[3]"]
    assert resolution.settings.context.exclude == ("*.a", "*.b", "**/.env*")
    assert clean({"context": {"exclude": []}}).context.exclude == ()


def test_a_default_does_not_step_in_for_a_broken_entry_of_its_name() -> None:
    resolution = resolved({"providers": {"ollama": {"type": "ollama", "baseUrl": "nonsense"}}})
    assert only_problem(resolution).key == "providers.ollama.baseUrl"
    assert resolution.settings.providers == {}


def test_a_model_of_an_unknown_provider_is_kept_and_named() -> None:
    resolution = resolved({"model": "olama:x"})
    assert resolution.settings.model == ModelId("olama", "x")
    assert "Did you mean ollama?" in only_problem(resolution).remedy


def test_a_flood_of_problems_is_bounded() -> None:
    resolution = resolved({f"key{number}": 1 for number in range(1000)})
    assert len(resolution.problems) == 21
    assert "980 more" in resolution.problems[-1].message


def test_a_problem_names_a_key_on_one_line_of_bounded_length() -> None:
    problem = only_problem(resolved({"\x1b[31m\n" + "x" * 1000: 1}))
    assert problem.key.isprintable()
    assert len(problem.key) < 80
    assert str(problem).startswith(f"{USER}: ")


@pytest.mark.threat("T3")
@pytest.mark.prop("krk-41")
@pytest.mark.parametrize(
    "options",
    [
        remote(),
        vllm(baseUrl="http://models.example"),
        vllm(baseUrl="http://0.0.0.0:8000"),
        vllm(baseUrl="http://models.example", allowInsecure=False),
        {"providers": {"vllm": {"type": "ollama", "baseUrl": "http://192.168.0.2:11434"}}},
        {"providers": {"vllm": {"type": "anthropic", "baseUrl": "http://models.example"}}},
        {"providers": {"vllm": {"type": "google", "baseUrl": "http://models.example", "apiKey": "${A_KEY}"}}},
    ],
)
def test_nothing_travels_in_clear_to_another_machine(options: dict[str, Any]) -> None:
    resolution = resolved(options)
    problem = only_problem(resolution)
    assert problem.key == "providers.vllm.baseUrl"
    assert "unencrypted" in problem.message
    assert "allowInsecure: true" in problem.remedy
    assert "vllm" not in resolution.settings.providers


@pytest.mark.prop("krk-41")
@pytest.mark.parametrize(
    "options",
    [
        remote(allowInsecure=True),
        vllm(apiKey="${VLLM_API_KEY}"),
        vllm(baseUrl="http://[::1]:80", apiKey="${VLLM_API_KEY}"),
        vllm(baseUrl="https://models.example", apiKey="${VLLM_API_KEY}"),
        vllm(baseUrl="http://models.example", allowInsecure=True),
    ],
)
def test_requests_travel_encrypted_on_this_machine_or_with_the_users_consent(options: dict[str, Any]) -> None:
    assert "vllm" in clean(options).providers


@pytest.mark.prop("krk-42")
def test_a_key_in_the_file_works_with_a_warning_that_does_not_repeat_it() -> None:
    resolution = resolved(vllm(apiKey="sk-literal-canary-31"))
    problem = only_problem(resolution)
    assert (problem.key, problem.severity) == ("providers.vllm.apiKey", "warning")
    assert "in the environment" in problem.remedy
    provider = resolution.settings.providers["vllm"]
    assert isinstance(provider, OpenAISettings)
    assert provider.api_key
    assert provider.api_key.reveal() == "sk-literal-canary-31"
    assert "sk-literal-canary-31" not in repr(resolution)


@pytest.mark.prop("krk-42")
def test_a_key_in_a_header_works_with_a_warning_that_does_not_repeat_it() -> None:
    headers = {"X-Auth-Token": "literal-canary-41", "X-Gate": "Bearer canary-42", "X-Title": "my editor"}
    resolution = resolved(vllm(headers=headers | {"X-Team": "${TEAM_TOKEN}"}))
    assert [(problem.key, problem.severity) for problem in resolution.problems] == [
        ("providers.vllm.headers.X-Auth-Token", "warning"),
        ("providers.vllm.headers.X-Gate", "warning"),
    ]
    assert "write X-Auth-Token: " in resolution.problems[0].remedy
    provider = resolution.settings.providers["vllm"]
    assert isinstance(provider, OpenAISettings)
    assert {name: provider.headers[name].reveal() for name in headers} == headers
    assert "canary" not in repr(resolution)


@pytest.mark.parametrize("kind", ["ollama", "openai", "anthropic", "google"])
def test_every_provider_at_an_address_takes_the_common_options(kind: str) -> None:
    options = {
        "type": kind,
        "baseUrl": "http://127.0.0.1:9",
        "apiKey": "${SOME_KEY}",
        "headers": {"X-A": "b"},
        "extra": {"top_k": None},
        "contextWindow": 1000,
        "maxRetries": 1,
        "timeouts": {"total": 5},
    }
    provider = clean({"providers": {"p": options}}).providers["p"]
    assert isinstance(provider, HttpSettings)
    assert provider == type(provider)(
        "p",
        "http://127.0.0.1:9",
        api_key=Secret("${SOME_KEY}"),
        headers={"X-A": Secret("b")},
        extra={"top_k": None},
        context_window=1000,
        max_retries=1,
        limits=TimeLimits(total=5),
    )
    assert hash(provider) == hash(replace(provider))
    changes: list[dict[str, Any]] = [{"headers": {}}, {"extra": {"top_k": 1}}, {"max_retries": 2}, {"api_key": None}]
    assert all(replace(provider, **change) != provider for change in changes)


@pytest.mark.prop("krk-42")
@pytest.mark.parametrize(
    "place", ["apiKey", "baseUrl", "keepAlive", "type", "contextWindow", "allowInsecure", "headers", "maxRetries"]
)
@pytest.mark.parametrize("value", ["$CANARY-31", "http://user:CANARY-31@host", ["CANARY-31"], {"a": "CANARY-31"}])
def test_no_problem_repeats_a_value(place: str, value: object) -> None:
    resolution = resolved(vllm(**{place: value}) | {"model": value, "chat": value})
    assert len(resolution.problems) >= 2
    assert "CANARY-31" not in repr(resolution.problems)


@pytest.mark.prop("krk-38")
@patient
@given(raw)
def test_any_value_resolves_to_settings_that_work(value: object) -> None:
    for embedded in (False, True):
        resolution = resolved(value, embedded=embedded)
        settings = resolution.settings
        assert settings.model.provider
        assert settings.model.name
        for name, provider in settings.providers.items():
            assert provider.name == name
            assert min(provider.limits.connect, provider.limits.idle, provider.limits.total) > 0
            if isinstance(provider, HttpSettings):
                json.dumps(provider.extra, allow_nan=False).encode()
                assert not {"messages", "model", "stream"} & set(provider.extra)
                assert not {"authorization", "host"} & {header.lower() for header in provider.headers}
                assert provider.base_url.startswith("https:") or is_loopback(provider.base_url) or _agreed(value, name)
        assert all(problem.remedy and problem.source == USER for problem in resolution.problems)
        assert len(resolution.problems) <= 21


def _agreed(value: Any, name: str) -> bool:
    return value["providers"][name]["allowInsecure"] is True


@patient
@given(raw)
def test_resolving_changes_nothing_of_what_it_was_given(value: object) -> None:
    before = repr(value)
    resolved(value)
    assert repr(value) == before


def test_numbers_beyond_all_reason_are_problems() -> None:
    huge = 10**5000
    options = {
        huge: 1,
        "context": {"maxTokens": huge},
        "timeouts": {"idle": huge},
        "providers": {"o": {"type": "ollama", "keepAlive": huge}},
    }
    assert len(resolved(options).problems) == 4


def test_a_mapping_that_holds_itself_is_no_trap() -> None:
    endless: dict[str, object] = {}
    endless |= {"providers": endless, "chat": endless, "x": [endless]}
    assert resolved(endless).problems


@pytest.mark.parametrize(
    ("tools", "key", "words"),
    [
        ({"permissions": {"Makefile": "deny"}}, "tools.permissions.Makefile", "**/Makefile"),
        ({"permissions": {"read_file": "maybe"}}, "tools.permissions.read_file", "allow"),
        ({"permissions": "deny"}, "tools.permissions", "mapping"),
        ({"permissions": {"[z-a].py": "deny"}}, "tools.permissions.[z-a].py", "not a pattern"),
        ([], "tools", "mapping"),
    ],
)
def test_a_permission_that_was_lost_lets_nothing_through_without_a_question(
    tools: object, key: str, words: str
) -> None:
    resolution = resolved({"tools": tools})
    problem = only_problem(resolution)
    assert problem.key == key
    assert words in f"{problem.message} {problem.remedy}"
    assert resolution.settings.tools.restrictions == (("*", "ask"),)


def test_tools_that_cannot_be_are_named() -> None:
    assert only_problem(resolved({"tools": {"disabled": ["delete-file"]}})).key == "tools.disabled[0]"
    settings = resolved({"tools": {"permissions": {"*": "ask", "**/.env*": "deny"}}}).settings.tools
    assert settings.permissions == (("*", "ask"), ("**/.env*", "deny"))
    assert (settings.restrictions, settings.disabled, settings.run_command) == ((), (), False)


def test_prompts_of_the_user_replace_ours_and_their_own_actions_follow() -> None:
    custom = [
        {"title": "Shout", "prompt": "Shout.", "kind": "edit"},
        {"title": "?"},
        {"title": "Say", "prompt": "Say."},
    ]
    resolution = resolved({"actions": {"prompts": {"explain": "To a child."}, "custom": custom}})
    actions = resolution.settings.actions
    assert [action.name for action in actions.built_in] == [action.name for action in BUILT_IN]
    assert actions.built_in[0] == replace(EXPLAIN, prompt="To a child.")
    assert actions.built_in[1:] == BUILT_IN[1:]
    shout, say = Action("Shout", "Shout", "Shout.", Form.EDIT), Action("Say", "Say", "Say.", Form.ANSWER)
    assert actions.custom == (shout, say), "the wrong one in the middle is left out"
    assert actions.get("Shout") == shout
    assert actions.get("explain") == actions.built_in[0]
    assert actions.get("nobody") is None
