"""Buffers: the files that a chat is about, read whole before anything starts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

_LARGEST = 2_000_000
_LANGUAGES = {
    "bash": "shellscript", "c": "c", "cc": "cpp", "clj": "clojure", "cpp": "cpp", "cs": "csharp", "css": "css",
    "dart": "dart", "diff": "diff", "erl": "erlang", "ex": "elixir", "exs": "elixir", "fs": "fsharp", "go": "go",
    "h": "c", "hpp": "cpp", "hs": "haskell", "htm": "html", "html": "html", "ini": "ini", "java": "java",
    "jl": "julia", "js": "javascript", "json": "json", "jsx": "javascriptreact", "kt": "kotlin", "less": "less",
    "lua": "lua", "md": "markdown", "mjs": "javascript", "ml": "ocaml", "patch": "diff", "php": "php",
    "pl": "perl", "ps1": "powershell", "py": "python", "pyi": "python", "r": "r", "rb": "ruby", "rs": "rust",
    "rst": "restructuredtext", "scala": "scala", "scss": "scss", "sh": "shellscript", "sql": "sql",
    "swift": "swift", "tex": "latex", "toml": "toml", "ts": "typescript", "tsx": "typescriptreact",
    "vim": "vim", "vue": "vue", "xml": "xml", "yaml": "yaml", "yml": "yaml", "zig": "zig", "zsh": "shellscript",
}  # fmt: skip
_NAMED = {"dockerfile": "dockerfile", "makefile": "makefile", "gnumakefile": "makefile"}


class UnusableFiles(Exception):
    """Some files cannot be opened as text; `problems` says why, one line each."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class Buffer:
    """A file as an editor would hold it."""

    uri: str
    language: str
    text: str

    @property
    def item(self) -> dict[str, Any]:
        """The `TextDocumentItem` of LSP."""
        return {"uri": self.uri, "languageId": self.language, "version": 1, "text": self.text}


def read_buffers(files: Sequence[str | Path]) -> list[Buffer]:
    """Read every file; those that cannot be used are reported all at once."""
    buffers: dict[str, Buffer] = {}
    problems: list[str] = []
    for file in files:
        try:
            buffer = _read(Path(file))
        except OSError as error:
            problems.append(f"{file}: {error.strerror or error}")
        except ValueError as error:
            problems.append(f"{file}: {error}")
        else:
            buffers.setdefault(buffer.uri, buffer)
    if problems:
        raise UnusableFiles(problems)
    return list(buffers.values())


def language_of(name: str) -> str:
    """The language id that LSP clients use for a file name."""
    lower = name.lower()
    return _NAMED.get(lower) or _LANGUAGES.get(lower.rpartition(".")[2], "plaintext")


def _read(file: Path) -> Buffer:
    if file.exists() and not file.is_file() and not file.is_dir():
        raise ValueError("not a regular file")
    with file.open("rb") as stream:
        content = stream.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise ValueError("larger than 2 MB")
    if b"\0" in content:
        raise ValueError("a binary file")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 text (byte {error.start})") from None
    return Buffer(file.resolve().as_uri(), language_of(file.name), text)
