"""The two halves of every streamed answer: bytes become frames, frames become events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.core.events import ProviderEvent

FrameT_co = TypeVar("FrameT_co", covariant=True)
FrameT_contra = TypeVar("FrameT_contra", contravariant=True)


class Framer(Protocol[FrameT_co]):
    """Cuts the bytes of one answer into frames, whatever chunks they come in."""

    def feed(self, chunk: bytes) -> Sequence[FrameT_co]: ...

    def close(self) -> Sequence[FrameT_co]:
        """The stream has ended: what was still waiting for its end."""
        ...


class Decoder(Protocol[FrameT_contra]):
    """Turns the frames of one answer into events, the last of them `Finished`."""

    def feed(self, frame: FrameT_contra) -> Sequence[ProviderEvent]:
        """Decode one frame; raises a `ProviderError` when the frame is, or reports, a failure."""
        ...

    def close(self) -> Sequence[ProviderEvent]:
        """The stream has ended: the closing events, or `IncompleteAnswer` when it ended too early."""
        ...
