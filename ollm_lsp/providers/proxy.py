"""The proxy for an address, as the environment names it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from ollm_lsp.core.errors import ConnectionFailed
from ollm_lsp.settings.address import is_loopback
from ollm_lsp.settings.redactor import redactor

if TYPE_CHECKING:
    from yarl import URL


def proxy_for(url: URL) -> str | None:
    """The address of the proxy, or nothing. A proxy cannot reach this machine's own servers."""
    proxies = getproxies()
    if not proxies or is_loopback(str(url)) or proxy_bypass(url.host or ""):
        return None
    name = url.scheme if url.scheme in proxies else "all"
    proxy = proxies.get(name)
    if not proxy:
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    parts = urlsplit(proxy)
    # Both spellings of a password may come back in an error.
    for secret in {parts.password or "", unquote(parts.password or "")}:
        redactor.add(secret)
    if parts.scheme not in {"http", "https"}:
        raise ConnectionFailed(
            f"The proxy in {name.upper()}_PROXY is of the kind {parts.scheme}, which ollm-lsp cannot use.",
            remedy=f"Name an HTTP proxy there, or except {url.host} from it with NO_PROXY.",
        )
    return proxy
