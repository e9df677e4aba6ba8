"""What it means that a CLI agent failed, in our words, by the signatures of its description."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ollm_lsp.core.control_sequences import plain
from ollm_lsp.core.errors import (
    AuthenticationFailed,
    IncompleteAnswer,
    LoginRequired,
    MalformedAnswer,
    ModelNotFound,
    ProviderError,
    TimedOut,
)
from ollm_lsp.providers.wire.faults import excerpt

if TYPE_CHECKING:
    from ollm_lsp.providers.agents.description import Description, Signature


@dataclass(frozen=True, slots=True)
class Remains:
    """What is known of a process that has failed: its status, if it ended by itself, and what it wrote to stderr."""

    status: int | None
    stderr: str


def diagnosed(agent: Description, error: ProviderError, remains: Remains, key: str | None = None) -> ProviderError:
    """The failure as a user should read it. `key` is the variable whose key the agent ran with, if any.

    What it wrote to stderr counts only when it said nothing else, for some agents always write something there.
    """
    if isinstance(error, MalformedAnswer):
        return error
    is_silent = isinstance(error, IncompleteAnswer | TimedOut)
    texts = [error.message, *(plain(remains.stderr).splitlines() if is_silent else ())]
    found = next(((one, text) for one in agent.signatures for text in texts if one.fits(text)), None)
    if found:
        return _known(agent, *found, error, key)
    if isinstance(error, IncompleteAnswer):
        # A program that ends as if all were well has nothing to say about it.
        last = excerpt(plain(remains.stderr).strip().rpartition("\n")[2]) if remains.status else ""
        return IncompleteAnswer(
            f"{agent.title} {_how(remains.status)} before its answer was complete{f': {last}' if last else '.'}",
            remedy=f"Send the message again, or try `{agent.command}` in a terminal.",
        )
    if isinstance(error, AuthenticationFailed):
        return _unknown_user(agent, error.message, error.status, key)
    return error


def _known(agent: Description, signature: Signature, text: str, error: ProviderError, key: str | None) -> ProviderError:
    is_late = isinstance(error, TimedOut)
    message = f"{error.message} It says: {excerpt(text)}" if is_late and text != error.message else excerpt(text)
    message = message if message.startswith(agent.title) else f"{agent.title} says: {message}"
    if issubclass(signature.error, LoginRequired | AuthenticationFailed):
        return _unknown_user(agent, message, error.status, key)
    if issubclass(signature.error, ModelNotFound):
        return ModelNotFound(message, remedy=signature.remedy, status=error.status)
    return signature.error(message, remedy=signature.remedy, status=error.status)


def _unknown_user(agent: Description, message: str, status: int | None, key: str | None) -> ProviderError:
    """A key that is refused is not the same as no login: only who has neither is told to log in."""
    if key is None:
        return LoginRequired(message, remedy=agent.login, status=status)
    return AuthenticationFailed(message, remedy=f"Check the key in {key}. Without it: {agent.login}", status=status)


def _how(status: int | None) -> str:
    if status is None:
        return "was ended"
    return f"ended with status {status}" if status >= 0 else f"was ended by signal {-status}"
