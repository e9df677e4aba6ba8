"""Validation: from whatever somebody wrote to options, leaving out exactly what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from pydantic import ValidationError

from ollm_lsp.settings.options import Options
from ollm_lsp.settings.problems import Problem, dotted, readable
from ollm_lsp.settings.wording import explain

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from ollm_lsp.settings.layers import Layer

_DEEPEST = 4
"""`providers.vllm.timeouts.connect`: below that only `extra` has mappings, and looks at them itself."""
_WHOLES: Final = (
    ("providers",),
    ("actions", "custom"),
    ("kraken", "cliProviders"),
    ("kraken", "apiProviders"),
    ("kraken", "prices"),
    ("kraken", "hooks", "before_kraken"),
    ("kraken", "hooks", "after_kraken"),
    ("kraken", "hooks", "kraken_escalate"),
)
"""Where entries are right as a whole or not at all: half an address serves nobody, and half a price lies."""

Path: TypeAlias = tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class Validated:
    """The options that are right, and the problems of the others."""

    options: Options
    problems: tuple[Problem, ...]
    provider_names: frozenset[str]
    """The providers that were mentioned, also those that were left out because of a problem."""


def plain(layer: Layer) -> tuple[dict[str, object], list[Problem]]:
    """A copy of the raw mapping that may be changed, without keys that no option could have."""
    problems: list[Problem] = []
    raw = layer.raw
    if raw is None:
        return {}, problems
    if isinstance(raw, Mapping):
        return _copy(cast("Mapping[object, object]", raw), (), layer.source, problems), problems
    message = "The settings are not a mapping of keys to values."
    problems.append(Problem(layer.source, "", message, 'Write them like model: "ollama:qwen3-coder:30b".'))
    return {}, problems


def validate(source: str, raw: dict[str, object]) -> Validated:
    """Validate, drop what is wrong, and validate again until nothing is. Changes `raw`."""
    providers = raw.get("providers")
    names = frozenset(cast("dict[str, object]", providers) if isinstance(providers, dict) else ())
    problems: list[Problem] = []
    while True:
        try:
            options = Options.model_validate(raw)
        except ValidationError as error:
            found = error.errors(include_url=False, include_input=False)
            problems += (_problem(source, details) for details in found)
            # From the end, so that the index of an earlier entry of a list stays true.
            paths = list(dict.fromkeys(_droppable(details["loc"]) for details in reversed(found)))
            dropped = [_drop(raw, path) for path in paths]
            if not any(dropped):
                raw.clear()
        else:
            return Validated(options, tuple(problems), names)


def _copy(
    mapping: Mapping[object, object], path: tuple[object, ...], source: str, problems: list[Problem]
) -> dict[str, object]:
    copy: dict[str, object] = {}
    for key, value in mapping.items():
        if not (isinstance(key, str) and _is_unicode(key)):
            message = "A key is not a text."
            problems.append(Problem(source, dotted((*path, readable(key))), message, "Put the key in quotes."))
        elif isinstance(value, Mapping) and len(path) + 1 < _DEEPEST + (path[:1] == ("kraken",)):
            deeper = cast("Mapping[object, object]", value)
            copy[key] = _copy(deeper, (*path, key), source, problems)
        else:
            copy[key] = list(cast("list[object]", value)) if isinstance(value, list) else value
    return copy


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _problem(source: str, details: ErrorDetails) -> Problem:
    path = tuple(part for part in details["loc"] if part != "[key]")
    # Without the type, which pydantic puts between the name and the key.
    if path[:1] == ("providers",):
        path = path[:2] + path[3:]
    elif path[:2] == ("kraken", "apiProviders"):
        path = path[:3] + path[4:]
    message, remedy = explain(details)
    return Problem(source, dotted(path), message, remedy)


def _droppable(path: Path) -> Path:
    """What an error at a place switches off: inside a provider, a price or a hook all of it."""
    return next((path[: len(whole) + 1] for whole in _WHOLES if path[: len(whole)] == whole), path)


def _drop(raw: object, path: Path) -> bool:
    for part in path[:-1]:
        if isinstance(raw, dict):
            raw = cast("dict[object, object]", raw).get(part)
        else:
            return False
    if isinstance(raw, dict) and path and path[-1] in raw:
        del raw[path[-1]]
        return True
    if isinstance(raw, list) and path and isinstance(index := path[-1], int):
        del raw[index]
        return True
    return False
