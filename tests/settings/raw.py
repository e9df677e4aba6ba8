"""Whatever may stand in a settings file: plausible, wrong, and absurd."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any, TypeAlias

from hypothesis import settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

KEYS = [
    "model", "providers", "timeouts", "chat", "context", "type", "baseUrl", "apiKey", "allowInsecure", "keepAlive",
    "modelPath", "contextWindow", "threads", "idleTimeout", "think", "maxRetries", "maxTokens", "headers", "extra",
    "connect", "firstToken", "idle", "total", "systemPrompt", "openBuffers", "exclude", "ollama", "openai", "embedded",
    "keepConversations", "maxTurns", "toolTimeout", "tools", "autoCompact", "compactTimeout", "agentsFile", "imports",
    "keepConversations", "tools", "permissions", "disabled", "runCommand", "read_*", "**/.env*",
    "vllm", "a:b", "base_url", "kraken", "X-Team", "Authorization", "top_k", "stream", "",
]  # fmt: skip
VALUES: list[Any] = [
    "ollama:x", "embedded:y", "vllm:z", "remote:w", "ollama:big-cloud", "nobody:x", "ollama", "openai", "embedded",
    "http://127.0.0.1:1", "https://evil.example/v1", "http://evil.example", "http://u:p@h", "${VLLM_API_KEY}",
    "${HOME}", "literal-key-of-somebody", "~/model.gguf", "~nobody/x", "\0", "10m", "**/*", "[z-a]", "[[a]", "\ud800",
    "yes", True, False, 0, 1, -1, 5, 4096, 10**400, 0.5, float("nan"), float("inf"), None, [], {}, "", b"x",
    date(2020, 1, 1), (), {1, 2},
]  # fmt: skip

Anything: TypeAlias = "SearchStrategy[Any]"
scalars: Anything = st.one_of(
    st.sampled_from(VALUES),
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.binary(max_size=4),
)
names: Anything = st.one_of(
    st.sampled_from(KEYS),
    st.text(max_size=6),
    st.text(st.characters(categories=["Cs"]), min_size=1, max_size=2),
    st.integers(),
    st.none(),
    st.booleans(),
    st.tuples(st.integers()),
)
anything: Anything = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(names, inner, max_size=6)),
    max_leaves=25,
)

members: Anything = st.dictionaries(names, st.one_of(scalars, anything), max_size=4)
providers: Anything = st.dictionaries(
    st.one_of(st.sampled_from(["ollama", "embedded", "vllm", "remote"]), names),
    st.one_of(
        anything,
        st.fixed_dictionaries(
            {"type": st.sampled_from(["ollama", "openai", "anthropic", "google", "embedded", "olama", 3])},
            optional=dict.fromkeys(KEYS[6:17], scalars)
            | {"headers": members, "extra": members, "timeouts": anything, "typo": anything},
        ),
    ),
    max_size=4,
)
_chat: dict[str, Anything] = {
    "systemPrompt": scalars,
    "maxTurns": st.one_of(st.integers(1, 20), scalars),
    "toolTimeout": st.one_of(st.floats(1, 100), scalars),
    "tools": st.one_of(st.booleans(), scalars),
    "keepConversations": st.one_of(st.booleans(), scalars),
}
_dollars: Anything = st.one_of(st.floats(0, 20), st.integers(0, 20), scalars)
_switch: Anything = st.one_of(st.booleans(), scalars)
_names: Anything = st.one_of(
    st.lists(st.sampled_from(["claude", "codex", "openai", "gpt"])), st.lists(scalars), scalars
)
_kraken: dict[str, Anything] = {
    "enabled": _switch,
    "defaultProvider": st.one_of(st.sampled_from(["claude", "openai"]), scalars),
    "maxCostPerRequest": _dollars,
    "maxCostPerSession": _dollars,
    "maxCostPerDay": _dollars,
    "autoEscalate": st.fixed_dictionaries(
        {},
        optional={
            "enabled": _switch,
            "triggerOn": st.lists(st.one_of(st.sampled_from(["modelFailure", "userRequest"]), scalars)),
        },
    ),
    "cliProviders": st.dictionaries(
        names, st.fixed_dictionaries({"tool": st.sampled_from(["claude", "codex", "x"])}, optional={"path": scalars})
    ),
    "apiProviders": st.dictionaries(
        names,
        st.fixed_dictionaries(
            {"provider": st.sampled_from(["openai", "google", "ollama"])},
            optional={
                "model": scalars,
                "apiKey": scalars,
                "baseUrl": scalars,
                "enabled": _switch,
                "timeouts": anything,
            },
        ),
    ),
    "policies": st.fixed_dictionaries(
        {},
        optional={
            "confirmBeforeRelease": _switch,
            "showCostWarnings": _switch,
            "costWarningThreshold": _dollars,
            "logKrakenUsage": _switch,
            "maskSecrets": _switch,
            "allowedProviders": _names,
        },
    ),
    "hooks": st.dictionaries(
        st.sampled_from(["before_kraken", "after_kraken", "beforeKraken"]),
        st.one_of(st.lists(st.fixed_dictionaries({"command": st.lists(scalars)})), scalars),
    ),
    "prices": st.dictionaries(names, st.fixed_dictionaries({"input": _dollars, "output": _dollars})),
}
kraken: Anything = st.fixed_dictionaries({}, optional=_kraken)
_sections: dict[str, Anything] = {
    "model": scalars,
    "providers": st.one_of(providers, anything),
    "timeouts": st.dictionaries(st.sampled_from(["connect", "idle", "total", "x"]), scalars),
    "chat": st.one_of(st.fixed_dictionaries({}, optional=_chat), anything),
    "context": st.one_of(
        st.fixed_dictionaries(
            {},
            optional={
                "openBuffers": st.one_of(st.booleans(), scalars),
                "maxTokens": st.one_of(st.integers(1, 10_000), scalars),
                "exclude": st.one_of(st.lists(st.sampled_from(["*.a", "*.b"])), st.lists(scalars), scalars),
            },
        ),
        anything,
    ),
    "tools": st.one_of(
        st.fixed_dictionaries(
            {},
            optional={
                "permissions": st.one_of(
                    st.dictionaries(
                        st.one_of(
                            st.sampled_from(["*", "read_*", "edit_file", "**/.env*", "src/**", "Makefile"]), names
                        ),
                        st.one_of(st.sampled_from(["allow", "ask", "deny"]), scalars),
                        max_size=5,
                    ),
                    scalars,
                ),
                "disabled": st.one_of(st.lists(st.sampled_from(["edit_file", "*"])), st.lists(scalars), scalars),
                "runCommand": st.one_of(st.booleans(), scalars),
            },
        ),
        anything,
    ),
    "kraken": st.one_of(kraken, anything),
    "actions": st.one_of(
        st.fixed_dictionaries(
            {},
            optional={
                "prompts": st.dictionaries(st.one_of(st.sampled_from(["explain", "fix"]), names), scalars, max_size=3),
                "custom": st.lists(
                    st.one_of(
                        scalars,
                        members,
                        st.fixed_dictionaries(
                            {"title": st.text(max_size=3), "prompt": st.text(max_size=3)},
                            optional={"kind": st.one_of(st.sampled_from(["answer", "edit"]), scalars), "x": anything},
                        ),
                    ),
                    max_size=3,
                ),
                "aiComments": st.one_of(st.booleans(), scalars),
            },
        ),
        anything,
    ),
}
shaped: Anything = st.fixed_dictionaries({}, optional=_sections)
raw = st.one_of(anything, shaped)
"""Any raw value of a layer."""

patient = settings(deadline=None)
"""For tests with Hypothesis: a busy machine is no failure."""
