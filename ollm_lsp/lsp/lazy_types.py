"""lsprotocol's classes, each built when it is first used: two thirds of a pygls start is building all 554.

While `lsprotocol.types` is imported, `attrs.define` only marks each class, and `attrs.field` only notes its options. It
leans on attrs' in-place mode and on one private name of lsprotocol; where that name is gone, the types are imported the
ordinary way and only start-up time is lost. `tests/lsp/test_lazy_types.py` shows that lazy and eager classes convert
alike.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import attrs

from ollm_lsp.lsp.late_class import late

_RESOLVED = "_resolved_forward_references"


def import_types() -> None:
    """Import `lsprotocol.types` and its converter hooks, lazily where that can be had."""
    if "lsprotocol.types" in sys.modules:
        return
    define, field = attrs.define, attrs.field

    def build(cls: Any) -> None:
        for name, noted in list[tuple[str, Any]](cls.__dict__.items()):
            if isinstance(noted, partial):
                setattr(cls, name, noted())
        # Without slots attrs edits the class itself, so that references to it stay right.
        define(cls, init=True, slots=False)
        attrs.resolve_types(cls, types.ALL_TYPES_MAP, {})

    mark = late(build)

    def define_later(cls: Any = None, **_options: Any) -> Any:
        return mark if cls is None else mark(cls)

    attrs.define, attrs.field = define_later, partial(partial, field)
    try:
        from lsprotocol import types  # noqa: PLC0415 (imported while the decorators are replaced)
    finally:
        attrs.define, attrs.field = define, field

    from lsprotocol import _hooks  # noqa: PLC0415 (it imports the types)

    if hasattr(_hooks, _RESOLVED):
        # Each class resolves its own references when it is built.
        setattr(_hooks, _RESOLVED, True)
