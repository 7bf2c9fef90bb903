"""How often one address or account may do something. Counted in this process: N gateways let N times as much."""

import ipaddress
from typing import Final

from limits import RateLimitItem, parse
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter

from spades_lobby.problems import Problem
from spades_lobby.settings import LobbySettings

# A household has a whole /64: its single addresses are no different people.
_V6_PREFIX: Final = 64


class Rates:
    """Raises Problem `rate_limited` (429) beyond a rate."""

    def __init__(self, settings: LobbySettings) -> None:
        self._limiter = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._requests = parse(settings.lobby_rate_requests)
        self._sessions = parse(settings.lobby_rate_sessions)
        self._accounts = parse(settings.lobby_rate_accounts)
        self._passwords = parse(settings.lobby_rate_passwords)
        self._tables = parse(settings.lobby_rate_tables)
        self._talk = parse(settings.lobby_rate_talk)
        self._reports = parse(settings.lobby_rate_reports)
        self._wrong_codes = parse(settings.lobby_rate_wrong_codes)
        self._recoveries = parse(settings.lobby_rate_recoveries)
        self._tokens = parse(settings.lobby_rate_tokens)

    def request(self, address: str) -> None:
        self._hit(self._requests, "request", _household(address))

    def session(self, address: str) -> None:
        self._hit(self._sessions, "session", _household(address))

    def account(self, address: str) -> None:
        self._hit(self._accounts, "account", _household(address))

    def password(self, skeleton: str) -> None:
        self._hit(self._passwords, "password", skeleton)

    def recovery(self, skeleton: str, address: str) -> None:
        """Counted the same for names that are there and names that are not."""
        self._hit(self._recoveries, "recovery", _household(address))
        self._hit(self._recoveries, "recovery_of", skeleton)

    def tokens(self, account_id: str) -> None:
        self._hit(self._tokens, "token", account_id)

    def table(self, account_id: str) -> None:
        self._hit(self._tables, "table", account_id)

    def talk(self, account_id: str) -> None:
        self._hit(self._talk, "talk", account_id)

    def report(self, account_id: str) -> None:
        self._hit(self._reports, "report", account_id)

    def check_codes(self, account_id: str, address: str) -> None:
        """Too many wrong codes: then the right one is not looked at either."""
        for who in (account_id, _household(address)):
            if not self._limiter.test(self._wrong_codes, "code", who):
                raise _too_often(self._wrong_codes)

    def wrong_code(self, account_id: str, address: str) -> None:
        for who in (account_id, _household(address)):
            self._limiter.hit(self._wrong_codes, "code", who)

    def _hit(self, rate: RateLimitItem, what: str, who: str) -> None:
        if self._limiter.hit(rate, what, who):
            return
        raise _too_often(rate)


def _too_often(rate: RateLimitItem) -> Problem:
    return Problem(
        429,
        "rate_limited",
        "Too often; try again a little later.",
        headers={"Retry-After": str(min(rate.get_expiry(), 60))},
    )


def _household(address: str) -> str:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if parsed.version == 4:
        return address
    return str(ipaddress.ip_network((parsed, _V6_PREFIX), strict=False))
