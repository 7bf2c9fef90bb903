"""The wallet's public events beside the tables': every game paid once, every account's entries a chain."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from spades_events import wallet
from spades_events.wallet import AccountBalance
from spades_replay.faults import Fault
from spades_replay.payouts import nets_of, nets_told
from spades_replay.records import Record
from spades_replay.table import TableReplay


@dataclass(slots=True)
class GameCoins:
    """What the wallet said about one game."""

    captured: list[wallet.HoldsCaptured] = field(default_factory=list)
    fees: list[wallet.FeeTaken] = field(default_factory=list)
    settlements: list[wallet.Settlement] = field(default_factory=list)
    held: dict[str, wallet.HoldPlaced] = field(default_factory=dict)
    """By reservation: what was placed and not voided."""
    last_version: int = 0


class Coins:
    """All that the wallet told."""

    def __init__(self) -> None:
        self.games: defaultdict[str, GameCoins] = defaultdict(GameCoins)
        self.balances: defaultdict[str, dict[int, AccountBalance]] = defaultdict(dict)
        self._granted: Counter[str] = Counter()
        self._faults: list[Fault] = []

    def feed(self, record: Record, event: wallet.WalletEvent) -> None:
        """Take one new event of the wallet."""
        for balance in event.accounts:
            self._note_balance(record, balance)
        game = self.games[record.stream]
        game.last_version = record.version
        match event:
            case wallet.AccountOpened():
                self._granted[event.account_id] += event.grant_coins
            case wallet.CoinsGranted():
                self._granted[event.account_id] += event.amount_coins
            case wallet.AccountClosed():
                self._granted[event.account_id] -= event.returned_coins
            case wallet.HoldPlaced():
                game.held[event.reservation_id] = event
            case wallet.HoldVoided():
                placed = game.held.pop(event.reservation_id, None)
                if placed is None or _bound_coins(placed) != event.returned_coins:
                    self._fault(record, "a hold was voided that was not placed, or for another sum")
            case wallet.HoldsCaptured():
                game.captured.append(event)
            case wallet.FeeTaken():
                game.fees.append(event)
            case wallet.Settlement():
                game.settlements.append(event)
            case _:
                pass

    def check_games(self, tables: dict[str, TableReplay], *, waits: frozenset[str]) -> Iterator[Fault]:
        """Compare with the tables. `waits` may be paid in a moment: their settlement need not be there."""
        yield from self._faults
        for table_id, table in sorted(tables.items()):
            if table.stake_coins:
                yield from self._check_game(table_id, table, is_waiting=table_id in waits)

    def check_accounts(self) -> Iterator[Fault]:
        """Follow every account through its entries; only right where all streams were read."""
        won = self._won()
        for account_id, entries in sorted(self.balances.items()):
            yield from self._check_account(account_id, entries, won)

    def _check_game(self, table_id: str, table: TableReplay, *, is_waiting: bool) -> Iterator[Fault]:
        game = self.games.get(table_id, GameCoins())

        def fault(text: str) -> Fault:
            return Fault(table_id, game.last_version, 0, text)

        if len(game.settlements) > 1:
            yield fault(f"settled {len(game.settlements)} times")
        if len(game.captured) > 1 or (table.started and not game.captured):
            yield fault(f"the stakes were captured {len(game.captured)} times")
        if any(captured.pot_coins != 4 * table.stake_coins for captured in game.captured):
            yield fault("the pot is not four stakes")
        if table.ended is None:
            return
        if not game.settlements:
            if not is_waiting:
                yield fault("ended and never settled")
            return
        paid = nets_told(game.settlements[0].payouts)
        if paid != nets_of(table.ended):
            yield fault(f"paid {paid} where the rulings say {nets_of(table.ended)}")
        # Where no seat was paid for, the end of the table is all there is to tell.
        told_of_holds = any(seat.reservation_id is not None for seat in table.ended.seats)
        if table.settled is None and told_of_holds and not is_waiting:
            yield fault("paid, and the table was never told")
        if table.settled is not None and nets_told(table.settled.payouts) != paid:
            yield fault("the table was told other payouts than were paid")
        left = sorted(chair.leaver for chair in table.chairs if chair.leaver is not None)
        if sorted(fee.account_id for fee in game.fees) != left:
            yield fault(f"leaving fees of {len(game.fees)} accounts for {len(left)} who left")

    def _won(self) -> Counter[str]:
        """What its games brought each account so far."""
        won: Counter[str] = Counter()
        for game in self.games.values():
            for settlement in game.settlements:
                won.update(nets_told(settlement.payouts))
            if not game.settlements:
                # Whoever left has lost stake and fee already; what the others put in is still theirs, and held.
                left = {fee.account_id for fee in game.fees}
                won.subtract(
                    {hold.account_id: _bound_coins(hold) for hold in game.held.values() if hold.account_id in left}
                )
        return won

    def _check_account(self, account_id: str, entries: dict[int, AccountBalance], won: Counter[str]) -> Iterator[Fault]:
        available = 0
        for entry_no in sorted(entries):
            entry = entries[entry_no]
            if available + entry.change_coins != entry.available_coins:
                text = f"entry {entry_no}: {available} and {entry.change_coins} make no {entry.available_coins}"
                yield Fault(account_id, entry_no, 0, text)
            available = entry.available_coins
        if account_id not in self._granted:
            return
        last = entries[max(entries)]
        expected = self._granted[account_id] + won[account_id]
        if last.available_coins + last.held_coins != expected:
            text = f"has {last.available_coins} and {last.held_coins} held; grants and games make {expected}"
            yield Fault(account_id, last.entry_no, 0, text)

    def _note_balance(self, record: Record, balance: AccountBalance) -> None:
        entries = self.balances[balance.account_id]
        known = entries.setdefault(balance.entry_no, balance)
        if known.available_coins != balance.available_coins:
            self._fault(record, f"entry {balance.entry_no} of an account says two things")
        elif known.change_coins == 0:
            # What changed nothing repeats the entry before it, and may be read first.
            entries[balance.entry_no] = balance
        elif balance.change_coins not in (0, known.change_coins):
            self._fault(record, f"entry {balance.entry_no} of an account was made twice")

    def _fault(self, record: Record, text: str) -> None:
        self._faults.append(Fault(record.stream, record.version, 0, text))


def _bound_coins(hold: wallet.HoldPlaced) -> int:
    return hold.stake_coins + hold.deposit_coins
