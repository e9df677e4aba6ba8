"""What a CLI agent is: a description as data, from which it is found, checked, run and understood."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from ollm_lsp.core.errors import ModelNotFound, Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ollm_lsp.core.agent_session import AgentSession
    from ollm_lsp.core.errors import ProviderError
    from ollm_lsp.providers.agents.hiding import Hiding
    from ollm_lsp.providers.wire.agent_lines import AgentLines

OWN_CHOICE = "default"
"""The name of the model that the agent chooses by itself."""
_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@\[\]-]{0,199}")
_SESSION = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")

NETWORK = (
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    "NODE_EXTRA_CA_CERTS",
)
"""How the user's own environment leads to the network: every agent gets these."""


class Platform(StrEnum):
    """Where we are."""

    LINUX = "linux"
    MACOS = "macos"
    WINDOWS = "windows"


class MakesDecoder(Protocol):
    """Makes the decoder of one run; `locate` turns a path into the address of a document."""

    def __call__(self, locate: Callable[[str], str], session: AgentSession | None = None) -> AgentLines: ...


@dataclass(frozen=True, slots=True)
class Signature:
    """Words by which a failure is known, what it means and what to do about it."""

    words: str
    """A regular expression, whatever the case."""
    error: type[ProviderError]
    remedy: str

    def fits(self, text: str) -> bool:
        return re.search(self.words, text, re.IGNORECASE) is not None


@dataclass(frozen=True, slots=True)
class AskTheTool:
    """A login that the tool itself tells of; it prints these words, or ends with status 0."""

    arguments: tuple[str, ...]
    words: str | None = None


@dataclass(frozen=True, slots=True)
class LookForFiles:
    """A login that is known by one of these files below the user's home."""

    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Description:
    """One tool. What it is run with is here and nowhere else."""

    tool: str
    title: str
    command: str
    minimum: tuple[int, int, int]
    install: str
    login: str
    """What a user does to log in."""
    places: Mapping[Platform, tuple[str, ...]]
    """Where its own installer puts it: folders, with variables in `{}`."""
    arguments: tuple[str, ...]
    """A run that reads, prints events while it works, takes its prompt from standard input and asks nobody."""
    hide: Callable[[Sequence[str]], Hiding] = field(hash=False)
    """How files that fit these patterns are kept from it."""
    hides_since: tuple[int, int, int]
    """The first version that this was tried with."""
    hides_nothing: tuple[str, ...]
    """What is added to the arguments where nothing is hidden."""
    model_option: str
    resume: tuple[str, ...]
    """How it goes on with a session, in the place of `{}`."""
    last_arguments: tuple[str, ...]
    folder_option: str | None
    """Where there is one, the agent runs in an empty folder, for it obeys what lies in the one that it runs in."""
    fixed: Mapping[str, str]
    """Variables with values of ours."""
    passed_on: tuple[str, ...]
    """Variables of the user that it gets, beside those of every program."""
    keys: tuple[str, ...]
    """Those of them that hold a key, in which case its tokens are paid for one by one."""
    probe: AskTheTool | LookForFiles
    probe_limit: float
    """Seconds for each question of the health check."""
    idle_limit: float
    """Seconds in which it has to get on."""
    context_window: int
    vendor: str
    """The address whose prices count when it runs with a key."""
    priced_as: Mapping[str, str] = field(hash=False)
    """Names that only the tool knows, and the dearest model that each may stand for."""
    decoder: MakesDecoder = field(hash=False)
    signatures: tuple[Signature, ...]

    def argv(
        self, model: str, *, folder: str, session: AgentSession | None = None, hiding: Sequence[str] | None = None
    ) -> list[str]:
        """The arguments of one run. None of them is free text, so that none can be taken for something else."""
        argv = [*self.arguments, *(self.hides_nothing if hiding is None else hiding)]
        if model != OWN_CHOICE:
            if not _MODEL.fullmatch(model):
                raise ModelNotFound(
                    f"'{model[:100]}' cannot be the name of a model of {self.title}.",
                    remedy=f"Write a name that `{self.command}` knows, or `{OWN_CHOICE}`.",
                )
            argv += [self.model_option, model]
        if self.folder_option:
            argv += [self.folder_option, folder]
        if session:
            if not _SESSION.fullmatch(session.id):
                raise Unsupported(f"{self.title} has no such session.", remedy="Begin a new conversation.")
            argv += [argument.format(session.id) for argument in self.resume]
        return [*argv, *self.last_arguments]


def version_in(text: str) -> tuple[int, int, int] | None:
    """The first version in what a tool prints about itself."""
    found = _VERSION.search(text)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def spelt(version: tuple[int, int, int]) -> str:
    """A version as people write it."""
    return ".".join(map(str, version))
