"""`ollm-lsp chat`: questions and answers at a terminal, through the same server as every editor."""

from __future__ import annotations

import itertools
import re
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ollm_lsp.terminal.answer import Answer
from ollm_lsp.terminal.buffers import read_buffers
from ollm_lsp.terminal.clean import clean_line
from ollm_lsp.terminal.client import SERVER_COMMAND
from ollm_lsp.terminal.command import Exit, connection, run_command
from ollm_lsp.terminal.conversations import SHORT_ID, find, last_exchange
from ollm_lsp.terminal.errors import RequestFailed
from ollm_lsp.terminal.file_editor import FileEditor
from ollm_lsp.terminal.interrupts import Interrupted
from ollm_lsp.terminal.line_reader import line_reader
from ollm_lsp.terminal.permission import Permissions
from ollm_lsp.terminal.prompt import Prompt, read_stdin
from ollm_lsp.terminal.screen import Screen
from ollm_lsp.terminal.work_done import WorkDone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.terminal.buffers import Buffer
    from ollm_lsp.terminal.client import LspClient
    from ollm_lsp.terminal.interrupts import Interrupts

_REQUEST_CANCELLED = -32800
_CHOICE = re.compile(r"\s*/model\s+\S", re.IGNORECASE)
_HELP = """\
/new          start a new conversation
/exit, /quit  leave, as Ctrl-D does
/help         show this, and the commands of every chat:
A line that ends with \\ goes on in the next. Ctrl-C cancels an answer and clears what is typed."""


async def chat(
    files: Sequence[str | Path],
    prompt: str | None,
    model: str | None,
    server_command: Sequence[str] = SERVER_COMMAND,
    *,
    resume: str | None = None,
) -> int:
    """Answer the prompt, that on stdin, or one question after the other; the result is the exit status.

    `resume` is the beginning of a kept conversation's id, or empty for the newest one.
    """
    screen = Screen.of_process()

    async def work(interrupts: Interrupts) -> Exit:
        buffers = read_buffers(files)
        question = prompt
        if question is None and not sys.stdin.isatty():
            question = await interrupts.run(read_stdin())
        if question is not None and not question.strip():
            screen.error("There is no question.", "Give one with -p or on stdin.")
            return Exit.UNUSABLE
        async with connection(server_command, screen, interrupts, edits=True) as client:
            conversation = _Conversation(client, screen, interrupts, buffers, model)
            if resume is not None and not await conversation.resume(resume, is_recalled=question is None):
                return Exit.FAILED
            return await (_interact(conversation) if question is None else conversation.ask(question))

    return await run_command(screen, work)


async def _interact(conversation: _Conversation) -> Exit:
    screen, interrupts = conversation.screen, conversation.interrupts
    screen.note("/help lists the commands, Ctrl-D leaves.")
    prompt = Prompt(line_reader())
    try:
        while True:
            try:
                with screen.held():
                    question = await interrupts.run(prompt.question())
            except Interrupted:
                return Exit.CANCELLED
            match question:
                case None | "/exit" | "/quit":
                    return Exit.FINE
                case "/new":
                    conversation.start_anew()
                    screen.note("new conversation")
                case "/help":
                    screen.note(_HELP)
                    await conversation.ask("/help")
                case _:
                    await conversation.ask(question)
    finally:
        prompt.close()


async def _apply(files: FileEditor, params: Any) -> dict[str, Any]:
    return files.apply(params)


class _Conversation:
    """A conversation about some open buffers, continued by every question."""

    def __init__(
        self,
        client: LspClient,
        screen: Screen,
        interrupts: Interrupts,
        buffers: Sequence[Buffer],
        model: str | None,
    ) -> None:
        self.screen = screen
        self.interrupts = interrupts
        self._client = client
        self._uris = [buffer.uri for buffer in buffers]
        self._model = model
        self._id: str | None = None
        self._numbers = itertools.count(1)
        files = FileEditor(Path.cwd(), buffers, client.notify)
        client.answers["ollm/permission"] = Permissions(screen, files).ask
        client.answers["workspace/applyEdit"] = partial(_apply, files)

    async def resume(self, wanted: str, *, is_recalled: bool) -> bool:
        """Go on with a kept conversation, and recall how it ended; false when there is no such one."""
        found = await self.interrupts.run(find(self._client, wanted))
        if found is None:
            none = f"No one conversation has an id that begins with {wanted}." if wanted else "There is none to resume."
            self.screen.error(none, "`ollm-lsp chat --list` lists them.")
            return False
        self._id = found.text("id")
        self.screen.note(f"going on with: {clean_line(found.text('title'))} ({self._id[:SHORT_ID]})")
        if is_recalled and (last := await self.interrupts.run(last_exchange(self._client, self._id))):
            self.screen.note(last)
        return True

    def start_anew(self) -> None:
        self._id = None

    async def ask(self, text: str) -> Exit:
        """Ask and show the answer; the status tells how that went."""
        answer = Answer(self.screen)
        try:
            result = await self.interrupts.run(self._send(text, answer))
        except Interrupted as interrupted:
            if interrupted.impatient:
                raise
            answer.cancel()
            return Exit.CANCELLED
        except RequestFailed as error:
            if error.code == _REQUEST_CANCELLED:
                answer.cancel()
                return Exit.CANCELLED
            answer.fail(error.message, error.remedy)
            return Exit.FAILED
        else:
            if _CHOICE.match(text):
                self._model = None  # what was chosen here counts from now on, and not what the command line said
            return Exit.FINE if answer.succeed(result) else Exit.FAILED
        finally:
            self._id = answer.conversation_id or self._id

    async def _send(self, text: str, answer: Answer) -> Any:
        number = next(self._numbers)
        optional = {
            "model": self._model,
            "conversationId": self._id,
            "context": {"uri": self._uris[0], "files": self._uris} if self._uris else None,
        }
        with (
            self._client.progress(f"work-{number}", WorkDone(self.screen).receive) as work_token,
            self._client.progress(f"chat-{number}", answer.receive) as chat_token,
        ):
            return await self._client.request(
                "ollm/chat/send",
                {
                    # A terminal may hand over bytes that are not UTF-8; JSON could not carry them.
                    "text": text.encode(errors="replace").decode(),
                    "workDoneToken": work_token,
                    "partialResultToken": chat_token,
                    **{name: value for name, value in optional.items() if value is not None},
                },
            )
