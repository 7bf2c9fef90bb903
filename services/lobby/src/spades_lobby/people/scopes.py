"""What a session may do: everything where a person logged in, less with a personal token."""

from enum import IntEnum
from typing import Final

from spades_lobby.problems import Problem


class Scope(IntEnum):
    """Each may do what those before it may, and more."""

    READ = 1
    """See: every GET, and watch a table as a watcher sees it."""
    BOT = 2
    """Also open tables without coins, sit there and play."""
    PLAY = 3
    """Also play for coins, wait in the queue, talk at a table."""
    OWNER = 4
    """Also change the password, make tokens, delete the account: only by a log-in."""

    @property
    def word(self) -> str:
        return self.name.lower()


OF_TOKENS: Final = (Scope.READ, Scope.BOT, Scope.PLAY)
NEEDS_COINS: Final = "A token of this scope plays only where no coins are at stake."


def stored(scope: Scope) -> str | None:
    """As it stands in a session's row: null for a log-in."""
    return None if scope is Scope.OWNER else scope.word


def of_stored(word: str | None) -> Scope:
    return Scope.OWNER if word is None else Scope[word.upper()]


def require(has: Scope, needed: Scope) -> None:
    """Raises Problem `scope_missing`."""
    if has < needed:
        words = "Log in to do that; a token may not." if needed is Scope.OWNER else "This token may not do that."
        raise Problem(403, "scope_missing", words, needed_scope=needed.word)


def check_stake(has: Scope, stake_coins: int) -> None:
    """Raises Problem `scope_missing` where coins are at stake and the session may not move any."""
    if stake_coins and has < Scope.PLAY:
        raise Problem(403, "scope_missing", NEEDS_COINS, needed_scope=Scope.PLAY.word)
