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
    from collections.abc import Mapping, Sequence
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


KEY = "OLLM_TEST_KEY"
ENDLESS = r"root ::= [a-z \n] root"
"""What the real model may say when it has to talk for long: it never comes to an end."""


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


def user_of_file(folder: Path, model: Path, llama: LlamaServer | None = None, **grammars: str) -> User:
    """A user of the embedded model, who can choose others behind a llama.cpp as well."""
    others = _forced(llama, grammars) if llama else ()
    # A small model sometimes finds no end; the window is one.
    embedded = f'embedded: {{ type: embedded, modelPath: "{model}", contextWindow: 2048 }}'
    providers = ", ".join([embedded, *others])
    return _user(folder, "embedded:smollm2", providers, **{KEY: llama.key} if llama else {})


def user_of_llama(folder: Path, llama: LlamaServer, name: str, grammar: str) -> User:
    """A user of a model behind a llama.cpp."""
    return _user(folder, f"{name}:{name}", *_forced(llama, {name: grammar}), **{KEY: llama.key})


def _forced(llama: LlamaServer, grammars: Mapping[str, str]) -> Sequence[str]:
    """Providers whose model is the real one: what it says is its own, the form of it is forced."""
    common = f'type: openai, baseUrl: "{llama.base_url}", apiKey: "${{{KEY}}}"'
    return [f"{name}: {{ {common}, extra: {{ grammar: {json.dumps(one)} }} }}" for name, one in grammars.items()]


def _user(folder: Path, model: str, providers: str, **variables: str) -> User:
    # llama.cpp takes no grammar together with tools.
    chat = "chat: { tools: false }\n" if KEY in variables else ""
    user = User.new(folder, f'model: "{model}"\nproviders: {{ {providers} }}\n{chat}', **variables)
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
