"""Files that hold secrets: they are read into no model's context unless the user named them (threat T26)."""

from __future__ import annotations

import re
from fnmatch import translate
from typing import TYPE_CHECKING, Final

from ollm_lsp.tools.spellings import folded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ollm_lsp.tools.roots import Place

_FOLDERS: Final = frozenset(
    {
        ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store", "gcloud", ".secrets", ".ollm",
        # for the addresses and the history in it
        ".git",
    }
)  # fmt: skip
_FILES: Final = (
    # environment files
    ".env*", "..env.sw?", "*.env", ".dev.vars",
    # private keys and key stores
    "*.pem", "*.key", "*.ppk", "*.p12", "*.pfx", "*.p8", "*.jks", "*.keystore", "*.kdbx", "*.kdb", "*.keytab", "*.gpg",
    "*.ovpn", "*.mobileprovision", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "secring.*",
    # credential stores
    ".netrc", "_netrc", ".pgpass", ".my.cnf", ".npmrc", ".yarnrc.yml", ".pypirc", ".dockercfg", ".terraformrc",
    "terraform.rc", "*.tfvars", "*.tfvars.json", "*.tfstate", "*.tfstate.*", "*.tfrc.json", "kubeconfig*",
    "*.kubeconfig", ".vault-token", ".htpasswd", ".git-credentials",
    "credentials", "credentials.json", "credentials.*.json", "credentials.y*ml", "credentials.toml", "credentials.xml",
    "credentials.csv", "credentials.ini", "application_default_credentials.json", "client_secret*.json",
    "service-account*.json", "service_account*.json",
    "secret.json", "secret.y*ml", "secrets.json", "secrets.y*ml", "secrets.toml", "secrets.ini", "secrets.txt",
)  # fmt: skip
_IN_FOLDERS: Final = ("gh/hosts.yml",)
"""Files that only their folder tells from others."""
_PUBLIC: Final = (".env.example", ".env.sample", ".env.template", ".env.dist", ".env.defaults", "*.pub")
"""What looks like one of them and is made to be shared."""


_is_file, _is_public = (re.compile("|".join(map(translate, patterns))) for patterns in (_FILES, _PUBLIC))
"""All patterns as one: it is asked for every open document with every question."""


def is_secret(names: Sequence[str]) -> bool:
    """Whether a path, by its names, is one that holds secrets, in whatever spelling."""
    spelt = folded("/".join(names))
    if any(name in _FOLDERS for name in spelt) or "/".join(spelt[-2:]) in _IN_FOLDERS:
        return True
    return any(map(_is_file.match, spelt)) and not _is_public.match(spelt[-1])


class DenySecrets:
    """The policy of whoever has no better one."""

    def may_read(self, place: Place) -> bool:
        return not is_secret(place.names)
