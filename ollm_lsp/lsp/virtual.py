"""Virtual documents: texts that the client asks for by their addresses (`workspace/textDocumentContent`)."""

from __future__ import annotations

import re
from itertools import count
from urllib.parse import quote

from ollm_lsp.lsp import uris
from ollm_lsp.lsp.protocol import CONTENT_SCHEME

MOST = 50
_ODD = re.compile(r"[^\w .-]+")


class VirtualDocuments:
    """The texts of this session; the oldest make room for new ones."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._numbers = count(1)

    def keep(self, title: str, text: str) -> str:
        """Keep a text; the result is its address, in which people can read its title."""
        name = _ODD.sub(" ", title).strip()[:60] or "text"
        uri = f"{CONTENT_SCHEME}:/shown/{next(self._numbers)}/{quote(name)}.md"
        self._texts[uris.key(uri)] = text
        while len(self._texts) > MOST:
            del self._texts[next(iter(self._texts))]
        return uri

    def get(self, uri: str) -> str | None:
        return self._texts.get(uris.key(uri))
