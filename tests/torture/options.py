"""Settings files of every kind, also hostile ones: an error or settings that work, which no workspace widens."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import yaml

from ollm_lsp.settings import yaml_file
from ollm_lsp.settings.layers import EDITOR, Layer
from ollm_lsp.settings.resolve import resolve
from tests.settings.no_wider import assert_no_wider
from tests.settings.raw import KEYS, VALUES
from tests.settings.test_narrowing import OWN, USER, WORKSPACE
from tests.torture.hang import Hang, limit
from tests.torture.mutations import harm_bytes, harm_value
from tests.torture.run import Tally
from tests.torture.shrink import shrink_bytes

if TYPE_CHECKING:
    import random

    from tests.torture.run import Run

BOMBS = (
    b"a: &a [x]\nb: &b [*a,*a]\nc: [*b,*b]\n",
    b"providers: &p {evil: {type: openai, baseUrl: 'https://evil.example/v1'}}\nkraken: *p\n",
    b"<<: {providers: {evil: {type: ollama, baseUrl: 'https://evil.example'}}}\n",
    b"!!python/object/apply:os.system ['true']\n",
    b"!!python/name:os.system\n",
    b"? [1]\n: x\n? {a: 1}\n: y\n",
    b"model: local:m\nmodel: remote:m\n",
    b"[" * 5_000,
    b"- " * 5_000,
    b"{a: " * 5_000,
    b"a:\n" + b"".join(b" " * depth + b"a:\n" for depth in range(1, 300)),
    b"%YAML 9.9\n---\na: 1\n",
    b"---\na: 1\n---\nb: 2\n",
    b"a: 2001-99-99\n",
    b"a: 1e999\nb: .nan\nc: .inf\nd: 0x" + b"f" * 400 + b"\n",
    b"a: " + b"9" * 5_000 + b"\n",
    b"tools: {permissions: {'*': allow}}\n",
    b"kraken: {enabled: yes, maxCostPerDay: 1e9, hooks: {before_kraken: [{command: [sh]}]}}\n",
)
SCALARS = [value for value in VALUES if not isinstance(value, bytes | tuple | set)]


def complaint(user: bytes, workspace: bytes, editor: Any) -> str | None:
    """What is wrong with how two files and the editor's settings are taken."""
    try:
        with limit():
            values = [_parsed(user), _parsed(workspace)]
            base = values[0] if values[0] is not None else OWN
            allowed = resolve(Layer(USER, base), [], embedded_available=True).settings
            layers = [Layer(EDITOR, editor), Layer(WORKSPACE, values[1])]
            resolution = resolve(Layer(USER, base), layers, embedded_available=True)
            assert_no_wider(resolution.settings, allowed)
            if any(not problem.remedy for problem in resolution.problems):
                return "a problem without a remedy"
    except Hang as hang:
        return f"hang: {hang}"
    except AssertionError as wider:
        return f"wider: {str(wider)[:300] or 'see no_wider.py'}"
    except Exception as error:  # noqa: BLE001 (that is what is looked for)
        return f"crash: {type(error).__name__}: {error}"[:300]
    return None


def _parsed(raw: bytes) -> object:
    try:
        return yaml_file.parse(raw.decode("utf-8-sig"))
    except (yaml_file.Unreadable, UnicodeDecodeError):
        return None  # `yaml_file.read` refuses what is not UTF-8


def _tree(chance: random.Random, depth: int = 0) -> Any:
    """A value with the keys of the settings, and with others."""
    kind = chance.random()
    if depth and (kind < 0.45 or depth > 4):
        return chance.choice(SCALARS)
    if depth and kind < 0.55:
        return [_tree(chance, depth + 1) for _ in range(chance.randrange(4))]
    return {chance.choice(KEYS): _tree(chance, depth + 1) for _ in range(chance.randrange(6))}


def _file(chance: random.Random) -> bytes:
    kind = chance.random()
    if kind < 0.15:
        raw = chance.choice(BOMBS)
    else:
        value = harm_value(OWN, chance) if kind < 0.5 else _tree(chance)
        try:
            raw = yaml.safe_dump(value, allow_unicode=True).encode("utf-8", "surrogatepass")
        except (yaml.YAMLError, ValueError, RecursionError):
            raw = json.dumps(value, default=str).encode()
    return harm_bytes(raw, chance) if chance.random() < 0.4 else raw


def _editor(chance: random.Random) -> Any:
    kind = chance.random()
    return None if kind < 0.3 else _tree(chance) if kind < 0.6 else harm_value(OWN, chance)


def _smaller(user: bytes, workspace: bytes, editor: Any) -> tuple[bytes, bytes]:
    workspace = shrink_bytes(workspace, lambda less: bool(complaint(user, less, editor)))
    return shrink_bytes(user, lambda less: bool(complaint(less, workspace, editor))), workspace


def fuzz(run: Run) -> Tally:
    """All settings of a run."""
    tally, chance = Tally("settings"), run.chance("settings")
    began = time.monotonic()
    for _ in range(run.size.settings):
        user: bytes = _file(chance) if chance.random() < 0.5 else yaml.safe_dump(OWN).encode()
        workspace = _file(chance)
        editor = _editor(chance)
        tally.count("settings")
        if why := complaint(user, workspace, editor):
            user, workspace = _smaller(user, workspace, editor)
            case = {"user": user.decode("latin-1"), "workspace": workspace.decode("latin-1"), "editor": editor}
            path = run.keep("settings", json.loads(json.dumps(case, default=str)))
            tally.fail(f"({path.name}) {why}")
            if tally.is_enough:
                break
    tally.count("a second", round(tally.counts["settings"] / (time.monotonic() - began)))
    return tally


def replay(case: dict[str, Any]) -> str | None:
    """Take the settings of a kept case once more."""
    return complaint(case["user"].encode("latin-1"), case["workspace"].encode("latin-1"), case["editor"])
