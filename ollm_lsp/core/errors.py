"""Every failure that a user may see, named by what went wrong, each with a code and a remedy.

    OllmError
    ├── SettingsError            settings                the user edits the settings file
    ├── ProviderError
    │   ├── ConnectionFailed     connection              nobody answers at the address
    │   ├── TimedOut             timeout                 somebody answers too slowly
    │   ├── AuthenticationFailed authentication          the key is missing or wrong
    │   ├── RateLimited          rate_limit              too many requests, or out of quota
    │   ├── ModelNotFound        model_not_found         the server does not have that model
    │   ├── ContextOverflow      context_overflow        more text than the model can read
    │   ├── ContentFiltered      content_filter          the provider refused the content
    │   ├── MalformedAnswer      protocol                the answer is not what the wire promises
    │   ├── IncompleteAnswer     incomplete              the stream ended before the answer did
    │   ├── ServerFailed         server_error            the server says that it failed
    │   ├── ProgramNotFound      cli_not_found           a CLI agent is not installed, or is too old
    │   ├── LoginRequired        auth_required           the user has to log in to a CLI agent
    │   └── Unsupported          unsupported             the model or the client cannot do that
    ├── ConversationNotFound     conversation_not_found  no such conversation, or no such response in it
    ├── Busy                     busy                    the conversation is already answering
    ├── BadArgument              bad_argument            a tool was called with what it cannot use
    ├── OutsideWorkspace         path_outside_workspace  a path that leads out of the workspace, or might
    ├── UnreadableFile           unreadable_file         nothing is there, or nothing that can be read as asked
    ├── StaleDocument            stale_document          the text has changed since it was read
    ├── PermissionDenied         permission_denied       the user, or a rule of theirs, said no
    ├── BudgetExceeded           budget_exceeded         it could cost more than the user allows
    ├── StoreFailed              store                   the state directory cannot be used
    └── InternalError            internal                a bug of ours

Foreign exceptions are turned into these at one place per border: `providers.http` for HTTP, `settings` for
YAML and pydantic, `lsp` for everything that nobody foresaw.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Sequence


class OllmError(Exception):
    """A failure with a code for programs, a message for people and a remedy that says what to do."""

    code: ClassVar[str] = "internal"

    def __init__(self, message: str, *, remedy: str) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}"


class SettingsError(OllmError):
    """The settings do not allow what was asked."""

    code = "settings"


class ProviderError(OllmError):
    """A provider could not answer; `status` is the HTTP status where there was one.

    A failure that `is_passing` may be over when the request is sent again, `retry_after` seconds later where the
    provider says how long to wait.
    """

    def __init__(
        self,
        message: str,
        *,
        remedy: str,
        status: int | None = None,
        is_passing: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, remedy=remedy)
        self.status = status
        self.is_passing = is_passing
        self.retry_after = retry_after


class ConnectionFailed(ProviderError):
    """Nobody answers at the provider's address."""

    code = "connection"


class TimedOut(ProviderError):
    """The provider did not answer in time."""

    code = "timeout"


class AuthenticationFailed(ProviderError):
    """The provider does not accept the key."""

    code = "authentication"


class RateLimited(ProviderError):
    """The provider wants fewer requests, or more money."""

    code = "rate_limit"


class ModelNotFound(ProviderError):
    """The provider does not have that model; `available` names those it has."""

    code = "model_not_found"

    def __init__(self, message: str, *, remedy: str, status: int | None = None, available: Sequence[str] = ()) -> None:
        super().__init__(message, remedy=remedy, status=status)
        self.available = tuple(available)


class ContextOverflow(ProviderError):
    """The request is longer than what the model can read."""

    code = "context_overflow"


class ContentFiltered(ProviderError):
    """The provider refused the content."""

    code = "content_filter"


class MalformedAnswer(ProviderError):
    """The provider's answer breaks its own wire format."""

    code = "protocol"


class IncompleteAnswer(ProviderError):
    """The stream ended before the answer did."""

    code = "incomplete"


class ServerFailed(ProviderError):
    """The provider's server reports a failure of its own."""

    code = "server_error"


class ProgramNotFound(ProviderError):
    """The program of a CLI agent is not there, or not one that may be used."""

    code = "cli_not_found"


class LoginRequired(ProviderError):
    """The user has to log in to a CLI agent by its own means."""

    code = "auth_required"


class Unsupported(ProviderError):
    """The model or the client cannot do what was asked."""

    code = "unsupported"


class ConversationNotFound(OllmError):
    """No conversation, or no response in it, has that id."""

    code = "conversation_not_found"


class Busy(OllmError):
    """The conversation is already answering; one chat at a time runs in it."""

    code = "busy"


class BadArgument(OllmError):
    """A tool was called with an argument that it cannot use."""

    code = "bad_argument"


class OutsideWorkspace(OllmError):
    """A path leads out of the workspace, or cannot be shown to stay in it."""

    code = "path_outside_workspace"


class UnreadableFile(OllmError):
    """There is no such file or folder, or it holds nothing that can be read as asked."""

    code = "unreadable_file"


class StaleDocument(OllmError):
    """A document is no longer what an edit was computed on."""

    code = "stale_document"


class PermissionDenied(OllmError):
    """The user, or a rule of theirs, said no."""

    code = "permission_denied"


class BudgetExceeded(OllmError):
    """It could cost more than the user allows. All amounts are micro-dollars, and `span` tells which limit it is."""

    code = "budget_exceeded"

    def __init__(
        self,
        message: str,
        *,
        remedy: str,
        span: str = "",
        limit: int = 0,
        spent: int = 0,
        reserved: int = 0,
        wanted: int = 0,
    ) -> None:
        super().__init__(message, remedy=remedy)
        self.span = span
        self.limit = limit
        self.spent = spent
        self.reserved = reserved
        self.wanted = wanted


class StoreFailed(OllmError):
    """The state directory cannot be read or written."""

    code = "store"


class InternalError(OllmError):
    """A bug of ours."""

    code = "internal"


class InvalidMessage(ValueError):
    """A message that no provider could accept; raised where it would be constructed."""
