"""The log: standard error, which editors keep, without what people wrote and without keys."""

from __future__ import annotations

import logging
import os
import threading
from contextlib import suppress
from queue import Full, Queue

MOST_WAITING = 1_000
"""Records that may wait for an editor that does not read them; those beyond are dropped."""
LAST_WORDS = 1.0
"""Seconds in which the last records are written when the server leaves."""


class _Redacting(logging.Formatter):
    """The last stop of every record, its traceback included."""

    def format(self, record: logging.LogRecord) -> str:
        from ollm_lsp.settings.redactor import redactor  # noqa: PLC0415 (start-up time)

        return redactor.redact(super().format(record))


class PatientHandler(logging.Handler):
    """Writes from a thread: a log that nobody reads, or that cannot be written, never holds up the server."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._waiting: Queue[bytes] = Queue(MOST_WAITING)
        self._thread: threading.Thread | None = None

    def emit(self, record: logging.LogRecord) -> None:
        line = f"{self.format(record)}\n".encode(errors="replace")
        if self._thread is None:
            self._thread = threading.Thread(target=self._write, daemon=True)
            self._thread.start()
        with suppress(Full):
            self._waiting.put_nowait(line)

    def flush(self) -> None:
        """Wait until everything is written, but not for ever."""
        waiting = self._waiting
        with waiting.all_tasks_done:
            waiting.all_tasks_done.wait_for(lambda: not waiting.unfinished_tasks, LAST_WORDS)

    def _write(self) -> None:
        while True:
            rest = self._waiting.get()
            with suppress(OSError):
                # Not by `sys.stderr`: its lock, held by a thread that waits, would keep the interpreter from ending.
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
            self._waiting.task_done()


def configure() -> None:
    """Log to standard error; `OLLM_LOG` names another level than `warning`."""
    level = logging.getLevelNamesMapping().get(os.environ.get("OLLM_LOG", "").upper(), logging.WARNING)
    handler = PatientHandler(2)
    handler.setFormatter(_Redacting("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=level, handlers=[handler])
    # It writes whole messages, that is, what people type, into the log.
    logging.getLogger("pygls").setLevel(logging.CRITICAL)
