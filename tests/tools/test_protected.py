"""The protected set: no spelling and no operation gets around it, and ordinary files are not in it."""

from __future__ import annotations

import unicodedata
from urllib.parse import quote

import pytest

from ollm_lsp.core.decision import Decision
from ollm_lsp.core.tool import ToolKind
from ollm_lsp.settings.resolved import ToolsSettings
from ollm_lsp.tools.permission_rules import PermissionRules, Ruling
from ollm_lsp.tools.protected import is_backup, is_history, is_protected
from ollm_lsp.tools.secret_files import is_secret
from ollm_lsp.tools.spellings import is_alias

TARGETS = [
    ".git/config", ".git/hooks/pre-commit", "sub/.git", ".hg/hgrc", ".gitattributes", ".gitmodules",
    ".vscode/settings.json", ".vscode/tasks.json", "x.code-workspace", ".idea/workspace.xml", ".nvim.lua", ".exrc",
    ".zed/settings.json", ".helix/config.toml", ".editorconfig", ".dir-locals.el", ".devcontainer/devcontainer.json",
    ".ollm/config.yaml", ".claude/settings.json", ".cursor/mcp.json", ".mcp.json", ".codex/config.toml",
    ".gemini/settings.json", "AGENTS.md", "deep/CLAUDE.md", "GEMINI.md", ".cursorrules",
    ".github/copilot-instructions.md",
    ".env", ".env.local", ".envrc", ".npmrc", ".github/workflows/ci.yml", ".gitlab-ci.yml", "Jenkinsfile",
    ".circleci/config.yml", "azure-pipelines.yml", ".husky/pre-push", ".pre-commit-config.yaml", "hooks/post-checkout",
    ".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv", ".config/fish/config.fish", ".ssh/authorized_keys",
]  # fmt: skip
OPERATIONS = [
    ("edit_file", ToolKind.EDIT), ("write_file", ToolKind.EDIT), ("create_file", ToolKind.CREATE),
    ("rename_file", ToolKind.MOVE), ("delete_file", ToolKind.DELETE), ("other", ToolKind.OTHER),
]  # fmt: skip
HONEST = [
    "src/main.py", "README.md", "docs/git.md", "environment.yml", "src/env.py", "git/config", "github.py", "Makefile",
    "package.json", "src/profile.py", "tests/test_claude.py", "settings.json", "claude/notes.txt", "hooks/use-state.ts",
    "a.b.c", "naïve.txt", "日本語.md", "пример.py",
]  # fmt: skip


def spellings(path: str) -> list[str]:
    """Ways to write a path that some file system or editor takes for the same."""
    wide = "".join(chr(ord(letter) + 0xFEE0) if "!" <= letter <= "~" and letter != "/" else letter for letter in path)
    return [
        path,
        path.upper(),
        path.title(),
        path.replace("/", ". /") + ". ",
        path.replace("/", "\\"),
        "\u200c".join(path),
        path[:2] + "\u00ad\ufeff" + path[2:],
        path.replace("i", "i\ufe0f").replace("e", "e\u034f"),
        wide,
        path.replace("s", "\u017f").replace("k", "\u212a"),
        unicodedata.normalize("NFD", path),
        quote(path, safe=""),
        "".join(f"%{ord(letter):02x}" if letter != "/" else letter for letter in path),
        path + "::$DATA",
        f"x/../{path}",
        f"{path}/inside",
    ]


@pytest.mark.threat("T8", "T9")
@pytest.mark.parametrize("target", TARGETS)
def test_no_spelling_and_no_operation_gets_around_the_protected_set(target: str) -> None:
    everything = ToolsSettings((("*", Decision.ALLOW), ("**/*", Decision.ALLOW), ("**/.*", Decision.ALLOW)))
    rules = PermissionRules(everything)
    for path in spellings(target):
        for tool, kind in OPERATIONS:
            for paths in ([path], ["src/a.py", path], [path, "src/a.py"]):
                assert rules.decide(tool, kind, paths) == Ruling(Decision.ASK, may_stand=False), ascii(path)


@pytest.mark.parametrize("path", HONEST)
def test_ordinary_files_are_not_protected(path: str) -> None:
    assert not is_protected(path)
    assert not is_secret(path.split("/"))


@pytest.mark.threat("T9")
@pytest.mark.parametrize("path", ["GIT~1/config", "a.txt:stream", "NUL", "con.txt", "COM1", "sub/aux.py", "A~1.EXE"])
def test_aliases_of_windows_are_protected(path: str) -> None:
    assert is_alias(path)
    assert is_protected(path)


@pytest.mark.threat("T8")
def test_places_of_our_own_and_what_holds_them_are_protected() -> None:
    own = [".local/state/ollm-lsp"]
    assert is_protected(".local/state/ollm-lsp/grants.db", own)
    assert is_protected(".LOCAL/State/ollm-lsp", own)
    assert is_protected(".local", own)
    assert not is_protected(".local/share/x", own)
    assert PermissionRules(ToolsSettings((("*", Decision.ALLOW),)), own).decide(
        "rename_file", ToolKind.MOVE, [".local", "x"]
    ) == Ruling(Decision.ASK, may_stand=False)


@pytest.mark.threat("T9")
@pytest.mark.parametrize("path", [".git", ".git/HEAD", "a/.GIT/x", ".g\u200cit/x", ".hg", ".svn/a", "%2egit/x"])
def test_the_history_is_known_by_every_spelling(path: str) -> None:
    assert is_history(path)
    assert not is_history("git/x")


def test_backups_are_known() -> None:
    assert all(map(is_backup, ["a.bak", "A.BAK", "x/a.py~", "a.orig"]))
    assert not any(map(is_backup, ["a.py", "bak/a.py", ""]))


@pytest.mark.threat("T26")
@pytest.mark.parametrize(
    "path",
    [
        ".env", ".ENV.production", "prod.env", "key.pem", "server.KEY", "id_rsa", "id_ed25519", ".ssh/known_hosts",
        ".aws/credentials", ".netrc", ".git-credentials", "terraform.tfstate", "a/service-account-x.json",
    ],
)  # fmt: skip
def test_secrets_are_known_by_every_spelling(path: str) -> None:
    for spelling in spellings(path)[:13]:
        assert is_secret(spelling.split("/")), ascii(spelling)
    assert not is_secret(["id_rsa.pub"])
    assert not is_secret([])
