"""How the Neovim plugin is installed, set up and documented, in real Neovims started as users start them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.editors.neovim import NO_SEARCH, PLUGIN
from tests.editors.scene import NAME, TEXT
from tests.editors.user import ROOT, User
from tests.support.pages import fences

if TYPE_CHECKING:
    from pathlib import Path

SNIPPETS = fences(PLUGIN / "README.md", "lua")
ADDRESS = "https://example.org/ollm-lsp.git"
HELP = PLUGIN / "doc" / "ollm.txt"
# The server has answered `initialize`, the command is there, and so are the keys.
WORKS = """
local function client()
  local one = vim.lsp.get_clients({ name = "ollm_lsp", bufnr = 0 })[1]
  return one and one.initialized
end
return { vim.wait(100000, client, 50), vim.fn.exists(":Ollm"), vim.fn.maparg("<leader>ae", "n") }
"""


def user_with(folder: Path, init: str) -> User:
    """A user whose whole configuration that is; no model is needed."""
    user = User.new(folder, 'model: "ollama:none"\n')
    (user.project / NAME).write_text(TEXT, encoding="utf-8")
    (user.config / "nvim").mkdir(parents=True)
    (user.config / "nvim" / "init.lua").write_text(init, encoding="utf-8")
    (user.folder / "home" / "ollm-lsp").symlink_to(ROOT)
    return user


def environment(user: User) -> dict[str, str]:
    """All as it is where nobody has said anything else."""
    return {name: value for name, value in user.environment().items() if name != "XDG_DATA_HOME"}


def run(*command: str | Path, **more: Any) -> None:
    subprocess.run(command, check=True, timeout=100, **more)


def in_neovim(program: Path, user: User, code: str) -> Any:
    """What the code returns in a Neovim that the user has started with a file."""
    script = user.folder / "run.lua"
    script.write_text(f"local function run() {code} end\nio.stdout:write(vim.json.encode(run()))\nvim.cmd('qall!')\n")
    command = [program, "--headless", "--cmd", NO_SEARCH, "-i", "NONE", NAME, "-c", f"luafile {script}"]
    done = subprocess.run(
        command, cwd=user.project, env=environment(user), capture_output=True, check=False, timeout=300, text=True
    )
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def test_linked_into_a_folder_of_packages_it_works(neovim_program: Path, tmp_path: Path) -> None:
    user = user_with(tmp_path, 'require("ollm").setup({ keymaps = true })')
    (by_hand,) = (lines for lines in fences(PLUGIN / "README.md", "sh") if "pack/ollm/start" in lines)
    run("sh", "-ec", by_hand, env=environment(user))
    assert in_neovim(neovim_program, user, WORKS) == [True, 2, "<Plug>(ollm-explain)"]


def test_fetched_by_the_package_manager_of_neovim_it_works(neovim_program: Path, tmp_path: Path) -> None:
    (snippet,) = (lines for lines in SNIPPETS if "vim.pack" in lines)
    repository = tmp_path / "origin" / "ollm-lsp.git"
    shutil.copytree(PLUGIN, repository / "editors" / "neovim")
    for command in ("init -q", "add .", "-c user.name=u -c user.email=u@example.org commit -q -m All"):
        run("git", "-C", repository, *command.split())
    # Nobody is there to confirm the first fetch.
    confirmed = "vim.fn.confirm = function() return 1 end\n"
    init = confirmed + snippet.replace(ADDRESS, repository.as_uri())
    user = user_with(tmp_path / "user", init)
    if not in_neovim(neovim_program, user_with(tmp_path / "plain", ""), "return vim.pack ~= nil"):
        pytest.skip("this Neovim has no vim.pack yet, and the README says so")
    assert in_neovim(neovim_program, user, WORKS) == [True, 2, "<Plug>(ollm-explain)"]


def test_enabled_as_any_server_it_works_without_setup_and_without_keys(neovim_program: Path, tmp_path: Path) -> None:
    init = f"{SNIPPETS[0].splitlines()[0]}\nif vim.lsp.enable then vim.lsp.enable('ollm_lsp') end"
    user = user_with(tmp_path, init)
    if not in_neovim(neovim_program, user, "return vim.lsp.enable ~= nil"):
        pytest.skip("this Neovim has no vim.lsp.enable yet, and the README says so")
    assert in_neovim(neovim_program, user, WORKS) == [True, 2, ""]


def test_another_command_for_the_server_is_an_option_that_the_check_knows(neovim_program: Path, tmp_path: Path) -> None:
    path = SNIPPETS[0].splitlines()[0]
    server = tmp_path / "elsewhere"
    user = user_with(
        tmp_path / "user", f"{path}\nrequire('ollm').setup({{ server = {{ cmd = {{ 'sh', '{server}' }} }} }})"
    )
    start = (user.folder / "bin" / "ollm-lsp").rename(server)
    doctor = f'case "$1" in --version|doctor) exec {sys.executable} -m ollm_lsp "$@";; esac\n'
    start.write_text(start.read_text().replace("PYTHONPATH", f"{doctor}PYTHONPATH", 1))
    code = f"""
        local works = (function() {WORKS} end)()
        vim.cmd("checkhealth ollm")
        return {{ works[1], table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\\n") }}"""
    works, health = in_neovim(neovim_program, user, code)
    assert works
    assert "OK ollm-lsp " in health
    assert "ollama: " in health


def test_added_to_a_neovim_that_runs_it_has_its_command_and_its_keys(neovim_program: Path, tmp_path: Path) -> None:
    code = f"""
        {SNIPPETS[0].splitlines()[0]}
        require("ollm").setup({{ keymaps = true }})
        return {{ vim.fn.exists(":Ollm"), vim.fn.maparg("<Plug>(ollm-explain)", "n") }}"""
    assert in_neovim(neovim_program, user_with(tmp_path, ""), code) == [2, "<Cmd>Ollm explain<CR>"]


def test_after_the_five_lines_there_is_help(neovim_program: Path, tmp_path: Path) -> None:
    user = user_with(tmp_path, SNIPPETS[0])
    code = 'vim.cmd.help("ollm") return { vim.fn.expand("%:t"), vim.fn.getline(".") }'
    page, line = in_neovim(neovim_program, user, code)
    assert page == "ollm.txt"
    assert line.endswith("*ollm*")


def test_a_server_that_is_reached_by_a_function_is_started_anew_as_well(neovim_program: Path, tmp_path: Path) -> None:
    init = f"""
        {SNIPPETS[0].splitlines()[0]}
        if vim.lsp.config then
          local function reach(dispatchers) return vim.lsp.rpc.start({{ "ollm-lsp" }}, dispatchers) end
          vim.lsp.config("ollm_lsp", {{ cmd = reach }})
          vim.lsp.enable("ollm_lsp")
        end"""
    user = user_with(tmp_path, init)
    if not in_neovim(neovim_program, user, "return vim.lsp.config ~= nil"):
        pytest.skip("this Neovim has no vim.lsp.config yet, and the README says so")
    code = """
        local function id()
          local one = vim.lsp.get_clients({ name = "ollm_lsp", bufnr = 1 })[1]
          return one and one.initialized and one.id
        end
        vim.wait(100000, id, 50)
        local first = id()
        vim.cmd("Ollm restart")
        local is_new = vim.wait(100000, function() return id() and id() ~= first end, 50)
        vim.cmd("checkhealth ollm")
        return { is_new, table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\\n") }"""
    is_new, health = in_neovim(neovim_program, user, code)
    assert is_new
    assert "the server is reached by a function" in health
    assert "the server runs in" in health


def test_keys_are_set_if_wanted_and_no_key_of_the_user_is_taken(neovim_program: Path, tmp_path: Path) -> None:
    path = SNIPPETS[0].splitlines()[0]
    code = """
        local keys = vim.tbl_map(function(one) return one[2] end, require("ollm.keymaps").all)
        local function mapped(mode)
          return vim.tbl_map(function(key) return vim.fn.maparg("<leader>a" .. key, mode) end, keys)
        end
        return { mapped("n"), mapped("x"), vim.fn.maparg("<Plug>(ollm-fix)", "x"), vim.fn.maparg("<C-k>e", "n") }"""
    user = user_with(tmp_path / "one", f'{path}\nrequire("ollm").setup()')
    normal, visual, plug, _ = in_neovim(neovim_program, user, code)
    assert {*normal, *visual} == {""}
    assert plug == ":Ollm fix<CR>"
    mine = 'vim.keymap.set("n", "<leader>ac", "<Cmd>Mine<CR>")'
    user = user_with(tmp_path / "two", f'{path}\n{mine}\nrequire("ollm").setup({{ keymaps = true }})')
    normal, visual, _, _ = in_neovim(neovim_program, user, code)
    assert normal[0] == "<Cmd>Mine<CR>"
    assert all(name.startswith("<Plug>(ollm-") for name in normal[1:])
    assert visual[0] == "<Plug>(ollm-chat)"
    user = user_with(tmp_path / "three", f'{path}\nrequire("ollm").setup({{ keymaps = true, prefix = "<C-k>" }})')
    normal, _, _, other = in_neovim(neovim_program, user, code)
    assert ({*normal}, other) == ({""}, "<Plug>(ollm-explain)")


def test_the_help_is_built_and_all_its_links_lead_somewhere(neovim_program: Path, tmp_path: Path) -> None:
    text = HELP.read_text(encoding="utf-8")
    plugin = tmp_path / "plugin"
    shutil.copytree(PLUGIN, plugin, ignore=shutil.ignore_patterns("tags"))
    links = sorted({*re.findall(r"\|([^\s|]+)\|", text)})
    user = user_with(tmp_path / "user", f"vim.opt.runtimepath:append('{plugin}')")
    code = f"""
        vim.cmd.helptags("{plugin}/doc")
        local missing = vim.tbl_filter(function(name)
          return not vim.list_contains(vim.fn.getcompletion(name, "help"), name)
        end, vim.json.decode([==[{json.dumps(links)}]==]))
        vim.cmd.help("ollm")
        return {{ vim.v.errmsg, missing, vim.fn.expand("%:t"), vim.fn.getline(".") }}"""
    error, missing, page, line = in_neovim(neovim_program, user, code)
    assert (error, missing, page) == ("", [], "ollm.txt")
    assert line.endswith("*ollm*")
    tags = (plugin / "doc" / "tags").read_text(encoding="utf-8").splitlines()
    assert tags == (PLUGIN / "doc" / "tags").read_text(encoding="utf-8").splitlines(), (
        "run :helptags editors/neovim/doc"
    )
    assert len(tags) == len(re.findall(r"(?:^|\s)\*[^\s*]+\*(?=\s)", text))
    assert [line for line in text.splitlines() if len(line) > 78] == []


def test_all_lua_of_the_documentation_is_lua(neovim_program: Path, tmp_path: Path) -> None:
    pages = [*SNIPPETS, *re.findall(r" >lua\n\n(.*?)\n<", HELP.read_text(encoding="utf-8"), re.DOTALL)]
    (tmp_path / "pieces").write_text(json.dumps(pages), encoding="utf-8")
    user = user_with(tmp_path / "user", "")
    code = f"""
        return vim.tbl_filter(function(piece)
          return not (loadstring(piece) or loadstring("return " .. piece))
        end, vim.json.decode(io.open("{tmp_path}/pieces"):read("*a")))"""
    assert len(pages) > 7
    assert in_neovim(neovim_program, user, code) == []
