"""The log: standard error, which editors keep, without what people wrote and without keys."""

from __future__ import annotations

import logging
import os
import sys


class _Redacting(logging.Formatter):
    """The last stop of every record, its traceback included."""

    def format(self, record: logging.LogRecord) -> str:
        from ollm_lsp.settings.redactor import redactor  # noqa: PLC0415 (start-up time)

        return redactor.redact(super().format(record))


def configure() -> None:
    """Log to standard error; `OLLM_LOG` names another level than `warning`."""
    level = logging.getLevelNamesMapping().get(os.environ.get("OLLM_LOG", "").upper(), logging.WARNING)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Redacting("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=level, handlers=[handler])
    # It writes whole messages, that is, what people type, into the log.
    logging.getLogger("pygls").setLevel(logging.CRITICAL)
