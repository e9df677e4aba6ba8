"""What the core needs from the outer layers, as protocols that they implement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from contextlib import AbstractContextManager

    from ollm_lsp.core.applied import Applied
    from ollm_lsp.core.before_image import BeforeImage
    from ollm_lsp.core.budget import Account, Limits
    from ollm_lsp.core.change import Change, Proposal
    from ollm_lsp.core.completion import Completion
    from ollm_lsp.core.conversation import Response
    from ollm_lsp.core.diagnostic import Diagnostic
    from ollm_lsp.core.events import Activity, ChatEvent, ProviderEvent, ReasoningDelta, TextDelta, UsageChanged
    from ollm_lsp.core.foreign_json import JsonObject
    from ollm_lsp.core.grant import Grant
    from ollm_lsp.core.kraken import KrakenProvider, KrakenStatus
    from ollm_lsp.core.ledger import Call, LedgerLine, Reservation
    from ollm_lsp.core.messages import Message
    from ollm_lsp.core.model import Capabilities, ModelDetails, ModelId, ModelInfo
    from ollm_lsp.core.permission import Offered, PermissionRequest, Reply, Verdict
    from ollm_lsp.core.record import ConversationRecord, Opening, Summary
    from ollm_lsp.core.request import ChatRequest
    from ollm_lsp.core.snapshot import Snapshot
    from ollm_lsp.core.tool import Location, ToolKind, ToolOutcome, ToolSpec
    from ollm_lsp.core.usage import Cost, Usage


class Provider(Protocol):
    """An endpoint that answers with a model. One instance serves many requests at once."""

    @property
    def name(self) -> str: ...

    def stream(self, request: ChatRequest) -> AsyncGenerator[ProviderEvent]:
        """Answer event by event, ending with `Finished`; failures are raised as `ProviderError`.

        Closing the generator closes the connection.
        """
        ...

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer in one piece: what `stream` says, collected."""
        ...

    async def capabilities(self, model: str) -> Capabilities: ...

    def cost(self, model: str, usage: Usage) -> Cost: ...

    async def close(self) -> None:
        """End every request that is still running and release all resources."""
        ...


@runtime_checkable
class ListsModels(Protocol):
    """A provider that can tell which models it has."""

    async def models(self) -> Sequence[ModelInfo]: ...


@runtime_checkable
class CountsTokens(Protocol):
    """A provider that counts as the model itself does."""

    async def count(self, request: ChatRequest) -> int | None:
        """The tokens of a request, or nothing when this model's cannot be counted."""
        ...


@runtime_checkable
class ManagesModels(Protocol):
    """A provider whose models can be fetched and removed."""

    def pull(self, model: str) -> AsyncGenerator[Activity]:
        """Fetch a model; the stream ends when it is there, and closing it stops the fetching."""
        ...

    async def show(self, model: str) -> ModelDetails: ...

    async def delete(self, model: str) -> None: ...


class ToolRun(Protocol):
    """One call of a tool while it runs; `id` is that of its events."""

    @property
    def id(self) -> str: ...

    def asking(self) -> AbstractContextManager[None]:
        """While the user is asked for a permission: the call is shown as waiting, its time limit stands still."""
        ...


@runtime_checkable
class PlanPaid(Protocol):
    """A provider that a plan of the user may pay for."""

    @property
    def is_paid_by_plan(self) -> bool: ...


class Tool(Protocol):
    """Something that a model may call. One instance serves many calls at once."""

    @property
    def spec(self) -> ToolSpec: ...

    @property
    def kind(self) -> ToolKind: ...

    def title(self, arguments: JsonObject) -> str:
        """What the user reads about a call. The arguments may be anything that the model wrote."""
        ...

    def locations(self, arguments: JsonObject) -> Sequence[Location]:
        """Where in the user's documents a call looks or changes something."""
        ...

    async def run(self, arguments: JsonObject, run: ToolRun) -> ToolOutcome | str:
        """Do it. A text is what the model reads of a success; whatever is raised, it reads as a failure."""
        ...


class Fits(Protocol):
    """A check of arguments against a JSON Schema."""

    def __call__(self, schema: JsonObject, arguments: JsonObject, /) -> str | None:
        """Why the arguments do not fit, in words for the model; nothing when they do."""
        ...


class Permits(Protocol):
    """Somebody who says whether a tool may do something."""

    async def permit(self, request: PermissionRequest, run: ToolRun) -> Verdict:
        """Ask. No answer is a no."""
        ...


class Proposes(Protocol):
    """The only way to change a file: the user sees a proposal, and the editor makes its changes."""

    async def propose(self, proposal: Proposal, run: ToolRun) -> Applied:
        """Ask, and do what was shown or nothing. No answer is a no."""
        ...


class Editor(Protocol):
    """The user's editor: it asks them, and nothing but it changes their files."""

    async def ask(self, request: PermissionRequest, *, may_stand: bool) -> Reply:
        """Ask. No answer, an error, or no way to ask is a no."""
        ...

    async def offer(self, proposal: Proposal, request: PermissionRequest, *, may_stand: bool) -> Offered:
        """Show a proposal and ask for it."""
        ...

    async def apply(self, proposal: Proposal, *, asks: bool = False) -> Applied:
        """Make the changes of a proposal that the user has allowed, if its documents are still what it names.

        With `asks` nobody has allowed it yet, and the editor asks for each change before it makes any.
        """
        ...


class ProposalStore(Protocol):
    """Where accepted proposals are kept, so that they can be taken back. Every failure is a `StoreFailed`."""

    async def record(self, proposal: Proposal, images: Sequence[BeforeImage]) -> None:
        """Keep what is needed to take a proposal back. Nothing may be changed before this has returned."""
        ...

    async def settle(self, proposal_id: str, done: Sequence[Change]) -> None:
        """Tell which changes of a proposal were made in the end."""
        ...

    async def revert(self, proposal_id: str, new_id: str) -> Proposal | None:
        """The proposal that takes another one back; nothing when that is not kept, or changed nothing."""
        ...

    async def newest(self) -> str | None:
        """The id of the last proposal of which something was changed, or may have been."""
        ...


class GrantStore(Protocol):
    """Where standing answers are kept. Every failure is a `StoreFailed`."""

    async def answer(self, grant: Grant) -> bool | None:
        """What the user once said about exactly this; nothing when they were never asked."""
        ...

    async def keep(self, grant: Grant, *, allows: bool) -> None: ...

    async def forget(self) -> int:
        """Forget all answers; the result is how many there were."""
        ...


class Buffers(Protocol):
    """The documents that the editor has open. Their text counts, saved or not, and the file on the disk does not."""

    def get(self, uri: str) -> Snapshot | None: ...

    def all(self) -> Sequence[Snapshot]:
        """All of them, the one used last first."""
        ...

    def uris(self) -> Sequence[str]:
        """Their addresses in the same order, which costs nothing for each text."""
        ...


class Diagnostics(Protocol):
    """What language servers have found in the documents."""

    async def of(self, uri: str | None) -> Sequence[Diagnostic]:
        """The diagnostics of one document, or of all that are known."""
        ...


class Kraken(Protocol):
    """The external providers, as far as they can be told of."""

    async def status(self) -> KrakenStatus:
        """How it is now; whoever asks may have to wait for its providers."""
        ...

    async def providers(self) -> Sequence[KrakenProvider]:
        """All external providers, as the last looks at them found them."""
        ...

    async def history(self, limit: int | None = None) -> Sequence[LedgerLine]:
        """The calls that were logged, the newest first."""
        ...


class Sink(Protocol):
    """Where a chat's events go."""

    def emit(self, event: ChatEvent) -> None: ...

    async def drain(self) -> None:
        """Let others run, and wait while the reader is behind."""
        ...


class ResponseStore(Protocol):
    """Where conversations are kept. Every failure is a `StoreFailed`.

    A response is opened, grows, and is finished. `finish` alone is enough: it brings everything along. What comes
    before it is kept for the case that it never comes.
    """

    async def begin(self, conversation_id: str, opening: Opening) -> None: ...

    def grow(self, response_id: str, event: TextDelta | ReasoningDelta | UsageChanged) -> None:
        """Take note of what an open response grows by. It is written soon, and nobody waits for it."""
        ...

    def add(self, response_id: str, message: Message) -> None:
        """Take note of a complete message of an open response, which replaces what it has grown by."""
        ...

    async def finish(self, conversation_id: str, response: Response) -> None:
        """Keep a response for good: when this returns, no crash loses it."""
        ...

    async def load(self, conversation_id: str) -> ConversationRecord | None:
        """A conversation, if it is kept. A response that never came to its end has the finish reason `error`."""
        ...

    async def list(self) -> Sequence[Summary]:
        """All conversations, the newest first."""
        ...

    async def choose(self, conversation_id: str, model: ModelId) -> None:
        """Keep which model the user chose for a conversation, also for one that has no response yet."""
        ...

    async def retitle(self, conversation_id: str, title: str) -> bool:
        """Give a conversation another title; false when it is not kept."""
        ...

    async def delete(self, conversation_id: str) -> bool:
        """Forget a conversation; false when it is not kept."""
        ...

    async def close(self) -> None: ...


class Ledger(Protocol):
    """Where calls to external providers are paid and remembered. Every failure is a `StoreFailed`."""

    async def reserve(self, call: Call, most: Cost, limits: Limits, *, is_logged: bool = True) -> Reservation:
        """Keep the most that a call can cost, or raise `BudgetExceeded`. Nothing may be sent before it has returned."""
        ...

    async def enlarge(self, reservation: Reservation, micros: int, limits: Limits) -> Reservation:
        """Keep more for a call that goes on, or raise `BudgetExceeded`: then it must stop."""
        ...

    async def settle(self, reservation: Reservation, usage: Usage, cost: Cost, error: str | None = None) -> None:
        """Put what a call has cost in the place of its reservation; `error` is the code of what made it fail."""
        ...

    async def release(self, reservation: Reservation) -> None:
        """Give back the money of a call that was never sent."""
        ...

    async def account(self) -> Account:
        """What is spent and what is reserved at this moment."""
        ...

    async def history(self, limit: int = 100) -> Sequence[LedgerLine]:
        """The calls that were logged, the newest first."""
        ...

    async def close(self) -> None: ...
