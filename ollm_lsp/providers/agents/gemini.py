"""Gemini CLI of Google."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollm_lsp.core.errors import (
    AuthenticationFailed,
    ConnectionFailed,
    LoginRequired,
    ModelNotFound,
    ProgramNotFound,
    RateLimited,
    Unsupported,
)
from ollm_lsp.providers.agents.description import Description, LookForFiles, Signature
from ollm_lsp.providers.agents.hiding import Hiding, as_expression, at_any_depth, quoted
from ollm_lsp.providers.wire import agent_gemini

if TYPE_CHECKING:
    from collections.abc import Sequence

LOGIN = "Run `gemini` in a terminal and log in, or set GEMINI_API_KEY where the editor is started."
INSTALL = "Install it with `npm install -g @google/gemini-cli`; it needs Node 20 or newer."


def _hide(patterns: Sequence[str]) -> Hiding:
    """Its ignore files count only in the folder that it runs in, and its search in files obeys nothing else."""
    rules = [_rule("grep_search", ""), *(_rule("read_file", as_expression(at_any_depth(one))) for one in patterns)]
    return Hiding(("--policy", "{}"), "".join(rules), ".toml")


def _rule(tool: str, expression: str) -> str:
    where = f"argsPattern = {quoted(expression)}\n" if expression else ""
    return f'[[rule]]\ntoolName = "{tool}"\n{where}decision = "deny"\npriority = 999\n'


GEMINI = Description(
    tool="gemini",
    title="Gemini CLI",
    command="gemini",
    minimum=(0, 39, 1),
    install=INSTALL,
    login=LOGIN,
    places={},
    arguments=("-o", "stream-json", "--approval-mode", "plan"),
    hide=_hide,
    hides_since=(0, 61, 0),
    hides_nothing=(),
    model_option="-m",
    resume=("--resume", "{}"),
    last_arguments=(),
    # It reads settings, hooks, servers and a `.env` with addresses from the folder that it runs in.
    folder_option="--include-directories",
    fixed={
        "GEMINI_CLI_TRUST_WORKSPACE": "true",  # the empty folder; without it the tool does not start
        "GEMINI_CLI_NO_RELAUNCH": "true",
    },
    passed_on=(
        *("GOOGLE_GEMINI_BASE_URL", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_GENAI_USE_VERTEXAI"),
        *("GOOGLE_APPLICATION_CREDENTIALS", "GEMINI_CLI_HOME"),
    ),
    keys=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    probe=LookForFiles((".gemini/oauth_creds.json", ".gemini/.env")),
    probe_limit=30.0,  # Node takes seconds to load it
    idle_limit=180.0,
    context_window=1_048_576,
    vendor="https://generativelanguage.googleapis.com",
    priced_as={},
    decoder=agent_gemini.Decoder,
    signatures=(
        Signature(
            r"please set an auth method|must specify the GEMINI_API_KEY|invalid auth method"
            r"|manual authorization is required|FatalAuthenticationError",
            LoginRequired,
            LOGIN,
        ),
        Signature(
            r"UNAUTHENTICATED|API key not valid|invalid x-api-key",
            AuthenticationFailed,
            "Check GEMINI_API_KEY, or take it away and log in with `gemini`.",
        ),
        Signature(
            r"ModelNotFoundError|model: \S+|is not found for API version",
            ModelNotFound,
            "Choose another model, such as gemini-2.5-pro or gemini-2.5-flash.",
        ),
        Signature(
            r"status 429|RESOURCE_EXHAUSTED|quota",
            RateLimited,
            "Wait until your plan allows more, or choose another provider.",
        ),
        Signature(r"fetch failed|ECONNREFUSED|ENOTFOUND", ConnectionFailed, "Check the network."),
        Signature(r"unknown arguments?:|'node'|not found: node", ProgramNotFound, INSTALL),
        Signature(r"invalid session identifier", Unsupported, "Begin a new conversation."),
    ),
)
