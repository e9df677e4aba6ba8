"""One HTTP endpoint: its connections, its time limits, and the one place where aiohttp's errors become ours."""

from __future__ import annotations

import asyncio
import json
import ssl
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import aiohttp
from yarl import URL

from ollm_lsp import __version__
from ollm_lsp.core.errors import ConnectionFailed, IncompleteAnswer, MalformedAnswer, ProviderError, TimedOut
from ollm_lsp.core.foreign_json import JsonError, decode, object_in
from ollm_lsp.providers.framing import NdjsonFramer
from ollm_lsp.providers.proxy import proxy_for
from ollm_lsp.providers.retry_after import retry_after
from ollm_lsp.providers.wire.codec import Answer, joined
from ollm_lsp.providers.wire.faults import excerpt, malformed
from ollm_lsp.providers.wire.refusal import Complaint, complaint_in, refusal
from ollm_lsp.settings.address import is_loopback

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator, Mapping

    from ollm_lsp.core.events import ProviderEvent
    from ollm_lsp.providers.wire.codec import Decoder, Framer
    from ollm_lsp.settings.resolved import HttpSettings
    from ollm_lsp.settings.secrets import Secret

Frame = TypeVar("Frame")

MAX_BODY = 32 * 1024 * 1024
"""Bound for an answer that is not streamed."""
MAX_ERROR_BODY = 64 * 1024
MAX_ANSWER = 16 * 1024 * 1024
"""Bound for a streamed answer, in characters: several times what any model can write."""
SILENCE = 900.0
"""Seconds in which a server may say nothing while it checks the gigabytes of a model that it has fetched."""
PIECE = 16 * 1024
"""Bytes that are framed at once: of a quarter of a megabyte, which may wait, other requests would feel it."""
_STREAMS = ("text/event-stream", "application/x-ndjson")
_BROKEN = (aiohttp.ClientError, OSError)


class Endpoint:
    """The address of one provider. Redirects are never followed: a key belongs to one address.

    The key travels in `key_header`, after the word `Bearer` where that is the standard header for keys.
    """

    def __init__(
        self,
        settings: HttpSettings,
        *,
        when_down: str,
        key_header: str = "Authorization",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.base_url = settings.base_url.rstrip("/")
        self._settings = settings
        self._limits = settings.limits
        self._when_down = when_down
        self._key_header = key_header
        self._is_local = is_loopback(self.base_url)
        self._streaming: set[aiohttp.StreamReader] = set()
        self._session = aiohttp.ClientSession(
            # A new connection on this machine costs nothing, and an old one may have been closed by the server.
            connector=aiohttp.TCPConnector(limit=0, force_close=self._is_local),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._limits.connect),
            headers={"User-Agent": f"ollm-lsp/{__version__}", "Accept-Encoding": "identity", **(headers or {})},
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
        )

    async def close(self) -> None:
        for content in self._streaming:
            # aiohttp closes the connection and lets its reader wait.
            content.set_exception(aiohttp.ClientConnectionError("closed by ollm-lsp"))
        await self._session.close()

    async def get(self, path: str, *, beside: bool = False) -> Any:
        """The JSON answer to a short question, which may lie beside the API: not below its version."""
        return await self._ask("GET", self._url(path, beside=beside), None)

    async def post(self, path: str, body: Mapping[str, Any], *, beside: bool = False) -> Any:
        """The JSON answer to a short question with a body."""
        return await self._ask("POST", self._url(path, beside=beside), body)

    async def delete(self, path: str, body: Mapping[str, Any]) -> None:
        """Have something removed."""
        await self._ask("DELETE", self._url(path), body, is_empty=True)

    def _url(self, path: str, *, beside: bool = False) -> URL:
        base = self.base_url.removesuffix("/v1") if beside else self.base_url
        return URL(f"{base}{path}", encoded=True)

    async def _ask(self, method: str, url: URL, body: Mapping[str, Any] | None, *, is_empty: bool = False) -> Any:
        try:
            async with asyncio.timeout(self._limits.connect):
                response = await self._begin(method, url, body)
                try:
                    content = await self._read(response, MAX_BODY)
                finally:
                    response.close()
        except TimeoutError:
            raise self._timed_out(f"did not answer within {self._limits.connect:g} s") from None
        if is_empty:
            return None
        try:
            return decode(content)
        except JsonError as error:
            raise malformed(content.decode(errors="replace"), str(error)) from None

    async def lines(self, path: str, body: Mapping[str, Any]) -> AsyncGenerator[dict[str, Any]]:
        """The objects by which a server tells how a long job goes on. Only silence has a limit, and a long one."""
        silence = f"said nothing for {SILENCE:g} s"
        clock = asyncio.get_running_loop().time
        framer = NdjsonFramer()
        async with self._patiently(path, body, clock() + SILENCE, silence) as response:
            while True:
                chunk = await self._next(response.content, clock() + SILENCE, silence)
                for line in framer.feed(chunk) if chunk else framer.close():
                    try:
                        yield object_in(decode(line))
                    except JsonError as error:
                        raise malformed(line, str(error)) from None
                if not chunk:
                    return

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
        answer = Answer(framer, decoder)
        size = 0
        async with self._patiently(path, body, deadline, silence) as response:
            while not answer.finished:
                chunk = await self._next(response.content, deadline, silence)
                for event in joined(answer.feed(chunk) if chunk else self._close(answer, response)):
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

    async def _next(self, content: aiohttp.StreamReader, deadline: float, silence: str) -> bytes:
        """More bytes, or none at the end."""
        try:
            if chunk := content.read_nowait(PIECE):
                return chunk
            async with asyncio.timeout_at(deadline):
                return await content.read(PIECE)
        except TimeoutError:
            raise self._timed_out(silence) from None
        except _BROKEN as error:
            raise IncompleteAnswer(
                f"The connection to {self.base_url} broke in the middle of the answer ({_words(error)}).",
                remedy="Send the message again; what came so far is kept.",
                is_passing=True,
            ) from None

    def _close(self, answer: Answer[Frame], response: aiohttp.ClientResponse) -> Generator[ProviderEvent]:
        """The last events; or, when there was no answer but a page or a single document, what that says."""
        try:
            yield from answer.close()
        except IncompleteAnswer:
            kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            if answer.head and kind not in _STREAMS:
                raise self._refusal(response, bytes(answer.head)) from None
            raise

    @asynccontextmanager
    async def _patiently(
        self, path: str, body: Mapping[str, Any], deadline: float, silence: str
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        """The head of an answer that may take its time."""
        try:
            async with asyncio.timeout_at(deadline):
                response = await self._begin("POST", self._url(path), body)
        except TimeoutError:
            raise self._timed_out(silence) from None
        self._streaming.add(response.content)
        try:
            yield response
        finally:
            self._streaming.discard(response.content)
            response.close()

    async def _begin(self, method: str, url: URL, body: Mapping[str, Any] | None) -> aiohttp.ClientResponse:
        """Send a request and wait for the head of a good answer."""
        headers = await self._headers()
        if body is not None:
            headers["Content-Type"] = "application/json"
        content = _encode(body) if body is not None else None
        try:
            response = await self._session.request(
                method, url, data=content, headers=headers, proxy=proxy_for(url), allow_redirects=False
            )
        except aiohttp.ServerTimeoutError:
            raise self._timed_out(f"did not accept the connection within {self._limits.connect:g} s") from None
        except (*_BROKEN, RuntimeError, UnicodeError) as error:
            # aiohttp raises RuntimeError on a session that was closed meanwhile, UnicodeError on an impossible host.
            raise self._unreachable(error) from None
        if response.ok and response.status < 300 and not _compression(response):
            return response
        try:
            content = await self._read(response, MAX_ERROR_BODY)
        finally:
            response.close()
        raise self._refusal(response, content)

    async def _headers(self) -> dict[str, str]:
        headers = {name: await _reveal(value) for name, value in self._settings.headers.items()}
        if self._settings.api_key:
            key = await _reveal(self._settings.api_key)
            headers[self._key_header] = f"Bearer {key}" if self._key_header == "Authorization" else key
        return headers

    async def _read(self, response: aiohttp.ClientResponse, limit: int) -> bytes:
        content = bytearray()
        try:
            async for chunk in response.content.iter_any():
                content += chunk
                if len(content) > limit:
                    break
        except _BROKEN as error:
            raise ConnectionFailed(
                f"The connection to {self.base_url} broke ({_words(error)}).", remedy=self._when_down, is_passing=True
            ) from None
        return bytes(content[:limit])

    def _refusal(self, response: aiohttp.ClientResponse, content: bytes) -> ProviderError:
        """The error for an answer that is none."""
        status = response.status
        if compression := _compression(response):
            complaint = Complaint(f"a body that is compressed with {excerpt(compression)}, which nobody asked for")
        else:
            complaint = _complaint(content)
        said = excerpt(complaint.text) or response.reason or "nothing more"
        wait = retry_after(response.headers)
        return refusal(f"{self.base_url} answered {status}: {said}", complaint, status=status, retry_after=wait)

    def _unreachable(self, error: Exception) -> ConnectionFailed:
        text = f"Cannot reach {self.base_url} ({_words(error)})."
        if isinstance(error, aiohttp.ClientSSLError | ssl.SSLError):
            remedy = "Check the address; if its certificate is your own, name its authority in SSL_CERT_FILE."
            return ConnectionFailed(text, remedy=remedy)
        # A server of this machine that does not run will not be there a second later.
        is_passing = not (self._is_local or self._session.closed)
        return ConnectionFailed(text, remedy=self._when_down, is_passing=is_passing)

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


def _compression(response: aiohttp.ClientResponse) -> str:
    return response.headers.get("content-encoding", "").strip().lower().replace("identity", "")


def _words(error: Exception) -> str:
    return excerpt(str(error)) or type(error).__name__


def _complaint(content: bytes) -> Complaint:
    """What an error body says; when it is no JSON, it says itself."""
    try:
        return complaint_in(decode(content))
    except JsonError:
        return Complaint(content.decode(errors="replace"))
