"""Records what the real Ollama sends with the real model, byte for byte; `make test-ollama` builds it.

Run it with: python -m tests.recordings.record_ollama [NAME ...]
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from tests.support.real_model import fetch
from tests.support.real_ollama import NAME, call_of, real_ollama

HERE = Path(__file__).parent / "ollama_chat"
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}

REQUESTS: dict[str, dict[str, Any]] = {
    "real_text": {
        "messages": [{"role": "user", "content": "What is the capital of France? Answer with one word."}],
    },
    "real_length": {
        "messages": [{"role": "user", "content": "Count from one to ten."}],
        "options": {"temperature": 0, "num_predict": 4},
    },
    "real_tool_call": {
        "messages": [{"role": "user", "content": "What is the weather in Paris?"}],
        "tools": [TOOL],
        "format": call_of("get_weather", city="Paris"),
    },
}


def main() -> None:
    """Overwrite the recordings of the real Ollama, or those with the given names."""
    with TemporaryDirectory() as folder, real_ollama(fetch(), Path(folder)) as port:
        for name in sys.argv[1:] or REQUESTS:
            body = {"model": NAME, "options": {"temperature": 0}, **REQUESTS[name]}
            with httpx.stream("POST", f"http://127.0.0.1:{port}/api/chat", json=body, timeout=300) as answer:
                (HERE / f"{name}.ndjson").write_bytes(b"".join(answer.iter_raw()))


if __name__ == "__main__":
    main()
