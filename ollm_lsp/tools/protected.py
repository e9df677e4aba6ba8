"""The protected set: files by which somebody could loosen a guard or have code run, so that no rule ever allows them.

A change to one of them is always asked about by itself. It does not matter whether the file exists, and it does not
matter how its name is spelt.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from ollm_lsp.tools.spellings import folded, is_alias

if TYPE_CHECKING:
    from collections.abc import Iterable

VERSION_CONTROL: Final = frozenset({".git", ".hg", ".svn", ".bzr", ".jj", "_darcs", ".pijul", ".fossil", "cvs"})
"""Folders that hold the user's history. What is in them is never deleted or moved."""

_FOLDERS: Final = VERSION_CONTROL | {
    # editors
    ".vscode", ".vscode-server", ".vscode-insiders", ".idea", ".fleet", ".zed", ".helix", ".vim", ".nvim", ".emacs.d",
    ".settings", ".vs", ".devcontainer", ".theia", ".sublime", ".kakoune",
    # agents and their rules, ourselves among them
    ".ollm", ".claude", ".cursor", ".codex", ".gemini", ".continue", ".windsurf", ".kiro", ".roo", ".cline",
    ".clinerules", ".aider", ".amazonq", ".augment", ".junie", ".opencode", ".qwen", ".agents", ".agent", ".mcp",
    ".copilot",
    # continuous integration and hooks
    ".github", ".gitlab", ".gitea", ".forgejo", ".circleci", ".buildkite", ".woodpecker", ".husky", ".githooks",
    ".teamcity", ".azure-pipelines",
    # shells, credentials and start-up of the user's account
    ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".direnv", ".cargo", ".config", ".bashrc.d", ".zsh",
    "autostart", "launchagents", "launchdaemons", "systemd",
}  # fmt: skip
_FILES: Final = (
    # version control
    ".gitattributes", ".gitmodules", ".gitconfig", ".gitignore", ".git-credentials", ".hgrc", ".lfsconfig",
    # environment files and what programs read before they start
    ".env*", "*.env", ".envrc", ".netrc", "_netrc", ".npmrc", ".yarnrc*", ".pnpmfile*", ".pypirc", "pip.conf",
    "pip.ini", ".condarc", ".tool-versions", "mise.toml", ".mise.toml", ".bazelrc", ".curlrc", ".wgetrc",
    "sitecustomize.py", "usercustomize.py", "*.pth",
    # shell profiles
    ".bash*", ".profile", ".zsh*", ".zlog*", ".zprofile", ".kshrc", ".cshrc", ".tcshrc", ".login", ".logout",
    "config.fish", ".inputrc", ".xprofile", ".xinitrc", ".xsession*", "*profile.ps1", "crontab",
    # editors
    ".vimrc", ".gvimrc", "_vimrc", ".exrc", ".nvimrc", ".nvim.lua", ".lvimrc", ".emacs", ".dir-locals*.el",
    ".editorconfig", "*.code-workspace", "*.sublime-project", "*.sublime-settings", "*.iml", ".kakrc",
    # agents
    "agents.md", "agents.override.md", "agent.md", "claude.md", "claude.local.md", "gemini.md", "qwen.md",
    "copilot-instructions.md", "*.instructions.md", ".cursorrules", ".cursorignore", ".windsurfrules", ".clinerules*",
    ".roorules*", ".rules", ".goosehints", ".aider*", ".mcp.json", "mcp.json", "mcp_config.json", ".ollm*", "skill.md",
    # continuous integration and hooks
    ".gitlab-ci*", ".travis.yml", ".drone.yml", ".woodpecker*", ".appveyor.yml", "appveyor.yml", "azure-pipelines*",
    "bitbucket-pipelines.yml", "jenkinsfile*", ".pre-commit-config.yaml", ".pre-commit-hooks.yaml", "lefthook*",
    ".lefthook*", ".huskyrc*", ".cirrus.yml", "cloudbuild.y*ml", "codemagic.yaml", ".semaphore*", "buildspec.y*ml",
    # names that git runs when they are in a folder of hooks, which may be any folder
    "applypatch-msg", "commit-msg", "fsmonitor-watchman", "p4-*", "post-applypatch", "post-checkout", "post-commit",
    "post-index-change", "post-merge", "post-receive", "post-rewrite", "post-update", "pre-applypatch", "pre-auto-gc",
    "pre-commit", "pre-merge-commit", "pre-push", "pre-rebase", "pre-receive", "prepare-commit-msg", "proc-receive",
    "push-to-checkout", "reference-transaction", "sendemail-validate",
)  # fmt: skip
_BACKUPS: Final = ("*.bak", "*.orig", "*.backup", "*~", "*.old")


def is_protected(path: str, own: Iterable[str] = ()) -> bool:
    """Whether a change at this path is always asked about; `own` are paths of ours that may be in the workspace."""
    names = folded(path)
    return (
        is_alias(path)
        or any(name in _FOLDERS or _fits(name, _FILES) for name in names)
        or any(names[: len(ours)] == ours or ours[: len(names)] == names for ours in map(folded, own))
    )


def is_history(path: str) -> bool:
    """Whether a path is, or is in, a folder of version control."""
    return any(name in VERSION_CONTROL for name in folded(path))


def is_backup(path: str) -> bool:
    """Whether a path has the name of a backup."""
    names = folded(path)
    return bool(names) and _fits(names[-1], _BACKUPS)


def _fits(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
