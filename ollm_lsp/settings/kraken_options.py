"""Options of the Kraken: the external providers, and what may be spent on them."""

from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from ollm_lsp.core.budget import Limits
from ollm_lsp.core.money import MICROS
from ollm_lsp.settings.kraken_settings import ApiSettings, CliAgentSettings, HookSettings, PolicySettings, Trigger
from ollm_lsp.settings.provider_options import (
    AnthropicOptions,
    ApiKey,
    BaseUrl,
    FilePath,
    GoogleOptions,
    OpenAIOptions,
    ProviderName,
    Seconds,
    Tokens,
    check_in_clear,
)
from ollm_lsp.settings.section import ANYWHERE, Section, refusal

_CLI: Final = CliAgentSettings("", "")
_HOOK: Final = HookSettings(())
_LIMITS: Final = Limits()
_MAX_TOKENS: Final = ApiSettings.__dataclass_fields__["max_tokens"].default
_POLICIES: Final = PolicySettings()


def _check_name(text: str) -> str:
    if not text.isprintable() or text != text.strip():
        raise refusal("A model has no spaces around it and no control characters.", "Write it as its vendor does.")
    return text


def _check_command(command: list[str]) -> list[str]:
    program = command[0]
    if any("\0" in argument for argument in command):
        raise refusal("A command cannot hold a null character.", "Leave it out.")
    if Path(program).name != program and not program.startswith("~/") and not Path(program).is_absolute():
        raise refusal(
            "This path depends on where it is read.", "Write the whole path of the program, or just its name."
        )
    return command


Dollars: TypeAlias = Annotated[float, Field(ge=0, le=1_000_000)]
ModelText: TypeAlias = Annotated[str, Field(min_length=1, max_length=300), AfterValidator(_check_name)]
Command: TypeAlias = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=4096)]],
    Field(min_length=1, max_length=100),
    AfterValidator(_check_command),
]


class CliProviderOptions(Section):
    """An agent with a command line: Claude Code, Gemini CLI or Codex CLI. It can read, and changes nothing itself."""

    enabled: bool = True
    """Whether it can be released. One that is listed is on unless this says false."""
    tool: Literal["claude", "gemini", "codex"]
    """Which agent it is."""
    default_model: ModelText | None = None
    """The model that it uses, in its own spelling; without it, it decides."""
    path: FilePath | None = None
    """Full path of the program, `~` allowed; without it, it is looked for on PATH and in the usual places."""
    timeout: Seconds = _CLI.timeout
    """Seconds that one release may take."""
    idle_timeout: Seconds = _CLI.idle_timeout
    """Seconds of silence after which it is ended."""
    # Before `proxy_url`, whose check reads it.
    allow_insecure: bool = False
    """Allow plain http to a proxy on another machine, where everybody on the way can read your code and the key."""
    proxy_url: BaseUrl | None = None
    """Address of a proxy that runs the agent elsewhere, in place of a program on this machine."""
    proxy_api_key: ApiKey | None = Field(default=None, repr=False)
    """Key of the proxy as a reference, like `apiKey`."""

    @field_validator("proxy_url")
    @classmethod
    def _nothing_in_clear(cls, url: str, info: ValidationInfo) -> str:
        return check_in_clear(url, is_allowed=info.data.get("allow_insecure") is not False)


class _Api(Section):
    enabled: bool = True
    """Whether it can be released. One that is listed is on unless this says false."""
    model: ModelText
    """The vendor's name of the model."""


class OpenAIApiOptions(OpenAIOptions, _Api):
    """A vendor's model, by the vendor's API. All other keys are those of `providers.<name>` of the same type."""

    type: Literal["openai"] = Field(alias="provider")
    """The vendor, or whose API the server has."""
    max_tokens: Tokens | None = _MAX_TOKENS
    """Most tokens of an answer. What they can cost is reserved before each request."""


class AnthropicApiOptions(AnthropicOptions, _Api):
    """Anthropic's model, or one at a server with its Messages API."""

    type: Literal["anthropic"] = Field(alias="provider")
    """Always `anthropic`."""
    max_tokens: Tokens | None = _MAX_TOKENS
    """Most tokens of an answer. What they can cost is reserved before each request."""


class GoogleApiOptions(GoogleOptions, _Api):
    """Google's model, or one at a server with the API of Gemini."""

    type: Literal["google"] = Field(alias="provider")
    """Always `google`."""
    max_tokens: Tokens | None = _MAX_TOKENS
    """Most tokens of an answer. What they can cost is reserved before each request."""


class EscalationOptions(Section):
    """When a release is suggested by itself. You are asked as always."""

    enabled: bool = Field(default=False, json_schema_extra=ANYWHERE)
    """Suggest a release when the local model is not enough. The editor and the workspace can only switch it off."""
    trigger_on: list[Literal["modelFailure", "contextOverflow", "userRequest"]] = Field(
        default_factory=lambda: [trigger.value for trigger in Trigger],
        json_schema_extra={**ANYWHERE, "default": [trigger.value for trigger in Trigger]},
    )
    """Reasons: `modelFailure`, `contextOverflow`, `userRequest`. Elsewhere they can only become fewer."""


class PolicyOptions(Section):
    """What you want to be asked and told."""

    confirm_before_release: bool = Field(default=_POLICIES.confirm_before_release, json_schema_extra=ANYWHERE)
    """Ask before each release, with provider, model, what is shared and what it may cost. The editor and the workspace
    can only switch it on."""
    show_cost_warnings: bool = Field(default=_POLICIES.show_cost_warnings, json_schema_extra=ANYWHERE)
    """Warn when a release may cost more than `costWarningThreshold`. The editor and the workspace can only switch it
    on."""
    cost_warning_threshold: Dollars = Field(
        default=_POLICIES.cost_warning_threshold / MICROS, json_schema_extra=ANYWHERE
    )
    """Dollars from which a release is warned about. Elsewhere it can only be lowered."""
    log_kraken_usage: bool = _POLICIES.log_kraken_usage
    """Keep a line for each release with provider, model, tokens and cost. Without it only the amounts are kept, which
    the limits need."""
    mask_secrets: bool = Field(default=_POLICIES.mask_secrets, json_schema_extra=ANYWHERE)
    """Replace what looks like a secret by a placeholder before anything is shared. The editor and the workspace can
    only switch it on."""
    allowed_providers: list[ProviderName] | None = Field(default=None, max_length=500, json_schema_extra=ANYWHERE)
    """The only external providers that may ever be used; without it, all that are listed. Elsewhere they can only
    become fewer."""


class HookOptions(Section):
    """A program of yours that gets JSON on its standard input."""

    command: Command
    """The program and its arguments, without a shell: `["notify-send", "Kraken"]`."""
    timeout: Annotated[float, Field(gt=0, le=600)] = _HOOK.timeout
    """Seconds after which it is ended."""


Hooks: TypeAlias = Annotated[list[HookOptions], Field(max_length=20)]


class HooksOptions(Section):
    """Programs that are told of releases, in the order in which they stand."""

    before_kraken: Hooks = Field(default_factory=list[HookOptions], alias="before_kraken")
    """Before anything is sent. A hook that answers `{"allow": false}`, or `false`, cancels the release."""
    after_kraken: Hooks = Field(default_factory=list[HookOptions], alias="after_kraken")
    """After a release, however it ended."""
    kraken_escalate: Hooks = Field(default_factory=list[HookOptions], alias="kraken_escalate")
    """When an escalation is suggested."""


class PriceOptions(Section):
    """Dollars for a million tokens, in place of what the vendor takes."""

    input: Dollars
    """What the model reads."""
    output: Dollars
    """What the model writes, thoughts included."""
    cache_read: Dollars | None = None
    """What it reads from the vendor's cache; without it, like `input`."""
    cache_write: Dollars | None = None
    """What it writes to the vendor's cache; without it, like `input`."""


ApiProviderOptions: TypeAlias = Annotated[
    OpenAIApiOptions | AnthropicApiOptions | GoogleApiOptions, Field(discriminator="type")
]
API_KINDS: Final[dict[str, type[Section]]] = {
    "openai": OpenAIApiOptions,
    "anthropic": AnthropicApiOptions,
    "google": GoogleApiOptions,
}


class KrakenOptions(Section):
    """The external providers, and what may be spent on them. See [kraken.md](kraken.md)."""

    enabled: bool = Field(default=False, json_schema_extra=ANYWHERE)
    """Whether there are external providers at all. The editor and the workspace can only switch it off."""
    default_provider: ProviderName | None = None
    """The one that is taken first when none is named."""
    max_cost_per_request: Dollars | None = Field(default=None, json_schema_extra=ANYWHERE)
    """Most dollars for one request. Elsewhere it can only be lowered."""
    max_cost_per_session: Dollars = Field(default=(_LIMITS.session or 0) / MICROS, json_schema_extra=ANYWHERE)
    """Most dollars since the start of the server, that is, for one editor session. Elsewhere it can only be lowered."""
    max_cost_per_day: Dollars | None = Field(default=None, json_schema_extra=ANYWHERE)
    """Most dollars for a day, with all servers together and over restarts. Elsewhere it can only be lowered."""
    auto_escalate: EscalationOptions = Field(default_factory=EscalationOptions)
    """When a release is suggested by itself."""
    cli_providers: dict[ProviderName, CliProviderOptions] = Field(default_factory=dict)
    """Agents with a command line, by names of your choice."""
    api_providers: dict[ProviderName, ApiProviderOptions] = Field(default_factory=dict)
    """Vendors' models, by names of your choice."""
    policies: PolicyOptions = Field(default_factory=PolicyOptions)
    """What you want to be asked and told."""
    hooks: HooksOptions = Field(default_factory=HooksOptions)
    """Programs that are told of releases."""
    prices: dict[ModelText, PriceOptions] = Field(default_factory=dict)
    """Prices of your own, by `model` or by `name:model`."""
