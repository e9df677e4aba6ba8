"""Hostile arguments (threat T12): for every tool they are refused before anything runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ollm_lsp.core.foreign_json import JsonError, decode_arguments
from ollm_lsp.core.toolbox import Toolbox
from ollm_lsp.tools.schema import fits
from tests.support.workspace import Bench

if TYPE_CHECKING:
    from pathlib import Path

    from ollm_lsp.core.foreign_json import JsonObject
    from ollm_lsp.core.ports import ToolRun

GOOD: dict[str, dict[str, Any]] = {
    "read_file": {"path": "a"},
    "list_directory": {"path": "a"},
    "find_files": {"pattern": "a"},
    "search_text": {"query": "a"},
    "list_buffers": {},
    "get_diagnostics": {"path": "a"},
    "run_command": {"argv": ["true"]},
}
TEXTS = [
    *('{"path": "a", "path": "b"}', '{"path": NaN}', '{"path": Infinity}', '{"path": -Infinity}', '{"path": 1e999}'),
    *(r'{"path": "a\u0000b"}', r'{"path": "\ud800"}', r'{"path": "\udfff\ud800"}', '{"path": "a"} {"path": "b"}'),
    *('["a"]', '"a"', "null", "5", "", "{", '{"path": "a",}', "{'path': 'a'}", '{"path": "a" /* */}', "[" * 100_000),
    *(
        '{"a":' * 5_000,
        '{"path": ' + "9" * 5_000 + "}",
        '{"a": {"b": 1, "b": 2}}',
        '{"path": "a\tb"}',
        '{"path": "a\0"}',
    ),
]
WRONG: list[Any] = [
    None,
    5,
    1.5,
    True,
    [],
    {},
    ["a"],
    {"path": "a"},
    "x" * 100_000,
    "",
    -1,
    10**30,
    [[]],
    [None],
    ["x"] * 500,
]


class Recorder:
    """Stands before a tool and counts how often it runs."""

    def __init__(self, tool: Any) -> None:
        self.spec, self.kind = tool.spec, tool.kind
        self.title, self.locations = tool.title, tool.locations
        self.runs: list[JsonObject] = []

    async def run(self, arguments: JsonObject, run: ToolRun) -> str:  # noqa: ARG002 (part of the contract)
        self.runs.append(arguments)
        return "ran"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.fixture
def recorders(bench: Bench) -> dict[str, Recorder]:
    """Every tool of the toolbox, replaced by one that only records."""
    found = {tool.spec.name: Recorder(tool) for tool in bench.tools}
    bench.toolbox = Toolbox(found.values(), fits=fits)
    return found


@pytest.mark.parametrize("name", GOOD)
async def test_good_arguments_run(bench: Bench, recorders: dict[str, Recorder], name: str) -> None:
    assert await bench.text(name, **GOOD[name]) == "ran"


def test_there_are_arguments_for_every_tool(bench: Bench) -> None:
    assert set(GOOD) == {tool.spec.name for tool in bench.tools}


@pytest.mark.threat("T12", "F13")
@pytest.mark.parametrize("text", TEXTS, ids=lambda text: ascii(text)[:40])
def test_arguments_that_two_parsers_could_read_differently_are_no_arguments(text: str) -> None:
    with pytest.raises(JsonError):
        decode_arguments(text)


@pytest.mark.threat("T12", "F13")
@pytest.mark.parametrize("name", GOOD)
async def test_wrong_types_unknown_fields_and_huge_values_are_refused(
    bench: Bench, recorders: dict[str, Recorder], name: str
) -> None:
    refused = [{**GOOD[name], "unknown": 1}, {**GOOD[name], "Path": "a"}, {**GOOD[name], "": ""}]
    properties: Any = recorders[name].spec.parameters["properties"]
    for field in properties:
        fitting = {"string": str, "integer": int, "boolean": bool, "array": list}[properties[field]["type"]]
        for value in WRONG:
            may_fit = type(value) is fitting and value in ("", True, ["a"], 5)
            if not may_fit:
                refused.append({**GOOD[name], field: value})
    refused += [{key: value for key, value in GOOD[name].items() if key != gone} for gone in _required(recorders[name])]
    for arguments in refused:
        text = await bench.refusal(name, **arguments)
        assert "do not fit" in text
        assert len(text) < 2_000
    assert recorders[name].runs == []


def _required(tool: Recorder) -> list[str]:
    return list(tool.spec.parameters.get("required", []))  # pyright: ignore[reportArgumentType] (our own schema)


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize(
    "value", [*WRONG, "a\0b", "\ud800", "..", {"path": ["a"]}], ids=lambda value: ascii(value)[:20]
)
async def test_a_tool_survives_arguments_that_nobody_checked(bench: Bench, name: str, value: Any) -> None:
    """Titles and places are made before the check, and a toolbox may have none."""
    bench.toolbox = Toolbox(bench.tools)
    fields = ("path", "query", "pattern", "argv", "from_line")
    for arguments in (dict.fromkeys(fields, value), {}):
        assert "Error:" not in (await bench.call(name, **arguments)).text
    assert bench.answers.requests == []


@pytest.mark.parametrize("name", GOOD)
def test_specs_are_strict_and_short(bench: Bench, name: str) -> None:
    spec = next(tool.spec for tool in bench.tools if tool.spec.name == name)
    assert spec.parameters["additionalProperties"] is False
    assert spec.parameters["type"] == "object"
    assert len(spec.description) < 250
