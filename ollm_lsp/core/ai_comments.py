"""AI comments: a comment that ends in `AI!` wants something done, one that ends in `AI?` wants an answer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

MARKS: Final = ("AI!", "AI?")
_END: Final = re.compile(r"[\s,.:;-]*\bAI([!?])\s*$")
_HASH, _SLASHES, _C, _DASHES, _SEMICOLON = ("#", ""), ("//", ""), ("/*", "*/"), ("--", ""), (";", "")
_XML, _PERCENT, _QUOTE = ("<!--", "-->"), ("%", ""), ('"', "")
_C_LIKE: Final = (_SLASHES, _C)
_SYNTAX: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    **dict.fromkeys(["css"], (_C,)),
    **dict.fromkeys(["php"], (_HASH, *_C_LIKE)),
    **dict.fromkeys(["sql"], (_DASHES, _C)),
    **dict.fromkeys(["ada", "applescript", "elm", "haskell", "lua", "purescript", "vhdl"], (_DASHES,)),
    **dict.fromkeys(["asm", "clojure", "commonlisp", "elisp", "emacs-lisp", "lisp", "racket", "scheme"], (_SEMICOLON,)),
    **dict.fromkeys(["html", "markdown", "xml", "xsl"], (_XML,)),
    **dict.fromkeys(["svelte", "vue"], (_XML, *_C_LIKE)),
    **dict.fromkeys(["bibtex", "erlang", "latex", "matlab", "prolog", "tex"], (_PERCENT,)),
    **dict.fromkeys(["vim", "viml"], (_QUOTE,)),
    **dict.fromkeys(["ini"], (_SEMICOLON, _HASH)),
    **dict.fromkeys(
        [
            "bash", "cmake", "coffeescript", "crystal", "dockerfile", "elixir", "fish", "gdscript", "graphql", "julia",
            "make", "makefile", "nim", "nix", "perl", "powershell", "properties", "python", "r", "ruby", "sh",
            "shellscript", "starlark", "tcl", "terraform", "toml", "yaml", "zsh",
        ],
        (_HASH,),
    ),
    **dict.fromkeys(
        [
            "c", "cpp", "csharp", "cuda", "d", "dart", "fsharp", "glsl", "go", "groovy", "java", "javascript",
            "javascriptreact", "jsonc", "jsx", "kotlin", "less", "objective-c", "objective-cpp", "proto", "rust",
            "scala", "scss", "solidity", "swift", "tsx", "typescript", "typescriptreact", "zig",
        ],
        _C_LIKE,
    ),
    "plaintext": (),
}  # fmt: skip
_UNKNOWN: Final = (_HASH, _SLASHES, _C)


@dataclass(frozen=True, slots=True)
class AiComment:
    """A comment for the model. `start` is where in its line it begins."""

    start: int
    instruction: str
    wants_change: bool
    rest: str
    """The line without it; empty when there was nothing else."""


def ai_comment(line: str, language: str) -> AiComment | None:
    """The comment for the model in a line without its ending, if there is one."""
    if not any(mark in line for mark in MARKS):
        return None
    for opening, closing in _SYNTAX.get(language.lower(), _UNKNOWN):
        said = line.rstrip()
        if closing and not said.endswith(closing):
            continue
        said = said.removesuffix(closing)
        end = _END.search(said)
        start = _start(said[: end.start()], opening) if end else None
        if end is not None and start is not None:
            instruction = said[start : end.start()].lstrip(opening[0] + "!*-/ \t").strip()
            return AiComment(start, instruction, end[1] == "!", line[:start].rstrip())
    return None


def _start(said: str, opening: str) -> int | None:
    """Where the comment begins: at the first mark that is not inside a string, as far as quotes tell."""
    places = [found.start() for found in re.finditer(re.escape(opening), said)]
    outside = [
        place for place in places if all(said.count(quote, 0, place) % 2 == 0 for quote in "\"'`" if quote != opening)
    ]
    return next(iter(outside or places[-1:]), None)
