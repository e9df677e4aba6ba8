"""Options of the providers, one class for each `type`."""

import re
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, field_validator

from ollm_lsp.core.errors import SettingsError
from ollm_lsp.settings.address import base_url, is_loopback
from ollm_lsp.settings.defaults import OLLAMA_URL, default_threads
from ollm_lsp.settings.resolved import EmbeddedSettings, TimeLimits
from ollm_lsp.settings.secrets import Secret
from ollm_lsp.settings.section import Section, refusal, refusal_of

_LIMITS: Final = TimeLimits()
_EMBEDDED: Final = EmbeddedSettings("embedded")
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


def _check_path(text: str) -> str:
    try:
        path = Path(text).expanduser()
    except RuntimeError:
        path = Path()
    if not (path.is_absolute() and path.name and text.isprintable()):
        raise refusal("This is not the full path of a file.", "Write it like ~/models/some.gguf or /models/some.gguf.")
    return str(path)


def _seconds_or_duration(value: object) -> object:
    return f"{value}s" if isinstance(value, int) and not isinstance(value, bool) else value


def _check_duration(text: str) -> str:
    if not _DURATION.fullmatch(text):
        raise refusal("This is not a span of time.", 'Write it like "10m", "24h" or a number of seconds.')
    return text


Seconds: TypeAlias = Annotated[float, Field(gt=0, le=86_400)]
Window: TypeAlias = Annotated[int, Field(ge=256, le=100_000_000)]
BaseUrl: TypeAlias = Annotated[str, AfterValidator(_check_url), Field(json_schema_extra={"format": "uri"})]
ApiKey: TypeAlias = Annotated[str, AfterValidator(_check_key)]
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


class _HttpProvider(_Provider):
    base_url: BaseUrl
    """Address of the server."""
    allow_insecure: bool = False
    """Send the key also over plain http to another machine, where everybody on the way can read it."""
    api_key: ApiKey | None = Field(default=None, repr=False)
    """Key as a reference: `${NAME}` reads the environment, `${keyring:NAME}` the system keyring, both at use."""

    @field_validator("api_key")
    @classmethod
    def _no_key_in_clear(cls, key: str | None, info: ValidationInfo) -> str | None:
        url: str | None = info.data.get("base_url")
        in_clear = url is not None and url.startswith("http:") and not is_loopback(url)
        if key is not None and in_clear and not info.data.get("allow_insecure", False):
            raise refusal(
                "The key would travel unencrypted: baseUrl is plain http to another machine.",
                "Use https, or add allowInsecure: true to this provider if you trust the network.",
            )
        return key


class OllamaOptions(_HttpProvider):
    """An Ollama server, by its native API."""

    type: Literal["ollama"]
    """Always `ollama`."""
    base_url: BaseUrl = OLLAMA_URL
    """Address of the server."""
    keep_alive: KeepAlive | None = None
    """How long the server keeps a model loaded, such as `10m` or a number of seconds; negative means forever."""


class OpenAIOptions(_HttpProvider):
    """A server with the Chat Completions API: vLLM, llama.cpp, LM Studio, OpenAI and many more."""

    type: Literal["openai"]
    """Always `openai`."""
    base_url: BaseUrl
    """Address of the server with its version, such as `http://127.0.0.1:8000/v1`."""
    context_window: Window | None = None
    """Tokens that the model can read, where the server does not tell."""


class EmbeddedOptions(_Provider):
    """A model that ollm-lsp runs itself, without any server."""

    type: Literal["embedded"]
    """Always `embedded`."""
    model_path: Annotated[str, AfterValidator(_check_path)] | None = None
    """Full path of a GGUF file, `~` allowed; without it SmolLM2 is fetched on first use."""
    context_window: Window = _EMBEDDED.context_window
    """Tokens that the model can read; memory grows with it."""
    threads: Annotated[int, Field(ge=1, le=1024)] = Field(default_factory=default_threads)
    """Threads that compute; half of the processors unless set."""
    idle_timeout: Seconds = _EMBEDDED.idle_timeout
    """Seconds without a request after which the model leaves memory."""


ProviderOptions: TypeAlias = Annotated[OllamaOptions | OpenAIOptions | EmbeddedOptions, Field(discriminator="type")]
KINDS: Final[dict[str, type[Section]]] = {
    "ollama": OllamaOptions,
    "openai": OpenAIOptions,
    "embedded": EmbeddedOptions,
}
