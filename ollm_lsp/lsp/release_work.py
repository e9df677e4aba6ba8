"""A release at work: the steps of `kraken.release` in this session, and the answer in its conversation."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from ollm_lsp.core.chat import Chat
from ollm_lsp.core.compaction import Compactor
from ollm_lsp.core.errors import StoreFailed
from ollm_lsp.core.events import Warned
from ollm_lsp.core.grant import Grant
from ollm_lsp.core.kraken import KrakenKind
from ollm_lsp.core.ledger import CallKind
from ollm_lsp.core.messages import Message
from ollm_lsp.core.model import ModelId
from ollm_lsp.core.permission import Option, Verdict
from ollm_lsp.core.ports import PlanPaid
from ollm_lsp.core.question import Question
from ollm_lsp.core.toolbox import Toolbox
from ollm_lsp.kraken.briefing import Matters
from ollm_lsp.kraken.homecoming_provider import HomecomingProvider
from ollm_lsp.kraken.labelled_provider import LabelledProvider
from ollm_lsp.kraken.masked_provider import MaskedProvider
from ollm_lsp.kraken.paid_provider import PaidProvider, Terms
from ollm_lsp.kraken.release import Release, Task
from ollm_lsp.kraken.selection import Candidate
from ollm_lsp.lsp import uris
from ollm_lsp.lsp.consent import ask, choose_provider
from ollm_lsp.lsp.desk import desk_of, tools_for
from ollm_lsp.lsp.kraken_status import releasing
from ollm_lsp.lsp.landing import OwnRun
from ollm_lsp.lsp.project_rules import project_rules
from ollm_lsp.lsp.question import images_in, system_prompt
from ollm_lsp.lsp.release_matters import pieces_of, said
from ollm_lsp.settings.kraken_settings import ApiSettings
from ollm_lsp.settings.narrowing import is_local
from ollm_lsp.tools.grants import identity_of
from ollm_lsp.tools.homecoming import Homecoming

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence

    from ollm_lsp.core.conversation import Conversation, Response
    from ollm_lsp.core.foreign_edit import ForeignEdit, Landed
    from ollm_lsp.core.foreign_json import JsonObject
    from ollm_lsp.core.model import Capabilities
    from ollm_lsp.core.recording import StoreRecording
    from ollm_lsp.core.tool import ToolSpec
    from ollm_lsp.kraken.hooks import Moment
    from ollm_lsp.kraken.release import Plan
    from ollm_lsp.lsp.protocol import ReleaseParams
    from ollm_lsp.lsp.session import Session
    from ollm_lsp.settings.kraken_settings import KrakenEntry
    from ollm_lsp.settings.resolved import Settings

AGENT_TOKENS = 32_000
"""Tokens of an agent's answer that are reserved at first; when it writes more, more is reserved."""


class ReleaseWork:
    """What is done for one release. It is the `Ports` of its steps."""

    def __init__(
        self,
        session: Session,
        settings: Settings,
        params: ReleaseParams,
        conversation: Conversation,
        recording: StoreRecording,
        parent_id: str | None = None,
    ) -> None:
        self._session = session
        self._settings = settings
        self._kraken = settings.kraken
        self._params = params
        self._conversation = conversation
        self._recording = recording
        self._parent_id = parent_id or conversation.going_on_from(params.parent_id)
        self._response_id = ""
        self._toolbox = Toolbox()

    async def answer(self, response_id: str, *, reason: str = "", is_suggested: bool = False) -> Response:
        """Go through the steps. Whatever ends them before the run leaves the conversation as it was."""
        self._response_id = response_id
        services, params = self._session.services, self._params
        task = Task(params.text, params.provider, reason, params.inherit_context, is_suggested)
        release = Release(self._kraken, await services.ledger(), await services.hooks(), self)
        response = await release.run(task)
        if params.return_to_local:
            self._session.away.pop(self._conversation.id, None)
        else:
            self._session.away[self._conversation.id] = response.model.provider
        return response

    async def candidates(self) -> Sequence[Candidate]:
        providers = await (await self._session.services.kraken()).providers()
        return [
            Candidate(
                one.name,
                one.kind,
                one.model,
                one.context_window,
                one.is_available,
                one.problem or "",
                one.remedy or "",
                one.needs_login,
                one.code,
            )
            for one in providers
        ]

    async def pick(self, usable: Sequence[Candidate], others: Sequence[Candidate]) -> str | None:
        return await choose_provider(self._session, usable, others)

    @asynccontextmanager
    async def provider(self, target: Candidate) -> AsyncGenerator[PaidProvider]:
        services, entry = self._session.services, self._entry(target)
        async with services.external(target.name, is_trusted=self._session.client.is_trusted) as provider:
            if isinstance(entry, ApiSettings):
                kind, tokens = CallKind.API, entry.max_tokens
            else:
                is_plan = isinstance(provider, PlanPaid) and provider.is_paid_by_plan
                kind, tokens = (CallKind.PLAN if is_plan else CallKind.CLI), AGENT_TOKENS
            terms = Terms(
                kind,
                target.name,
                self._kraken.limits,
                tokens,
                self._kraken.prices,
                self._conversation.id,
                is_logged=self._kraken.policies.log_kraken_usage,
            )
            yield PaidProvider(provider, await services.ledger(), terms)

    async def system(self, window: int) -> str:
        rules = await project_rules(self._session, self._settings, self._recording, window)
        return system_prompt(self._settings, rules).text

    @property
    def max_turns(self) -> int:
        return self._params.max_turns or self._settings.chat.max_turns

    async def tools(self, capabilities: Capabilities) -> tuple[ToolSpec, ...]:
        session, chat = self._session, self._settings.chat
        if capabilities.tools and chat.tools and self._params.tools is not False:
            sees = capabilities.vision
            tools = await tools_for(session, self._settings, self._conversation.id, is_external=True, sees=sees)
            self._toolbox = Toolbox(tools, fits=await session.services.fits(), time_limit=chat.tool_timeout)
        return self._toolbox.specs

    async def matters(self, task: Task, target: Candidate, room: int) -> Matters:
        model = ModelId(target.name, target.model or "")
        pieces, warnings = await pieces_of(self._session, self._settings, self._params.context, task.goal, room)
        for warning in warnings:
            self._recording.emit(warning)
        history = self._conversation.history(self._parent_id, model)
        async with AsyncExitStack() as stack:
            history = await said(history, await self._summariser(stack), room // 3)
        return Matters(task.goal, task.reason, history, tuple(pieces))

    async def permit(self, plan: Plan) -> Verdict:
        """A standing yes for this provider here, else the user's answer now."""
        if not self._kraken.policies.confirm_before_release:
            return Verdict(allowed=True)
        grant = self._grant(plan.target)
        grants = await self._session.services.grants()
        try:
            if await grants.answer(grant):
                return Verdict(allowed=True)
        except StoreFailed:
            pass  # then the user is asked
        reply = await ask(self._session, plan)
        if reply.option is Option.ALLOW_ALWAYS:
            try:
                await grants.keep(grant, allows=True)
            except StoreFailed as error:
                self.warn(Warned(error.code, error.message, error.remedy))
        return Verdict(reply.option.allows, reply.feedback, reply.briefing)

    async def run(self, plan: Plan) -> Response:
        model = ModelId(plan.target.name, plan.model)
        provider = MaskedProvider(plan.provider, plan.mask) if plan.is_masked else plan.provider
        images = images_in(self._params.context) if plan.capabilities.vision else []
        asked = Message.user(self._params.text, *images)
        question = Question((plan.system, Message.user(plan.briefing.text, *images)), (asked,), plan.capabilities)
        labelled = LabelledProvider(provider, model, is_plan=plan.is_plan)
        is_agent = plan.target.kind is KrakenKind.CLI
        async with releasing(self._session):
            return await Chat(
                HomecomingProvider(labelled, await self._way_home(plan.target.name)) if is_agent else labelled,
                model,
                self._recording,
                toolbox=self._toolbox,
                max_turns=self.max_turns,
                recording=self._recording,
            ).run(question, self._conversation, parent_id=self._parent_id, response_id=self._response_id)

    async def _way_home(self, who: str) -> Callable[[Iterable[ForeignEdit]], Awaitable[Landed]]:
        """How the changes of an agent reach the user, who may type while it works."""
        desk = desk_of(self._session, self._settings, self._conversation.id, is_external=True)
        broker = (await self._session.services.toolset()).broker(desk)
        known = {snapshot.uri: snapshot for snapshot in desk.buffers.all()}
        home = Homecoming(broker, known)
        return lambda edits: home.land(edits, who, OwnRun())

    def warn(self, warning: Warned) -> None:
        self._recording.emit(warning)

    def later(self, moment: Moment, facts: JsonObject) -> None:
        async def run() -> None:
            await (await self._session.services.hooks()).run(moment, facts)

        self._session.spawn(run())

    def _entry(self, target: Candidate) -> KrakenEntry:
        return self._kraken.entries[target.name]

    async def _summariser(self, stack: AsyncExitStack) -> Compactor | None:
        """The local model; where there is none, nobody summarises: what was said may not leave for that."""
        model = self._settings.model
        settings = self._settings.providers.get(model.provider)
        if settings is None or not is_local(settings, model.name):
            return None
        provider = await stack.enter_async_context(self._session.services.provider(model.provider))
        return Compactor(provider, model, self._settings.chat.compact_timeout)

    def _grant(self, target: Candidate) -> Grant:
        """A standing yes is for this provider as it is configured now, and for these folders."""
        entry = self._entry(target)
        address = getattr(entry.provider, "base_url", "") if isinstance(entry, ApiSettings) else entry.proxy_url
        folders = [folder for uri in self._session.folders if (folder := uris.folder(uri)) and folder.is_dir()]
        scope = json.dumps([target.kind.value, target.name, target.model, address])
        return Grant("kraken", scope, json.dumps([identity_of(folder) for folder in folders]), "")
