"""A table service in the test's own process: the records of the contract, none of the rules.

It answers every command as the real one does on its topics, remembers what it answered, and can
be told to keep back what a crash would lose.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import msgspec
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from spades_events import (
    BOT_ACCOUNT,
    CE_TYPES,
    OPERATOR_PREFIX,
    Envelope,
    SeatHolder,
    TableKind,
    Topic,
    TurnKind,
    commands,
    decode,
    encode,
    envelope_of,
    events,
    headers_of,
    private,
    wallet,
)
from spades_events.private import Answer, Rejection, Snapshot, Supplement

NOW_MS = 1_700_000_000_000
HEX = "ab" * 32
FEE_OF_STAKE = 10
HANDS = (
    ("2S", "3S", "4S"),
    ("2H", "3H", "4H"),
    ("2D", "3D", "4D"),
    ("2C", "3C", "4C"),
)
"""What each seat holds: enough to see whose cards somebody got."""


@dataclass
class FakeGame:
    opened: events.TableOpened
    version: int = 1
    phase: str = "seating"
    seats: tuple[SeatHolder | None, ...] = (None, None, None, None)
    turn: int = 0
    answered: dict[tuple[str, str], tuple[bytes, Answer]] = field(default_factory=dict)

    def seat_of(self, account: str) -> int | None:
        for holder in self.seats:
            if holder is not None and holder.account_id == account:
                return holder.seat
        return None


class Refused(Exception):
    def __init__(self, code: str, **more: object) -> None:
        super().__init__(code)
        self.rejection = Rejection(code=code, message=f"refused: {code}", **more)  # type: ignore[arg-type]


class FakeTable:
    """Serves every partition. `keeps_back` names private records that are not sent."""

    def __init__(self, bootstrap: str, prefix: str, partitions: int) -> None:
        self._bootstrap = bootstrap
        self._prefix = prefix
        self._partitions = partitions
        self.games: dict[str, FakeGame] = {}
        self.keeps_back: set[type] = set()
        self.is_silent = False
        self.wallet_is_silent = False
        self.closed: set[str] = set()
        """Accounts whose coins went back to the house."""
        self.poor: set[str] = set()
        """Accounts that the wallet refuses a seat."""
        self.grants: dict[tuple[str, str], tuple[str | None, commands.GrantCoins, int]] = {}
        """Who granted what, by account and command id; with its entry number."""
        self._now_ms = NOW_MS
        self.commands: list[tuple[str, str, msgspec.Struct]] = []
        """(account, command id, command), as they were read."""

    @asynccontextmanager
    async def running(self) -> AsyncIterator["FakeTable"]:
        consumer = AIOKafkaConsumer(bootstrap_servers=self._bootstrap, fetch_max_wait_ms=20)
        self._producer = AIOKafkaProducer(bootstrap_servers=self._bootstrap, linger_ms=0)
        await consumer.start()
        await self._producer.start()
        topics = [self._prefix + topic for topic in (Topic.TABLE_COMMANDS, Topic.WALLET_COMMANDS)]
        parts = [TopicPartition(topic, part) for topic in topics for part in range(self._partitions)]
        ends = await consumer.end_offsets(parts)
        consumer.assign(parts)
        for part, end in ends.items():
            consumer.seek(part, end)
        task = asyncio.create_task(self._serve(consumer))
        try:
            yield self
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await consumer.stop()
            await self._producer.stop()

    async def _serve(self, consumer: AIOKafkaConsumer) -> None:
        while True:
            polled = await consumer.getmany(timeout_ms=100)
            for part, records in polled.items():
                for record in records:
                    envelope = envelope_of(record.headers)
                    command = decode(envelope.type, record.value)
                    if part.topic.endswith(Topic.WALLET_COMMANDS):
                        await self._wallet(part.partition, envelope, command)
                    elif not self.is_silent:
                        await self._answer(part.partition, envelope, command, record.value)

    # -- the table -----------------------------------------------------------------------

    async def _answer(self, part: int, envelope: Envelope, command: msgspec.Struct, body: bytes) -> None:
        account, table_id = envelope.actor or "", envelope.subject
        self.commands.append((account, envelope.id, command))
        game = self.games.get(table_id)
        if isinstance(command, commands.SyncSeat):
            await self._sync(part, envelope, command, game)
            return
        known = game and game.answered.get((account, envelope.id))
        if known:
            same = known[0] == body
            answer = known[1] if same else _rejected(envelope, Refused("conflict"))
            await self._tell(part, envelope, answer)
            return
        try:
            facts = self._decide(table_id, account, command)
        except Refused as refused:
            answer = _rejected(envelope, refused)
        else:
            game = self.games[table_id]
            first = game.version - len(facts) + 1
            for version, (event, parts) in enumerate(facts, start=first):
                await self.publish(part, table_id, version, event, parts)
            answer = Answer(command_id=envelope.id, account_id=account, first_version=first, last_version=game.version)
        if table_id in self.games:
            self.games[table_id].answered[account, envelope.id] = (body, answer)
        await self._tell(part, envelope, answer)

    def _decide(self, table_id: str, account: str, command: msgspec.Struct) -> "list[Fact]":
        game = self.games.get(table_id)
        if isinstance(command, commands.OpenTable):
            if game is not None:
                raise Refused("conflict")
            opened = _opened(command, account)
            self.games[table_id] = FakeGame(opened)
            return [(opened, ())]
        if game is None:
            raise Refused("not_found")
        facts = self._react(game, account, command)
        game.version += len(facts)
        return facts

    def _react(self, game: FakeGame, account: str, command: msgspec.Struct) -> "list[Fact]":
        seat = game.seat_of(account)
        match command:
            case commands.CancelTable():
                if not account.startswith(OPERATOR_PREFIX):
                    raise Refused("operators_only")
                if game.phase == "ended":
                    raise Refused("game_over")
                game.phase = "ended"
                stake = game.opened.stake_coins
                return [(events.TableCancelled(reason="operator", stake_coins=stake, seats=()), ())]
            case commands.TakeSeat():
                if account in self.poor:
                    return self._refuse_seat(game, account)
                taken: Fact = (self._take(game, account, seat, command), ())
                full = all(holder is not None for holder in game.seats)
                return [taken, *(self._start(game) if full and game.opened.kind is TableKind.ONLINE else [])]
            case commands.ReleaseSeat() if seat is not None:
                game.seats = _with(game.seats, seat, None)
                return [(events.SeatReleased(seat=seat, account_id=account, reservation_id=None), ())]
            case commands.StartGame():
                if account != game.opened.host:
                    raise Refused("not_host")
                return self._start(game)
            case commands.PlaceBid() if seat is not None:
                return self._bid(game, seat, command)
            case commands.LeaveGame() if seat is not None:
                price = game.opened.stake_coins + game.opened.fee_coins
                if command.confirm_price_coins != price:
                    raise Refused("price_changed", price_coins=price)
                game.seats = _with(game.seats, seat, SeatHolder(seat=seat, account_id=BOT_ACCOUNT))
                left = events.SeatForfeited(
                    seat=seat, account_id=account, stake_coins=game.opened.stake_coins, fee_coins=0
                )
                taken = events.SeatTaken(holder=SeatHolder(seat=seat, account_id=BOT_ACCOUNT), replaces=account)
                return [(left, ()), (taken, ())]
            case _:
                raise Refused("not_seated" if seat is None else "wrong_phase")

    def _refuse_seat(self, game: FakeGame, account: str) -> "list[Fact]":
        reservation = f"{account}:{game.version}"
        reserved = events.SeatReserved(
            reservation_id=reservation,
            seat=3,
            account_id=account,
            seed_commit=None,
            stake_coins=game.opened.stake_coins,
            deposit_coins=game.opened.fee_coins,
            due_ms=NOW_MS,
        )
        refused = events.SeatRefused(
            reservation_id=reservation, seat=3, account_id=account, code="insufficient_balance"
        )
        return [(reserved, ()), (refused, ())]

    def _take(self, game: FakeGame, account: str, seat: int | None, command: commands.TakeSeat) -> events.SeatTaken:
        if seat is not None:
            raise Refused("already_seated")
        free = [place for place, holder in enumerate(game.seats) if holder is None]
        wanted = command.seat if command.seat is not None else (free or [None])[0]
        if wanted is None or wanted not in free:
            raise Refused("seat_taken" if free else "table_full")
        holder = SeatHolder(seat=wanted, account_id=account, seed_commit=command.seed_commit)
        game.seats = _with(game.seats, wanted, holder)
        return events.SeatTaken(holder=holder)

    def _start(self, game: FakeGame) -> "list[Fact]":
        game.phase = "playing"
        first, second, third, fourth = (
            holder or SeatHolder(seat=seat, account_id=BOT_ACCOUNT) for seat, holder in enumerate(game.seats)
        )
        game.seats = (first, second, third, fourth)
        people = [holder.seat for holder in game.seats if holder and holder.account_id != BOT_ACCOUNT]
        dealt = tuple(Supplement(seat=seat, cards=HANDS[seat], blind_nil_open=False) for seat in people)
        return [
            (events.GameStarted(seats=(first, second, third, fourth)), ()),
            (events.HandDealt(hand_no=1, dealer=3, face_down=()), dealt),
            self._turn(game),
        ]

    def _turn(self, game: FakeGame) -> "Fact":
        holder = game.seats[game.turn]
        person = holder is not None and holder.account_id != BOT_ACCOUNT
        started = events.TurnStarted(
            turn_id=f"1:{game.version}",
            hand_no=1,
            seat=game.turn,
            kind=TurnKind.BID,
            deadline_ms=None,
            server_ms=NOW_MS,
        )
        return (started, (Supplement(seat=game.turn, legal_bids=(1, 2, "nil")),) if person else ())

    def _bid(self, game: FakeGame, seat: int, command: commands.PlaceBid) -> "list[Fact]":
        if seat != game.turn:
            raise Refused("not_your_turn")
        bid: Fact = (events.BidMade(turn_id=command.turn_id, seat=seat, bid=command.bid), ())
        people = [holder.seat for holder in game.seats if holder and holder.account_id != BOT_ACCOUNT]
        game.turn = people[(people.index(seat) + 1) % len(people)]
        return [bid, self._turn(game)]

    async def _sync(self, part: int, envelope: Envelope, command: commands.SyncSeat, game: FakeGame | None) -> None:
        if game is None:
            await self._tell(part, envelope, _rejected(envelope, Refused("not_found")))
            return
        await self.snapshot(part, envelope.subject, envelope.actor, command.connection_id)

    # -- records -------------------------------------------------------------------------

    async def publish(
        self,
        part: int,
        table_id: str,
        version: int,
        event: msgspec.Struct,
        supplements: tuple[Supplement, ...] = (),
    ) -> None:
        """One event with its seats' parts, as the table publishes them."""
        envelope = Envelope(
            id=f"{table_id}:{version}",
            type=CE_TYPES[type(event)],
            source="/spades/table",
            subject=table_id,
            sequence=version,
            time_ms=self._tick(),
            seats="".join(str(one.seat) for one in supplements),
        )
        await self._send(Topic.TABLE_EVENTS, part, envelope, event)
        for one in supplements:
            if Supplement in self.keeps_back:
                continue
            mine = replace_envelope(envelope, one)
            await self._send(Topic.TABLE_PRIVATE, part, mine, one)

    async def snapshot(self, part: int, table_id: str, account: str | None, connection_id: str | None) -> None:
        """A seat's snapshot (a watcher's without a seat), asked for or fresh after a restart."""
        if Snapshot in self.keeps_back:
            return
        game = self.games[table_id]
        seat = game.seat_of(account or "")
        opened = game.opened
        first, second, third, fourth = game.seats
        view = {"hand": HANDS[seat]} if seat is not None and game.phase == "playing" else None
        snapshot = Snapshot(
            table_id=table_id,
            version=game.version,
            connection_id=connection_id,
            seat=seat,
            account_id=account,
            server_ms=NOW_MS,
            kind=opened.kind,
            ruleset=opened.ruleset,
            rules_version=opened.rules_version,
            stake_coins=opened.stake_coins,
            fee_coins=opened.fee_coins,
            clock_ms=opened.clock_ms,
            host=opened.host,
            anchor=opened.anchor,
            phase=game.phase,
            seats=(first, second, third, fourth),
            reserved=(),
            seeds=None,
            seed_missing=None,
            hand_no=1,
            fingerprint=None,
            scores=(0, 0),
            bags=(0, 0),
            turn=None,
            view=msgspec.Raw(msgspec.json.encode(view)),
            ready=(),
            next_deadline_ms=None,
            winner=None,
            end_reason=None,
            settled=False,
        )
        envelope = Envelope(
            id=f"{table_id}:{game.version}:{connection_id}",
            type=CE_TYPES[Snapshot],
            source="/spades/table",
            subject=table_id,
            sequence=game.version,
            time_ms=self._tick(),
            actor=account,
            seat=seat,
        )
        await self._send(Topic.TABLE_PRIVATE, part, envelope, snapshot)

    async def _tell(self, part: int, envelope: Envelope, answer: Answer) -> None:
        if Answer in self.keeps_back:
            return
        told = Envelope(
            id=envelope.id,
            type=CE_TYPES[Answer],
            source="/spades/table",
            subject=envelope.subject,
            time_ms=self._tick(),
            actor=envelope.actor,
        )
        await self._send(Topic.TABLE_PRIVATE, part, told, answer)

    async def _wallet(self, part: int, envelope: Envelope, command: msgspec.Struct) -> None:
        account = envelope.subject
        self.commands.append((account, envelope.id, command))
        if self.wallet_is_silent:
            return
        balance = wallet.AccountBalance(
            account_id=account, entry_no=1, available_coins=1_000, held_coins=0, change_coins=1_000
        )
        event: msgspec.Struct
        match command:
            case commands.OpenAccount():
                event = wallet.AccountOpened(
                    accounts=(balance,), account_id=account, grant_coins=1_000, command_id=envelope.id
                )
            case commands.CloseAccount():
                self.closed.add(account)
                event = wallet.AccountClosed(
                    accounts=(), account_id=account, returned_coins=1_000, command_id=envelope.id
                )
            case commands.GrantCoins():
                event = self._grant(account, envelope, command)
            case _:
                event = wallet.WalletCommandRefused(
                    accounts=(), account_id=account, command_id=envelope.id, code="enough_coins"
                )
        told = Envelope(
            id=f"{account}:{envelope.id}",
            type=CE_TYPES[type(event)],
            source="/spades/wallet",
            subject=account,
            sequence=1,
            time_ms=self._tick(),
        )
        await self._send(Topic.WALLET_EVENTS, part, told, event)

    def _grant(self, account: str, envelope: Envelope, command: commands.GrantCoins) -> msgspec.Struct:
        key = (account, envelope.id)
        known = self.grants.setdefault(key, (envelope.actor, command, len(self.grants) + 2))
        if known[1] != command:
            return wallet.WalletCommandRefused(accounts=(), account_id=account, command_id=envelope.id, code="conflict")
        line = wallet.AccountBalance(
            account_id=account,
            entry_no=known[2],
            available_coins=1_000 + command.amount_coins,
            held_coins=0,
            change_coins=command.amount_coins,
        )
        return wallet.CoinsGranted(
            accounts=(line,),
            account_id=account,
            amount_coins=command.amount_coins,
            reason=command.reason,
            command_id=envelope.id,
        )

    def _tick(self) -> int:
        """A later moment each time: lists are in the order of time."""
        self._now_ms += 1
        return self._now_ms

    async def _send(self, topic: Topic, part: int, envelope: Envelope, message: msgspec.Struct) -> None:
        await self._producer.send(
            self._prefix + topic,
            encode(message),
            key=envelope.subject.encode(),
            partition=part,
            headers=headers_of(envelope),
        )


Fact = tuple[msgspec.Struct, tuple[private.Supplement, ...]]


def replace_envelope(envelope: Envelope, one: Supplement) -> Envelope:
    return envelope._replace(id=f"{envelope.id}:{one.seat}", type=CE_TYPES[Supplement], seats="", seat=one.seat)


def _opened(command: commands.OpenTable, host: str) -> events.TableOpened:
    return events.TableOpened(
        kind=command.kind,
        ruleset=command.ruleset,
        rules_version=1,
        stake_coins=command.stake_coins,
        fee_coins=-(-command.stake_coins // FEE_OF_STAKE),
        clock_ms=command.clock_ms,
        host=host,
        bots_welcome=command.bots_welcome,
        anchor=HEX,
    )


def _rejected(envelope: Envelope, refused: Refused) -> Answer:
    return Answer(command_id=envelope.id, account_id=envelope.actor or "", rejection=refused.rejection)


def _with(seats: tuple[SeatHolder | None, ...], seat: int, holder: SeatHolder | None) -> tuple[SeatHolder | None, ...]:
    return tuple(holder if place == seat else held for place, held in enumerate(seats))
