"""Runs a command as `ollm_lsp.cli` does: `python -m tests.terminal.command_line NAME ARGUMENTS-AS-JSON`."""

from __future__ import annotations

import asyncio
import json
import sys

from ollm_lsp.terminal.chat import chat
from ollm_lsp.terminal.conversations import list_conversations
from ollm_lsp.terminal.models import delete, list_models, pull, show

if __name__ == "__main__":
    commands = {"chat": chat, "models": list_models, "pull": pull, "show": show, "delete": delete}
    command = (commands | {"list": list_conversations})[sys.argv[1]]
    sys.exit(asyncio.run(command(**json.loads(sys.argv[2]))))
