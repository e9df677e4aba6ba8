"""Invariant 11: the editor and the workspace narrow what the user allowed and never widen it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given

from ollm_lsp.core.budget import Limits
from ollm_lsp.core.decision import Decision
from ollm_lsp.core.model import ModelId
from ollm_lsp.settings.kraken_settings import Trigger
from ollm_lsp.settings.layers import EDITOR, Layer, Resolution
from ollm_lsp.settings.options import Options, is_anywhere
from ollm_lsp.settings.resolve import resolve
from ollm_lsp.settings.resolved import ToolsSettings
from ollm_lsp.settings.section import Section, keys, subsection
from tests.settings.no_wider import assert_no_wider
from tests.settings.raw import patient, raw

if TYPE_CHECKING:
    from ollm_lsp.settings.resolved import Settings

USER = "~/.ollm/config.yaml"
WORKSPACE = "workspace .ollm/config.yaml"
OWN: dict[str, Any] = {
    "model": "ollama:own",
    "providers": {
        "local": {"type": "openai", "baseUrl": "http://127.0.0.1:8000/v1", "apiKey": "${LOCAL_API_KEY}"},
        "remote": {"type": "openai", "baseUrl": "https://models.example/v1", "apiKey": "${REMOTE_API_KEY}"},
        "lan": {"type": "ollama", "baseUrl": "http://192.168.0.2:11434", "allowInsecure": True},
        "claude": {"type": "anthropic", "apiKey": "${ANTHROPIC_API_KEY}"},
        "gemini": {"type": "google", "apiKey": "${GEMINI_API_KEY}"},
        "messages": {"type": "anthropic", "baseUrl": "http://127.0.0.1:8080"},
        "generate": {"type": "google", "baseUrl": "http://[::1]:8080/v1beta"},
    },
    "timeouts": {"total": 50},
    "chat": {"systemPrompt": "own"},
    "context": {"openBuffers": True, "maxTokens": 1000, "exclude": ["*.own"]},
    "kraken": {
        "enabled": True,
        "maxCostPerDay": 5,
        "cliProviders": {"claude": {"tool": "claude"}},
        "apiProviders": {"gpt": {"provider": "openai", "apiKey": "${OPENAI_API_KEY}", "model": "gpt-4o"}},
        "policies": {"allowedProviders": ["claude", "gpt"]},
    },
}


def narrowed(*layers: object, user: object = OWN) -> Resolution:
    sources = [EDITOR, WORKSPACE]
    narrowing = [Layer(source, layer) for source, layer in zip(sources, layers, strict=False)]
    return resolve(Layer(USER, user), narrowing, embedded_available=True)


def own(user: object = OWN) -> Settings:
    return narrowed(user=user).settings


@pytest.mark.threat("T1")
@pytest.mark.prop("krk-38")
@patient
@given(raw, raw, raw)
def test_no_layer_widens_what_the_user_allowed(user: object, editor: object, workspace: object) -> None:
    for base in (user, OWN):
        assert_no_wider(narrowed(editor, workspace, user=base).settings, own(base))


@pytest.mark.prop("krk-38")
@patient
@given(raw)
def test_whatever_a_layer_says_its_problems_name_it(value: object) -> None:
    problems = narrowed(None, value).problems
    assert all(problem.source == WORKSPACE and problem.remedy for problem in problems)
    assert len(problems) <= 21


@pytest.mark.threat("T1", "T2")
@pytest.mark.parametrize("source", [0, 1])
@pytest.mark.parametrize(
    ("options", "refused"),
    [
        ({"providers": {"local": {"baseUrl": "http://evil.example"}}}, "providers.local.baseUrl"),
        ({"providers": {"new": {"type": "ollama"}}}, "providers.new.type"),
        ({"providers": {"remote": {"apiKey": "${AWS_KEY}"}}}, "providers.remote.apiKey"),
        ({"providers": {"remote": {"allowInsecure": True}}}, "providers.remote.allowInsecure"),
        ({"providers": {"remote": {"timeouts": {"total": 1}}}}, "providers.remote.timeouts.total"),
        ({"providers": {"remote": {"headers": {"X-Evil": "evil"}}}}, "providers.remote.headers.X-Evil"),
        ({"providers": {"remote": {"extra": {"a": {"b": "evil"}}}}}, "providers.remote.extra.a.b"),
        ({"providers": {"remote": {"maxRetries": 9}}}, "providers.remote.maxRetries"),
        ({"providers": {"remote": {"contextWindow": 512}}}, "providers.remote.contextWindow"),
        ({"providers": {"claude": {"maxTokens": 9}}}, "providers.claude.maxTokens"),
        ({"providers": {"ollama": {"think": True}}}, "providers.ollama.think"),
        ({"providers": {"remote": None}}, "providers.remote"),
        ({"providers": {"remote": {}}}, "providers.remote"),
        ({"providers": "x"}, "providers"),
        ({"providers": []}, "providers"),
        ({"timeouts": {"total": 9}}, "timeouts.total"),
        ({"kraken": {"hooks": {"before_kraken": [{"command": ["evil"]}]}}}, "kraken.hooks.before_kraken"),
        ({"kraken": {"cliProviders": {"claude": {"path": "/evil"}}}}, "kraken.cliProviders.claude.path"),
        ({"kraken": {"cliProviders": {"x": {"proxyUrl": "https://evil"}}}}, "kraken.cliProviders.x.proxyUrl"),
        ({"kraken": {"apiProviders": {"gpt": {"baseUrl": "https://evil"}}}}, "kraken.apiProviders.gpt.baseUrl"),
        ({"kraken": {"apiProviders": {"gpt": {"apiKey": "${AWS_KEY}"}}}}, "kraken.apiProviders.gpt.apiKey"),
        ({"kraken": {"prices": {"gpt-4o": {"input": 0}}}}, "kraken.prices.gpt-4o.input"),
        ({"kraken": {"defaultProvider": "gpt"}}, "kraken.defaultProvider"),
        ({"kraken": {"policies": {"logKrakenUsage": False}}}, "kraken.policies.logKrakenUsage"),
        ({"actions": {"prompts": {"explain": "evil"}}}, "actions.prompts.explain"),
        ({"actions": {"custom": [{"title": "Fix", "prompt": "evil"}]}}, "actions.custom"),
    ],
)  # fmt: skip
def test_a_key_of_the_users_own_file_has_no_effect_elsewhere(
    source: int, options: dict[str, Any], refused: str
) -> None:
    resolution = narrowed(*([None] * source), options)
    assert resolution.settings == own()
    (problem,) = resolution.problems
    assert (problem.source, problem.key) == ((EDITOR, WORKSPACE)[source], refused)
    assert USER in problem.message
    assert f"Move it to {USER}" in problem.remedy
    assert "evil" not in repr(problem)


def test_an_unknown_key_is_named_there_too() -> None:
    resolution = narrowed({"squid": {"hooks": ["rm"]}, "context": {"exlude": []}})
    assert resolution.settings == own()
    assert [problem.key for problem in resolution.problems] == ["context.exlude", "squid"]
    assert "Did you mean exclude?" in resolution.problems[0].remedy


@pytest.mark.parametrize("model", ["embedded:anything", "local:x", "ollama:other:7b", "messages:x", "generate:x"])
def test_a_model_on_this_machine_can_be_chosen(model: str) -> None:
    resolution = narrowed({"model": model})
    assert resolution.problems == ()
    assert resolution.settings.model == ModelId.parse(model)


@pytest.mark.threat("T1")
@pytest.mark.parametrize(
    "model",
    [
        "remote:x",
        "lan:x",
        "claude:x",
        "gemini:x",
        "nobody:x",
        "ollama:gpt-oss:120b-cloud",
        "ollama:kimi-k2:Cloud",
    ],
)
def test_any_other_model_is_chosen_only_in_the_users_own_file(model: str) -> None:
    resolution = narrowed({"model": model})
    assert resolution.settings.model == own().model
    (problem,) = resolution.problems
    assert (problem.source, problem.key) == (EDITOR, "model")
    assert problem.remedy == f"Set it in {USER}."
    assert narrowed(user=OWN | {"model": model}).settings.model == ModelId.parse(model)


def test_repeating_the_users_own_choice_is_no_problem() -> None:
    user = OWN | {"model": "remote:x"}
    repeated: dict[str, Any] = {"model": "remote:x", "context": OWN["context"], "providers": {}, "timeouts": None}
    assert narrowed(repeated, user=user) == Resolution(own(user))


@pytest.mark.parametrize(("own_choice", "layer"), [(True, True), (True, False), (False, True), (False, False)])
def test_keeping_conversations_can_only_be_switched_off(own_choice: bool, layer: bool) -> None:
    user = OWN | {"chat": {"keepConversations": own_choice}}
    resolution = narrowed({"chat": {"keepConversations": layer}}, user=user)
    assert resolution.settings.chat.keep_conversations is (own_choice and layer)
    refused = ["chat.keepConversations"] if layer and not own_choice else []
    assert [problem.key for problem in resolution.problems] == refused
    assert narrowed({"chat": {"systemPrompt": "x"}}, user=user).problems == ()


def test_the_context_can_be_made_smaller() -> None:
    context = narrowed(
        {"context": {"openBuffers": False, "maxTokens": 10, "exclude": ["*.b", "*.own"]}}
    ).settings.context
    assert context.open_buffers is False
    assert context.max_tokens == 10
    assert context.exclude == ("*.own", "*.b")


def test_the_context_cannot_be_made_larger() -> None:
    user = OWN | {"context": {"openBuffers": False, "maxTokens": 1000}}
    resolution = narrowed({"context": {"openBuffers": True, "maxTokens": 1001, "exclude": []}}, user=user)
    assert resolution.settings == own(user)
    assert [problem.key for problem in resolution.problems] == ["context.openBuffers", "context.maxTokens"]


def test_a_chat_can_be_given_less() -> None:
    chat = narrowed({"chat": {"maxTurns": 3, "tools": False}}, {"chat": {"toolTimeout": 5}}).settings.chat
    assert chat == replace(own().chat, max_turns=3, tool_timeout=5, tools=False)


def test_a_chat_cannot_be_given_more() -> None:
    user = OWN | {"chat": {"maxTurns": 3, "toolTimeout": 5, "tools": False}}
    resolution = narrowed({"chat": {"maxTurns": 4, "toolTimeout": 5.5, "tools": True}}, user=user)
    assert resolution.settings == own(user)
    assert [problem.key for problem in resolution.problems] == ["chat.tools", "chat.maxTurns", "chat.toolTimeout"]
    assert narrowed({"chat": {"maxTurns": 11}}).settings.chat.max_turns == 10


def test_tools_can_be_restricted() -> None:
    user = OWN | {"tools": {"permissions": {"*": "allow"}, "disabled": ["delete_file"], "runCommand": True}}
    editor = {"tools": {"permissions": {"edit_*": "ask"}, "runCommand": False}}
    workspace = {"tools": {"permissions": {"src/**": "deny", "edit_*": "ask"}, "disabled": ["rename_file"]}}
    resolution = narrowed(editor, workspace, user=user)
    assert resolution.problems == ()
    assert resolution.settings.tools == ToolsSettings(
        permissions=(("*", Decision.ALLOW),),
        restrictions=(("edit_*", Decision.ASK), ("src/**", Decision.DENY)),
        disabled=("delete_file", "rename_file"),
        run_command=False,
    )
    assert narrowed({"tools": {"disabled": ["x"]}}, user=user).settings.tools.run_command is True


def test_tools_cannot_be_given_more() -> None:
    layer: dict[str, Any] = {
        "tools": {"permissions": {"*": "allow", "src/**": "allow"}, "disabled": [], "runCommand": True}
    }
    resolution = narrowed(layer)
    assert resolution.settings == own()
    assert [problem.key for problem in resolution.problems] == [
        "tools.permissions.*",
        "tools.permissions.src/**",
        "tools.runCommand",
    ]
    assert narrowed(layer, user=OWN | layer).problems == ()


@pytest.mark.prop("krk-46")
def test_the_kraken_can_be_tamed() -> None:
    layer: dict[str, Any] = {
        "enabled": False,
        "maxCostPerRequest": 0.1,
        "maxCostPerSession": 2,
        "maxCostPerDay": 3.5,
        "autoEscalate": {"enabled": False, "triggerOn": ["userRequest"]},
        "policies": {"allowedProviders": ["gpt"], "costWarningThreshold": 0.5, "confirmBeforeRelease": True},
    }
    resolution = narrowed({"kraken": layer})
    assert resolution.problems == ()
    kraken = resolution.settings.kraken
    assert kraken.enabled is False
    assert kraken.limits == Limits(100_000, 2_000_000, 3_500_000)
    assert kraken.escalation.triggers == {Trigger.USER_REQUEST}
    assert (kraken.policies.allows("gpt"), kraken.policies.allows("claude")) == (True, False)
    assert kraken.policies.cost_warning_threshold == 500_000


@pytest.mark.threat("T1")
@pytest.mark.prop("krk-46")
def test_the_kraken_cannot_be_let_loose() -> None:
    user: dict[str, Any] = {**OWN, "kraken": OWN["kraken"] | {"enabled": False, "maxCostPerRequest": 1}}
    user["kraken"]["autoEscalate"] = {"triggerOn": ["userRequest"]}
    layer: dict[str, Any] = {
        "enabled": True,
        "maxCostPerRequest": 1.1,
        "maxCostPerSession": 10.000001,
        "maxCostPerDay": 6,
        "autoEscalate": {"enabled": True, "triggerOn": ["modelFailure", "userRequest"]},
        "policies": {
            "allowedProviders": ["claude", "gpt", "other"],
            "costWarningThreshold": 2,
            "confirmBeforeRelease": False,
            "showCostWarnings": False,
            "maskSecrets": False,
        },
    }
    resolution = narrowed({"kraken": layer}, user=user)
    assert resolution.settings == own(user)
    assert {problem.key for problem in resolution.problems} == {
        "kraken.enabled",
        "kraken.maxCostPerRequest",
        "kraken.maxCostPerSession",
        "kraken.maxCostPerDay",
        "kraken.autoEscalate.enabled",
        "kraken.autoEscalate.triggerOn",
        "kraken.policies.allowedProviders",
        "kraken.policies.costWarningThreshold",
        "kraken.policies.confirmBeforeRelease",
        "kraken.policies.showCostWarnings",
        "kraken.policies.maskSecrets",
    }


def test_the_later_layer_decides_and_cannot_undo_what_the_earlier_one_narrowed() -> None:
    editor = {"model": "local:a", "chat": {"systemPrompt": "editor"}, "context": {"openBuffers": False, "maxTokens": 5}}
    workspace = {
        "model": "local:b",
        "chat": {"systemPrompt": "workspace"},
        "context": {"openBuffers": True, "maxTokens": 9},
    }
    resolution = narrowed(editor, workspace)
    assert resolution.settings.model == ModelId("local", "b")
    assert resolution.settings.chat.system_prompt == "workspace"
    assert resolution.settings.context.open_buffers is False
    assert resolution.settings.context.max_tokens == 5
    assert [problem.source for problem in resolution.problems] == [WORKSPACE, WORKSPACE]


def test_a_bad_value_of_a_layer_switches_off_only_itself() -> None:
    resolution = narrowed({"model": 5, "context": {"maxTokens": "few", "exclude": ["*.x", 3]}})
    assert [problem.key for problem in resolution.problems] == ["model", "context.maxTokens", "context.exclude[1]"]
    assert resolution.settings.model == own().model
    assert resolution.settings.context.max_tokens == 1000
    assert resolution.settings.context.exclude == ("*.own", "*.x")


def test_the_options_that_count_anywhere_are_exactly_those_that_narrowing_knows() -> None:
    """A new option counts in the user's file only, until somebody writes how it narrows and adds it here."""
    assert set(_anywhere(Options)) == {
        "model",
        "chat.systemPrompt",
        "chat.maxTurns",
        "chat.toolTimeout",
        "chat.tools",
        "chat.keepConversations",
        "chat.autoCompact",
        "chat.compactTimeout",
        "context.agentsFile",
        "context.imports",
        "context.openBuffers",
        "context.maxTokens",
        "context.exclude",
        "tools.permissions",
        "tools.disabled",
        "tools.runCommand",
        "kraken.enabled",
        "kraken.maxCostPerRequest",
        "kraken.maxCostPerSession",
        "kraken.maxCostPerDay",
        "kraken.autoEscalate.enabled",
        "kraken.autoEscalate.triggerOn",
        "kraken.policies.confirmBeforeRelease",
        "kraken.policies.showCostWarnings",
        "kraken.policies.costWarningThreshold",
        "kraken.policies.maskSecrets",
        "kraken.policies.allowedProviders",
        "actions.aiComments",
    }


def _anywhere(section: type[Section]) -> list[str]:
    found: list[str] = []
    for key, field in keys(section).items():
        if is_anywhere(field.json_schema_extra):
            found.append(key)
        elif inner := subsection(field):
            found += (f"{key}.{deeper}" for deeper in _anywhere(inner))
    return found


def test_thousands_of_refused_keys_give_a_bounded_answer() -> None:
    flood = {"providers": {f"p{number}": {"type": "ollama"} for number in range(5000)}}
    resolution = narrowed(flood)
    assert len(resolution.problems) == 21
    assert resolution.settings == own()
