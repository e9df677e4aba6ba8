"""Addresses: the base URLs of providers, in one spelling that no two parsers read differently."""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from ollm_lsp.core.errors import SettingsError

_PRIVATE = (".local", ".lan", ".home.arpa", ".internal")
"""Names that no public server has."""
_ALLOWED = re.compile(r"[!-~]+")
_HOST = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*", re.IGNORECASE)


def base_url(text: str) -> str:
    """A base URL without trailing slash. The message never repeats it, for it may hold a password."""
    if not _ALLOWED.fullmatch(text) or "\\" in text:
        raise SettingsError("The address has a character that no address may have.", remedy=_REMEDY)
    try:
        url = urlsplit(text)
        host, port = url.hostname, url.port
    except ValueError:
        raise SettingsError("This is not an address.", remedy=_REMEDY) from None
    if url.scheme not in ("http", "https"):
        raise SettingsError("The address does not begin with http:// or https://.", remedy=_REMEDY)
    if "@" in url.netloc:
        raise SettingsError(
            "The address holds a user name or a password.",
            remedy='Leave it out and write apiKey: "${NAME}" instead.',
        )
    if "?" in text or "#" in text:
        raise SettingsError("The address has a query or a fragment.", remedy=_REMEDY)
    if not host or not (_is_ip(host) if "[" in url.netloc else _HOST.fullmatch(host)) or port == 0:
        raise SettingsError("The address has no valid host and port.", remedy=_REMEDY)
    place = f"[{host}]" if ":" in host else host
    return f"{url.scheme}://{place}{f':{port}' if port else ''}{url.path.rstrip('/')}"


def is_loopback(url: str) -> bool:
    """Whether a base URL stays on this machine. In doubt it does not."""
    host = urlsplit(url).hostname or ""
    return host == "localhost" or (_is_ip(host) and ip_address(host).is_loopback)


def is_private(url: str) -> bool:
    """Whether a base URL stays in the user's own network, as far as its text tells."""
    host = (urlsplit(url).hostname or "").casefold()
    if _is_ip(host):
        return ip_address(host).is_private
    return "." not in host or host.endswith(_PRIVATE)


def _is_ip(host: str) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return getattr(address, "scope_id", None) is None


_REMEDY = "Write it like http://127.0.0.1:8000/v1."
