"""Whole games played by the pure cores of table and wallet, as the records that they would publish."""

import random
from collections import defaultdict, deque

import msgspec

import spades_rules as rules
from spades_events import BOT_ACCOUNT, CE_TYPES, RulesetChoice, TableKind, Topic, commands, encode
from spades_events.clock import TimedOut
from spades_events.events import TableEvent
from spades_events.wallet import WalletEvent
from spades_replay import Record
from spades_rules import seed_commit
from spades_table.domain import Asked, Cause, FoundUnreadable, Refused, decide
from spades_table.house import House
from spades_table.phases import BetweenHands, Ended, Playing, Seating, Starting, Table, Unopened, Unreadable
from spades_table.seats import Person
from spades_wallet.accounts import FromAccount
from spades_wallet.decision import Terms
from spades_wallet.domain import FromTable, TableFact
from spades_wallet.domain import decide as decide_coins
from spades_wallet.domain import evolve as evolve_coins
from spades_wallet.ledger import AccountId, Book, TableId

SECOND_MS = 1_000


class World:
    """Tables and one wallet without a Kafka between them; every event lands in `records`."""

    def __init__(self, seed: int = 7) -> None:
        self.chance = random.Random(seed)
        self.now_ms = 1_767_225_600_000
        self.records: list[Record] = []
        self.tables: dict[str, Table] = {}
        self._book = Book()
        self._versions: defaultdict[tuple[str, str], int] = defaultdict(int)
        self._news: deque[tuple[str, TableEvent]] = deque()

    def open_accounts(self, *accounts: str) -> None:
        for account in accounts:
            wish = FromAccount(
                account=AccountId(account),
                actor=account,
                command_id="open",
                wish=commands.OpenAccount(),
                days=("2026-01-01",),
            )
            decision = decide_coins(self._book, wish, Terms(games_at_once_max=99))
            self._book = evolve_coins(self._book, decision)
            assert decision.event is not None
            self._publish(Topic.WALLET_EVENTS, account, decision.event)

    def ask(self, table_id: str, account: str, command: commands.TableCommand) -> None:
        """Send a command and let the wallet answer what it must. Raises Refused."""
        self._settle(table_id, Asked(account, command, self.chance.randbytes(self._chance_bytes(command))))

    def time_out(self, table_id: str) -> None:
        """Let the running deadline pass."""
        deadline = self.tables[table_id].deadline
        assert deadline is not None
        self.now_ms = max(self.now_ms, deadline.due_ms)
        self._settle(table_id, TimedOut(deadline_id=deadline.id, due_ms=deadline.due_ms))

    def lose_cards(self, table_id: str) -> None:
        """Let the table find that its sealed chain cannot be opened."""
        table = self.tables[table_id]
        assert isinstance(table, Playing)
        self.tables[table_id] = Unreadable(
            version=table.version,
            setup=table.setup,
            deadline=table.deadline,
            occupants=table.occupants,
            seeds=table.seeds,
            scores=table.game.scores,
            bags=table.game.bags,
            hand_no=table.game.hand_no,
        )
        self._settle(table_id, FoundUnreadable())

    def _settle(self, table_id: str, cause: Cause) -> None:
        self._cause(table_id, cause)
        while self._news:
            self._to_wallet(*self._news.popleft())

    def _cause(self, table_id: str, cause: Cause) -> None:
        self.now_ms += 20
        decision = decide(self.tables.get(table_id, Unopened(table_id=table_id, house=House())), cause, self.now_ms)
        self.tables[table_id] = decision.table
        for fact in decision.facts:
            self._publish(Topic.TABLE_EVENTS, table_id, fact.event)
            if isinstance(fact.event, TableFact):
                self._news.append((table_id, fact.event))

    def _to_wallet(self, table_id: str, fact: TableEvent) -> None:
        assert isinstance(fact, TableFact)
        decision = decide_coins(self._book, FromTable(table=TableId(table_id), fact=fact), Terms(games_at_once_max=99))
        self._book = evolve_coins(self._book, decision)
        if decision.event is not None:
            self._publish(Topic.WALLET_EVENTS, table_id, decision.event)
            self._tell_table(table_id, decision.event)

    def _tell_table(self, table_id: str, event: WalletEvent) -> None:
        if type(event).__name__ in {"HoldPlaced", "HoldRefused", "HoldsCaptured", "Settlement"}:
            self._cause(table_id, event)  # type: ignore[arg-type]

    def _publish(self, topic: Topic, stream: str, event: msgspec.Struct) -> None:
        self._versions[topic, stream] += 1
        version = self._versions[topic, stream]
        self.records.append(
            Record(
                topic=topic,
                stream=stream,
                version=version,
                id=f"{stream}:{version}",
                type=CE_TYPES[type(event)],
                body=encode(event),
                time_ms=self.now_ms,
            )
        )

    @staticmethod
    def _chance_bytes(command: commands.TableCommand) -> int:
        return 32 if isinstance(command, commands.OpenTable) else 8


def open_table(
    world: World,
    table_id: str,
    people: list[str],
    *,
    ruleset: str = "deniro",
    kind: TableKind = TableKind.PRACTICE,
    stake_coins: int = 0,
    options: dict[str, int | bool | None] | None = None,
) -> None:
    """Open a table, seat the people with seeds, start it; bots take the rest."""
    choice = RulesetChoice(name=ruleset, options=options or {})
    seeds = {person: world.chance.randbytes(32) for person in people}
    world.ask(
        table_id,
        people[0],
        commands.OpenTable(kind=kind, ruleset=choice, stake_coins=stake_coins, bots_welcome=True),
    )
    for person in people:
        world.ask(table_id, person, commands.TakeSeat(seed_commit=seed_commit(seeds[person]).hex()))
    if isinstance(world.tables[table_id], Seating):
        world.ask(table_id, people[0], commands.StartGame())
    for person in people:
        if isinstance(world.tables[table_id], Starting):
            world.ask(table_id, person, commands.OpenSeed(seed=seeds[person].hex()))


def play_on(world: World, table_id: str, *, turns: int = 100_000, silent: frozenset[str] = frozenset()) -> None:
    """Play so many turns, or to the end; the silent never answer and run out of time."""
    for _ in range(turns):
        table = world.tables[table_id]
        match table:
            case Ended():
                return
            case BetweenHands():
                world.time_out(table_id)
            case Playing(turn=turn) if turn is not None:
                occupant = table.occupants[turn.seat]
                account = occupant.account_id if isinstance(occupant, Person) else BOT_ACCOUNT
                if account in silent:
                    world.time_out(table_id)
                else:
                    move_on(world, table_id, account)
            case _:
                raise AssertionError(f"{type(table).__name__} does not go on by itself")


def move_on(world: World, table_id: str, account: str) -> None:
    """Make the running turn's move as the rules' judgement has it."""
    table = world.tables[table_id]
    assert isinstance(table, Playing)
    assert table.turn is not None
    judged = rules.judge(rules.view(table.game, rules.Seat(table.turn.seat)))
    turn_id = table.turn.turn_id
    match judged:
        case rules.LookAtCards():
            command: commands.TableCommand = commands.LookAtCards(hand_no=table.game.hand_no)
        case rules.PlaceBid(bid=bid):
            command = commands.PlaceBid(turn_id=turn_id, bid=bid)
        case rules.PassCards(cards=cards):
            first, second = rules.card_names(cards)
            command = commands.PassCards(turn_id=turn_id, cards=(first, second))
        case rules.PlayCard(card=card):
            command = commands.PlayCard(turn_id=turn_id, card=rules.card_name(card))
        case _:
            raise AssertionError(judged)
    world.ask(table_id, account, command)


def leave(world: World, table_id: str, account: str, price_coins: int) -> None:
    world.ask(table_id, account, commands.LeaveGame(confirm_price_coins=price_coins))


__all__ = ["Refused", "World", "leave", "move_on", "open_table", "play_on"]
