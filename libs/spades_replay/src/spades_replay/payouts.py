"""Who wins and loses what at the end of a coin game, computed from the table's own last event.

The rulings are those under which the game was offered: pot of four stakes, the house stakes the
computer seats, a leaver carries stake and fee, nobody who stays gains or loses by a leaver.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from spades_events import BOT_ACCOUNT
from spades_events.events import GameEnded, Payout, SeatResult, TableCancelled

HOUSE: Final = "house"
FEES: Final = "fees"


def fee_of(stake_coins: int) -> int:
    """The leaving fee: 10 % of the stake, rounded up to a whole coin."""
    return (stake_coins + 9) // 10


def nets_of(end: GameEnded | TableCancelled) -> dict[str, int]:
    """Return what each account has won (or lost, below zero) over the whole game; the sum is 0.

    Accounts without a gain or loss are left out.
    """
    if not end.stake_coins:
        return {}
    winner = end.winner if isinstance(end, GameEnded) else None
    abandoned = isinstance(end, GameEnded) and end.reason == "abandoned"
    nets: Counter[str] = Counter()
    for result in end.seats:
        _add_seat(nets, result, end.stake_coins, winner, abandoned=abandoned)
    assert sum(nets.values()) == 0
    return {account: net for account, net in nets.items() if net}


def _add_seat(nets: Counter[str], result: SeatResult, stake_coins: int, winner: int | None, *, abandoned: bool) -> None:
    if result.leaver is not None:
        nets[result.leaver] -= stake_coins + fee_of(stake_coins)
        nets[FEES] += fee_of(stake_coins)
        # Won or not, the leaver's stake is in the pot; where there is no winner the house has it.
        share_coins = stake_coins if winner is None else _share(stake_coins, won=result.seat % 2 == winner)
        nets[HOUSE] += share_coins
        return
    if winner is None:
        # Abandoned: only leavers had a stake of their own; drawn or cancelled: everybody's comes back.
        assert not abandoned or result.account_id == BOT_ACCOUNT
        return
    account = HOUSE if result.account_id == BOT_ACCOUNT else result.account_id
    nets[account] += _share(stake_coins, won=result.seat % 2 == winner) - stake_coins


def _share(stake_coins: int, *, won: bool) -> int:
    """What the pot gives a seat: two stakes or nothing."""
    return 2 * stake_coins if won else 0


def nets_told(payouts: Sequence[Payout]) -> Mapping[str, int]:
    """A settlement's payouts in the same form as `nets_of`."""
    nets: Counter[str] = Counter()
    for payout in payouts:
        nets[payout.account_id] += payout.net_coins
    return {account: net for account, net in nets.items() if net}
