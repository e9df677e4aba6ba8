"""How large the largest tests are: a tenth of their size in `make test`, all of it in a large `make torture`."""

from __future__ import annotations

import os

IS_LARGE = os.environ.get("OLLM_LARGE") == "1"


def scaled(size: int) -> int:
    """So many examples or attempts, or a tenth of them."""
    return size if IS_LARGE else max(100, size // 10)
