"""The program of the child process in which the embedded model runs: llama.cpp's server on a loopback port.

It is started as a file of its own and imports nothing of this package. Its input is one line of JSON and then silence;
when that input ends, the language server is gone and so is this process. Its output is one line of JSON: the port,
or why there is none.
"""

from __future__ import annotations

import importlib
import json
import os
import socket
import sys
import threading
from typing import Any

ATTEMPTS = 5
"""Another program may take the free port before llama.cpp does."""


def main() -> None:
    """Load the model that the first line of input names, and serve it until the input ends."""
    # Whatever a library prints must not look like our answer.
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    order: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    try:
        # The model keeps its life in `server`: it must not be collected before the process ends.
        server, port = _serve(order)
    except Exception as error:  # noqa: BLE001 (whatever it is, the parent must hear of it)
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}), file=answer, flush=True)
        os._exit(1)
    print(json.dumps({"port": port}), file=answer, flush=True)
    answer.close()
    threading.Event().wait()
    del server


def _serve(order: dict[str, Any]) -> tuple[Any, int]:
    # Spinning OpenMP threads make a busy machine ten times slower; read when the library is loaded.
    os.environ["OMP_WAIT_POLICY"] = "passive"
    # Imported by name because the library has no types, and after the environment is set.
    llama: Any = importlib.import_module("xllamacpp")
    params = llama.CommonParams()
    params.model.path = order["model"]
    params.model_alias = {order["alias"]}
    params.hostname = "127.0.0.1"
    params.api_keys = [order["key"]]
    params.n_ctx, params.n_parallel, params.n_gpu_layers = order["context"], 1, 0
    # Between two batches the server looks whether its client is still there.
    params.n_batch = params.n_ubatch = 128
    params.use_jinja = True
    params.webui = False
    # Small models wander off at the library's default temperature.
    params.sampling.temp, params.sampling.top_p, params.sampling.penalty_repeat = 0.2, 0.9, 1.1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = order["threads"]
    for attempt in range(ATTEMPTS):
        params.port = _free_port()
        try:
            return llama.Server(params), params.port
        except RuntimeError:
            if attempt == ATTEMPTS - 1 or _is_free(params.port):
                raise
    raise AssertionError("unreachable")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def _leave_with_parent() -> None:
    # Read by descriptor: the buffered reader may hold bytes, and its lock would keep the interpreter from ending.
    while os.read(0, 4096):
        pass
    os._exit(0)


if __name__ == "__main__":
    main()
