"""Claude Code of Anthropic."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ollm_lsp.core.errors import (
    AuthenticationFailed,
    LoginRequired,
    ModelNotFound,
    ProgramNotFound,
    RateLimited,
    Unsupported,
)
from ollm_lsp.providers.agents.description import AskTheTool, Description, Platform, Signature
from ollm_lsp.providers.agents.hiding import Hiding, at_any_depth
from ollm_lsp.providers.wire import agent_claude

if TYPE_CHECKING:
    from collections.abc import Sequence

LOGIN = "Run `claude` in a terminal and type /login, or set ANTHROPIC_API_KEY where the editor is started."
INSTALL = "Install it with `npm install -g @anthropic-ai/claude-code`, or update it with `claude update`."


def _hide(patterns: Sequence[str]) -> Hiding:
    """Its search obeys these rules as well, and links are followed first. Two slashes begin at the root of the disk."""
    rules = [f"Read(//{at_any_depth(pattern)})" for pattern in patterns]
    return Hiding(("--settings", "{}"), json.dumps({"permissions": {"deny": rules}}), ".json")


CLAUDE = Description(
    tool="claude",
    title="Claude Code",
    command="claude",
    minimum=(2, 1, 118),
    install=INSTALL,
    login=LOGIN,
    places={
        Platform.LINUX: ("{HOME}/.local/bin", "{HOME}/.claude/local"),
        Platform.MACOS: ("{HOME}/.local/bin", "{HOME}/.claude/local"),
        Platform.WINDOWS: ("{USERPROFILE}\\.local\\bin",),
    },
    arguments=(
        "-p",
        *("--output-format", "stream-json", "--verbose", "--include-partial-messages"),
        # It can do nothing but read, and nothing of the folder's settings, hooks or servers counts.
        *("--tools", "Read,Grep,Glob", "--strict-mcp-config", "--setting-sources", ""),
    ),
    hide=_hide,
    hides_since=(2, 1, 325),
    hides_nothing=(),
    model_option="--model",
    resume=("--resume", "{}"),
    last_arguments=(),
    folder_option=None,
    fixed={
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "2",
        "DISABLE_AUTOUPDATER": "1",
    },
    passed_on=("ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_GIT_BASH_PATH"),
    keys=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    probe=AskTheTool(("auth", "status"), r'"loggedIn"\s*:\s*true'),
    probe_limit=15.0,
    idle_limit=180.0,
    context_window=200_000,
    vendor="https://api.anthropic.com",
    priced_as={"opus": "claude-opus-4-1", "sonnet": "claude-sonnet-4-5", "haiku": "claude-haiku-4-5"},
    decoder=agent_claude.Decoder,
    signatures=(
        Signature(r"not logged in|please run /login|oauth token (has )?expired", LoginRequired, LOGIN),
        Signature(
            r"invalid api key|\b401\b",
            AuthenticationFailed,
            "Check ANTHROPIC_API_KEY, or take it away and log in with `claude` and /login.",
        ),
        Signature(
            r"usage limit|limit reached|credit balance",
            RateLimited,
            "Wait until your plan allows more, or choose another provider.",
        ),
        Signature(
            r"issue with the selected model|may not exist or you may not have access",
            ModelNotFound,
            "Choose another model: `sonnet`, `opus`, `haiku` or the full name of one.",
        ),
        Signature(r"unknown option", ProgramNotFound, INSTALL),
        Signature(r"no conversation found|already in use", Unsupported, "Begin a new conversation."),
    ),
)
