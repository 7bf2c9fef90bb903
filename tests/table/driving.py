"""One table without any server: causes go in, facts are kept as they would be stored."""

import hashlib
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec

import spades_rules as rules
from spades_events import CE_TYPES, commands, decode, encode, events, private, wallet
from spades_events.clock import TimedOut
from spades_events.events import TableEvent
from spades_events.values import BOT_ACCOUNT, RulesetChoice, TableKind
from spades_table.domain import Asked, Cause, Outage, Refused, TableCommand, decide, evolve
from spades_table.facts import Fact
from spades_table.house import House
from spades_table.phases import BetweenHands, Ended, Playing, Table, Unopened
from spades_table.seats import Bot, Person, people

ROOT = hashlib.sha256(b"root of the tests").digest()
HOST = "ann"
START_MS = 1_000_000

Stored = tuple[str, bytes, bytes | None]
Event = TypeVar("Event", bound=TableEvent)


class DrivenTable:
    """A table whose every fact passes through its stored form."""

    def __init__(
        self,
        *,
        house: House | None = None,
        table_id: str = "table-1",
        root: bytes = ROOT,
        fold_check: bool = True,
    ) -> None:
        self.house = house or House()
        self.table_id = table_id
        self.root = root
        self.table: Table = Unopened(table_id=table_id, house=self.house)
        self.stored: list[Stored] = []
        self.snapshots: list[Table] = []
        self.now_ms = START_MS
        self._fold_check = fold_check

    # causes

    def judge(self, cause: Cause) -> list[TableEvent]:
        """Decide, store, and return the events; the table stays as it is where it is refused."""
        decision = decide(self.table, cause, self.now_ms)
        told = [fact.event for fact in decision.facts]
        version = self.table.version
        for fact in decision.facts:
            version += 1
            self.stored.append((CE_TYPES[type(fact.event)], encode(fact.event), fact.secret))
            if isinstance(fact.event, events.DeadlineSet | events.ClockExtended):
                assert fact.event.deadline_id in (version, None)
        assert decision.table.version == version == len(self.stored)
        if self._fold_check:
            assert fold(self.table, self.stored[self.table.version :]) == decision.table
        if decision.before_deal is not None:
            self.snapshots.append(decision.before_deal)
        self.table = decision.table
        return told

    def ask(self, account: str, command: TableCommand, chance: bytes = bytes(8)) -> list[TableEvent]:
        if isinstance(command, commands.OpenTable):
            chance = self.root
        return self.judge(Asked(account, command, chance))

    def refusal(self, account: str, command: TableCommand, chance: bytes = bytes(8)) -> private.Rejection:
        """The refusal of a command that must be refused, at a table that it leaves as it was."""
        before = self.table
        try:
            told = self.ask(account, command, chance)
        except Refused as refused:
            assert self.table is before
            return refused.rejection
        raise AssertionError(f"not refused: {told}")

    def refused(self, account: str, command: TableCommand, chance: bytes = bytes(8)) -> str:
        return self.refusal(account, command, chance).code

    def time_out(self) -> list[TableEvent]:
        """Let the running deadline run out."""
        deadline = self.table.deadline
        assert deadline is not None
        self.now_ms = max(self.now_ms, deadline.due_ms)
        return self.judge(TimedOut(deadline_id=deadline.id, due_ms=deadline.due_ms))

    def outage(self, outage_ms: int) -> list[TableEvent]:
        self.now_ms += outage_ms
        return self.judge(Outage(outage_ms))

    # what is on the table

    @property
    def playing(self) -> Playing:
        assert isinstance(self.table, Playing), self.table
        return self.table

    def told(self) -> list[TableEvent]:
        """Every event so far, as it reads from its stored form."""
        return [event_of(stored) for stored in self.stored]

    def all_of(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.told() if isinstance(event, kind)]

    # playing on

    def open(self, kind: TableKind = TableKind.PRACTICE, **fields: Any) -> list[TableEvent]:
        choice = fields.pop("ruleset", "classic")
        options = fields.pop("options", {})
        ruleset = RulesetChoice(name=choice, options=options)
        return self.ask(HOST, commands.OpenTable(kind=kind, ruleset=ruleset, **fields))

    def move(self, account: str | None = None) -> list[TableEvent]:
        """One move on the merits for the running turn, by whoever holds its seat."""
        table = self.playing
        turn = table.turn
        assert turn is not None
        holder = table.occupants[turn.seat]
        if account is None:
            account = BOT_ACCOUNT if isinstance(holder, Bot) else holder.account_id
        judged = rules.judge(rules.view(table.game, rules.Seat(turn.seat)))
        return self.ask(account, as_command(judged, turn.turn_id, table.game.hand_no))

    def play_until(self, done: Callable[[Table], bool], *, moves_max: int = 20_000) -> None:
        """Play on the merits; people are ready for the next hand at once."""
        for _ in range(moves_max):
            if done(self.table):
                return
            self.now_ms += 100
            if isinstance(self.table, BetweenHands):
                for seat in people(self.table.occupants):
                    if isinstance(self.table, BetweenHands):
                        occupant = self.table.occupants[seat]
                        assert isinstance(occupant, Person)
                        self.ask(occupant.account_id, commands.ReadyForNextHand())
            else:
                self.move()
        raise AssertionError("the game does not come to that point")

    def play_to_the_end(self) -> Ended:
        self.play_until(lambda table: isinstance(table, Ended))
        assert isinstance(self.table, Ended)
        return self.table

    def pay(self) -> None:
        """Answer as a wallet that has enough for everybody, until it has nothing left to say."""
        paid = 0
        while paid < len(self.stored):
            event = event_of(self.stored[paid])
            paid += 1
            answer = wallet_answer(event)
            if answer is not None:
                self.judge(answer)


def wallet_answer(
    event: TableEvent,
) -> wallet.HoldPlaced | wallet.HoldsCaptured | wallet.Settlement | None:
    """What a wallet with enough coins says to an event of a coin table."""
    match event:
        case events.SeatReserved():
            return wallet.HoldPlaced(
                accounts=(),
                reservation_id=event.reservation_id,
                seat=event.seat,
                account_id=event.account_id,
                stake_coins=event.stake_coins,
                deposit_coins=event.deposit_coins,
            )
        case events.SeatsLocked() if event.stake_coins:
            return wallet.HoldsCaptured(accounts=(), pot_coins=4 * event.stake_coins)
        case events.GameEnded() | events.TableCancelled() if event.stake_coins:
            return wallet.Settlement(accounts=(), outcome="win", payouts=())
        case _:
            return None


def as_command(judged: rules.Command, turn_id: str, hand_no: int) -> TableCommand:
    """A move of the rules as the command that asks for it."""
    match judged:
        case rules.PlayCard(card=card):
            return commands.PlayCard(turn_id=turn_id, card=rules.card_name(card))
        case rules.PlaceBid(bid=bid):
            return commands.PlaceBid(turn_id=turn_id, bid=bid)
        case rules.PassCards(cards=cards):
            first, second = rules.card_names(cards)
            return commands.PassCards(turn_id=turn_id, cards=(first, second))
        case rules.LookAtCards():
            return commands.LookAtCards(hand_no=hand_no)
        case _:
            raise AssertionError(judged)


def event_of(stored: Stored) -> TableEvent:
    event = decode(stored[0], stored[1])
    assert isinstance(event, msgspec.Struct)
    return event  # type: ignore[return-value]


def fold(table: Table, stored: Iterable[Stored]) -> Table:
    """Fold stored facts into a table, as a process that takes it over does."""
    for one in stored:
        table = evolve(table, Fact(event_of(one), one[2]))
    return table


def names(told: Iterable[TableEvent]) -> list[str]:
    return [type(event).__name__ for event in told]


def practice(**fields: Any) -> DrivenTable:
    """A practice table with the host on seat 0 and bots on the others, its first hand dealt."""
    driven = DrivenTable()
    seat = fields.pop("seat", 0)
    driven.open(**fields)
    driven.ask(HOST, commands.TakeSeat(seat=seat))
    driven.ask(HOST, commands.StartGame())
    return driven


def four_people(kind: TableKind = TableKind.PRIVATE, **fields: Any) -> DrivenTable:
    """A table of ann, bob, cat and dan on seats 0 to 3 (drawn seats: in that order), started."""
    driven = DrivenTable()
    driven.open(kind, **fields)
    drawn = kind is TableKind.ONLINE
    for seat, account in enumerate((HOST, "bob", "cat", "dan")):
        driven.ask(account, commands.TakeSeat(seat=None if drawn else seat))
        driven.pay()
    if not drawn:
        driven.ask(HOST, commands.StartGame())
    return driven


def against_the_computer(stake_coins: int = 100, **fields: Any) -> DrivenTable:
    """A coin table of the host against three bots, paid and dealt."""
    driven = DrivenTable()
    driven.open(TableKind.COINS, stake_coins=stake_coins, **fields)
    driven.ask(HOST, commands.TakeSeat())
    driven.pay()
    return driven


def until_turn_of(driven: DrivenTable, account: str) -> None:
    """Let the others move until it is this account's turn."""

    def at_turn(table: Table) -> bool:
        if not isinstance(table, Playing) or table.turn is None:
            return False
        occupant = table.occupants[table.turn.seat]
        return isinstance(occupant, Person) and occupant.account_id == account

    driven.play_until(at_turn)
