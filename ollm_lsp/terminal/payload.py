"""A payload: a JSON object from the server, read without trust in its shape."""

from __future__ import annotations

from typing import Any, cast


class Payload:
    """Fields by name; what is absent or of another type reads as nothing."""

    def __init__(self, value: Any) -> None:
        self._fields: dict[str, Any] = cast("dict[str, Any]", value) if isinstance(value, dict) else {}

    def get(self, name: str) -> Any:
        return self._fields.get(name)

    def text(self, name: str) -> str:
        value = self.get(name)
        return value if isinstance(value, str) else ""

    def number(self, name: str) -> int | float | None:
        value = self.get(name)
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    def flag(self, name: str) -> bool:
        return self.get(name) is True

    def names(self) -> list[str]:
        """The names of all fields."""
        return list(self._fields)

    def flags(self) -> list[str]:
        """The names of all fields that are true."""
        return [name for name in self._fields if self.flag(name)]

    def token(self, name: str) -> str | int:
        """A progress token or a request's id."""
        value = self.get(name)
        return value if isinstance(value, str | int) else ""

    def payload(self, name: str) -> Payload:
        return Payload(self.get(name))

    def items(self, name: str) -> list[Any]:
        value = self.get(name)
        return cast("list[Any]", value) if isinstance(value, list) else []

    def payloads(self, name: str) -> list[Payload]:
        return [Payload(item) for item in self.items(name)]
