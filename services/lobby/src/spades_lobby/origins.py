"""Which web pages may use the interface: our own, and those the deployment names."""

import ipaddress
from urllib.parse import urlsplit

from spades_lobby.settings import LobbySettings


class Origins:
    """A program sends no Origin and is let in; a browser always does, and is asked."""

    def __init__(self, settings: LobbySettings) -> None:
        self._origins = settings.origins
        self._hosts = settings.hosts

    def allow(self, origin: str | None, host: str) -> bool:
        """Whether a request with this Origin header, sent to this Host, may come from a page."""
        if origin is None:
            return True
        origin = origin.lower()
        if origin in self._origins:
            return True
        host = host.lower()
        if not (host in self._hosts or _is_own_name(host)):
            # A strange name that points here is a page's attempt to be our own (DNS rebinding).
            return False
        return origin in (f"http://{host}", f"https://{host}")


def _is_own_name(host: str) -> bool:
    """Addresses in numbers and localhost: no stranger can make a name of these point here."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    if name == "localhost":
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
