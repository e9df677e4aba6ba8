"""The real Ollama with the real model, as `make test-ollama` built it.

The version is the newest whose module builds by `go install` alone. Its parts for the processor are built for this
machine: without that they are twenty times slower.
"""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx

from tests.support import server_process

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

CACHE = server_process.ROOT / ".cache" / "ollama"
PROGRAM = CACHE / "bin" / "ollama"
NAME = "smollm2:135m"
CONTEXT = 8192
START_TIME = 60.0
# ChatML as SmolLM2 was trained with. A call is bare JSON, which `format` can force a model to write.
TEMPLATE = """\
{{- if .Tools }}<|im_start|>system
You may call these functions:
{{- range .Tools }}
{{ . }}
{{- end }}
For a call, write nothing but a JSON object:
{"name": <function-name>, "arguments": <args-json-object>}<|im_end|>
{{ end }}
{{- range .Messages }}
{{- if eq .Role "tool" }}<|im_start|>user
The result is: {{ .Content }}<|im_end|>
{{ else }}<|im_start|>{{ .Role }}
{{ .Content }}
{{- range .ToolCalls }}{"name": "{{ .Function.Name }}", "arguments": {{ .Function.Arguments }}}
{{- end }}<|im_end|>
{{ end }}
{{- end }}<|im_start|>assistant
"""


def call_of(tool: str, **arguments: str) -> dict[str, Any]:
    """A `format` that leaves the model nothing to write but this call."""
    values = {name: {"enum": [value]} for name, value in arguments.items()}
    inner = {"type": "object", "properties": values, "required": [*values]}
    return {
        "type": "object",
        "properties": {"name": {"const": tool}, "arguments": inner},
        "required": ["name", "arguments"],
    }


@contextmanager
def real_ollama(model: Path, folder: Path) -> Generator[int]:
    """The port of a running Ollama that has the model; its models stay in the cache."""
    port = server_process.free_port()
    environment = {
        "HOME": str(CACHE),
        "OLLAMA_HOST": f"127.0.0.1:{port}",
        "OLLAMA_MODELS": str(CACHE / "models"),
        "OLLAMA_NUM_PARALLEL": "1",
    }
    url = f"http://127.0.0.1:{port}"
    with server_process.foreign(
        [str(PROGRAM), "serve"],
        ready=f"{url}/api/version",
        log=folder / "ollama.log",
        start_time=START_TIME,
        environment=environment,
    ):
        with httpx.Client(base_url=url, timeout=START_TIME, trust_env=False) as client:
            _create(client, model)
        yield port


def _create(client: httpx.Client, model: Path) -> None:
    content = model.read_bytes()
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    if not client.head(f"/api/blobs/{digest}").is_success:
        client.post(f"/api/blobs/{digest}", content=content).raise_for_status()
    body = {
        "model": NAME,
        "files": {model.name: digest},
        "template": TEMPLATE,
        "parameters": {"stop": ["<|im_end|>"], "num_thread": 1},
        "stream": False,
    }
    answer = client.post("/api/create", json=body)
    if answer.json().get("status") != "success":
        raise RuntimeError(f"Ollama did not create the model: {answer.text}")
