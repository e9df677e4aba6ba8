"""A model that says what pictures and tests of the window need."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from tests.editors.pictures import ASKED, CASES, EXPLAINED
from tests.editors.scene import CODE, NAME, TEXT, polite
from tests.editors.user import User
from tests.lsp.test_homecoming import saying
from tests.support.agents import MODELS, RecordedStage, Scene
from tests.support.fake_ollama import FakeOllama, Model, Say, words

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from pathlib import Path

    from tests.support.fake_ollama import Step

TOKENS = 20_000
SENTENCE = "Once upon a time there was a `function` that **never** returned, and nobody knew why. "
BLOCKS = ("\n\n", "- one\n", "- two\n", "\n", "```python\n", "def f():\n", "    return 1\n", "```\n\n")


GREETED = TEXT.replace("Grüße, wie es sich gehört.", "Greet.")
OTHER = "other.py"
VALUE = "VALUE = 1\n"


SKETCH = f"""\
{CASES}
The last of them:

```python
def test_beyond_ascii():
    assert "Zoë" in greet("Zoë")
```
"""

WHOLE = f"All of it:\n\n```python {OTHER}\nVALUE = 2\nMORE = 3\n```\n"
"""A new version of a whole file."""


def block(name: str, old: str, new: str) -> str:
    """A change as an agent writes it."""
    return f"{name}\n<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE"


BOTH = "\n\n".join(
    (
        "Both can be better.",
        block(NAME, TEXT.splitlines()[1], GREETED.splitlines()[1]),
        block(OTHER, VALUE.rstrip(), "VALUE = 2"),
    )
)
"""Changes of two files."""


def story() -> list[Step]:
    """A long answer with all that Markdown has."""
    paragraph = [*words(SENTENCE), *map(Say, BLOCKS)]
    steps = paragraph * (TOKENS // len(paragraph) + 1)
    return [*steps[: TOKENS - 1], Say("\n```\n\nThe story ends here.\n")]


def said(request: dict[str, Any]) -> Sequence[Step]:
    """What it says to the last message."""
    last = request["messages"][-1]
    asked = str(last["content"])
    if last["role"] == "tool" or "Be polite." in asked:
        return polite(request)
    if "Tell a long story." in asked:
        return story()
    if "Count for ever." in asked:
        return [Say(f"number {number} \n\n") for number in range(200_000)]
    if "Write it anew." in asked:
        return words(WHOLE)
    if ASKED in asked:
        return words(SKETCH)
    return words(EXPLAINED if "xplain" in asked else CODE)


@asynccontextmanager
async def storyteller() -> AsyncGenerator[FakeOllama]:
    """The model, which is quick, but not quicker than any that exists."""
    pace = asyncio.Semaphore(0)
    async with FakeOllama((Model("smollm2:135m"), Model("other:1b")), said, pace) as fake:
        beat = asyncio.create_task(_beat(pace))
        yield fake
        beat.cancel()


async def _beat(pace: asyncio.Semaphore) -> None:
    while True:
        for _ in range(20 if pace.locked() else 0):
            pace.release()
        await asyncio.sleep(0.01)


def user_of(folder: Path, fake: FakeOllama) -> User:
    """A user of a fake with several models."""
    settings = f'model: "ollama:smollm2:135m"\nproviders: {{ ollama: {{ type: ollama, baseUrl: "{fake.url}" }} }}\n'
    user = User.new(folder, settings)
    (user.project / NAME).write_text(TEXT, encoding="utf-8")
    user.install("ollm-lsp", "ollm_lsp")
    return user


def add_agent(user: User, agent: RecordedStage, *policies: str) -> None:
    """An external provider that the user may release."""
    (user.folder / "bin" / agent.tool).symlink_to(agent.programs / agent.tool)
    provider = f"{{ tool: {agent.tool}, defaultModel: {MODELS[agent.tool]} }}"
    settings = user.folder / "config.yaml"
    kraken = f"cliProviders: {{ {agent.tool}: {provider} }}, policies: {{ {', '.join(policies)} }}"
    settings.write_text(f"{settings.read_text()}kraken: {{ enabled: true, {kraken} }}\n")


def answering_agent(user: User, folder: Path) -> RecordedStage:
    """One that knows what 2+2 is."""
    agent = RecordedStage("claude", folder)
    agent.prepare(Scene.ANSWER)
    add_agent(user, agent)
    return agent


def mending_agent(user: User, folder: Path, *policies: str) -> RecordedStage:
    """One that wants to change two files."""
    (user.project / OTHER).write_text(VALUE)
    agent = RecordedStage("codex", folder)
    agent.play(saying(BOTH))
    add_agent(user, agent, *policies)
    return agent
