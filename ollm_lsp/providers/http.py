"""One HTTP endpoint: its client, its time limits, and the one place where httpx errors become ours."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import httpx

from ollm_lsp import __version__
from ollm_lsp.core.errors import (
    AuthenticationFailed,
    ConnectionFailed,
    ContextOverflow,
    IncompleteAnswer,
    MalformedAnswer,
    ModelNotFound,
    ProviderError,
    RateLimited,
    ServerFailed,
    TimedOut,
)
from ollm_lsp.core.events import Finished
from ollm_lsp.core.foreign_json import JsonError, decode, object_in
from ollm_lsp.providers.wire.faults import excerpt, incomplete, malformed
from ollm_lsp.settings.address import is_loopback

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Mapping

    from ollm_lsp.core.events import ProviderEvent
    from ollm_lsp.providers.wire.codec import Decoder, Framer
    from ollm_lsp.settings.resolved import TimeLimits
    from ollm_lsp.settings.secrets import Secret

Frame = TypeVar("Frame")

MAX_BODY = 32 * 1024 * 1024
"""Bound for an answer that is not streamed."""
MAX_ERROR_BODY = 64 * 1024
_OVERFLOW_WORDS = (
    "context length",
    "context size",
    "context window",
    "context_length",
    "exceed_context",
    "too long",
)
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

        Only decoded events count as progress: nothing but keep-alives runs into the limit.
        """
        clock = asyncio.get_running_loop().time
        last = clock() + self._limits.total
        deadline = min(clock() + self._limits.first_token, last)
        try:
            async with asyncio.timeout_at(deadline):
                response = await self._begin("POST", path, body)
        except TimeoutError:
            raise self._timed_out(f"said nothing within {self._limits.first_token:g} s") from None
        try:
            chunks = response.aiter_raw()
            while True:
                chunk = await self._next(chunks, deadline)
                try:
                    frames = framer.feed(chunk) if chunk is not None else framer.close()
                    for frame in frames:
                        for event in decoder.feed(frame):
                            deadline = min(clock() + self._limits.idle, last)
                            yield event
                            if isinstance(event, Finished):
                                return
                except MalformedAnswer:
                    if chunk is not None:
                        raise
                    # The last frame before the end of the stream is broken because it was cut.
                    raise incomplete() from None
                if chunk is None:
                    for event in decoder.close():
                        yield event
                    return
        finally:
            await response.aclose()

    async def _next(self, chunks: AsyncIterator[bytes], deadline: float) -> bytes | None:
        try:
            async with asyncio.timeout_at(deadline):
                return await anext(chunks, None)
        except TimeoutError:
            raise self._timed_out("stopped in the middle of its answer") from None
        except (httpx.HTTPError, httpx.StreamError, OSError) as error:
            raise IncompleteAnswer(
                f"The connection to {self.base_url} broke in the middle of the answer ({_words(error)}).",
                remedy="Send the message again; what came so far is kept.",
            ) from None

    @asynccontextmanager
    async def _open(self, method: str, path: str, body: Mapping[str, Any] | None) -> AsyncGenerator[httpx.Response]:
        response = await self._begin(method, path, body)
        try:
            yield response
        finally:
            await response.aclose()

    async def _begin(self, method: str, path: str, body: Mapping[str, Any] | None) -> httpx.Response:
        """Send a request and wait for the head of a good answer."""
        headers = {"Authorization": f"Bearer {await _reveal(self._api_key)}"} if self._api_key else None
        request = self._client.build_request(method, f"{self.base_url}{path}", json=body, headers=headers)
        try:
            response = await self._client.send(request, stream=True)
        except httpx.ConnectTimeout:
            raise self._timed_out(f"did not accept the connection within {self._limits.connect:g} s") from None
        except (httpx.HTTPError, OSError, RuntimeError) as error:
            # httpx raises RuntimeError on a client that was closed meanwhile.
            raise ConnectionFailed(f"Cannot reach {self.base_url} ({_words(error)}).", remedy=self._when_down) from None
        if response.is_success and response.headers.get("content-encoding", "identity") == "identity":
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
        """The error for an answer that is not 200."""
        status = response.status_code
        said = excerpt(_message(content)) or response.reason_phrase
        text = f"{self.base_url} answered {status}: {said}"
        if status == 429:
            wait = _seconds(response.headers.get("retry-after"))
            remedy = "Wait a little, then send the message again."
            return RateLimited(text, remedy=remedy, status=status, retry_after=wait)
        if status == 413 or (status in {400, 422} and any(word in said.lower() for word in _OVERFLOW_WORDS)):
            kind, remedy = (
                ContextOverflow,
                "Close buffers, start a new conversation, or choose a larger context.",
            )
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


def _words(error: Exception) -> str:
    return excerpt(str(error)) or type(error).__name__


def _message(content: bytes) -> str:
    """The message inside the error body of any vendor, else the body itself."""
    try:
        value = decode(content)
    except JsonError:
        return content.decode(errors="replace")
    while isinstance(value, dict):
        body = object_in(value)
        value = body.get("error", body.get("message", body.get("detail", "")))
    return str(value)


def _seconds(header: str | None) -> float | None:
    try:
        return max(0.0, float(header)) if header else None
    except ValueError:
        return None
