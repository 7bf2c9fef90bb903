"""Verification of many streams at once: counting, legality, deals, coins."""

from collections.abc import Iterator
from dataclasses import dataclass

from spades_events import Topic, UndecodableMessage, decode, events, wallet
from spades_replay.coins import Coins
from spades_replay.faults import Fault, Illegal
from spades_replay.hand import HandFault
from spades_replay.records import Counter, Record
from spades_replay.table import TableReplay
from spades_rules import RulesError

SETTLING_MS_MAX = 60_000
"""A game that ended so shortly before the newest record may still be waiting for the wallet."""


@dataclass(kw_only=True, slots=True)
class Totals:
    """What was verified."""

    records: int = 0
    games: int = 0
    finished: int = 0
    hands: int = 0
    coin_games: int = 0
    settled: int = 0
    unreadable: int = 0
    accounts: int = 0


class Verifier:
    """Takes records in any order that keeps each stream's own, and says what is wrong."""

    def __init__(self, *, settling_ms_max: int = SETTLING_MS_MAX, has_all_games: bool = True) -> None:
        self.tables: dict[str, TableReplay] = {}
        self.coins = Coins()
        self.records = 0
        self._has_wallet = True
        self._has_all_games = has_all_games
        self._settling_ms_max = settling_ms_max
        self._counters: dict[tuple[str, str], Counter] = {}
        self._broken: set[tuple[str, str]] = set()
        self._ended_ms: dict[str, int] = {}
        self._newest_ms = 0

    def feed(self, record: Record) -> Fault | None:
        """Verify one record; a stream is left alone after its first fault."""
        place = (record.topic, record.stream)
        if place in self._broken:
            return None
        self.records += 1
        self._has_wallet &= not record.of_read_model
        self._newest_ms = max(self._newest_ms, record.time_ms or 0)
        counter = self._counters.setdefault(place, Counter())
        try:
            if counter.is_new(record):
                self._fold(record)
        except (Illegal, UndecodableMessage, RulesError, ValueError) as error:
            self._broken.add(place)
            return self._fault_of(record, error)
        return None

    def finish(self) -> Iterator[Fault]:
        """What can only be said when everything was read."""
        if not self._has_wallet:
            return
        waits = frozenset(
            table_id
            for table_id, ended_ms in self._ended_ms.items()
            if self._newest_ms - ended_ms < self._settling_ms_max
        )
        whole = {
            table_id: table
            for table_id, table in self.tables.items()
            if (Topic.TABLE_EVENTS.value, table_id) not in self._broken
        }
        yield from self.coins.check_games(whole, waits=waits)
        if self._has_all_games:
            yield from self.coins.check_accounts()

    def totals(self) -> Totals:
        """Count what was read so far."""
        tables = self.tables.values()
        return Totals(
            records=self.records,
            games=len(self.tables),
            finished=sum(table.ended is not None for table in tables),
            hands=sum(table.hands_proved for table in tables),
            coin_games=sum(table.stake_coins > 0 for table in tables),
            settled=sum(table.settled is not None for table in tables),
            unreadable=sum(table.unreadable for table in tables),
            accounts=len(self.coins.balances) if self._has_all_games else 0,
        )

    def _fold(self, record: Record) -> None:
        event = decode(record.type, record.body)
        match event:
            case events.TableEvent():
                table = self.tables.setdefault(record.stream, TableReplay(record.stream))
                table.feed(record.version, event)
                if table.ended is event:
                    self._ended_ms[record.stream] = record.time_ms or 0
            case wallet.WalletEvent():
                self.coins.feed(record, event)
            case _:
                raise Illegal(f"{record.type} has no place in a public stream")

    def _fault_of(self, record: Record, error: Exception) -> Fault:
        table = self.tables.get(record.stream)
        hand_no = table.hand_no if table and record.topic == Topic.TABLE_EVENTS else 0
        version = error.version if isinstance(error, HandFault) else record.version
        return Fault(record.stream, version, hand_no, str(error))
