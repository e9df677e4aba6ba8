"""The rule about secrets: what holds keys and passwords is not read for a model (threat T26)."""

from __future__ import annotations

import re
from fnmatch import translate
from functools import cache
from typing import TYPE_CHECKING

from ollm_lsp.tools.spellings import folded_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.tools.roots import Place

NAMES = (
    # environment files
    *(".env", ".env~", "..env.sw?", ".env.*", ".env-*", ".env_*", "*.env", ".envrc", ".envrc.*", ".dev.vars"),
    # private keys and key stores
    *("*.pem", "*.key", "*.ppk", "*.p12", "*.pfx", "*.p8", "*.jks", "*.keystore", "*.kdbx", "*.kdb", "*.keytab"),
    *("id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "secring.*"),
    # credential stores
    *(".netrc", "_netrc", ".pgpass", ".my.cnf", ".npmrc", ".yarnrc.yml", ".pypirc", ".dockercfg", ".terraformrc"),
    *("kubeconfig", "*.kubeconfig", "*.tfstate", "*.tfstate.*", ".vault-token", ".htpasswd", ".git-credentials"),
    *("credentials", "credentials.json", "credentials.*.json", "client_secret*.json"),
    *("service-account*.json", "service_account*.json", "secrets.json", "secrets.yml", "secrets.yaml", "secrets.toml"),
)
"""Patterns of file names."""
FOLDERS = (".ssh", ".gnupg", ".aws", ".azure", ".git", ".ollm")
"""Folders of which nothing is read: git's own for the addresses and the history in it."""
ENDINGS = (
    *(".config/gcloud/", ".config/gh/hosts.yml", ".docker/config.json", ".kube/config", ".gem/credentials"),
    *(".cargo/credentials.toml", ".terraform.d/credentials.tfrc.json"),
)
"""Files, or folders with a slash behind them, that only their folder tells from others."""
PUBLIC = (".env.example", ".env.sample", ".env.template", ".env.dist", ".env.defaults", "*.pub")
"""What looks like one of them and is made to be shared."""


def is_secret(names: Sequence[str]) -> bool:
    """Whether a path, by its names, is one that holds secrets, in whatever spelling."""
    *folders, name = map(folded_name, names or [""])
    secret, public = _patterns()
    if public.fullmatch(name):
        return False
    path = "/".join(("", *folders, name))
    return (
        bool(secret.fullmatch(name))
        or not set(FOLDERS).isdisjoint((*folders, name))
        or any(f"/{ending}" in path if ending.endswith("/") else path.endswith(f"/{ending}") for ending in ENDINGS)
    )


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    secret, public = ("|".join(map(translate, patterns)) for patterns in (NAMES, PUBLIC))
    return re.compile(secret), re.compile(public)


class DenySecrets:
    """The policy of whoever has no better one."""

    def may_read(self, place: Place) -> bool:
        return not is_secret(place.names)
