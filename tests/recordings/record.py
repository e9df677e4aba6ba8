"""Records what the real llama.cpp sends with the real model, byte for byte.

Run it with: python -m tests.recordings.record [WIRE/NAME ...]

The other recordings are written by hand, after the documentation and the source of the servers in their names.
"""

from __future__ import annotations

import importlib
import os
import socket
import sys
from pathlib import Path
from typing import Any

import httpx

from tests.support.real_model import fetch
from tests.support.tool_llama import TEMPLATE

HERE = Path(__file__).parent
TOOL = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Read a file",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    },
}
CHAT: dict[str, dict[str, Any]] = {
    "llama_cpp_text": {"messages": [{"role": "user", "content": "What is the capital of France?"}]},
    "llama_cpp_length": {"messages": [{"role": "user", "content": "Count from one to ten."}], "max_tokens": 4},
    "llama_cpp_unicode": {
        "messages": [{"role": "user", "content": "Repeat exactly: 😀 漢字 é"}],
        "response_format": {"type": "json_schema", "json_schema": {"schema": {"const": "😀 漢字 é"}}},
    },
    "llama_cpp_tool_calls": {
        "messages": [{"role": "user", "content": "Read the file main.py"}],
        "tools": [TOOL],
        "tool_choice": "required",
        "parallel_tool_calls": False,
    },
    "llama_cpp_cut_tool_call": {
        "messages": [{"role": "user", "content": "Read the file main.py"}],
        "tools": [TOOL],
        "tool_choice": "required",
        "max_tokens": 26,
    },
}
MESSAGES_TOOL = {
    "name": "read_file",
    "description": "Read a file",
    "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
}
MESSAGES: dict[str, dict[str, Any]] = {
    "llama_cpp_text": {"messages": [{"role": "user", "content": "What is the capital of France?"}]},
    "llama_cpp_length": {"messages": [{"role": "user", "content": "Count from one to ten."}], "max_tokens": 4},
    "llama_cpp_tool_calls": {
        "messages": [{"role": "user", "content": "Read the file main.py"}],
        "tools": [MESSAGES_TOOL],
        "tool_choice": {"type": "any"},
    },
    "llama_cpp_cut_tool_call": {
        "messages": [{"role": "user", "content": "Read the file main.py"}],
        "tools": [MESSAGES_TOOL],
        "tool_choice": {"type": "any"},
        "max_tokens": 26,
    },
}
WIRES: dict[str, tuple[str, dict[str, Any], dict[str, dict[str, Any]]]] = {
    "openai_chat": ("/v1/chat/completions", {"stream_options": {"include_usage": True}}, CHAT),
    "anthropic_messages": ("/v1/messages", {"max_tokens": 200}, MESSAGES),
}
"""The folder of each wire: its address, what every request has, and the requests."""


def main() -> None:
    """Overwrite the recordings of llama.cpp, or those with the given names, such as `openai_chat/llama_cpp_text`."""
    model = fetch()
    os.environ["OMP_WAIT_POLICY"] = "passive"
    llama: Any = importlib.import_module("xllamacpp")
    params = llama.CommonParams()
    params.model.path = str(model)
    params.model_alias = {"smollm2"}
    params.hostname, params.port = "127.0.0.1", _free_port()
    params.n_ctx, params.n_parallel, params.n_gpu_layers = 2048, 1, 0
    params.use_jinja, params.chat_template = True, TEMPLATE
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = llama.Server(params)
    for folder, (path, common, requests) in WIRES.items():
        for name, request in requests.items():
            if sys.argv[1:] and f"{folder}/{name}" not in sys.argv[1:]:
                continue
            body = {"temperature": 0, "stream": True, **common, **request}
            url = f"http://127.0.0.1:{params.port}{path}"
            with httpx.stream("POST", url, json=body, timeout=60) as answer:
                (HERE / folder / f"{name}.sse").write_bytes(b"".join(answer.iter_raw()))
    del server


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    main()
