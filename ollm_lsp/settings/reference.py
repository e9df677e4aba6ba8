"""Reference: docs/settings.md, made from the options so that it cannot lie.

Run `python -m ollm_lsp.settings.reference > docs/settings.md` after a change; a test checks that it was done.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, Final

from ollm_lsp.settings.kraken_options import (
    API_KINDS,
    CliProviderOptions,
    EscalationOptions,
    HookOptions,
    HooksOptions,
    KrakenOptions,
    OpenAIApiOptions,
    PolicyOptions,
    PriceOptions,
)
from ollm_lsp.settings.options import (
    ActionsOptions,
    ChatOptions,
    ContextOptions,
    CustomAction,
    Options,
    ToolsOptions,
    is_anywhere,
)
from ollm_lsp.settings.provider_options import KINDS, OpenAIOptions, Timeouts
from ollm_lsp.settings.schema import schema
from ollm_lsp.settings.section import keys, subsection

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic.fields import FieldInfo

    from ollm_lsp.settings.section import Section

EXAMPLE: Final = """\
model: "ollama:qwen3-coder:30b"
providers:
  ollama:
    type: ollama
    baseUrl: "http://127.0.0.1:11434"
    keepAlive: 30m
  vllm:
    type: openai
    baseUrl: "http://127.0.0.1:8000/v1"
    apiKey: "${VLLM_API_KEY}"
    timeouts: { firstToken: 300 }
  embedded:
    type: embedded
    modelPath: "~/models/some.gguf"
timeouts: { connect: 5 }
chat:
  systemPrompt: "Answer briefly."
  maxTurns: 20
context:
  maxTokens: 16000
  exclude: ["**/.env*", "**/*.pem"]
tools:
  permissions: { "*": ask, "read_*": allow, "docs/**": allow, "**/secrets/**": deny }
kraken:
  enabled: true
  defaultProvider: claude
  maxCostPerSession: 10.00
  maxCostPerDay: 25.00
  autoEscalate: { enabled: false, triggerOn: [modelFailure, contextOverflow] }
  cliProviders:
    claude: { tool: claude, timeout: 600, defaultModel: sonnet }
  apiProviders:
    openai: { provider: openai, apiKey: "${OPENAI_API_KEY}", model: gpt-4o, maxTokens: 8192 }
    own: { provider: openai, baseUrl: "https://models.example/v1", model: big }
  policies: { costWarningThreshold: 1.00, allowedProviders: [claude, openai, own] }
  hooks: { before_kraken: [{ command: ["~/bin/may-i", "--quiet"], timeout: 5 }] }
  prices: { "own:big": { input: 0.50, output: 1.50 } }
actions:
  prompts: { explain: "Explain this {language} code to a beginner." }
  custom: [{ title: "Add type annotations", prompt: "Add type annotations to this code.", kind: edit }]
"""

_INTRODUCTION: Final = f"""\
# Settings

<!-- Made by `python -m ollm_lsp.settings.reference > docs/settings.md`. Do not edit. -->

Everything works without any settings. What you want different you write into **your own file**,
`~/.ollm/config.yaml`, or the file that the environment variable `OLLM_CONFIG` names (a relative name begins at the
home directory). A changed file counts from the next request on; no restart is needed.

```yaml
{EXAMPLE}```

Two more places can **narrow** what your own file says, in this order, so that the later one decides:

1. the editor's settings, section `ollm`;
2. `.ollm/config.yaml` in a folder of the workspace. Of several folders the first one decides.

They count only for the keys marked *anywhere* below, and only toward less: a model that runs on this machine, fewer
buffers, fewer tokens, fewer turns, fewer tools, more questions, more excluded files, less money. Somebody else may have
written them, so they never say where a provider is, which key it gets, how long it may take or which program runs. An
editor does not tell whether you or the folder made a setting, therefore the editor's settings are treated like the
folder's.

A setting that is wrong is left out, everything else goes on, and the editor shows what to mend. Inside a provider one
wrong key leaves out that provider; a wrong limit of money, a wrong `allowedProviders` and a wrong `before_kraken` hook
switch the Kraken off. A null is the same as leaving the key out. YAML aliases, tags and a key that stands twice are
refused, and so is a file of more than 1 MB.

## Keys of providers

Write `apiKey: "${{NAME}}"` to read an environment variable, or `apiKey: "${{keyring:NAME}}"` to read the system
keyring (service `ollm-lsp`, needs the Python library `keyring`). Both are read at use and are never written to a log.
Only variables that look like an API key are read: `OLLM_*`, `*_API_KEY`, `*_KEY` and `*_TOKEN`. The values of
`headers` can be such references too. A vendor's own address is not used without a key.

Nothing travels over plain `http` to another machine unless the provider has `allowInsecure: true`, because every
request holds your code. Redirects are never followed.

[providers/](providers/README.md) has a page with an example for each server.
"""

_TYPES: Final = {"string": "text", "boolean": "true or false", "integer": "whole number", "object": "mapping"}
_LIMITS: Final = {"exclusiveMinimum": "more than", "minimum": "at least", "maximum": "at most"}
_USER: Final = "your own file"


def reference() -> str:
    """The whole page."""
    sections: dict[str, type[Section]] = {"All sections": Options, "`timeouts`": Timeouts}
    sections |= {f"`providers.<name>` with `type: {kind}`": section for kind, section in KINDS.items()}
    sections |= {"`chat`": ChatOptions, "`context`": ContextOptions, "`tools`": ToolsOptions}
    sections |= {
        "`kraken`": KrakenOptions,
        "`kraken.autoEscalate`": EscalationOptions,
        "`kraken.cliProviders.<name>`": CliProviderOptions,
        "`kraken.apiProviders.<name>`": OpenAIApiOptions,
        "`kraken.policies`": PolicyOptions,
        "`kraken.hooks`": HooksOptions,
        "Each entry of `kraken.hooks`": HookOptions,
        "`kraken.prices.<model>`": PriceOptions,
    }
    sections |= {"`actions`": ActionsOptions, "`actions.custom`": CustomAction}
    generated = schema()
    return _INTRODUCTION + "".join(_section(title, section, generated) for title, section in sections.items())


def _section(title: str, section: type[Section], generated: dict[str, Any]) -> str:
    rows = "".join(_rows(section, generated))
    heading = "| key | type | default | meaning | where |\n| --- | --- | --- | --- | --- |\n"
    return f"\n## {title}\n\n{section.__doc__}\n\n{heading}{rows}"


def _rows(section: type[Section], generated: dict[str, Any]) -> Iterator[str]:
    described = generated if section is Options else generated["$defs"][section.__name__]
    required = described.get("required", ())
    known = keys(section)
    if section is OpenAIApiOptions:  # the others stand where its type is described
        known = {key: field for key, field in known.items() if key not in keys(OpenAIOptions)}
    for key in sorted(
        known,
        key=lambda key: (key not in ("type", "provider"), key not in required, key != "baseUrl", key == "timeouts"),
    ):
        field, described_field = known[key], described["properties"][key]
        meaning = " ".join((field.description or "").split()).replace("|", "\\|")
        default = "required" if key in required else _default(described_field)
        where = _where(field)
        kind = " or ".join(f"`{kind}`" for kind in API_KINDS) if key == "provider" else _type(described_field)
        yield f"| `{key}` | {kind} | {default} | {meaning} | {where} |\n"


def _where(field: FieldInfo) -> str:
    if is_anywhere(field.json_schema_extra):
        return "anywhere"
    inner = subsection(field)
    if inner and any(_where(deeper) != _USER for deeper in inner.model_fields.values()):
        return "see its keys"
    return _USER


def _default(described: dict[str, Any]) -> str:
    value = described.get("default")
    if value is None:
        return ""
    return f"`{json.dumps(int(value) if isinstance(value, float) and value.is_integer() else value)}`"


def _type(described: dict[str, Any]) -> str:
    if choices := described.get("anyOf"):
        return " or ".join(_type(choice) for choice in choices if choice["type"] != "null")
    if "const" in described:
        return f"`{described['const']}`"
    if "enum" in described:
        return " or ".join(f"`{choice}`" for choice in described["enum"])
    kind: str = described.get("type", "object")
    if kind == "array":
        return "list of mappings" if "$ref" in described.get("items", {}) else "list of texts"
    limits = [f"{words} {described[name]:,}" for name, words in _LIMITS.items() if name in described]
    return ", ".join([_TYPES.get(kind, kind), *limits])


if __name__ == "__main__":
    sys.stdout.write(reference())
