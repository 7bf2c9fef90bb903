"""What a decision is: transfers to post and an event to tell, under an operator's terms."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from spades_events.wallet import AccountBalance, WalletEvent
from spades_wallet.ledger import COINS_MAX, AccountId, Book, Player, Transfer
from spades_wallet.settlement import STAKES_OF_A_WINNER


@dataclass(frozen=True, kw_only=True, slots=True)
class Terms:
    """What an operator may set."""

    welcome_grant_coins: int = 1_000
    top_up_coins: int = 500
    top_up_below_coins: int = 100
    games_at_once_max: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """What to post and what to tell; `alarm` names what a person should look at."""

    transfers: tuple[Transfer, ...] = ()
    event: WalletEvent | None = None
    alarm: str | None = None


NOTHING: Final = Decision()


class Rejected(Exception):
    """A command about an account that has no effect; `code` is its reason's slug."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def may_still_win(book: Book, player: Player, more_coins: int) -> bool:
    """Whether every game the player is in, and `more_coins` beside, can be won within the exact integers."""
    reach = player.balance_coins + STAKES_OF_A_WINNER * (book.held_coins(player.id) + more_coins)
    return reach <= COINS_MAX


def balances(before: Book, after: Book, owners: Iterable[AccountId]) -> tuple[AccountBalance, ...]:
    told = []
    for owner in owners:
        then, now = before.player(owner), after.player(owner)
        assert now is not None, "only players are told their balance"
        told.append(
            AccountBalance(
                account_id=owner,
                entry_no=now.entry_no,
                available_coins=now.balance_coins,
                held_coins=after.held_coins(owner),
                change_coins=now.balance_coins - (then.balance_coins if then else 0),
            )
        )
    return tuple(told)
