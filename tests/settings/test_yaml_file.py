"""Settings files: plain YAML or a problem with its line, never a hang, a bomb or a surprise."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ollm_lsp.settings import yaml_file
from ollm_lsp.settings.yaml_file import Unreadable, parse, read
from tests.settings.raw import patient


@pytest.fixture(params=["CSafeLoader", "SafeLoader"], autouse=True)
def either_loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_file, "_SafeLoader", getattr(yaml, request.param))


def test_plain_yaml_is_read() -> None:
    text = 'model: "ollama:x"\ncontext: {openBuffers: no, exclude: [a, "b"]}\ntimeouts:\n  idle: 1.5\n'
    assert parse(text) == {
        "model": "ollama:x",
        "context": {"openBuffers": False, "exclude": ["a", "b"]},
        "timeouts": {"idle": 1.5},
    }
    assert parse("") is None
    assert parse("# nothing\n") is None


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("model: x\nchat: {a: 1\nb: [\n", None, "not valid YAML"),
        ("a: 1\nb: c: d\n", 2, "mapping values are not allowed"),
        ("a: 1\n\tb: 2\n", 2, "not valid YAML"),
        ("a: 1\nb: 2\na: 3\n", 3, "twice"),
        ("p:\n  x: {k: 1,\n   'k': 2}\n", 3, "twice"),
        ("l:\n- {k: 1, k: 2}\n", 2, "twice"),
        ("a: &x 1\nb: *x\n", 2, "alias"),
        ("a: &x [*x]\n", 1, "alias"),
        ("a: 1\nb: !!python/object/apply:os.system ['id']\n", 2, "tag"),
        ("a: !!set {x}\n", 1, "tag"),
        ("a: 1\n---\nb: 2\n", None, "another document"),
        ("a: 2020-99-99\n", None, "date"),
        (f"a: {'9' * 5000}\n", None, "number"),
        ("a: \x01\n", None, "not valid YAML"),
        ("? [a]\n: 1\n", 1, "unhashable"),
        ("a: =\n", 1, "not valid YAML"),
        (f"a: {'[' * 40}{']' * 40}\n", 1, "deeply"),
    ],
)
def test_what_is_not_plain_yaml_is_refused_with_its_line(text: str, line: int | None, words: str) -> None:
    with pytest.raises(Unreadable, match=words) as refused:
        parse(text)
    if line is not None:
        assert refused.value.line == line
    assert refused.value.remedy


@pytest.mark.threat("T30")
def test_a_megabyte_of_brackets_is_refused_at_once() -> None:
    started = time.monotonic()
    with pytest.raises(Unreadable):
        parse("[" * 900_000)
    assert time.monotonic() - started < 5


@pytest.mark.threat("T30")
def test_a_bomb_of_aliases_does_not_go_off() -> None:
    bomb = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30))
    with pytest.raises(Unreadable, match="alias"):
        parse(bomb)


@pytest.mark.prop("krk-42")
def test_a_syntax_error_does_not_repeat_the_text_around_it() -> None:
    with pytest.raises(Unreadable) as refused:
        parse("apiKey: CANARY-99: CANARY-98\n")
    assert "CANARY" not in str(refused.value)


@patient
@given(st.text(st.sampled_from("ab:- \n[]{},&*!|>'\"#%@`?=<0123456789.\t~\x00\u2028e_xon"), max_size=40))
def test_any_text_is_a_value_or_unreadable(text: str) -> None:
    # The fixture cannot be used together with Hypothesis, hence both loaders here.
    for loader in (yaml.CSafeLoader, yaml.SafeLoader):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(yaml_file, "_SafeLoader", loader)
            reason = ""
            try:
                parse(text)
            except Unreadable as error:
                reason = error.message
            assert reason or repr(parse(text)) == repr(parse(text))


def test_a_byte_order_mark_does_not_matter(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_bytes(b"\xef\xbb\xbfmodel: x\n")
    assert read(file) == "model: x\n"


def test_bytes_that_are_not_utf8_are_refused_with_their_line(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_bytes(b"a: 1\nb: \xff\n")
    with pytest.raises(Unreadable, match="not UTF-8") as refused:
        read(file)
    assert refused.value.line == 2


def test_a_large_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_bytes(b"#" * 1_000_000)
    assert len(read(file)) == 1_000_000
    file.write_bytes(b"#" * 1_000_001)
    with pytest.raises(Unreadable, match="larger than 1 MB"):
        read(file)


def test_a_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="not a regular file"):
        read(tmp_path)


@pytest.mark.threat("F37")
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs POSIX")
def test_a_pipe_or_a_device_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/zero")
    for name in ("pipe", "device"):
        with pytest.raises(Unreadable, match="not a regular file"):
            read(tmp_path / name)


@pytest.mark.threat("F37")
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs POSIX")
def test_a_pipe_that_takes_the_files_place_at_the_last_moment_does_not_hang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, other = tmp_path / "config.yaml", tmp_path / "other.yaml"
    other.write_text("a: 1\n")
    regular = other.stat()
    os.mkfifo(file)

    def stat(_: Path) -> os.stat_result:
        return regular

    monkeypatch.setattr(Path, "stat", stat)
    with pytest.raises(Unreadable, match="not a regular file"):
        read(file)


def test_a_file_that_may_not_be_read_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("a: 1\n")

    def denied(*_: object) -> int:
        raise PermissionError(13, "Permission denied")  # root, who runs some of these tests, may read everything

    monkeypatch.setattr(os, "open", denied)
    with pytest.raises(Unreadable, match="Permission denied"):
        read(file)
