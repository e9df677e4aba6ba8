"""The project that the tests open, and a model with one idea about it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ollm_lsp.core.chat_file import parse
from tests.editors.patience import until
from tests.editors.user import User
from tests.support.fake_ollama import Call, FakeOllama, Say, words

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Sequence
    from pathlib import Path

    from tests.editors.emacs import Emacs
    from tests.editors.helix import Helix
    from tests.support.fake_ollama import Step
    from tests.support.real_model import LlamaServer

NAME = "greeting.py"
TEXT = 'def greet(name):\n    """Grüße, wie es sich gehört."""\n    return f"Hello, {name}!"\n'
POLITE = TEXT.replace("Hello", "Good morning")
QUESTION = "Be polite."


LONG = " ".join(f"word{number}" for number in range(40)) + "."
CODE = f"```python\n{POLITE}```\nNow it is polite."
"""What a model says that changes the function."""


def saying(text: str, pace: asyncio.Semaphore | None = None) -> FakeOllama:
    """A model that always says the same, word by word."""
    return FakeOllama(answer=lambda _: words(text), pace=pace)


def polite(request: dict[str, Any]) -> Sequence[Step]:
    """Propose one edit, then be content with whatever became of it."""
    if request["messages"][-1]["role"] == "tool":
        return [Say("That is all.")]
    return [Call("edit_file", {"path": NAME, "edits": [{"old": "Hello", "new": "Good morning"}]})]


def polite_model() -> FakeOllama:
    return FakeOllama(answer=polite)


def user_of(folder: Path, fake: FakeOllama) -> User:
    """A user of that model, or the first one, with the project."""
    model, *_ = fake.models
    return _user(folder, f"ollama:{model}", f'ollama: {{ type: ollama, baseUrl: "{fake.url}" }}')


def user_of_file(folder: Path, model: Path) -> User:
    """A user of the embedded model."""
    return _user(folder, "embedded:smollm2", f'embedded: {{ type: embedded, modelPath: "{model}" }}')


def user_of_llama(folder: Path, llama: LlamaServer, grammar: str) -> User:
    """A user of a llama.cpp with the real model: what it says is its own, the form of it is forced."""
    key = f'apiKey: "${{OLLM_TEST_KEY}}", extra: {{ grammar: {json.dumps(grammar)} }}'
    provider = f'llama: {{ type: openai, baseUrl: "{llama.base_url}", {key} }}'
    return _user(folder, f"llama:{llama.model}", provider, OLLM_TEST_KEY=llama.key)


def _user(folder: Path, model: str, provider: str, **variables: str) -> User:
    user = User.new(folder, f'model: "{model}"\nproviders: {{ {provider} }}\n', **variables)
    (user.project / NAME).write_text(TEXT, encoding="utf-8")
    return user


async def answered(editor: Helix | Emacs, uri: str) -> list[tuple[str, str]]:
    """Who said what, once there is a heading for the next question."""
    await until(
        lambda: editor.wire.text(uri).rstrip().endswith("## You") and "## Assistant" in editor.wire.text(uri),
        "the end of the answer",
        editor.screen.screen,
    )
    return [(message.speaker.value, message.text) for message in parse(editor.wire.text(uri)).messages]


async def gone(fake: FakeOllama) -> None:
    """Until the server has left the model that still wants to speak."""
    await until(fake.http.responders[-1].gone.is_set, "the end of the connection", lambda: "")
