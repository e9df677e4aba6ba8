"""YAML file: one settings file, read with suspicion because a workspace may have written it."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from pathlib import Path

LARGEST = 1_000_000
_DEEPEST = 30
_SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Untyped because the faster one exists only where PyYAML was built with libyaml."""
_REMEDY = "Write plain YAML as in docs/settings.md."


class Unreadable(Exception):
    """The file cannot be used; says why, what to do, and where."""

    def __init__(self, message: str, remedy: str = _REMEDY, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.line = line


def read(path: Path) -> str:
    """The text of a regular file of bounded size. A pipe or a device in its place is not even opened."""
    try:
        _check(path.stat())
        # Without waiting, should a pipe have taken the file's place since.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with open(descriptor, "rb") as file:  # noqa: PTH123 - Path.open takes no descriptor
            _check(os.fstat(descriptor))
            content = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise Unreadable(f"The file cannot be read: {reason}.", "Make it readable or remove it.") from None
    if len(content) > LARGEST:
        raise Unreadable("The file is larger than 1 MB.", "Remove what is not a setting.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise Unreadable("The file is not UTF-8 text.", "Save it as UTF-8.", line) from None


def parse(text: str) -> object:
    """The value of a YAML text in which every key stands once and nothing refers to anything else."""
    try:
        _check_events(text)
        loader = _SafeLoader(text)
        try:
            root = loader.get_single_node()
            _check_keys(root)
            return None if root is None else loader.construct_document(root)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = error.problem or error.context or "it cannot be parsed"
        line = mark.line + 1 if mark else None
        raise Unreadable(f"This is not valid YAML: {reason}.", line=line) from None
    except yaml.YAMLError:
        raise Unreadable("This is not valid YAML: it holds a control character.") from None
    except ValueError:
        raise Unreadable("A number or a date cannot be read.", "Put it in quotes.") from None


def _check(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise Unreadable("This is not a regular file.", "Replace it by a file.")
    if status.st_size > LARGEST:
        raise Unreadable("The file is larger than 1 MB.", "Remove what is not a setting.")


def _check_events(text: str) -> None:
    """Refuse what makes a small text grow, nest without end, or construct anything but plain values."""
    loader = _SafeLoader(text)
    depth = 0
    while loader.check_event():
        event = loader.get_event()
        line: int = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            raise Unreadable("An alias (*name) is not allowed.", "Write the value out.", line)
        if getattr(event, "tag", None) is not None:
            raise Unreadable("A tag (!name) is not allowed.", "Put the value in quotes.", line)
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _DEEPEST:
            raise Unreadable("The values are nested too deeply.", line=line)


def _check_keys(node: Any) -> None:
    """Refuse a key that stands twice, for YAML would silently take the last one."""
    if isinstance(node, yaml.SequenceNode):
        for entry in node.value:
            _check_keys(entry)
    elif isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    line: int = key.start_mark.line + 1
                    raise Unreadable("The same key stands here twice.", "Remove one of them.", line)
                seen.add(key.value)
            _check_keys(value)
