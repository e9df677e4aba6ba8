"""Contribution: the settings that an editor may make, as the package.json of the VS Code extension lists them.

Run `make vscode-settings` after a change of the options; a test checks that it was done.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ollm_lsp.settings.schema import schema

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX: Final = "ollm."
TITLES: Final = {"": "Model", "chat": "Chat", "context": "Context", "tools": "Tools", "kraken": "Kraken"}
_KEPT: Final = ("enum", "items", "maximum", "minimum", "exclusiveMinimum", "additionalProperties", "pattern")


def contribution() -> list[dict[str, Any]]:
    """One category for each section, in the order of the options."""
    whole = schema()
    categories: dict[str, dict[str, Any]] = {}
    for key, described in _anywhere(whole, whole["$defs"], ""):
        section = key.partition(".")[0] if "." in key else ""
        title = TITLES.get(section, section.capitalize())
        category = categories.setdefault(section, {"title": title, "properties": {}})
        category["properties"][PREFIX + key] = _setting(described)
    return list(categories.values())


def _anywhere(section: dict[str, Any], sections: dict[str, Any], prefix: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for key, described in section["properties"].items():
        if described.get("x-where") == "anywhere":
            yield prefix + key, described
        elif reference := described.get("$ref"):
            yield from _anywhere(sections[reference.rpartition("/")[2]], sections, f"{prefix}{key}.")


def _setting(described: dict[str, Any]) -> dict[str, Any]:
    variants = [choice for choice in described.get("anyOf", [described]) if choice["type"] != "null"]
    (only,) = variants
    is_optional = "anyOf" in described
    kept = {name: only[name] for name in _KEPT if name in only}
    default = described.get("default", {} if only["type"] == "object" else None)
    return {
        "type": [only["type"], "null"] if is_optional else only["type"],
        "default": default,
        "markdownDescription": " ".join(described["description"].split()),
        **kept,
    }


def main() -> None:
    """Put the categories into a package.json, before those that are the extension's own."""
    (file,) = map(Path, sys.argv[1:])
    package = json.loads(file.read_text(encoding="utf-8"))
    own = [one for one in package["contributes"]["configuration"] if one["title"] == "Extension"]
    package["contributes"]["configuration"] = [*contribution(), *own]
    file.write_text(json.dumps(package, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
