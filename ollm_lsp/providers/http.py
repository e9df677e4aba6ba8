"""One HTTP endpoint: its client, its time limits, and the one place where httpx errors become ours."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar, cast

import httpx

from ollm_lsp import __version__
from ollm_lsp.core.errors import (
    AuthenticationFailed,
    ConnectionFailed,
    ContentFiltered,
    ContextOverflow,
    IncompleteAnswer,
    MalformedAnswer,
    ModelNotFound,
    ProviderError,
    RateLimited,
    ServerFailed,
    TimedOut,
)
from ollm_lsp.core.foreign_json import JsonError, decode, object_in, text_in
from ollm_lsp.providers.wire.codec import Answer
from ollm_lsp.providers.wire.faults import excerpt, malformed
from ollm_lsp.settings.address import is_loopback

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Generator, Mapping

    from ollm_lsp.core.events import ProviderEvent
    from ollm_lsp.providers.wire.codec import Decoder, Framer
    from ollm_lsp.settings.resolved import TimeLimits
    from ollm_lsp.settings.secrets import Secret

Frame = TypeVar("Frame")

MAX_BODY = 32 * 1024 * 1024
"""Bound for an answer that is not streamed."""
MAX_ERROR_BODY = 64 * 1024
MAX_ANSWER = 16 * 1024 * 1024
"""Bound for a streamed answer, in characters: several times what any model can write."""
_STREAMS = ("text/event-stream", "application/x-ndjson")
_OVERFLOW_WORDS = (
    "context length",
    "context size",
    "context window",
    "context_length",
    "exceed_context",
    "too long",
)
_FILTER_WORDS = ("content_filter", "content_policy", "content management policy")
_REFUSALS: dict[int, tuple[type[ProviderError], str]] = {
    401: (AuthenticationFailed, "Check the provider's apiKey in your settings file."),
    403: (AuthenticationFailed, "Check what the provider's apiKey in your settings file allows."),
    404: (ModelNotFound, "Check the model's name (`ollm-lsp models list`) and the provider's baseUrl."),
    408: (TimedOut, "Send the message again."),
    504: (TimedOut, "Send the message again."),
}


class Endpoint:
    """The address of one provider. Redirects are never followed: a key belongs to one address."""

    def __init__(self, base_url: str, limits: TimeLimits, *, api_key: Secret | None = None, when_down: str) -> None:
        self.base_url = base_url.rstrip("/")
        self._limits = limits
        self._api_key = api_key
        self._when_down = when_down
        local = is_loopback(base_url)
        self._client = httpx.AsyncClient(
            headers={"User-Agent": f"ollm-lsp/{__version__}", "Accept-Encoding": "identity"},
            timeout=httpx.Timeout(None, connect=limits.connect),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=8),
            # A proxy cannot reach this machine's own servers; a plain address needs no certificates loaded.
            trust_env=not local,
            verify=base_url.startswith("https:"),
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def get(self, path: str) -> Any:
        """The JSON answer to a short question."""
        return await self._ask("GET", path, None)

    async def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """The JSON answer to a short question with a body."""
        return await self._ask("POST", path, body)

    async def _ask(self, method: str, path: str, body: Mapping[str, Any] | None) -> Any:
        try:
            async with asyncio.timeout(self._limits.connect), self._open(method, path, body) as response:
                content = await self._read(response, MAX_BODY)
        except TimeoutError:
            raise self._timed_out(f"did not answer within {self._limits.connect:g} s") from None
        try:
            return decode(content)
        except JsonError as error:
            raise malformed(content.decode(errors="replace"), str(error)) from None

    async def stream(
        self, path: str, body: Mapping[str, Any], framer: Framer[Frame], decoder: Decoder[Frame]
    ) -> AsyncGenerator[ProviderEvent]:
        """Send a request and decode its answer while it comes, up to and including `Finished`.

        Only what the model says counts as progress: nothing but keep-alives runs into the limit. The time that the
        reader of the events takes does not count.
        """
        clock = asyncio.get_running_loop().time
        last = clock() + self._limits.total
        deadline = min(clock() + self._limits.first_token, last)
        silence = f"said nothing within {self._limits.first_token:g} s"
        try:
            async with asyncio.timeout_at(deadline):
                response = await self._begin("POST", path, body)
        except TimeoutError:
            raise self._timed_out(silence) from None
        answer = Answer(framer, decoder)
        size = 0
        chunks = cast("AsyncGenerator[bytes]", response.aiter_raw())
        try:
            while not answer.finished:
                chunk = await self._next(chunks, deadline, silence)
                for event in answer.feed(chunk) if chunk is not None else self._close(answer, response):
                    yield event
                if answer.size > size:
                    size = answer.size
                    deadline = min(clock() + self._limits.idle, last)
                    silence = "stopped in the middle of its answer"
                if size > MAX_ANSWER:
                    raise MalformedAnswer(
                        f"The answer is longer than {MAX_ANSWER:,} characters, which is the limit.",
                        remedy="Ask for a shorter answer, or choose another model.",
                    )
        finally:
            await chunks.aclose()
            await response.aclose()

    async def _next(self, chunks: AsyncIterator[bytes], deadline: float, silence: str) -> bytes | None:
        try:
            async with asyncio.timeout_at(deadline):
                return await anext(chunks, None)
        except TimeoutError:
            raise self._timed_out(silence) from None
        except (httpx.HTTPError, httpx.StreamError, OSError) as error:
            raise IncompleteAnswer(
                f"The connection to {self.base_url} broke in the middle of the answer ({_words(error)}).",
                remedy="Send the message again; what came so far is kept.",
            ) from None

    def _close(self, answer: Answer[Frame], response: httpx.Response) -> Generator[ProviderEvent]:
        """The last events; or, when there was no answer but a page or a single document, what that says."""
        try:
            yield from answer.close()
        except IncompleteAnswer:
            kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            if answer.head and kind not in _STREAMS:
                raise self._refusal(response, bytes(answer.head)) from None
            raise

    @asynccontextmanager
    async def _open(self, method: str, path: str, body: Mapping[str, Any] | None) -> AsyncGenerator[httpx.Response]:
        response = await self._begin(method, path, body)
        try:
            yield response
        finally:
            await response.aclose()

    async def _begin(self, method: str, path: str, body: Mapping[str, Any] | None) -> httpx.Response:
        """Send a request and wait for the head of a good answer."""
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if self._api_key:
            headers["Authorization"] = f"Bearer {await _reveal(self._api_key)}"
        content = _encode(body) if body is not None else None
        request = self._client.build_request(method, f"{self.base_url}{path}", content=content, headers=headers)
        try:
            response = await self._client.send(request, stream=True)
        except httpx.ConnectTimeout:
            raise self._timed_out(f"did not accept the connection within {self._limits.connect:g} s") from None
        except (httpx.HTTPError, OSError, RuntimeError) as error:
            # httpx raises RuntimeError on a client that was closed meanwhile.
            raise ConnectionFailed(f"Cannot reach {self.base_url} ({_words(error)}).", remedy=self._when_down) from None
        if response.is_success and not _compression(response):
            return response
        try:
            content = await self._read(response, MAX_ERROR_BODY)
        finally:
            await response.aclose()
        raise self._refusal(response, content)

    async def _read(self, response: httpx.Response, limit: int) -> bytes:
        content = bytearray()
        try:
            async for chunk in response.aiter_raw():
                content += chunk
                if len(content) > limit:
                    break
        except (httpx.HTTPError, httpx.StreamError, OSError) as error:
            raise ConnectionFailed(
                f"The connection to {self.base_url} broke ({_words(error)}).", remedy=self._when_down
            ) from None
        return bytes(content[:limit])

    def _refusal(self, response: httpx.Response, content: bytes) -> ProviderError:
        """The error for an answer that is none."""
        status = response.status_code
        if compression := _compression(response):
            said, codes = f"a body that is compressed with {excerpt(compression)}, which nobody asked for", ""
        else:
            said, codes = _explanation(content)
        said = excerpt(said) or response.reason_phrase
        text = f"{self.base_url} answered {status}: {said}"
        if status == 429:
            wait = _seconds(response.headers.get("retry-after"))
            remedy = "Wait a little, then send the message again."
            return RateLimited(text, remedy=remedy, status=status, retry_after=wait)
        hints = f"{said} {codes}".lower() if status in {400, 422} else ""
        if status == 413 or any(word in hints for word in _OVERFLOW_WORDS):
            kind, remedy = (
                ContextOverflow,
                "Close buffers, start a new conversation, or choose a larger context.",
            )
        elif any(word in hints for word in _FILTER_WORDS):
            kind, remedy = ContentFiltered, "Word the message differently, or choose another model."
        elif status < 300:
            kind, remedy = MalformedAnswer, "Check the provider's type and baseUrl in the settings."
        elif status < 400:
            kind, remedy = MalformedAnswer, "Check the provider's baseUrl; redirects are not followed."
        else:
            kind, remedy = _REFUSALS.get(status, (ServerFailed, "Look at the server's log, or send it again."))
        return kind(text, remedy=remedy, status=status)

    def _timed_out(self, what: str) -> TimedOut:
        return TimedOut(
            f"{self.base_url} {what}.",
            remedy="See whether the server is overloaded, or raise the provider's timeouts in the settings.",
        )


async def _reveal(key: Secret) -> str:
    """A keyring may ask the user to unlock it, and must not hold up everything else meanwhile."""
    return await asyncio.to_thread(key.reveal) if key.may_block else key.reveal()


def _encode(body: Mapping[str, Any]) -> bytes:
    """JSON in UTF-8, which cannot hold the half characters that an editor may send: they are replaced."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def _compression(response: httpx.Response) -> str:
    return response.headers.get("content-encoding", "").strip().lower().replace("identity", "")


def _words(error: Exception) -> str:
    return excerpt(str(error)) or type(error).__name__


def _explanation(content: bytes) -> tuple[str, str]:
    """The message inside the error body of any vendor, else the body itself, and the codes beside it."""
    try:
        value = decode(content)
    except JsonError:
        return content.decode(errors="replace"), ""
    codes: list[str] = []
    while isinstance(value, dict):
        body = object_in(value)
        codes += (text_in(body.get("code")), text_in(body.get("type")))
        value = body.get("error") or body.get("message") or body.get("detail") or ""
    return str(value), " ".join(codes)


def _seconds(header: str | None) -> float | None:
    """How long `Retry-After` asks to wait, which is a number of seconds or a date."""
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError):
            return None
    return max(0.0, seconds) if isfinite(seconds) else None
