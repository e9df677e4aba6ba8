"""LiteLLM's proxy in front of the real llama.cpp, as `make test-wire` installed it: three formats of a third party."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tests.support import server_process, tool_llama

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

PROGRAM = server_process.ROOT / ".cache" / "litellm" / "bin" / "litellm"
NAME = "local-model"
KEY = "sk-of-the-proxy"
START_TIME = 240.0


@contextmanager
def litellm_proxy(llama: int, folder: Path) -> Generator[int]:
    """The port of a running proxy for the llama.cpp on another port."""
    port = server_process.free_port()
    config = folder / "litellm.yaml"
    config.write_text(json.dumps(_config(llama)))  # which is YAML too
    with server_process.foreign(
        [str(PROGRAM), "--config", str(config), "--host", "127.0.0.1", "--port", str(port), "--num_workers", "1"],
        ready=f"http://127.0.0.1:{port}/health/liveliness",
        log=folder / "litellm.log",
        start_time=START_TIME,
        environment={"LITELLM_LOCAL_MODEL_COST_MAP": "True", "HOME": str(folder)},
    ):
        yield port


def _config(llama: int) -> dict[str, Any]:
    target = {
        "model": f"openai/{tool_llama.NAME}",
        "api_base": f"http://127.0.0.1:{llama}/v1",
        "api_key": tool_llama.KEY,
    }
    return {
        "model_list": [{"model_name": NAME, "litellm_params": target}],
        "litellm_settings": {"drop_params": True, "telemetry": False, "num_retries": 0},
        "general_settings": {
            "master_key": KEY,
            "disable_spend_logs": True,
            "always_include_stream_usage": True,
        },
    }
