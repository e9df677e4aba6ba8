"""`models list` prints a table, and what went wrong with a remedy."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import subprocess

    from tests.terminal.conftest import Runner

MODELS = [
    {
        "id": "ollama:qwen3:8b",
        "provider": "ollama",
        "name": "qwen3:8b",
        "sizeBytes": 5_200_000_000,
        "contextWindow": 40960,
        "capabilities": {"streaming": True, "tools": True, "vision": False},
        "default": True,
    },
    {"id": "vllm:\x1b[31m漢字", "provider": "vllm", "name": "x", "capabilities": ["vision"], "default": False},
]
ERROR = {"provider": "vllm", "code": "connection", "message": "Nobody answers.", "remedy": "Start vLLM."}


def list_models(
    runner: Runner, answer: dict[str, Any], *, as_json: bool = False, provider: str | None = None
) -> subprocess.CompletedProcess[str]:
    server = runner.server(models=answer)
    return runner.run("models", {"provider": provider, "as_json": as_json, "server_command": server})


def test_models_are_listed_in_aligned_columns(runner: Runner) -> None:
    done = list_models(runner, {"result": {"models": MODELS}})
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "   MODEL              SIZE  CONTEXT  CAPABILITIES",
        "*  ollama:qwen3:8b  5.2 GB   40,960  streaming, tools",
        "   vllm:漢字                         vision",
    ]


def test_a_bare_list_is_understood(runner: Runner) -> None:
    assert "ollama:qwen3:8b" in list_models(runner, {"result": MODELS}).stdout


def test_json_is_the_raw_result(runner: Runner) -> None:
    done = list_models(runner, {"result": {"models": MODELS}}, as_json=True)
    assert json.loads(done.stdout) == {"models": MODELS}
    assert "\x1b" not in done.stdout


def test_one_provider_can_be_asked(runner: Runner) -> None:
    list_models(runner, {"result": {"models": []}}, provider="vllm")
    assert runner.received("ollm/models/list") == [{"provider": "vllm"}]


def test_a_failing_provider_is_told_beside_the_others(runner: Runner) -> None:
    done = list_models(runner, {"result": {"models": MODELS, "errors": [ERROR]}})
    assert done.returncode == 0
    assert done.stderr == "error: vllm: Nobody answers.\n  Start vLLM.\n"


def test_only_failing_providers_are_status_1(runner: Runner) -> None:
    done = list_models(runner, {"result": {"models": [], "errors": [ERROR]}})
    assert (done.returncode, done.stdout) == (1, "")


def test_a_failed_request_is_status_1_with_its_remedy(runner: Runner) -> None:
    error = {"code": -32803, "message": "No such provider.", "data": {"code": "settings", "remedy": "Add it."}}
    done = list_models(runner, {"error": error})
    assert (done.returncode, done.stderr) == (1, "error: No such provider.\n  Add it.\n")


def test_no_models_at_all_is_said(runner: Runner) -> None:
    done = list_models(runner, {"result": {"models": []}})
    assert (done.returncode, done.stdout) == (0, "")
    assert "There are no models." in done.stderr
