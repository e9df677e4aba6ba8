"""Codex CLI of OpenAI."""

from __future__ import annotations

from secrets import token_hex
from typing import TYPE_CHECKING

from ollm_lsp.core.errors import LoginRequired, ModelNotFound, ProgramNotFound, RateLimited, Unsupported
from ollm_lsp.providers.agents.description import AskTheTool, Description, Platform, Signature
from ollm_lsp.providers.agents.hiding import Hiding, at_any_depth, in_any_case, quoted
from ollm_lsp.providers.wire import agent_codex

if TYPE_CHECKING:
    from collections.abc import Sequence

LOGIN = "Run `codex login` in a terminal, or set CODEX_API_KEY where the editor is started."
INSTALL = "Install it with `npm install -g @openai/codex`; that needs Node 20 or newer."


def _hide(patterns: Sequence[str]) -> Hiding:
    """A sandbox in which these files cannot be opened. `-s` would take it back, and read-only it is as well.

    Profiles of one name are joined, also with those of a folder that the user told Codex to trust: nobody can guess
    this one.
    """
    name = f"ollm-{token_hex(8)}"
    hidden = dict.fromkeys(in_any_case(at_any_depth(pattern)) for pattern in patterns)
    denied = ",".join(f'{quoted(pattern)}="deny"' for pattern in hidden)
    return Hiding(
        (
            *("-c", f'default_permissions="{name}"'),
            *("-c", f'permissions.{name}.extends=":read-only"'),
            *("-c", f'permissions.{name}.filesystem={{":workspace_roots"={{{denied}}}}}'),
        )
    )


CODEX = Description(
    tool="codex",
    title="Codex",
    command="codex",
    minimum=(0, 23, 1),
    install=INSTALL,
    login=LOGIN,
    places={
        Platform.LINUX: ("{HOME}/.local/bin",),
        Platform.MACOS: ("{HOME}/.local/bin", "/Applications/Codex.app/Contents/Resources"),
        Platform.WINDOWS: (
            "{LOCALAPPDATA}\\Programs\\OpenAI\\Codex\\bin",
            "{LOCALAPPDATA}\\OpenAI\\Codex\\bin",
        ),
    },
    # Rules of a folder could let commands run outside the sandbox.
    arguments=("exec", "--json", "--skip-git-repo-check", "--ignore-rules"),
    hide=_hide,
    hides_since=(0, 166, 0),
    hides_nothing=("-s", "read-only"),
    model_option="-m",
    resume=("resume", "{}"),
    last_arguments=("-",),
    folder_option=None,
    fixed={},
    passed_on=("CODEX_HOME",),
    keys=("CODEX_API_KEY",),
    probe=AskTheTool(("login", "status")),
    probe_limit=15.0,
    idle_limit=600.0,  # it says nothing until a message is whole
    context_window=272_000,
    vendor="https://api.openai.com",
    priced_as={},
    decoder=agent_codex.Decoder,
    signatures=(
        Signature(r"not logged in|missing environment variable|status 401|codex login", LoginRequired, LOGIN),
        Signature(
            r"codex says: model: \S+|model_not_found|model .{1,80} (does not exist|is not supported)",
            ModelNotFound,
            "Choose another model, or `default`.",
        ),
        Signature(
            r"usage limit|status 429|rate limit",
            RateLimited,
            "Wait until your plan allows more, or choose another provider.",
        ),
        Signature(r"unexpected argument|'node'|not found: node", ProgramNotFound, INSTALL),
        Signature(r"no rollout found", Unsupported, "Begin a new conversation."),
    ),
)
