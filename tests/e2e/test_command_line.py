"""The commands for people, with the real server and the real model."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

from ollm_lsp import __version__
from tests.e2e.test_faults import install_model
from tests.support.editor import environment

COMMAND = str(Path(sys.executable).with_name("ollm-lsp"))

TROUBLE = """
model: away:x
chat: { sistemPrompt: x }
providers:
  ollama: { type: ollama, baseUrl: "http://127.0.0.1:9" }
  away: { type: openai, baseUrl: "http://127.0.0.1:9/v1" }
kraken:
  enabled: true
  apiProviders: { gpt: { provider: openai, apiKey: "${OLLM_NO_SUCH_KEY}", model: gpt-4o } }
"""


async def run(environ: dict[str, str], *arguments: str) -> tuple[int | None, str, str]:
    process = await asyncio.create_subprocess_exec(
        COMMAND,
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environ,
    )
    stdout, stderr = await process.communicate()
    return process.returncode, stdout.decode(), stderr.decode()


async def test_chat_streams_an_answer_about_a_file(real_model_path: Path, tmp_path: Path) -> None:
    install_model(tmp_path, real_model_path)
    sample = tmp_path / "sample.py"
    sample.write_text("def double(x):\n    return 2 * x\n")
    status, stdout, stderr = await run(environment(tmp_path), "chat", str(sample), "-p", "What does double do?")
    assert status == 0
    assert len(stdout.split()) > 3
    assert "embedded:smollm2" in stderr
    assert "output tokens" in stderr
    assert "\x1b" not in stdout + stderr


async def test_chat_with_a_model_that_cannot_be_had_fails_with_a_remedy(tmp_path: Path) -> None:
    status, stdout, stderr = await run(environment(tmp_path), "chat", "-p", "Hello", "--model", "nobody:x")
    assert status == 1
    assert not stdout.strip()
    assert "nobody" in stderr
    assert "providers" in stderr


async def test_the_doctor_finds_trouble_and_names_its_remedy(tmp_path: Path) -> None:
    environ = environment(tmp_path, TROUBLE)
    status, stdout, _ = await run(environ, "doctor", "--json")
    findings = {finding["subject"]: finding for finding in json.loads(stdout)["findings"]}
    assert status == 1
    assert findings["external provider gpt"]["level"] == "warning"
    assert "OLLM_NO_SUCH_KEY" in findings["external provider gpt"]["message"]
    assert findings["provider away"]["level"] == "error"
    assert findings["provider ollama"]["level"] == "warning"
    assert findings["provider embedded"]["level"] == "ok"
    assert "sistemPrompt" in findings["settings"]["message"]
    assert all(finding["remedy"] for finding in findings.values() if finding["level"] != "ok")
    status, stdout, stderr = await run(environ, "doctor")
    assert "ERROR    provider away" in stdout
    assert not stderr


async def test_the_doctor_is_content_with_the_defaults(real_model_path: Path, tmp_path: Path) -> None:
    install_model(tmp_path, real_model_path)
    status, stdout, _ = await run(environment(tmp_path), "doctor")
    assert status == 0
    assert "chosen: embedded:smollm2" in stdout


async def test_the_doctor_misses_a_model_file_that_is_not_there(tmp_path: Path) -> None:
    settings = f"providers: {{embedded: {{type: embedded, modelPath: '{tmp_path}/none.gguf'}}}}\n"
    status, stdout, _ = await run(environment(tmp_path, settings), "doctor")
    assert status == 1
    assert "none.gguf" in stdout
    assert "modelPath" in stdout


async def test_models_lists_what_there_is_and_says_what_is_down(tmp_path: Path) -> None:
    settings = "providers: {ollama: {type: ollama, baseUrl: 'http://127.0.0.1:9'}}\n"
    status, stdout, stderr = await run(environment(tmp_path, settings), "models", "list")
    assert status == 0
    assert "*  embedded:smollm2" in stdout
    assert "ollama serve" in stderr


async def test_schema_and_version_are_printed(tmp_path: Path) -> None:
    status, stdout, _ = await run(environment(tmp_path), "schema")
    assert status == 0
    assert {"model", "providers", "chat", "context"} <= set(json.loads(stdout)["properties"])
    assert await run(environment(tmp_path), "--version") == (0, f"ollm-lsp {__version__}\n", "")


@pytest.mark.parametrize("arguments", ["schema", "doctor", "--help"])
async def test_a_reader_that_has_left_is_no_reason_for_a_traceback(tmp_path: Path, arguments: str) -> None:
    environ = {key: value for key, value in environment(tmp_path).items() if key != "PYTHONUNBUFFERED"}
    process = await asyncio.create_subprocess_exec(
        "/bin/sh", "-c", f"'{COMMAND}' {arguments} | true", stderr=asyncio.subprocess.PIPE, env=environ
    )
    _, stderr = await process.communicate()
    assert stderr == b""


@pytest.mark.parametrize("arguments", [["nonsense"], ["models", "explode"], ["chat", "--model"]])
async def test_a_wrong_command_line_is_explained(tmp_path: Path, arguments: list[str]) -> None:
    status, stdout, stderr = await run(environment(tmp_path), *arguments)
    assert status == 2
    assert not stdout
    assert "usage: ollm-lsp" in stderr


@pytest.mark.threat("T5")
async def test_a_folder_with_booby_traps_runs_nothing(real_model_path: Path, tmp_path: Path) -> None:
    """`chat` starts the server inside a folder that holds modules with the names of those it imports."""
    install_model(tmp_path, real_model_path)
    trap = tmp_path / "trap"
    trap.mkdir()
    for name in ("ollm_lsp", "asyncio", "json", "pygls", "aiohttp", "yaml", "pydantic", "xllamacpp", "sitecustomize"):
        (trap / f"{name}.py").write_text(f"open({str(tmp_path / 'canary')!r}, 'w').write({name!r})\n")
    (trap / ".ollm").mkdir()
    (trap / ".ollm" / "config.yaml").write_text("providers: {embedded: {type: embedded, modelPath: /etc/passwd}}\n")
    process = await asyncio.create_subprocess_exec(
        COMMAND, "chat", "-p", "Say hi.", stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
        cwd=trap, env=environment(tmp_path),
    )  # fmt: skip
    stdout, _ = await process.communicate()
    assert process.returncode == 0
    assert stdout.strip()
    assert not (tmp_path / "canary").exists()
