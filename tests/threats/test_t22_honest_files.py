"""Threat T22, the other side: what honest people wrote is not suspected, and stays as it is."""

from __future__ import annotations

import sysconfig
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ollm_lsp.core.hidden import hidden, without_hidden

if TYPE_CHECKING:
    from collections.abc import Iterator

FILES = 500
LARGEST = 30_000


def honest_files() -> Iterator[str]:
    """Files of the standard library and of installed packages, those first that hold more than ASCII."""
    places = [Path(sysconfig.get_path(name)) for name in ("purelib", "stdlib")]
    found = (path for place in places for path in sorted(place.rglob("*.py")) if path.stat().st_size < LARGEST)
    plain: list[str] = []
    for path in islice(found, 2_000):
        data = path.read_bytes()
        if data.isascii():
            plain.append(data.decode())
            continue
        try:
            yield data.decode()
        except UnicodeDecodeError:
            continue
    yield from plain


@pytest.mark.threat("T22")
def test_of_500_honest_files_hardly_any_is_suspected_and_none_is_changed() -> None:
    texts = list(islice(honest_files(), FILES))
    assert len(texts) == FILES
    assert sum(not text.isascii() for text in texts) > 100
    suspected = [text for text in texts if hidden(text)]
    assert len(suspected) <= FILES // 100
    assert all(without_hidden(text) == text for text in texts if text not in suspected)
