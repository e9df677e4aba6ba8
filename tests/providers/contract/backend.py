"""What the contract suite must know about a server: how to start it, how to reach it, what it cannot do."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from ollm_lsp.core.model import Capabilities
from ollm_lsp.core.usage import FREE, Cost

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from contextlib import AbstractContextManager

    from ollm_lsp.core.ports import Provider
    from tests.providers.contract.servers import Servers

    Build: TypeAlias = Callable[[int, str | None], Provider]
    Slow: TypeAlias = Callable[[], AbstractContextManager[object]]


class Need(StrEnum):
    """What a test needs of a server, beyond a chat."""

    ADDRESS = "an address"
    MODELS = "a list of its models"
    MODEL_REFUSED = "refuses a model that it does not have"
    KEY_REFUSED = "refuses a wrong key"
    OVERFLOW_REFUSED = "refuses a prompt that is too long"
    LIMIT = "stops at max_tokens, and says so"
    USAGE = "counts what it streams"
    TOOLS = "calls tools"
    TOOL_NAMED = "calls the tool that is named"
    VISION = "sees images"
    COUNT = "counts a request's tokens before it is sent"


@dataclass(frozen=True)
class Running:
    """A server that is up. `build` makes a provider for a port and a key; `slow` makes the next answer a long one.

    `build_calling` makes one with which even an unwilling model calls a tool, where that takes more than to ask for it.
    """

    model: str
    build: Build
    port: int = 0
    key: str | None = None
    capabilities: Capabilities = field(default_factory=Capabilities)
    cost: Cost = FREE
    slow: Slow = nullcontext
    build_calling: Build | None = None

    def provider(self, *, port: int | None = None, key: str | None = None) -> Provider:
        return self.build(port or self.port, key or self.key)

    def calling(self) -> Provider:
        return (self.build_calling or self.build)(self.port, self.key)


@dataclass(frozen=True)
class Backend:
    """A server by name. Whatever is not in `cannot`, with its reason, it must be able to do."""

    start: Callable[[Servers], Awaitable[Running]]
    cannot: Mapping[Need, str] = field(default_factory=dict[Need, str])
    is_default: bool = True
