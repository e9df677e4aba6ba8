"""Files that hold secrets: which names are meant, in all spellings, and which are not."""

from __future__ import annotations

import pytest

from ollm_lsp.tools.secret_files import is_secret


@pytest.mark.threat("T26")
@pytest.mark.parametrize(
    "path",
    [
        *(
            ".env",
            ".env.local",
            ".ENV",
            "a/.env.production",
            ".env~",
            "prod.env",
            ".envrc",
            ".e\u200bnv",
            ".env.",
            ".env ",
        ),
        *("server.pem", "tls/private.KEY", "id_rsa", "id_ed25519", ".ssh/config", "home/.ssh/known_hosts", "x.p12"),
        *(
            ".aws/credentials",
            ".npmrc",
            ".netrc",
            ".pypirc",
            ".git-credentials",
            ".git/config",
            ".GIT/HEAD",
            "a/.git/x",
        ),
        *(".docker/config.json", ".kube/config", "terraform.tfstate", ".config/gcloud/a/b.json", "secrets.yaml"),
        *(".config/gh/hosts.yml", ".terraform.d/credentials.tfrc.json", ".cargo/credentials.toml", ".gem/credentials"),
        *(".dev.vars", "..env.swp", "secring.gpg", ".yarnrc.yml", "prod.kubeconfig", "a.tfvars", ".ollm/state"),
    ],
)
def test_what_holds_secrets_is_known(path: str) -> None:
    assert is_secret(path.split("/"))


@pytest.mark.parametrize(
    "path",
    [
        *("main.py", "environment.ts", ".env.example", "a/.env.template", "id_rsa.pub", "keys.py", "monkey.py", "env"),
        *(
            "src/credentials.py",
            "config.json",
            ".gitignore",
            ".github/workflows/ci.yml",
            "docs/secrets.md",
            "pem.txt",
            "gh/hosts.py",
            "",
        ),
    ],
)
def test_what_only_sounds_alike_is_not_meant(path: str) -> None:
    assert not is_secret(path.split("/"))
