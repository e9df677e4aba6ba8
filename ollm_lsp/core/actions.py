"""Actions: what can be done with a piece of code at one choice, and what the model is told to do it.

The prompts are short, because small models lose the thread of long ones. A user can replace each in the settings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final


class Form(Enum):
    """What the model gives back."""

    ANSWER = "answer"
    EDIT = "edit"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Action:
    """One choice. `{language}`, `{file}`, `{instruction}` and `{diagnostics}` in the prompt are filled in."""

    name: str
    title: str
    prompt: str
    form: Form


EXPLAIN: Final = Action(
    "explain",
    "Explain",
    "Explain what the selected {language} code does. Begin with its purpose in one sentence, then the steps. Be brief.",
    Form.ANSWER,
)
FIX: Final = Action(
    "fix", "Fix", "Fix this {language} code. These problems were found in it:\n{diagnostics}", Form.EDIT
)
REFACTOR: Final = Action(
    "refactor",
    "Refactor",
    "Refactor this {language} code: make it simpler and easier to read. What it does must stay the same.",
    Form.EDIT,
)
DOCUMENT: Final = Action(
    "document",
    "Document",
    "Add documentation comments to this {language} code, in the usual form of the language. Change nothing else.",
    Form.EDIT,
)
TESTS: Final = Action(
    "tests",
    "Generate tests",
    "Write tests for the selected {language} code of {file}, in the usual test framework of the language.",
    Form.FILE,
)
EDIT: Final = Action(
    "edit", "Edit with an instruction", "Change this {language} code as follows: {instruction}", Form.EDIT
)
ASK: Final = Action("ask", "Ask about this", "About the selected {language} code: {instruction}", Form.ANSWER)
BUILT_IN: Final = (EXPLAIN, FIX, REFACTOR, DOCUMENT, TESTS, EDIT, ASK)
NO_DIAGNOSTICS: Final = "- none were reported; look for mistakes yourself"
_PLACEHOLDER: Final = re.compile(r"\{(language|file|instruction|diagnostics)\}")


def prompt(action: Action, *, language: str = "", file: str = "", instruction: str = "", diagnostics: str = "") -> str:
    """What the model is told. An instruction and diagnostics for which the prompt has no place come behind it."""
    values = {
        "language": language,
        "file": file,
        "instruction": instruction.strip(),
        "diagnostics": diagnostics.strip(),
    }
    named = set(_PLACEHOLDER.findall(action.prompt))
    added = [values[name] for name in ("instruction", "diagnostics") if values[name] and name not in named]
    if not values["diagnostics"]:
        values["diagnostics"] = NO_DIAGNOSTICS
    text = _PLACEHOLDER.sub(lambda place: values[place[1]], action.prompt)
    # Where the language is not known, its word is missing between two others.
    return "\n\n".join([re.sub(r"(?<=\S) {2,}(?=\S)", " ", text).strip(), *added])
