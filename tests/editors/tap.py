"""A tap on the wire between an editor and the real server: `python -m tests.editors.tap FOLDER`.

The editor starts it in place of the server. Every message goes on unchanged, and into FOLDER/wire.jsonl together with
who said it.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.editor import SERVER

if TYPE_CHECKING:
    from typing import BinaryIO

LIMIT = 1 << 26


class Tap:
    """One connection."""

    def __init__(self, record: BinaryIO, server: asyncio.StreamWriter, editor: asyncio.StreamWriter) -> None:
        self._record = record
        self._server = server
        self._editor = editor

    def from_editor(self, body: bytes) -> None:
        self._keep("editor", body)
        self._server.write(_framed(body))

    def from_server(self, body: bytes) -> None:
        self._keep("server", body)
        self._editor.write(_framed(body))

    def _keep(self, by: str, body: bytes) -> None:
        self._record.write(json.dumps({"by": by, "message": json.loads(body)}).encode() + b"\n")
        self._record.flush()


def _framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


async def _bodies(reader: asyncio.StreamReader, take: Any) -> None:
    while header := await reader.readline():
        length = 0
        while header.strip():
            name, _, value = header.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
            header = await reader.readline()
        take(await reader.readexactly(length))


async def _run(folder: Path) -> int:
    loop = asyncio.get_running_loop()
    incoming = asyncio.StreamReader(limit=LIMIT)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(incoming), sys.stdin)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, sys.stdout)
    outgoing = asyncio.StreamWriter(transport, protocol, None, loop)
    pipe = asyncio.subprocess.PIPE
    with (folder / "wire.jsonl").open("ab") as record, (folder / "server.log").open("ab") as log:
        server = await asyncio.create_subprocess_exec(*SERVER, stdin=pipe, stdout=pipe, stderr=log, limit=LIMIT)
        (folder / "server.pid").write_text(str(server.pid))
        assert server.stdin is not None
        assert server.stdout is not None
        tap = Tap(record, server.stdin, outgoing)
        speaking = asyncio.ensure_future(_bodies(server.stdout, tap.from_server))
        listening = asyncio.ensure_future(_bodies(incoming, tap.from_editor))
        await asyncio.wait([speaking, listening], return_when=asyncio.FIRST_COMPLETED)
        server.stdin.close()
        await speaking
        listening.cancel()
        return await server.wait()


if __name__ == "__main__":
    sys.exit(asyncio.run(_run(Path(sys.argv[1]))))
