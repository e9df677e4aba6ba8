"""Options of the providers, one class for each `type`."""

import re
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, TypeAlias, get_args

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, field_validator, model_validator

from ollm_lsp.core.errors import SettingsError
from ollm_lsp.settings.address import base_url, is_loopback
from ollm_lsp.settings.defaults import ANTHROPIC_URL, GOOGLE_URL, OLLAMA_URL, OPENAI_URL, default_threads
from ollm_lsp.settings.extra import check_extra
from ollm_lsp.settings.headers import HeaderValue, check_name, check_names
from ollm_lsp.settings.resolved import EmbeddedSettings, OllamaSettings, TimeLimits
from ollm_lsp.settings.secrets import Secret
from ollm_lsp.settings.section import Section, refusal, refusal_of

_LIMITS: Final = TimeLimits()
_EMBEDDED: Final = EmbeddedSettings("embedded")
_HTTP: Final = OllamaSettings("ollama", OLLAMA_URL)
_VENDORS: Final = (OPENAI_URL, ANTHROPIC_URL, GOOGLE_URL)
_DURATION = re.compile(r"-?(\d+(\.\d+)?(ms|s|m|h))+")


def _check_url(text: str) -> str:
    try:
        return base_url(text)
    except SettingsError as error:
        raise refusal_of(error) from None


def _check_key(text: str) -> str:
    try:
        Secret(text)
    except SettingsError as error:
        raise refusal_of(error) from None
    return text


def _check_header_name(text: str) -> str:
    try:
        return check_name(text)
    except SettingsError as error:
        raise refusal_of(error) from None


def _check_headers(headers: dict[str, str]) -> dict[str, str]:
    try:
        check_names(headers)
    except SettingsError as error:
        raise refusal_of(error) from None
    return headers


def _check_header_value(text: str) -> str:
    try:
        HeaderValue("", text)
    except SettingsError as error:
        raise refusal_of(error) from None
    return text


def _check_extra(members: dict[str, Any]) -> dict[str, Any]:
    try:
        check_extra(members)
    except SettingsError as error:
        raise refusal_of(error) from None
    return members


def _check_path(text: str) -> str:
    try:
        path = Path(text).expanduser()
    except RuntimeError:
        path = Path()
    if not (path.is_absolute() and path.name and text.isprintable()):
        raise refusal("This is not the full path of a file.", "Write it like ~/models/some.gguf or /models/some.gguf.")
    return str(path)


def _check_think(value: object) -> object:
    if value is None or isinstance(value, bool) or value in get_args(Level):
        return value
    raise refusal(
        "Either true or false is expected, or how much a model thinks.",
        f"Write it without quotes: true, false, {', '.join(get_args(Level))}.",
    )


def _seconds_or_duration(value: object) -> object:
    return f"{value}s" if isinstance(value, int) and not isinstance(value, bool) else value


def _check_duration(text: str) -> str:
    if not _DURATION.fullmatch(text):
        raise refusal("This is not a span of time.", 'Write it like "10m", "24h" or a number of seconds.')
    return text


Seconds: TypeAlias = Annotated[float, Field(gt=0, le=86_400)]
Window: TypeAlias = Annotated[int, Field(ge=256, le=100_000_000)]
Tokens: TypeAlias = Annotated[int, Field(ge=1, le=100_000_000)]
BaseUrl: TypeAlias = Annotated[str, AfterValidator(_check_url), Field(json_schema_extra={"format": "uri"})]
ApiKey: TypeAlias = Annotated[str, AfterValidator(_check_key)]
HeaderName: TypeAlias = Annotated[str, Field(max_length=100), AfterValidator(_check_header_name)]
HeaderText: TypeAlias = Annotated[str, Field(max_length=4096), AfterValidator(_check_header_value)]
Headers: TypeAlias = Annotated[dict[HeaderName, HeaderText], AfterValidator(_check_headers)]
Extra: TypeAlias = Annotated[dict[str, Any], AfterValidator(_check_extra)]
Level: TypeAlias = Literal["low", "medium", "high", "max"]
Think: TypeAlias = Annotated[bool | Level | None, BeforeValidator(_check_think)]
ProviderName: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+$", max_length=64)]
FilePath: TypeAlias = Annotated[str, AfterValidator(_check_path)]
KeepAlive: TypeAlias = Annotated[
    str,
    BeforeValidator(_seconds_or_duration, json_schema_input_type=int | str),
    AfterValidator(_check_duration),
]


class Timeouts(Section):
    """How long a provider may take."""

    connect: Seconds = _LIMITS.connect
    """Seconds until the connection stands."""
    first_token: Seconds = _LIMITS.first_token
    """Seconds until the first token; loading a large model takes most of it."""
    idle: Seconds = _LIMITS.idle
    """Seconds of silence between two tokens."""
    total: Seconds = _LIMITS.total
    """Seconds for the whole answer."""


class _Provider(Section):
    timeouts: Timeouts = Field(default_factory=Timeouts)
    """Time limits of this provider, in place of those in the top-level `timeouts`."""


def check_in_clear(url: str, *, is_allowed: bool) -> str:
    """Refuse plain http to another machine."""
    if url.startswith("http:") and not is_loopback(url) and not is_allowed:
        raise refusal(
            "Your code would travel unencrypted: this is plain http to another machine.",
            "Use https, or add allowInsecure: true to this provider if you trust the network.",
        )
    return url


class _HttpProvider(_Provider):
    # Before `base_url`, whose check reads it.
    allow_insecure: bool = False
    """Allow plain http to another machine, where everybody on the way can read your code and the key."""
    base_url: BaseUrl
    """Address of the server."""
    api_key: ApiKey | None = Field(default=None, repr=False)
    """Key as a reference: `${NAME}` reads the environment, `${keyring:NAME}` the system keyring, both at use."""
    headers: Headers = Field(default_factory=dict, repr=False)
    """More headers for every request. A value can be a reference like that of `apiKey`."""
    extra: Extra = Field(default_factory=dict, repr=False)
    """More parameters for the body of every chat request, as the server's own documentation names them."""
    context_window: Window | None = None
    """Tokens that a model can read, where the server does not tell."""
    max_retries: Annotated[int, Field(ge=0, le=10)] = _HTTP.max_retries
    """How often a request is sent again after a passing failure, before the first token."""

    @field_validator("base_url")
    @classmethod
    def _nothing_in_clear(cls, url: str, info: ValidationInfo) -> str:
        return check_in_clear(url, is_allowed=info.data.get("allow_insecure") is not False)

    @model_validator(mode="after")
    def _no_vendor_without_key(self) -> Self:
        # The vendor would refuse the request, but only after it has got the code.
        if self.api_key is None and self.base_url in _VENDORS:
            raise refusal(
                "The server at this provider's address wants a key.",
                'Write apiKey: "${NAME}", or set baseUrl if you mean another server.',
            )
        return self


class OllamaOptions(_HttpProvider):
    """An Ollama server, by its native API."""

    type: Literal["ollama"]
    """Always `ollama`."""
    base_url: BaseUrl = OLLAMA_URL
    """Address of the server."""
    keep_alive: KeepAlive | None = None
    """How long the server keeps a model loaded, such as `10m` or a number of seconds; negative means forever."""
    think: Think = None
    """Whether a model thinks, or how much: `low`, `medium`, `high`, `max`. Without it the server decides."""


class OpenAIOptions(_HttpProvider):
    """A server with the Chat Completions API: vLLM, llama.cpp, LM Studio, OpenAI and many more."""

    type: Literal["openai"]
    """Always `openai`."""
    base_url: BaseUrl = OPENAI_URL
    """Address of the server with its version, such as `http://127.0.0.1:8000/v1`."""


class AnthropicOptions(_HttpProvider):
    """Anthropic, or a server with its Messages API."""

    type: Literal["anthropic"]
    """Always `anthropic`."""
    base_url: BaseUrl = ANTHROPIC_URL
    """Address of the server, without a version."""
    max_tokens: Tokens | None = None
    """Most tokens of an answer. The API wants a limit; without this one it is one that every model accepts."""


class GoogleOptions(_HttpProvider):
    """Google, or a server with the API of Gemini."""

    type: Literal["google"]
    """Always `google`."""
    base_url: BaseUrl = GOOGLE_URL
    """Address of the server with its version."""
    max_tokens: Tokens | None = None
    """Most tokens of an answer; without it the server decides."""


class EmbeddedOptions(_Provider):
    """A model that ollm-lsp runs itself, without any server."""

    type: Literal["embedded"]
    """Always `embedded`."""
    model_path: FilePath | None = None
    """Full path of a GGUF file, `~` allowed; without it SmolLM2 is fetched on first use."""
    context_window: Window = _EMBEDDED.context_window
    """Tokens that the model can read; memory grows with it."""
    threads: Annotated[int, Field(ge=1, le=1024)] = Field(default_factory=default_threads)
    """Threads that compute; half of the processors unless set."""
    idle_timeout: Seconds = _EMBEDDED.idle_timeout
    """Seconds without a request after which the model leaves memory."""


HttpOptions: TypeAlias = OllamaOptions | OpenAIOptions | AnthropicOptions | GoogleOptions
ProviderOptions: TypeAlias = Annotated[HttpOptions | EmbeddedOptions, Field(discriminator="type")]
KINDS: Final[dict[str, type[Section]]] = {
    "ollama": OllamaOptions,
    "openai": OpenAIOptions,
    "anthropic": AnthropicOptions,
    "google": GoogleOptions,
    "embedded": EmbeddedOptions,
}
