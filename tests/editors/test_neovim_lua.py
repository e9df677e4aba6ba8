"""The pure modules of the Neovim plugin, in a real Neovim, with the sample messages that all clients share."""

from __future__ import annotations

import json
import subprocess
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING, Any
from unicodedata import category

import pytest

from ollm_lsp.core.visible import visible
from tests.editors.neovim import PLUGIN
from tests.support.pages import DOCS

if TYPE_CHECKING:
    from pathlib import Path

SAMPLES: dict[str, Any] = json.loads((DOCS / "protocol-samples.json").read_text(encoding="utf-8"))
RUN = """
vim.opt.runtimepath:append(_G.arg[1])
-- Nothing becomes nil, as in Neovim's own client.
local given = vim.json.decode(io.read("*a"), { luanil = { object = true } })
local function run() CODE end
io.write(vim.json.encode(run()))
"""


def lua(program: Path, folder: Path, code: str, given: Any) -> Any:
    """What the code makes of what is `given`."""
    script = folder / "run.lua"
    script.write_text(RUN.replace("CODE", code), encoding="utf-8")
    command = [program, "--clean", "-l", script, str(PLUGIN)]
    done = subprocess.run(command, input=json.dumps(given).encode(), capture_output=True, check=False, timeout=100)
    assert not done.returncode, done.stderr.decode()
    return json.loads(done.stdout)


REDUCE = """
local reducer = require("ollm.reducer")
local states, state = {}, reducer.new()
for _, event in ipairs(given) do
  local before = vim.deepcopy(state)
  local after = reducer.reduce(state, event)
  assert(vim.deep_equal(before, state), "the state before stays as it was: " .. event.type)
  state = after
  table.insert(states, state)
end
return states
"""


@pytest.mark.prop("lsp-6")
def test_every_sample_event_has_its_place_in_the_response(neovim_program: Path, tmp_path: Path) -> None:
    events = SAMPLES["events"]
    *_, last = lua(neovim_program, tmp_path, REDUCE, events)
    assert (last["conversation"], last["id"], last["model"]) == ("c0ffee", "f00d", "ollama:qwen2.5-coder:7b")
    assert (last["provider"], last["turn"], last["reason"]) == ("ollama", 1, "error")
    assert (last["usage"]["outputTokens"], last["usage"]["contextLimit"]) == (6, 32768)
    assert [part["type"] for part in last["parts"]] == ["reasoning", "text", "tool", "note", "note", "note"]
    _, text, tool, warning, escalation, error = last["parts"]
    assert text["text"] == "It adds two numbers."
    assert (tool["title"], tool["status"], tool["result"]) == ("Read app.py", "completed", "def add(a, b):")
    assert (warning["level"], warning["remedy"]) == ("warning", "Open it and ask again.")
    assert escalation["remedy"] == "claude (sonnet) could be asked."
    assert (error["level"], error["remedy"]) == ("error", "Start Ollama.")


def test_an_event_of_a_newer_server_changes_nothing(neovim_program: Path, tmp_path: Path) -> None:
    first, second = lua(neovim_program, tmp_path, REDUCE, [SAMPLES["events"][0], {"type": "dance", "text": "!"}])
    assert first == second


def test_a_later_tool_call_takes_the_place_of_the_one_with_its_id(neovim_program: Path, tmp_path: Path) -> None:
    call = next(event for event in SAMPLES["events"] if event["type"] == "toolCall")
    text = {"type": "text", "text": "So."}
    pending = {key: value for key, value in call.items() if key != "result"} | {"status": "pending"}
    *_, last = lua(neovim_program, tmp_path, REDUCE, [pending, {**pending, "id": "other"}, text, call])
    assert [(part["type"], part.get("id"), part.get("status")) for part in last["parts"]] == [
        ("tool", call["id"], "completed"),
        ("tool", "other", "pending"),
        ("text", None, None),
    ]


JOIN = """
local reducer = require("ollm.reducer")
local function all(events)
  local state = reducer.new()
  for _, event in ipairs(events) do state = reducer.reduce(state, event) end
  return state
end
return vim.tbl_map(function(events)
  return { all(events), all(reducer.joined(events)), #reducer.joined(events) }
end, given)
"""


def test_joining_deltas_changes_nothing_but_their_number(neovim_program: Path, tmp_path: Path) -> None:
    random = Random(1)
    kinds = [{"type": "text"}, {"type": "reasoning"}, *SAMPLES["events"]]
    cases = [
        [{**random.choice(kinds), "text": str(number)} for number in range(random.randrange(30))] for _ in range(200)
    ]
    for events, (plain, joined, count) in zip(cases, lua(neovim_program, tmp_path, JOIN, cases), strict=True):
        assert plain == joined
        pairs = pairwise(events)
        same = sum(one["type"] == two["type"] and one["type"] in {"text", "reasoning"} for one, two in pairs)
        assert count == len(events) - same


def test_a_kept_conversation_is_shown_along_its_newest_branch(neovim_program: Path, tmp_path: Path) -> None:
    code = """
        local reducer = require("ollm.reducer")
        return vim.tbl_map(function(one) return { one.id, reducer.kept(one, given.id) } end, reducer.branch(given))"""
    shown = lua(neovim_program, tmp_path, code, SAMPLES["results"]["ollm/chat/get"])
    assert [number for number, _ in shown] == ["f00d", "cafe"]
    state = shown[0][1]
    assert [part["type"] for part in state["parts"]] == ["reasoning", "tool", "text"]
    assert (state["parts"][1]["result"], state["parts"][1]["status"]) == ("a + b", "completed")
    assert (state["reason"], state["usage"]["inputTokens"]) == ("stop", 120)


def test_status_and_context_of_the_samples_are_told(neovim_program: Path, tmp_path: Path) -> None:
    code = """
        return {
          require("ollm.status").words(given.notifications["ollm/status"]),
          require("ollm.preview").text(given.results["ollm/context/preview"]),
        }"""
    status, preview = lua(neovim_program, tmp_path, code, SAMPLES)
    assert status == "● ollama:qwen2.5-coder:7b 0.1k/33k $1.25"
    assert preview.startswith("# ollama:qwen2.5-coder:7b: about 32 of 32768 tokens\n")
    assert "## selection /project/app.py · 14 tokens · selected\n\napp.py (selection from line 4):" in preview
    assert "> other.py is not open in the editor. Open it and ask again." in preview


def test_providers_and_releases_of_the_samples_are_told(neovim_program: Path, tmp_path: Path) -> None:
    code = """
        local overview = require("ollm.overview")
        return { overview.status(given["ollm/kraken/status"]), overview.history(given["ollm/kraken/history"]) }"""
    status, history = lua(neovim_program, tmp_path, code, SAMPLES["results"])
    assert status.splitlines() == [
        "# Kraken: ready",
        "",
        "- **claude** (sonnet): ready",
        "- **codex** (gpt-5-codex): You are not logged in. Run: codex login",
        "",
        "Spent: $1.25; $8.25 are left",
    ]
    assert history.splitlines()[-2:] == [
        "| 2026-01-02T03:04 | claude (sonnet) | 1200 → 340 | $1.25 |  |",
        "| 2026-01-02T03:04 | claude (sonnet) | 0 → 0 | at most $0.0001 | timeout |",
    ]


ANSWER = """
local permission, answer = require("ollm.permission"), nil
coroutine.wrap(function()
  answer = require("ollm.incoming").handlers["ollm/permission"](nil, given.params, { client_id = 1 })
end)()
vim.wait(100000, function() return #vim.api.nvim_list_bufs() > 1 or vim.fn.maparg("gA", "n") ~= "" end, 10)
permission.reject(given.result.feedback)
vim.wait(100000, function() return answer ~= nil end, 10)
return answer
"""


@pytest.mark.prop("lsp-4")
def test_the_sample_question_is_answered_as_the_sample_says(neovim_program: Path, tmp_path: Path) -> None:
    sample = SAMPLES["asked"]["ollm/permission"]
    assert lua(neovim_program, tmp_path, ANSWER, sample) == sample["result"]


WITHDRAW = """
local handlers, answers = require("ollm.incoming").handlers, {}
for client_id = 1, 2 do
  coroutine.wrap(function()
    answers[client_id] = handlers["ollm/permission"](nil, given.params, { client_id = client_id })
  end)()
end
local permission, told = require("ollm.permission"), {}
vim.wait(100000, permission.is_shown, 10)
local function cancel(client_id, id)
  handlers["$/cancelRequest"](nil, { id = id }, { client_id = client_id })
  vim.wait(100000, function() return answers[client_id] ~= nil end, 10)
  table.insert(told, vim.tbl_count(answers))
end
vim.wait = given.is_known and vim.wait or function() end
cancel(2, given.is_known and given.params.id or "other")
table.insert(told, answers[1] == nil and permission.is_asking())
return told
"""


@pytest.mark.prop("lsp-4")
@pytest.mark.parametrize("is_known", [True, False])
def test_a_withdrawn_question_is_the_one_of_that_server_with_that_id(
    is_known: bool, neovim_program: Path, tmp_path: Path
) -> None:
    given = {**SAMPLES["asked"]["ollm/permission"], "is_known": is_known}
    assert lua(neovim_program, tmp_path, WITHDRAW, given) == [int(is_known), True]


FOUND = """
vim.cmd.edit(vim.uri_to_fname(given.params.uri))
vim.api.nvim_buf_set_lines(0, 0, -1, false, { "", "", "import os" })
local mine = { lnum = 0, col = 0, severity = 3, source = "ollm", message = "A comment for the model." }
local other = { lnum = 2, col = 0, end_lnum = 2, end_col = 5, severity = 2, source = "ruff", code = "F401" }
other.message = "os is imported but unused"
vim.diagnostic.set(vim.api.nvim_create_namespace("test"), 0, { mine, other })
return require("ollm.incoming").handlers["ollm/diagnostics"](nil, given.params, {})
"""


def test_diagnostics_are_told_as_in_the_sample(neovim_program: Path, tmp_path: Path) -> None:
    sample = SAMPLES["asked"]["ollm/diagnostics"]
    assert lua(neovim_program, tmp_path, FOUND, sample) == sample["result"]


HUNKS = """
local hunks = require("ollm.hunks")
return vim.tbl_map(function(pair)
  local found = hunks.between(pair[1], pair[2])
  local first = { found[1] }
  return { hunks.applied(pair[1], found), hunks.applied(pair[1], {}), #found, hunks.applied(pair[1], first) }
end, given)
"""


@pytest.mark.prop("lsp-4")
def test_all_hunks_make_the_new_text_and_none_the_old_one(neovim_program: Path, tmp_path: Path) -> None:
    random = Random(2)
    pairs = [[random.choices("abc", k=random.randrange(1, 9)) for _ in range(2)] for _ in range(300)]
    for (old, new), (made, kept, count, part) in zip(pairs, lua(neovim_program, tmp_path, HUNKS, pairs), strict=True):
        assert made == new
        assert kept == old
        assert (count == 0) == (old == new)
        if count == 1:
            assert part == new
        if count > 1:
            assert part not in (old, new)


def test_what_cannot_be_seen_is_spelt_out_as_the_server_does_it(neovim_program: Path, tmp_path: Path) -> None:
    code = 'return vim.tbl_map(require("ollm.visible").line, given)'
    letters = [chr(number) for number in range(1, 0x3100) if chr(number) != "\n"]
    letters += [chr(number) for number in (0xE000, 0xFE0F, 0xFEFF, 0xFFA0, 0xE0001, 0xE0100, 0x1F600, 0x4E00, 0x1D173)]
    shown = lua(neovim_program, tmp_path, code, letters)
    # Letters that Unicode has not given out yet differ with its version.
    wrong = {
        hex(ord(letter)): (here, visible(letter))
        for letter, here in zip(letters, shown, strict=True)
        if here != visible(letter) and is_given_out(letter)
    }
    assert wrong == {}
    assert lua(neovim_program, tmp_path, code, ["a\u202eb\tc", "plain"]) == ["a⟨U+202E⟩b\tc", "plain"]


def is_given_out(letter: str) -> bool:
    return category(letter) != "Cn"


def test_a_document_is_not_taken_for_one_with_a_longer_name(neovim_program: Path, tmp_path: Path) -> None:
    sample = SAMPLES["asked"]["ollm/diagnostics"]
    other = {"params": {"uri": f"{sample['params']['uri']}i"}}
    code = FOUND.replace("nil, given.params, {}", f"nil, {{ uri = '{sample['params']['uri']}' }}, {{}}")
    assert lua(neovim_program, tmp_path, code, other) == {"diagnostics": []}


def test_the_help_has_every_subcommand_key_and_option(neovim_program: Path, tmp_path: Path) -> None:
    code = """
        local keys = vim.tbl_map(function(one) return { one[1], one[2] } end, require("ollm.keymaps").all)
        return { vim.tbl_keys(require("ollm.commands").all), keys, require("ollm.options").current }"""
    names, keys, options = lua(neovim_program, tmp_path, code, [])
    text = (PLUGIN / "doc" / "ollm.txt").read_text(encoding="utf-8")
    assert [name for name in names if f":Ollm {name}" not in text] == []
    assert [key for name, key in keys if f"<leader>a{key}" not in text or f"<Plug>(ollm-{name})" not in text] == []
    flat = {**options, **options["chat"], **options["chat_keys"], **options["review_keys"]}
    told = [value for value in flat.items() if isinstance(value[1], str)]
    assert [name for name, value in told if f'{name} = "{value}"' not in text] == []


COMPLETE = """
local commands = require("ollm.commands")
return vim.tbl_map(function(line) return commands.complete(line:match("%S*$"), line) end, given)
"""


def test_subcommands_are_completed(neovim_program: Path, tmp_path: Path) -> None:
    given = ["Ollm ex", "'<,'>Ollm e", "Ollm kraken ", "Ollm kraken st", "Ollm kraken status ", "Ollm chat x"]
    assert lua(neovim_program, tmp_path, COMPLETE, given) == [
        ["explain"],
        ["edit", "explain"],
        ["config", "history", "status"],
        ["status"],
        [],
        [],
    ]
