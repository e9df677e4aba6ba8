"""attrs classes that are built when they are first created or inspected, because building one takes half a millisecond.

A marked class has two stand-ins: an `__init__`, and what attrs and cattrs look for in a class of attrs. Whichever is
touched first has the class built in place. Of our 44 kinds of params a start needs two: `initialize` without this takes
a tenth more CPU.
"""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable

Kind = TypeVar("Kind")
_building = RLock()


class Unbuilt:
    """Stands in for `__attrs_attrs__` until somebody looks at it."""

    def __init__(self, build: Callable[[Any], object]) -> None:
        self._build = build

    def __get__(self, instance: object, owner: Any) -> Any:
        self.build(owner)
        return owner.__attrs_attrs__

    def build(self, cls: Any) -> None:
        with _building:
            if cls.__dict__.get("__attrs_attrs__") is self:
                self._build(cls)


def late(build: Callable[[Any], object]) -> Callable[[type[Kind]], type[Kind]]:
    """A decorator for classes that `build` shall make classes of attrs, in place, when they are needed.

    The stand-ins stay until attrs puts its own in their place, so that a thread that comes meanwhile waits.
    """
    unbuilt = Unbuilt(build)

    def mark(cls: Any) -> Any:
        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 (it replaces that of the class)
            unbuilt.build(cls)
            cls.__init__(self, *args, **kwargs)

        cls.__init__, cls.__attrs_attrs__ = __init__, unbuilt
        return cls

    return mark


_mark_params = late(lambda cls: attrs.frozen(cls, init=True, slots=False))  # with slots it would be another class


@dataclass_transform(frozen_default=True, field_specifiers=(attrs.field,))
def params(cls: type[Kind]) -> type[Kind]:
    """As `attrs.frozen`, but later."""
    return _mark_params(cls)
