"""Discovery on all three platforms, each tried by a file system of its own."""

from __future__ import annotations

import ntpath
import posixpath
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from ollm_lsp.providers.agents.catalogue import AGENTS
from ollm_lsp.providers.agents.claude import CLAUDE
from ollm_lsp.providers.agents.codex import CODEX
from ollm_lsp.providers.agents.description import Platform
from ollm_lsp.providers.agents.discovery import PLACES, Program, System, discover, is_batch, is_safe_for_batch
from ollm_lsp.providers.agents.gemini import GEMINI

if TYPE_CHECKING:
    from ollm_lsp.providers.agents.description import Description

HOME = "/home/ann"
NVM = f"{HOME}/.nvm/versions/node"
WINDOWS = {
    "Path": "C:\\Windows\\System32",
    "USERPROFILE": "C:\\Users\\Ann",
    "AppData": "C:\\Users\\Ann\\AppData\\Roaming",
    "LOCALAPPDATA": "C:\\Users\\Ann\\AppData\\Local",
    "ProgramFiles": "C:\\Program Files",
}
NPM = "C:\\Users\\Ann\\AppData\\Roaming\\npm"


@dataclass
class Disk:
    """Programs by their paths, and links."""

    programs: set[str]
    links: dict[str, str] = field(default_factory=dict[str, str])

    def is_program(self, path: str) -> bool:
        return path in self.programs

    def real(self, path: str) -> str:
        for link, target in self.links.items():
            if path == link or path.startswith(f"{link}/"):
                return target + path.removeprefix(link)
        return path

    def names(self, folder: str) -> list[str]:
        sep = "\\" if "\\" in folder else "/"
        below = (path.removeprefix(folder + sep) for path in self.programs if path.startswith(folder + sep))
        return sorted({path.partition(sep)[0] for path in below})


def linux(*programs: str, path: str = "/usr/bin:/bin", **links: str) -> System:
    return System(Platform.LINUX, {"PATH": path, "HOME": HOME}, Disk(set(programs), links))


def macos(*programs: str, path: str = "/usr/bin:/bin") -> System:
    return System(Platform.MACOS, {"PATH": path, "HOME": "/Users/ann"}, Disk(set(programs)))


def windows(*programs: str, **environment: str) -> System:
    return System(Platform.WINDOWS, {**WINDOWS, **environment}, Disk(set(programs)))


def path_of(found: Program | None) -> str | None:
    return found.path if found else None


@pytest.mark.prop("krk-43")
@pytest.mark.parametrize(
    "place",
    [
        f"{HOME}/.local/bin/claude",
        f"{HOME}/.claude/local/claude",
        f"{HOME}/.npm-global/bin/claude",
        f"{NVM}/v22.1.0/bin/claude",
        "/usr/local/bin/claude",
        "/home/linuxbrew/.linuxbrew/bin/claude",
    ],
)
def test_on_linux_the_usual_places_are_looked_at_when_the_path_is_bare(place: str) -> None:
    assert path_of(discover(CLAUDE, linux(place), ["/work"])) == place


@pytest.mark.prop("krk-44")
@pytest.mark.parametrize(
    ("agent", "place"),
    [
        (CLAUDE, "/opt/homebrew/bin/claude"),
        (GEMINI, "/usr/local/bin/gemini"),
        (GEMINI, "/opt/local/bin/gemini"),
        (CODEX, "/Applications/Codex.app/Contents/Resources/codex"),
        (CODEX, "/Users/ann/.nvm/versions/node/v20.0.0/bin/codex"),
    ],
)
def test_on_macos_the_usual_places_are_looked_at(agent: Description, place: str) -> None:
    assert path_of(discover(agent, macos(place), ["/work"])) == place


@pytest.mark.prop("krk-45")
@pytest.mark.parametrize(
    ("agent", "place"),
    [
        (CLAUDE, "C:\\Users\\Ann\\.local\\bin\\claude.exe"),
        (CLAUDE, f"{NPM}\\claude.cmd"),
        (GEMINI, f"{NPM}\\gemini.cmd"),
        (CODEX, "C:\\Users\\Ann\\AppData\\Local\\Programs\\OpenAI\\Codex\\bin\\codex.exe"),
        (CODEX, "C:\\Users\\Ann\\AppData\\Local\\OpenAI\\Codex\\bin\\codex.exe"),
    ],
)
def test_on_windows_programs_and_batch_files_are_found(agent: Description, place: str) -> None:
    found = discover(agent, windows(place), ["D:\\work"])
    assert found == Program(place, (ntpath.dirname(place), "C:\\Windows\\System32"))


@pytest.mark.prop("krk-45")
def test_on_windows_the_path_is_split_at_semicolons_and_a_program_goes_before_a_batch_file() -> None:
    system = windows("E:\\a b\\codex.cmd", "E:\\a b\\codex.exe", Path="relative;E:\\a b;\\rooted;E:")
    assert path_of(discover(CODEX, system, [])) == "E:\\a b\\codex.exe"
    assert path_of(discover(CODEX, windows("\\rooted\\codex.exe", Path="\\rooted"), [])) is None
    assert path_of(discover(CODEX, windows("E:codex.exe", Path="E:"), [])) is None


@pytest.mark.prop("krk-43")
def test_the_path_goes_before_the_usual_places_and_the_settings_before_both() -> None:
    system = linux("/b/claude", "/a/claude", f"{HOME}/.local/bin/claude", "/opt/own", path="/b:/a")
    assert path_of(discover(CLAUDE, system, [])) == "/b/claude"
    assert path_of(discover(CLAUDE, system, [], "/opt/own")) == "/opt/own"
    assert discover(CLAUDE, system, [], "/opt/missing") is None  # and no other instead
    assert discover(CLAUDE, system, [], "own") is None


def test_the_newest_node_counts() -> None:
    system = linux(*(f"{NVM}/{version}/bin/gemini" for version in ("v9.1.0", "v22.10.1", "v22.9.0")))
    assert path_of(discover(GEMINI, system, [])) == f"{NVM}/v22.10.1/bin/gemini"


def test_a_script_finds_the_node_beside_it() -> None:
    found = discover(GEMINI, linux(f"{NVM}/v22.1.0/bin/gemini", path="/usr/bin:bin:.:/work/bin:/usr/bin"), ["/work"])
    assert found == Program(f"{NVM}/v22.1.0/bin/gemini", (f"{NVM}/v22.1.0/bin", "/usr/bin"))


@pytest.mark.threat("T5")
@pytest.mark.prop("krk-43")
@pytest.mark.parametrize("path", ["", ".", "bin", "./bin", "../bin", "~/bin", "/work", "/work/bin", "/work/../work/x"])
def test_a_program_of_the_workspace_or_at_a_relative_place_is_never_taken(path: str) -> None:
    """Threat T5."""
    system = linux(*(posixpath.join(path, tool) for tool in AGENTS), path=path)
    assert all(discover(agent, system, ["/work"]) is None for agent in AGENTS.values())
    assert all(
        discover(agent, system, ["/work"], posixpath.join(path, agent.command)) is None for agent in AGENTS.values()
    )


@pytest.mark.threat("T5")
def test_links_into_and_out_of_the_workspace_do_not_help() -> None:
    into = linux("/home/ann/bin/claude", path="/home/ann/bin")
    into = replace(into, files=Disk({"/home/ann/bin/claude"}, {"/home/ann/bin/claude": "/work/evil"}))
    assert discover(CLAUDE, into, ["/work"]) is None
    linked = replace(into, files=Disk({"/home/ann/bin/claude"}, {"/work": "/home/ann"}))
    assert discover(CLAUDE, linked, ["/work"]) is None
    assert path_of(discover(CLAUDE, linked, ["/workshop"])) == "/home/ann/bin/claude"


@pytest.mark.threat("T9")
@pytest.mark.prop("krk-44")
@pytest.mark.prop("krk-45")
def test_another_spelling_of_the_workspace_is_the_workspace() -> None:
    assert discover(CLAUDE, macos("/Users/Ann/Work/claude", path="/Users/Ann/Work"), ["/users/ann/work"]) is None
    hidden = windows("d:\\WORK\\bin\\claude.exe", Path="d:\\WORK\\bin")
    assert discover(CLAUDE, hidden, ["D:/work"]) is None


def test_every_place_is_absolute_and_names_only_variables_that_lead_home() -> None:
    for platform, places in PLACES.items():
        system = windows() if platform is Platform.WINDOWS else linux()
        for place in (*places, *(place for agent in AGENTS.values() for place in agent.places.get(platform, ()))):
            assert place.startswith(
                ("/", "{HOME}/", "{USERPROFILE}\\", "{APPDATA}\\", "{LOCALAPPDATA}\\", "{PROGRAMFILES}\\")
            )
            assert place.count("*") <= 1
            assert ("\\" in place) == (system.platform is Platform.WINDOWS)


def test_a_missing_variable_leaves_its_places_out() -> None:
    system = System(Platform.LINUX, {"PATH": ""}, Disk({"/.local/bin/claude", "/usr/bin/claude"}))
    assert path_of(discover(CLAUDE, system, [])) == "/usr/bin/claude"


@pytest.mark.threat("T15")
@pytest.mark.prop("krk-45")
def test_arguments_that_a_batch_file_would_misread_are_known() -> None:
    assert is_batch("C:\\npm\\Gemini.CMD")
    assert not is_batch("C:\\npm\\gemini.exe")
    assert all(map(is_safe_for_batch, ["C:\\Users\\Ann Lee\\my-work (1)", "a'b", ""]))
    assert not any(map(is_safe_for_batch, ["a&b", "%PATH%", 'a"b', "a|b", "a^b", "a>b", "a\nb", "!x!"]))
    for agent in AGENTS.values():
        argv = agent.argv("sonnet", folder="C:\\work")
        assert all(map(is_safe_for_batch, argv))
