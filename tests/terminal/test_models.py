"""`models` lists, pulls, shows and deletes, and says what went wrong with a remedy."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.terminal.terminal import Terminal

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
DETAILS = {
    **MODELS[0],
    "facts": {"family": "qwen\x1b[31m3", "context length": "40,960 tokens", "license": "Apache License", "odd": 5},
}
PULL = [
    {"kind": "begin", "title": "Fetching ollama:qwen3:8b", "percentage": 0, "cancellable": True},
    {"kind": "report", "message": "1 MB of 5.2 GB", "percentage": 0},
    {"kind": "report", "message": "2 MB of 5.2 GB", "percentage": 1},
    {"kind": "report", "message": "2.6 GB of 5.2 GB, 14 MB/s", "percentage": 50},
]
REFUSAL = {"error": {"code": -32803, "message": "No such model.", "data": {"remedy": "Choose another."}}}
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


def arguments(runner: Runner, replies: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The arguments of a command about one model, with a server that replies so."""
    by_method = {f"ollm/models/{name}": reply for name, reply in replies.items()}
    return {"model": "ollama:qwen3:8b", "server_command": runner.server(replies=by_method, pull=PULL), **more}


def test_a_pull_through_a_pipe_is_told_in_plain_lines(runner: Runner) -> None:
    done = runner.run("pull", arguments(runner, {"pull": {"result": {"model": "ollama:qwen3:8b"}}}))
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.splitlines() == [
        "Fetching ollama:qwen3:8b 0 %",
        "1 MB of 5.2 GB 0 %",
        "2.6 GB of 5.2 GB, 14 MB/s 50 %",
        "ollama:qwen3:8b is ready.",
    ]
    (params,) = runner.received("ollm/models/pull")
    assert params == {"model": "ollama:qwen3:8b", "workDoneToken": "pull"}


def test_a_pull_at_a_terminal_is_a_bar_that_is_gone_afterwards(runner: Runner) -> None:
    child = runner.at_terminal("pull", arguments(runner, {"pull": {"result": {"model": "ollama:qwen3:8b"}}}))
    assert child.wait() == 0
    assert "2.6 GB of 5.2 GB, 14 MB/s [##########..........] 50 %" in child.output
    terminal = Terminal()
    terminal.feed(child.output)
    assert terminal.lines == ["ollama:qwen3:8b is ready."]


def test_ctrl_c_stops_a_pull(runner: Runner) -> None:
    child = runner.at_terminal("pull", arguments(runner, {}))
    child.expect("50 %")
    child.press_ctrl_c()
    assert child.wait() == 130
    assert "cancelled" in child.output
    assert len(runner.received("$/cancelRequest")) == 1
    assert runner.received("exit") == [None]


def test_a_model_is_shown_with_its_facts(runner: Runner) -> None:
    done = runner.run("show", arguments(runner, {"show": {"result": DETAILS}}, as_json=False))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "model           ollama:qwen3:8b",
        "size            5.2 GB",
        "context length  40,960 tokens",
        "capabilities    streaming, tools",
        "family          qwen3",
        "license         Apache License",
    ]


def test_a_model_is_shown_to_programs_as_it_came(runner: Runner) -> None:
    done = runner.run("show", arguments(runner, {"show": {"result": DETAILS}}, as_json=True))
    assert json.loads(done.stdout) == DETAILS


@pytest.mark.parametrize(("name", "more"), [("pull", {}), ("show", {"as_json": False}), ("delete", {"is_sure": True})])
def test_a_refused_request_is_status_1_with_its_remedy(runner: Runner, name: str, more: dict[str, Any]) -> None:
    done = runner.run(name, arguments(runner, {name: REFUSAL}, **more))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith("error: No such model.\n  Choose another.\n")


def test_nothing_is_deleted_without_a_yes_where_nobody_can_be_asked(runner: Runner) -> None:
    done = runner.run("delete", arguments(runner, {"delete": {"result": None}}, is_sure=False), stdin="y\n")
    assert (done.returncode, done.stdout) == (1, "")
    assert "--yes" in done.stderr
    assert not runner.has_started


def test_a_sure_user_is_not_asked(runner: Runner) -> None:
    done = runner.run("delete", arguments(runner, {"delete": {"result": None}}, is_sure=True))
    assert (done.returncode, done.stderr) == (0, "ollama:qwen3:8b is deleted.\n")
    assert runner.received("ollm/models/delete") == [{"model": "ollama:qwen3:8b"}]
    assert runner.received("ollm/models/show") == []


@pytest.mark.parametrize(
    ("answer", "status", "last"),
    [
        ("y\r", 0, "ollama:qwen3:8b is deleted."),
        ("\r", 1, "Nothing was deleted."),
        ("\x04", 1, "Nothing was deleted."),
        ("\x03", 130, "cancelled"),
    ],
    ids=["yes", "return", "ctrl-d", "ctrl-c"],
)
def test_at_a_terminal_the_user_is_asked(runner: Runner, answer: str, status: int, last: str) -> None:
    replies = {"show": {"result": DETAILS}, "delete": {"result": None}}
    child = runner.at_terminal("delete", arguments(runner, replies, is_sure=False))
    child.expect("Delete ollama:qwen3:8b (5.2 GB)? [y/N] ")
    child.send(answer)
    assert child.wait() == status
    assert last in child.output
    assert len(runner.received("ollm/models/delete")) == (status == 0)
