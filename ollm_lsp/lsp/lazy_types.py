"""lsprotocol's classes, each built when it is first used: two thirds of a pygls start is building all 554.

While `lsprotocol.types` is imported, `attrs.define` only marks each class. A marked class builds itself when it is
created or inspected. It leans on attrs' in-place mode and on one private name of lsprotocol; where that name is gone,
the types are imported the ordinary way and only start-up time is lost. `tests/lsp/test_lazy_types.py` shows that lazy
and eager classes convert alike.
"""

from __future__ import annotations

import sys
from typing import Any

import attrs

_RESOLVED = "_resolved_forward_references"


def import_types() -> None:
    """Import `lsprotocol.types` and its converter hooks, lazily where that can be had."""
    if "lsprotocol.types" in sys.modules:
        return
    define = attrs.define

    class Unbuilt:
        """Stands in for `__attrs_attrs__` until somebody looks at it."""

        def __get__(self, instance: object, owner: type) -> Any:
            build(owner)
            return owner.__attrs_attrs__  # type: ignore[attr-defined]  # attrs has just put it there

    unbuilt = Unbuilt()

    def build(cls: Any) -> None:
        if cls.__dict__.get("__attrs_attrs__") is unbuilt:
            del cls.__init__, cls.__attrs_attrs__
            # Without slots attrs edits the class itself, so that references to it stay right.
            define(cls, slots=False)
            attrs.resolve_types(cls, types.ALL_TYPES_MAP, {})

    def mark(cls: Any) -> Any:
        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 (it replaces that of the class)
            build(cls)
            cls.__init__(self, *args, **kwargs)

        cls.__init__, cls.__attrs_attrs__ = __init__, unbuilt
        return cls

    def define_later(cls: Any = None, **_options: Any) -> Any:
        return mark if cls is None else mark(cls)

    attrs.define = define_later
    try:
        from lsprotocol import types  # noqa: PLC0415 (imported while the decorator is replaced)
    finally:
        attrs.define = define

    from lsprotocol import _hooks  # noqa: PLC0415 (it imports the types)

    if hasattr(_hooks, _RESOLVED):
        # Each class resolves its own references when it is built.
        setattr(_hooks, _RESOLVED, True)
