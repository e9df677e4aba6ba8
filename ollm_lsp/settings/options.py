"""Options as people write them, in a file or in an editor's settings."""

import re
from collections.abc import Sequence
from fnmatch import translate
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field

from ollm_lsp.core.actions import BUILT_IN
from ollm_lsp.core.errors import SettingsError
from ollm_lsp.core.model import ModelId
from ollm_lsp.settings.kraken_options import (
    API_KINDS,
    CliProviderOptions,
    HookOptions,
    KrakenOptions,
    PriceOptions,
)
from ollm_lsp.settings.patterns import is_path_pattern
from ollm_lsp.settings.provider_options import KINDS, ProviderName, ProviderOptions, Seconds, Timeouts
from ollm_lsp.settings.resolved import ActionsSettings, ChatSettings, ContextSettings, ToolsSettings
from ollm_lsp.settings.section import ANYWHERE, Section, keys, refusal, subsection

_ACTIONS: Final = ActionsSettings()
_CHAT: Final = ChatSettings()
_CONTEXT: Final = ContextSettings()
_TOOLS: Final = ToolsSettings()
_TOOL_NAME: Final = re.compile(r"[a-z0-9_*?]+")


def _check_model(text: str) -> str:
    if not text.isprintable():
        raise refusal("A model has no line breaks or control characters.", "Write it as provider:name.")
    try:
        return str(ModelId.parse(text))
    except SettingsError as error:
        raise refusal("This is not a model.", error.remedy) from None


def _check_pattern(text: str) -> str:
    # A set of no characters, as in [z-a], can match nothing: what it should exclude would be sent.
    if any("(?!)" in translate(name) for name in text.split("/")):
        raise refusal("This is not a pattern of file names.", "Write it like **/secrets/* or **/*.pem.")
    return text


def _check_permission(text: str) -> str:
    # A rule that can never apply protects nothing, although its author thinks so.
    if not is_path_pattern(text) and not _TOOL_NAME.fullmatch(text):
        raise refusal("This is neither a tool nor a file.", "Write a tool like read_* or a file like **/Makefile.")
    return _check_pattern(text)


def _check_tool(text: str) -> str:
    if not _TOOL_NAME.fullmatch(text):
        raise refusal("This is not the name of a tool.", "Write it like edit_file or read_*.")
    return text


def _check_action(text: str) -> str:
    if text not in (names := [action.name for action in BUILT_IN]):
        raise refusal("There is no such action.", f"The actions are {', '.join(names)}; others go below custom.")
    return text


ModelName: TypeAlias = Annotated[str, Field(max_length=300), AfterValidator(_check_model)]
Pattern: TypeAlias = Annotated[str, Field(min_length=1, max_length=300), AfterValidator(_check_pattern)]
PermissionPattern: TypeAlias = Annotated[str, Field(min_length=1, max_length=300), AfterValidator(_check_permission)]
ActionName: TypeAlias = Annotated[str, AfterValidator(_check_action)]
Prompt: TypeAlias = Annotated[str, Field(min_length=1, max_length=20_000)]
ToolPattern: TypeAlias = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_check_tool)]


class ChatOptions(Section):
    """How a chat runs."""

    system_prompt: str | None = Field(default=None, json_schema_extra=ANYWHERE)
    """Instructions that go before every conversation."""
    max_turns: Annotated[int, Field(ge=1, le=1_000)] = Field(default=_CHAT.max_turns, json_schema_extra=ANYWHERE)
    """How often the model is asked for one answer: once, and again after each time it called tools. Elsewhere it
    can only be lowered."""
    tool_timeout: Seconds = Field(default=_CHAT.tool_timeout, json_schema_extra=ANYWHERE)
    """Seconds that one tool call may take, without the time that you think about a permission. Elsewhere it can
    only be lowered."""
    tools: bool = Field(default=_CHAT.tools, json_schema_extra=ANYWHERE)
    """Let the model call tools. The editor and the workspace can only switch them off."""
    keep_conversations: bool = Field(default=_CHAT.keep_conversations, json_schema_extra=ANYWHERE)
    """Keep conversations in the state directory. The editor and the workspace can only switch it off."""
    auto_compact: bool = Field(default=_CHAT.auto_compact, json_schema_extra=ANYWHERE)
    """Summarise the older part of a conversation that becomes too long for the model. The editor and the workspace
    can only switch it off; `/compact` does it by hand."""
    compact_timeout: Seconds = Field(default=_CHAT.compact_timeout, json_schema_extra=ANYWHERE)
    """Seconds that a summary may take. After that, the newest messages that fit are sent. Elsewhere it can only be
    lowered."""


class ContextOptions(Section):
    """What of the editor goes into a request."""

    open_buffers: bool = Field(default=_CONTEXT.open_buffers, json_schema_extra=ANYWHERE)
    """Send the text of the open buffers along. The editor and the workspace can only switch it off."""
    max_tokens: Annotated[int, Field(ge=1, le=100_000_000)] | None = Field(default=None, json_schema_extra=ANYWHERE)
    """Most tokens of context in one request; without it the model decides. Elsewhere it can only be lowered."""
    exclude: list[Pattern] = Field(
        default_factory=lambda: list(_CONTEXT.exclude),
        max_length=500,
        json_schema_extra={**ANYWHERE, "default": list(_CONTEXT.exclude)},
    )
    """Files that never become context. Those of the editor and the workspace are added to the user's."""
    agents_file: bool = Field(default=_CONTEXT.agents_file, json_schema_extra=ANYWHERE)
    """Send the `AGENTS.md` of the workspace as part of the system prompt. The editor and the workspace can only
    switch it off."""
    imports: bool = Field(default=_CONTEXT.imports, json_schema_extra=ANYWHERE)
    """Send along what the active document imports from its workspace. The editor and the workspace can only switch it
    off; without `openBuffers` it is off as well."""


class ToolsOptions(Section):
    """Which tools the model has, and what they may do without asking. See [permissions.md](permissions.md)."""

    permissions: dict[PermissionPattern, Literal["allow", "ask", "deny"]] = Field(
        default_factory=dict, max_length=500, json_schema_extra=ANYWHERE
    )
    """`allow`, `ask` or `deny` by tool (`read_*`) or by file (a pattern with a slash or a dot, like `**/.env*`). The
    editor and the workspace can only add `ask` and `deny`."""
    disabled: list[ToolPattern] = Field(
        default_factory=list, max_length=500, json_schema_extra={**ANYWHERE, "default": []}
    )
    """Tools that the model does not have, like `delete_file`. Those of the editor and the workspace are added."""
    run_command: bool = Field(default=_TOOLS.run_command, json_schema_extra=ANYWHERE)
    """Let the model ask for commands to be run. The editor and the workspace can only switch it off."""


class CustomAction(Section):
    """An action of your own."""

    title: Annotated[str, Field(min_length=1, max_length=80)]
    """What you choose it by."""
    prompt: Prompt
    """What the model is told; `{language}`, `{file}`, `{instruction}` and `{diagnostics}` are filled in."""
    kind: Literal["answer", "edit"] = "answer"
    """`answer` shows what the model says, `edit` proposes what it makes of the code."""


class ActionsOptions(Section):
    """What can be done with a selection. See [actions.md](actions.md)."""

    prompts: dict[ActionName, Prompt] = Field(default_factory=dict)
    """What the model is told, by action: `explain`, `fix`, `refactor`, `document`, `tests`, `edit`, `ask`. In it
    `{language}`, `{file}`, `{instruction}` and `{diagnostics}` are filled in."""
    custom: list[CustomAction] = Field(
        default_factory=list[CustomAction], max_length=50, json_schema_extra={"default": []}
    )
    """Actions of your own: each with `title`, `prompt` and `kind`, which is `answer` or `edit`."""
    ai_comments: bool = Field(default=_ACTIONS.ai_comments, json_schema_extra=ANYWHERE)
    """Mark comments that end in `AI!` or `AI?`. The editor and the workspace can only switch it off."""


class Options(Section):
    """Settings of ollm-lsp."""

    model: ModelName | None = Field(default=None, json_schema_extra=ANYWHERE)
    """Model for chat and actions, as `provider:name`; else the embedded one if it is installed, else Ollama's.

    The editor and the workspace can only choose models that run on this machine.
    """
    providers: dict[ProviderName, ProviderOptions] = Field(default_factory=dict)
    """Where models are, by names of your choice. `ollama` and `embedded` exist without being listed."""
    timeouts: Timeouts = Field(default_factory=Timeouts)
    """Time limits of every provider that has none of its own."""
    chat: ChatOptions = Field(default_factory=ChatOptions)
    """How a chat runs."""
    context: ContextOptions = Field(default_factory=ContextOptions)
    """What of the editor goes into a request."""
    tools: ToolsOptions = Field(default_factory=ToolsOptions)
    """Which tools the model has, and what they may do without asking."""
    kraken: KrakenOptions = Field(default_factory=KrakenOptions)
    """The external providers, and what may be spent on them."""
    actions: ActionsOptions = Field(default_factory=ActionsOptions)
    """What can be done with a selection."""


def section_at(path: Sequence[object]) -> type[Section] | None:
    """The section at a place that pydantic names; below providers that is the name and then the type."""
    section: type[Section] | None = Options
    match path:
        case ["providers", _, str() as kind, *rest]:
            section = KINDS.get(kind)
        case ["kraken", "apiProviders", _, str() as kind, *rest]:
            section = API_KINDS.get(kind)
        case ["kraken", "cliProviders", _, *rest]:
            section = CliProviderOptions
        case ["kraken", "prices", _, *rest]:
            section = PriceOptions
        case ["kraken", "hooks", _, int(), *rest]:
            section = HookOptions
        case _:
            rest = path
    for part in rest:
        field = keys(section).get(str(part)) if section else None
        section = subsection(field) if field else None
    return section


def is_anywhere(field_extra: object) -> bool:
    """Whether an option carries the mark of those that count in every layer."""
    return isinstance(field_extra, dict) and field_extra.items() >= ANYWHERE.items()
