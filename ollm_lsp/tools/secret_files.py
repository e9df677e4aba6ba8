"""Files that hold secrets: they are read into no model's context unless the user named them."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from ollm_lsp.tools.spellings import folded

if TYPE_CHECKING:
    from collections.abc import Sequence

_FOLDERS: Final = frozenset(
    {".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store", "gcloud", ".secrets"}
)
_FILES: Final = (
    ".env*", "*.env", ".netrc", "_netrc", ".pgpass", ".my.cnf", ".npmrc", ".pypirc", ".git-credentials", ".htpasswd",
    ".vault-token", ".dockercfg", ".terraformrc", "terraform.rc", "*.tfvars", "*.tfvars.json", "*.tfstate",
    "*.tfstate.*", "credentials", "credentials.json", "credentials.y*ml", "credentials.toml", "credentials.xml",
    "credentials.csv", "credentials.ini", "secrets.json", "secrets.y*ml", "secrets.toml", "secrets.ini", "secrets.txt",
    "secret.json", "secret.y*ml", "service-account*.json", "service_account*.json", "client_secret*.json",
    "application_default_credentials.json", "*.pem", "*.key", "*.p12", "*.pfx", "*.p8", "*.jks", "*.keystore",
    "*.kdbx", "*.kdb", "*.ppk", "*.ovpn", "*.gpg", "*.mobileprovision", "id_rsa*", "id_dsa*", "id_ecdsa*",
    "id_ed25519*", "*.keytab", "master.key", "kubeconfig*",
)  # fmt: skip
_PUBLIC: Final = ("*.pub",)


def is_secret(names: Sequence[str]) -> bool:
    """Whether a path, by its names, is one that holds secrets, in whatever spelling."""
    spelt = folded("/".join(names))
    if any(name in _FOLDERS for name in spelt):
        return True
    return any(_fits(name, _FILES) for name in spelt) and not _fits(spelt[-1], _PUBLIC)


def _fits(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
