"""What the editing tools see of the workspace: places in it, what is there, and the texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from ollm_lsp.core.snapshot import Snapshot


class Place(Protocol):
    """A path in the workspace; `shown` is how people and models write it."""

    @property
    def path(self) -> Path: ...

    @property
    def uri(self) -> str: ...

    @property
    def names(self) -> tuple[str, ...]:
        """The names below the workspace's folder, as they are."""
        ...

    @property
    def parent(self) -> Place: ...

    @property
    def shown(self) -> str: ...


class View(Protocol):
    """The files of the workspace, where the text of an open document counts and the disk does not.

    A place is given back only to the view that it came from, so its type is that view's own business.
    """

    def place(self, written: str, /) -> Place:
        """The place that a model means, or `OutsideWorkspace`."""
        ...

    async def read(self, place: Any, /) -> Snapshot:
        """The present text, or an `OllmError` when it cannot be read as text."""
        ...

    async def kind(self, place: Any, /) -> str | None:
        """What is there: `file`, `folder` or something else; nothing when nothing is."""
        ...
