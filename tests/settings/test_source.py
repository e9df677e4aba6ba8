"""The source of settings: files and editor together, read again when they change."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ollm_lsp.core.model import ModelId
from ollm_lsp.settings import yaml_file
from ollm_lsp.settings.defaults import default_settings
from ollm_lsp.settings.layers import Layer, Resolution
from ollm_lsp.settings.resolve import resolve
from ollm_lsp.settings.source import SettingsSource, user_file_path

OLD_NS = 1_500_000_000_000_000_000


@pytest.fixture
def user_file(tmp_path: Path) -> Path:
    return tmp_path / "home" / ".ollm" / "config.yaml"


@pytest.fixture
def source(user_file: Path) -> SettingsSource:
    return SettingsSource(user_file, embedded_available=False)


def write(file: Path, text: str, *, age: int | None = None) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    if age is not None:
        os.utime(file, ns=(OLD_NS + age, OLD_NS + age))


def model(source: SettingsSource) -> str:
    return str(source.current().settings.model)


def messages(source: SettingsSource) -> list[str]:
    return [problem.message for problem in source.current().problems]


@pytest.mark.prop("krk-40")
@pytest.mark.parametrize("embedded", [False, True])
def test_a_missing_file_gives_the_defaults(user_file: Path, embedded: bool) -> None:
    source = SettingsSource(user_file, embedded_available=embedded)
    assert source.current() == Resolution(default_settings(embedded_available=embedded))
    assert source.current() == resolve(Layer("x", {}), embedded_available=embedded)


@pytest.mark.prop("krk-40")
def test_a_file_that_is_empty_while_it_is_written_does_not_bring_the_defaults(
    source: SettingsSource, user_file: Path
) -> None:
    write(user_file, "model: ollama:mine\n")
    assert model(source) == "ollama:mine"
    write(user_file, "")
    assert model(source) == "ollama:mine"
    write(user_file, "model: ollama:other\n")
    assert model(source) == "ollama:other"
    write(user_file, "", age=1)
    assert model(source) == "ollama:qwen2.5-coder:7b", "whoever leaves it empty means it"


@pytest.mark.prop("krk-40")
def test_a_file_that_is_emptied_between_the_look_at_it_and_the_reading_does_not_bring_the_defaults(
    source: SettingsSource, user_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(user_file, "model: ollama:mine\n")
    assert model(source) == "ollama:mine"
    write(user_file, "model: ollama:other\n", age=1)
    whole = yaml_file.read

    def read(path: Path) -> str:
        write(user_file, "")
        return whole(path)

    monkeypatch.setattr(yaml_file, "read", read)
    assert model(source) == "ollama:mine"


@pytest.mark.prop("krk-40")
def test_a_file_that_is_empty_and_still_has_the_time_of_its_text_does_not_bring_the_defaults(
    source: SettingsSource, user_file: Path
) -> None:
    write(user_file, "model: ollama:mine\n", age=1)
    assert model(source) == "ollama:mine"
    write(user_file, "", age=1)
    assert model(source) == "ollama:mine"
    write(user_file, "", age=2)
    assert model(source) == "ollama:qwen2.5-coder:7b"


@pytest.mark.prop("krk-40")
def test_a_changed_file_counts_at_the_next_use(source: SettingsSource, user_file: Path) -> None:
    assert model(source) == "ollama:qwen2.5-coder:7b"
    for name in ("aaa", "bbb", "ccc"):
        write(user_file, f"model: ollama:{name}\n")
        assert model(source) == f"ollama:{name}"
    user_file.unlink()
    assert model(source) == "ollama:qwen2.5-coder:7b"


def test_a_file_that_did_not_change_is_not_read_again(
    source: SettingsSource, user_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(user_file, "model: ollama:a\n", age=0)
    first = source.current()

    def no_reading(*_: object) -> int:
        raise AssertionError

    monkeypatch.setattr(os, "open", no_reading)
    assert source.current() is first


@pytest.mark.parametrize("what", ["time", "size", "inode"])
def test_each_part_of_the_signature_tells_a_change(source: SettingsSource, user_file: Path, what: str) -> None:
    write(user_file, "model: ollama:a\n", age=0)
    assert model(source) == "ollama:a"
    if what == "inode":
        other = user_file.with_name("other")
        write(other, "model: ollama:b\n", age=0)
        other.replace(user_file)
    else:
        write(user_file, "model: ollama:b\n" if what == "time" else "model: ollama:b \n", age=what == "time")
    assert model(source) == "ollama:b"


def test_a_recent_file_is_read_again_even_if_its_signature_is_the_same(source: SettingsSource, user_file: Path) -> None:
    write(user_file, "model: ollama:a\n")
    assert model(source) == "ollama:a"
    status = user_file.stat()
    write(user_file, "model: ollama:b\n")
    os.utime(user_file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert model(source) == "ollama:b"


def test_the_same_words_give_the_same_resolution(source: SettingsSource, user_file: Path) -> None:
    write(user_file, "model: ollama:a\n", age=0)
    first = source.current()
    os.utime(user_file)
    assert source.current() is first


@pytest.mark.prop("krk-38")
def test_a_broken_file_gives_the_defaults_and_one_problem_with_its_line_until_it_is_mended(
    source: SettingsSource, user_file: Path
) -> None:
    write(user_file, "model: ollama:a\nchat: b: c\n", age=0)
    resolution = source.current()
    assert resolution.settings == default_settings(embedded_available=False)
    (problem,) = resolution.problems
    assert problem.line == 2
    assert problem.source == str(user_file)
    assert f"{user_file}, line 2: This is not valid YAML" in str(problem)
    assert source.current() is resolution
    write(user_file, "model: ollama:a\n", age=1)
    assert source.current().problems == ()
    assert model(source) == "ollama:a"


def test_what_could_not_be_read_is_tried_again(
    source: SettingsSource, user_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(user_file, "model: ollama:a\n", age=0)

    def denied(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", denied)
        assert messages(source) == ["The file cannot be read: Permission denied."]
        assert source.current() is source.current()
    assert model(source) == "ollama:a"
    assert messages(source) == []


def test_a_directory_in_place_of_a_file_is_a_problem(source: SettingsSource, user_file: Path, tmp_path: Path) -> None:
    user_file.mkdir(parents=True)
    (tmp_path / "folder/.ollm/config.yaml").mkdir(parents=True)
    source.set_folders([tmp_path / "folder"])
    assert messages(source) == ["This is not a regular file."] * 2
    assert {problem.source for problem in source.current().problems} == {
        str(user_file),
        "workspace .ollm/config.yaml",
    }


def test_a_file_in_place_of_the_directory_is_no_settings(source: SettingsSource, tmp_path: Path) -> None:
    write(tmp_path / "folder/.ollm", "model: x\n")
    source.set_folders([tmp_path / "folder"])
    assert source.current().problems == ()


@pytest.mark.threat("F37")
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs POSIX")
def test_a_pipe_in_a_workspace_does_not_hang_the_server(source: SettingsSource, tmp_path: Path) -> None:
    (tmp_path / "folder/.ollm").mkdir(parents=True)
    os.mkfifo(tmp_path / "folder/.ollm/config.yaml")
    source.set_folders([tmp_path / "folder"])
    assert messages(source) == ["This is not a regular file."]


def test_the_editor_and_the_folders_narrow_the_users_file(
    source: SettingsSource, user_file: Path, tmp_path: Path
) -> None:
    write(user_file, "context: {exclude: ['*.user']}\n")
    write(tmp_path / "one/.ollm/config.yaml", "model: ollama:one\ncontext: {exclude: ['*.one']}\n")
    write(tmp_path / "two/.ollm/config.yaml", "model: ollama:two\nproviders: {ollama: {baseUrl: 'http://evil'}}\n")
    source.set_editor({"model": "ollama:editor", "context": {"exclude": ["*.editor"]}})
    assert model(source) == "ollama:editor"
    source.set_folders([tmp_path / "one", tmp_path / "two"])
    settings = source.current().settings
    assert settings.model == ModelId("ollama", "one")
    assert settings.context.exclude == ("*.user", "*.editor", "*.one")
    assert settings.providers == default_settings(embedded_available=False).providers
    (problem,) = source.current().problems
    assert (problem.source, problem.key) == ("workspace two/.ollm/config.yaml", "providers.ollama.baseUrl")
    assert str(user_file) in problem.remedy
    source.set_folders([])
    source.set_editor(None)
    assert model(source) == "ollama:qwen2.5-coder:7b"


def test_a_folders_file_is_read_again_too(source: SettingsSource, tmp_path: Path) -> None:
    source.set_folders([tmp_path / "one"])
    assert source.current().problems == ()
    write(tmp_path / "one/.ollm/config.yaml", "model: ollama:one\n")
    assert model(source) == "ollama:one"


@pytest.mark.parametrize("section", [5, [], "model", [{"a": 1}], True])
def test_an_editor_section_of_any_kind_is_a_problem_at_most(source: SettingsSource, section: object) -> None:
    source.set_editor(section)
    assert source.current().settings == default_settings(embedded_available=False)
    assert [problem.source for problem in source.current().problems] == ["editor settings"]


@pytest.mark.threat("T1")
def test_the_home_directory_as_workspace_does_not_make_the_users_file_a_workspaces(
    source: SettingsSource, user_file: Path
) -> None:
    write(user_file, "providers: {x: {type: ollama}}\n")
    source.set_folders([user_file.parent.parent])
    assert source.current().problems == ()
    assert "x" in source.current().settings.providers


def test_the_users_file_is_shown_with_a_tilde(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    write(tmp_path / ".ollm/config.yaml", "nonsense: 1\n")
    source = SettingsSource(user_file_path({}, tmp_path), embedded_available=False)
    assert source.current().problems[0].source == "~/.ollm/config.yaml"


def test_the_users_file_is_in_the_home_directory_or_where_the_environment_says() -> None:
    home = Path("/home/me")
    assert user_file_path({}, home) == home / ".ollm/config.yaml"
    assert user_file_path({"OLLM_CONFIG": " "}, home) == home / ".ollm/config.yaml"
    assert user_file_path({"OLLM_CONFIG": "/etc/ollm.yaml"}, home) == Path("/etc/ollm.yaml")
    assert user_file_path({"OLLM_CONFIG": "~/other.yaml"}, home) == home / "other.yaml"
    assert user_file_path({"OLLM_CONFIG": "other.yaml"}, home) == home / "other.yaml"


def test_a_start_without_settings_imports_neither_pydantic_nor_yaml(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from ollm_lsp.settings import resolved, secrets, problems, layers;"
        "from ollm_lsp.settings.source import SettingsSource;"
        f"source = SettingsSource(Path({str(tmp_path)!r}) / 'none', embedded_available=True);"
        f"source.set_folders([Path({str(tmp_path)!r})]); source.set_editor({{}}); source.current();"
        "print(*{'pydantic', 'yaml', 'keyring'} & set(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == ""
