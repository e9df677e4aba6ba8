"""Everything that the torture ever found, played once more."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from tests.torture import edits, messages, options, streams
from tests.torture.run import CASES

FILES = sorted(CASES.glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
async def test_what_once_failed_does_not_fail_again(path: Any) -> None:
    case: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    match case["kind"]:
        case "stream":
            assert streams.replay(case) is None
        case "settings":
            assert options.replay(case) is None
        case "edits":
            assert edits.replay(case) is None
        case _:
            assert await messages.replay(case, random.Random(0)) is None
