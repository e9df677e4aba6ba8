"""Material: a text that could go into a request, open in the editor or read from the disk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ollm_lsp.lsp.buffer import TextBuffer
    from ollm_lsp.tools.roots import Place

_LANGUAGES = {
    "py": "python", "pyi": "python", "js": "javascript", "mjs": "javascript", "cjs": "javascript",
    "jsx": "javascriptreact", "ts": "typescript", "mts": "typescript", "tsx": "typescriptreact", "rs": "rust",
    "go": "go", "c": "c", "h": "c", "cc": "cpp", "cpp": "cpp", "cxx": "cpp", "hpp": "cpp", "hh": "cpp", "java": "java",
    "rb": "ruby", "sh": "shellscript", "md": "markdown", "json": "json", "yml": "yaml", "yaml": "yaml", "toml": "toml",
}  # fmt: skip
"""The language ids of LSP by the endings of names, for files that no editor told about."""


@dataclass(frozen=True, slots=True)
class Material:
    """One document. `name` is what the model and people know it by; a file on the disk has no version."""

    uri: str
    name: str
    language: str
    buffer: TextBuffer
    version: int | None = None
    place: Place | None = None


def language_of(name: str) -> str:
    """The language id for the name of a file; nothing for one that is not known."""
    return _LANGUAGES.get(name.rpartition(".")[2].casefold(), "")
