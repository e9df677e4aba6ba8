"""JSON from the client into params: strict, with the path of every field that does not fit."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, TypeVar, get_args, get_origin

import attrs
import cattrs
from cattrs.gen import make_dict_structure_fn, override
from cattrs.v import format_exception

from ollm_lsp.lsp.standard import NoParams, Token

Params = TypeVar("Params")


class InvalidParams(Exception):
    """The params do not fit the method; the message says where and why."""


def structure(value: Any, kind: type[Params]) -> Params:
    """Params of that kind, or `InvalidParams`."""
    try:
        return converter().structure({} if value is None else value, kind)
    except Exception as error:  # noqa: BLE001 (cattrs raises whatever a hook raised)
        reasons = "; ".join(cattrs.transform_error(error, path="params", format_exception=_reason))
        # Clients know the fields in camelCase.
        raise InvalidParams(re.sub(r"_([a-z])", lambda letter: letter[1].upper(), reasons)) from None


def an_object(value: Any) -> dict[str, Any]:
    """The one argument of a command, where null is the same as none; or `InvalidParams`."""
    if value is not None and type(value) is not dict:
        raise InvalidParams("expected an object @ params")
    return {**(value or {})}


def _reason(error: BaseException, kind: type[Any] | None) -> str:
    """Our own hooks and validators say what does not fit; the rest is said by cattrs."""
    is_ours = type(error) in (TypeError, ValueError) and str(error)
    return str(error) if is_ours else format_exception(error, kind)


@lru_cache(maxsize=1)
def converter() -> cattrs.Converter:
    """One converter for all params. Unlike cattrs' own it never turns a number into a string or back."""
    made = cattrs.Converter()

    def for_class(kind: type[Any]) -> Any:
        return _structure_class(made, kind)

    def for_list(value: Any, kind: Any) -> list[Any]:
        (inner,) = get_args(kind)
        return [made.structure(item, inner) for item in _exactly(value, list)]

    for kind in (str, int, bool):
        made.register_structure_hook(kind, _exactly)
    for kind in (Token, Token | None):
        made.register_structure_hook(kind, _structure_token)
    made.register_structure_hook(NoParams, lambda _value, kind: kind())
    made.register_structure_hook_func(_is_list, for_list)
    made.register_structure_hook_factory(attrs.has, for_class)
    return made


def _structure_class(made: cattrs.Converter, kind: type[Any]) -> Any:
    """A hook that fills a class from an object with camelCase keys."""
    names: dict[str, Any] = {field.name: override(rename=_camel(field.name)) for field in attrs.fields(kind)}
    fill: Any = make_dict_structure_fn(kind, made, **names)

    def structure_object(value: Any, kind: type[Any]) -> Any:
        # Many clients write null for what they leave out.
        return fill({key: item for key, item in _exactly(value, dict).items() if item is not None}, kind)

    return structure_object


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.title, rest))


def _is_list(kind: Any) -> bool:
    return get_origin(kind) is list


_WORDS = {str: "a string", int: "an integer", bool: "true or false", list: "a list", dict: "an object"}


def _exactly(value: Any, kind: type[Any]) -> Any:
    # bool is a subclass of int, so that isinstance would let `true` pass for 1.
    if type(value) is not kind:
        raise TypeError(f"expected {_WORDS[kind]}")
    return value


def _structure_token(value: Any, _: Any) -> Any:
    if type(value) not in {str, int, type(None)}:
        raise TypeError("expected a string or an integer")
    return value
