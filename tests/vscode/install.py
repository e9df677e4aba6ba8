"""Fetch what the tests need before they run, so that none of them waits for it: `python -m tests.vscode.install`."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

from tests.editors.debian import Unavailable
from tests.vscode import chromium, code_server


def main() -> None:
    """Both at once: the one mostly computes, the other mostly loads. What is not there is told by the tests."""
    with ThreadPoolExecutor() as pool:
        for one in [pool.submit(code_server.install), pool.submit(chromium.find)]:
            try:
                one.result()
            except Unavailable as reason:
                sys.stderr.write(f"{reason}\n")


if __name__ == "__main__":
    main()
