"""The two halves of every streamed answer: bytes become frames, frames become events."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from ollm_lsp.core.errors import MalformedAnswer, ProviderError
from ollm_lsp.core.events import Finished, TextDelta

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence

    from ollm_lsp.core.events import ProviderEvent

FrameT = TypeVar("FrameT")
FrameT_co = TypeVar("FrameT_co", covariant=True)
FrameT_contra = TypeVar("FrameT_contra", contravariant=True)

HEAD = 64 * 1024
"""How many bytes are kept of something that has no frames."""
MOST_JOINED = 32
"""How many deltas become one: few enough to decode them in a fraction of a millisecond, for others wait meanwhile."""


class Framer(Protocol[FrameT_co]):
    """Cuts the bytes of one answer into frames, whatever chunks they come in."""

    def feed(self, chunk: bytes) -> Sequence[FrameT_co]: ...

    def close(self) -> Sequence[FrameT_co]:
        """The stream has ended: what was still waiting for its end."""
        ...


class Decoder(Protocol[FrameT_contra]):
    """Turns the frames of one answer into events, the last of them `Finished`."""

    @property
    def size(self) -> int:
        """How many characters of text, thoughts and tool calls have come: it grows while the model works."""
        ...

    def feed(self, frame: FrameT_contra) -> Sequence[ProviderEvent]:
        """Decode one frame; raises a `ProviderError` when the frame is, or reports, a failure."""
        ...

    def close(self) -> Sequence[ProviderEvent]:
        """The stream has ended: the closing events, or `IncompleteAnswer` when it ended too early."""
        ...


class Answer(Generic[FrameT]):
    """Both halves together: the bytes of one answer in, its events out, up to and including `Finished`."""

    def __init__(self, framer: Framer[FrameT], decoder: Decoder[FrameT]) -> None:
        self._framer = framer
        self._decoder = decoder
        self.finished = False
        self.head: bytearray | None = bytearray()
        """The beginning of the bytes while there is no frame in them, then nothing."""

    @property
    def size(self) -> int:
        return self._decoder.size

    def feed(self, chunk: bytes) -> Generator[ProviderEvent]:
        if self.head is not None and len(self.head) < HEAD:
            self.head += chunk
        yield from self._decode(self._framer.feed(chunk))

    def close(self) -> Generator[ProviderEvent]:
        # The last frame before the end of the stream is broken when it was cut. The answer may be complete without it.
        with suppress(MalformedAnswer):
            yield from self._decode(self._framer.close())
        if not self.finished:
            yield from self._decoder.close()
            self.finished = True

    def _decode(self, frames: Sequence[FrameT]) -> Generator[ProviderEvent]:
        for frame in frames:
            events = self._decoder.feed(frame)
            self.head = None
            for event in events:
                self.finished = isinstance(event, Finished)
                yield event
                if self.finished:
                    return


def joined(events: Iterable[ProviderEvent]) -> Generator[ProviderEvent]:
    """The events of one chunk: its first delta at once, further deltas of text that follow each other as one.

    Everything behind is paid by the event. A model that is slower than we are sends one delta in a chunk; a fast one
    sends many, and then this halves the CPU of a token.
    """
    texts: list[str] = []
    most = 1
    try:
        for event in events:
            if isinstance(event, TextDelta):
                texts.append(event.text)
                if len(texts) < most:
                    continue
            if texts:
                most = MOST_JOINED
                yield TextDelta("".join(texts))
                texts.clear()
            if not isinstance(event, TextDelta):
                yield event
    except ProviderError:
        # What came before the failure has come.
        if texts:
            yield TextDelta("".join(texts))
        raise
    if texts:
        yield TextDelta("".join(texts))
