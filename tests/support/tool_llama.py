"""The real llama.cpp with the real model and a template that offers tools, as a process of its own.

SmolLM2's own template passes over tools in silence. `python -m tests.support.tool_llama MODEL` prints its port and
ends with its input.
"""

from __future__ import annotations

import importlib
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tests.support import server_process

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

CONTEXT = 2048
NAME = "smollm2"
KEY = "sk-of-the-real-llama"
# ChatML as SmolLM2 was trained with, and tools in the words that llama.cpp knows how to read back.
TEMPLATE = """\
{%- if tools %}
{{- "<|im_start|>system\\nYou may call these functions:\\n<tools>" }}
{%- for tool in tools %}{{ "\\n" }}{{ tool | tojson }}{% endfor %}
{{- "\\n</tools>\\nFor each call, write a JSON object within <tool_call></tool_call> tags:\\n<tool_call>\\n" }}
{{- '{"name": <function-name>, "arguments": <args-json-object>}' }}{{ "\\n</tool_call><|im_end|>\\n" }}
{%- endif %}
{%- for message in messages %}
{%- if message.role == "tool" %}
{{- "<|im_start|>user\\n<tool_response>\\n" + message.content + "\\n</tool_response><|im_end|>\\n" }}
{%- else %}
{{- "<|im_start|>" + message.role }}
{%- if message.content %}{{ "\\n" + message.content }}{% endif %}
{%- for call in message.tool_calls or [] %}
{{- '\\n<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' }}{{ call.function.arguments | tojson }}
{{- "}\\n</tool_call>" }}
{%- endfor %}
{{- "<|im_end|>\\n" }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ "<|im_start|>assistant\\n" }}{% endif %}
"""


@contextmanager
def tool_llama(model: Path) -> Generator[int]:
    """The port of a running server, which wants the key."""
    with server_process.own(__name__, str(model)) as port:
        yield port


def _serve(model: str) -> tuple[Any, int]:
    """The server, which lives as long as what is returned, and its port."""
    # Spinning OpenMP threads make a busy machine ten times slower; read when the library is loaded.
    os.environ["OMP_WAIT_POLICY"] = "passive"
    # Imported by name because the library has no types, and after the environment is set.
    llama: Any = importlib.import_module("xllamacpp")
    params = llama.CommonParams()
    params.model.path = model
    params.model_alias = {NAME}
    params.hostname = "127.0.0.1"
    params.api_keys = [KEY]
    params.n_ctx, params.n_parallel, params.n_gpu_layers = CONTEXT, 1, 0
    # Between two batches the server looks whether its client is still there.
    params.n_batch = params.n_ubatch = 128
    params.use_jinja, params.chat_template = True, TEMPLATE
    # Also for clients, and proxies, that do not ask for it.
    params.sampling.temp = 0.0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    while True:
        params.port = server_process.free_port()
        try:
            return llama.Server(params), params.port
        except RuntimeError:
            # Another program may take the free port before llama.cpp does.
            if server_process.is_free(params.port):
                raise


def main() -> None:
    """Serve until the input ends."""
    answer = os.fdopen(os.dup(1), "w")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    server, port = _serve(sys.argv[1])
    os.dup2(null, 2)
    print(port, file=answer, flush=True)
    sys.stdin.buffer.read()
    del server
    os._exit(0)


if __name__ == "__main__":
    main()
