"""JSON-RPC as LSP wants it: pygls' protocol with strict params, the lifecycle, and exactly one answer per request."""

from __future__ import annotations

import asyncio
import json
import logging
from enum import Enum, auto
from itertools import count
from typing import TYPE_CHECKING, Any, cast

from pygls.exceptions import JsonRpcException
from pygls.protocol.json_rpc import JsonRPCProtocol, JsonRPCRequestMessage

from ollm_lsp.core.foreign_json import object_in
from ollm_lsp.lsp import from_wire

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from pygls.server import JsonRPCServer


PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
REQUEST_FAILED = -32803
NOT_INITIALIZED = -32002
INVALID_REMEDY = "Send params as docs/protocol.md describes them."

logger = logging.getLogger(__name__)


class Phase(Enum):
    """Where in its life the server is."""

    STARTED = auto()
    INITIALIZED = auto()
    SHUT_DOWN = auto()


class Rpc(JsonRPCProtocol):
    """Bytes in, handlers called, bytes out."""

    def __init__(self, server: JsonRPCServer, converter: Any) -> None:
        super().__init__(server, converter)
        self.phase = Phase.STARTED
        self._params: dict[str, type[Any]] = {}
        self._asked: dict[Any, asyncio.Future[Any]] = {}
        self._questions: set[asyncio.Future[Any]] = set()
        self._numbers = count(1)

    def handle(self, method: str, params: type[Any], handler: Callable[[Any], Any]) -> None:
        """Let a handler answer a method; a coroutine function may take its time and can be cancelled."""
        self._params[method] = params
        features = cast("dict[str, Any]", self.fm.features)  # pyright: ignore[reportUnknownMemberType] (untyped there)
        features[method] = handler

    def tasks(self) -> list[asyncio.Task[Any]]:
        """What is being answered right now."""
        return [future for future in self._request_futures.values() if isinstance(future, asyncio.Task)]

    def receive(self, body: bytes) -> None:
        """Take one message. Whatever it is, the server goes on, and a request gets its answer."""
        try:
            message = json.loads(body)
        except (ValueError, RecursionError) as error:
            self._refuse(None, PARSE_ERROR, f"The message is not JSON: {error}")
            return
        if not isinstance(message, dict):
            self._refuse(None, INVALID_REQUEST, "A message must be a JSON object.")
            return
        message = object_in(message)
        method, number = message.get("method"), message.get("id")
        is_request = "id" in message
        if is_request and type(number) not in (str, int):
            self._refuse(None, INVALID_REQUEST, "The id of a request must be a string or an integer.")
        elif isinstance(method, str):
            self._take(method, message.get("params"), number, is_request=is_request)
        elif is_request and ("result" in message or "error" in message):
            self._hear(number, message)
        else:
            self._refuse(number, INVALID_REQUEST, "A message needs a method, or the result or error of a request.")

    def _take(self, method: str, params: Any, number: Any, *, is_request: bool) -> None:
        if trouble := self._untimely(method, number):
            if is_request:
                self._refuse(number, *trouble)
            return
        kind = self._params.get(method)
        if kind is None:
            if is_request:
                self._refuse(number, METHOD_NOT_FOUND, f"There is no method {method}.")
            return
        try:
            structured = from_wire.structure(params, kind)
        except from_wire.InvalidParams as error:
            if is_request:
                refusal = invalid_params(str(error))
                self._refuse(number, refusal.code, refusal.message, refusal.data)
            else:
                logger.warning("Ignored %s: %s", method, error)
            return
        # Not by `handle_message`: finding out again what kind of message it is would double the cost of a keystroke.
        if is_request:
            self._handle_request(number, method, structured)
        else:
            self._handle_notification(method, structured)

    def _untimely(self, method: str, number: Any) -> tuple[int, str] | None:
        """Why a message cannot be taken in this phase."""
        if method == "exit":
            return None
        if number is not None and number in self._request_futures:
            return INVALID_REQUEST, f"A request with id {number!r} is already being answered."
        match self.phase:
            case Phase.STARTED if method != "initialize":
                return NOT_INITIALIZED, "The server is not initialized yet."
            case Phase.INITIALIZED if method == "initialize":
                return INVALID_REQUEST, "The server is already initialized."
            case Phase.SHUT_DOWN:
                return INVALID_REQUEST, "The server has been shut down."
            case _:
                return None

    def _refuse(self, number: Any, code: int, message: str, data: Any = None) -> None:
        self._send_response(number, error=JsonRpcException(message, code, data).to_response_error())

    def _execute_handler(self, msg_id: Any, handler: Any, callback: Any, args: Any = None, kwargs: Any = None) -> None:
        """As pygls does, but forget the future when it is done: pygls keeps those of notifications for ever."""

        def forget(future: Future[Any]) -> None:
            self._request_futures.pop(msg_id, None)
            callback(future)

        super()._execute_handler(msg_id, handler, forget, args, kwargs)

    async def ask(
        self, method: str, params: Any, *, timeout: float, number: str | None = None, is_question: bool = False
    ) -> Any:
        """Ask the client. No answer in time is a `TimeoutError`, a refusal a `JsonRpcException`.

        A `number` of its own lets a client know the request by something in its params when it is withdrawn. Questions
        to the user are shown one after the other by most clients, so that the time of each begins after those before.

        pygls keeps its own requests together with those of the client, where one may be mistaken for the other, and
        keeps what is never answered for ever.
        """
        number = number or f"ollm-{next(self._numbers)}"
        self._asked[number] = answer = asyncio.get_running_loop().create_future()
        earlier = tuple(self._questions) if is_question else ()
        if is_question:
            self._questions.add(answer)
        self._send_data(JsonRPCRequestMessage(number, method, self.VERSION, params))
        try:
            for other in earlier:
                await asyncio.wait((answer, other), return_when=asyncio.FIRST_COMPLETED)
            return await asyncio.wait_for(answer, timeout)
        except (TimeoutError, asyncio.CancelledError):
            self.notify("$/cancelRequest", {"id": number})  # a dialog that nobody waits for should not stay open
            raise
        finally:
            answer.cancel()
            self._questions.discard(answer)
            del self._asked[number]

    def _hear(self, number: Any, message: dict[str, Any]) -> None:
        """The client answers; what was never asked, or no longer waits, is dropped."""
        answer = self._asked.get(number)
        if answer is None or answer.done():
            return
        if (error := message.get("error")) is None:
            answer.set_result(message.get("result"))
        else:
            details = object_in(error)
            code = details.get("code")
            answer.set_exception(
                JsonRpcException(str(details.get("message")), code if isinstance(code, int) else INTERNAL_ERROR)
            )


def invalid_params(reason: str) -> JsonRpcException:
    """The answer to params that do not fit."""
    return JsonRpcException(reason, INVALID_PARAMS, {"code": "invalid_params", "remedy": INVALID_REMEDY})
