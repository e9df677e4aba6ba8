"""The text in the bytes of a file: UTF-8, strictly, or a clear reason why there is none."""

from __future__ import annotations

from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE

from ollm_lsp.core.errors import UnreadableFile

MAX_FILE = 10 * 1024 * 1024
"""Bytes of a file that is read as text."""
_OTHER_MARKS = {BOM_UTF32_LE: "UTF-32", BOM_UTF32_BE: "UTF-32", BOM_UTF16_LE: "UTF-16", BOM_UTF16_BE: "UTF-16"}


def text_of(data: bytes, shown: str) -> str:
    """The text without its byte-order mark, as an editor has it; all line endings as they are."""
    for mark, encoding in _OTHER_MARKS.items():
        if data.startswith(mark):
            raise UnreadableFile(
                f"'{shown}' is {encoding} text.", remedy="Only UTF-8 is read: ask the user to open it in the editor."
            )
    if b"\0" in data:
        raise UnreadableFile(f"'{shown}' is a binary file.", remedy="Choose a text file.")
    try:
        return data.removeprefix(BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        raise UnreadableFile(
            f"'{shown}' is not UTF-8 text (byte {error.start:,}).", remedy="Ask the user to open it in the editor."
        ) from None
