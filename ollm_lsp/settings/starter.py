"""A settings file to begin with: all in comments, so that it changes nothing until the user does.

It is made only when the user wants to see the file, and never over one that is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_lsp.core.errors import SettingsError

if TYPE_CHECKING:
    from pathlib import Path

STARTER = """\
# Settings of ollm-lsp. What is not set here has its default, and a change counts at once.
# All of them, with their defaults: docs/settings.md, or `ollm-lsp schema`.

# The model for chats and actions, as provider:name.
#model: "ollama:qwen2.5-coder:7b"

# Where models are. Keys are never written here: ${NAME} reads the environment, ${keyring:NAME} the system's keyring.
#providers:
#  ollama: { type: ollama, baseUrl: "http://127.0.0.1:11434" }
#  vllm: { type: openai, baseUrl: "http://127.0.0.1:8000/v1", apiKey: "${VLLM_API_KEY}" }

# What tools may do without a question: ask, allow or deny. The strictest that fits counts.
#tools:
#  permissions: { "read_*": allow, "**/.env*": deny }

# External providers, which you release when the local model is not enough. You are asked each time. Dollars.
#kraken:
#  enabled: true
#  defaultProvider: claude
#  maxCostPerSession: 10.00
#  maxCostPerDay: 20.00
#  cliProviders:
#    claude: { tool: claude }
#    gemini: { tool: gemini }
#    codex: { tool: codex }
#  apiProviders:
#    gpt: { provider: openai, apiKey: "${OPENAI_API_KEY}", model: gpt-4o }
"""


def provide(path: Path) -> str:
    """The address of the settings file, which is there afterwards."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            with path.open("x", encoding="utf-8") as file:
                path.chmod(0o600)
                file.write(STARTER)
    except OSError as error:
        raise SettingsError(
            f"{path} cannot be made ({error.strerror or error}).",
            remedy="Mend the permissions there, or let OLLM_CONFIG name another file.",
        ) from None
    return path.absolute().as_uri()
