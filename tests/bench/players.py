"""Tables of people at the topics, without a gateway: commands out, events and the seats' own parts in.

Four people sit at each table. A seat's move is ready when its turn and its own part of it have been
read; `plays` says whether it goes out at once (a closed loop) or waits for `wave`.
"""

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

import msgspec
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

import spades_rules as rules
from spades_events import CE_TYPES, Envelope, Topic, commands, encode, events, headers_of, private
from spades_runtime import Output, partition_of
from spades_runtime.kafka import BATCH_BYTES
from spades_runtime.publisher import Publisher
from tests.table.driving import as_command

_TURN: Final = CE_TYPES[events.TurnStarted].encode()
_MOVES: Final = frozenset((CE_TYPES[events.CardPlayed].encode(), CE_TYPES[events.BidMade].encode()))
_SCORED: Final = CE_TYPES[events.HandScored].encode()
_ENDED: Final = CE_TYPES[events.GameEnded].encode()
_PART: Final = CE_TYPES[private.Supplement].encode()
_SNAPSHOT: Final = CE_TYPES[private.Snapshot].encode()
_SOURCE: Final = "/spades/bench"
_OPENING: Final = commands.OpenTable(kind="practice", ruleset=commands.RulesetChoice(name="classic", options={}))


class _Turn(msgspec.Struct):
    turn_id: str
    seat: int = 0


_read_turn = msgspec.json.Decoder(_Turn).decode
_read_part = msgspec.json.Decoder(private.Supplement).decode
_read_snapshot = msgspec.json.Decoder(private.Snapshot).decode
_read_view = msgspec.json.Decoder(rules.View).decode


@dataclass(slots=True)
class Game:
    """One table as its people know it."""

    table_id: str
    part: int
    idle: bool = False
    turn: tuple[int, _Turn] | None = None
    own: tuple[int, private.Supplement] | None = None
    version: int = 0
    """The last version read."""
    ended: bool = False
    moved: str = ""
    """The turn that was last moved in."""
    sent_s: dict[str, float] = field(default_factory=dict)


class Players:
    """All the people of a run."""

    def __init__(self, bootstrap: str, topic: Callable[[str], str], partitions: int) -> None:
        self._bootstrap = bootstrap
        self._topic = topic
        self._partitions = partitions
        self.games: dict[bytes, Game] = {}
        self.plays = False
        """Whether a move goes out the moment it is ready."""
        self.idle_from: int | None = None
        """Tables opened behind so many others never play by themselves."""
        self.samples_s: list[float] = []
        self.moves = 0
        self.last_move_s = 0.0
        self.sent: Counter[str] = Counter()
        """Commands sent, by table."""
        self.gaps: list[str] = []
        self.moved = asyncio.Event()
        """Set by every move that is read."""
        self._ready: deque[Game] = deque()
        self._out: list[Output] = []

    async def __aenter__(self) -> "Players":
        self._producer = AIOKafkaProducer(
            bootstrap_servers=self._bootstrap, acks="all", enable_idempotence=True, max_batch_size=BATCH_BYTES
        )
        await self._producer.start()
        self._publisher = Publisher(self._producer, self._topic)
        self._publisher.start()
        self._consumer = AIOKafkaConsumer(bootstrap_servers=self._bootstrap, auto_offset_reset="earliest")
        await self._consumer.start()
        self._events = self._topic(Topic.TABLE_EVENTS)
        names = (self._events, self._topic(Topic.TABLE_PRIVATE))
        self._consumer.assign([TopicPartition(name, part) for name in names for part in range(self._partitions)])
        self._reading = asyncio.create_task(self._read(), name="players")
        return self

    async def __aexit__(self, *_: object) -> None:
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)
        await self._publisher.stop()
        await asyncio.gather(self._producer.stop(), self._consumer.stop())

    # out

    async def open(self, names: Iterator[str]) -> None:
        """Seat four people at a new table a name, and start."""
        for name in names:
            self._open(name, idle=self.idle_from is not None and len(self.games) >= self.idle_from)
        await self._flush()

    def _open(self, name: str, *, idle: bool) -> None:
        table_id = str(uuid5(NAMESPACE_URL, name))
        game = Game(table_id, partition_of(table_id, self._partitions), idle)
        self.games[table_id.encode()] = game
        self._say(game, 0, _OPENING, "open")
        for seat in range(4):
            self._say(game, seat, commands.TakeSeat(seat=seat), f"sit{seat}")
        self._say(game, 0, commands.StartGame(), "start")

    async def wave(self) -> int:
        """Send the move of every table where one is ready; how many."""
        count = len(self._ready)
        while self._ready:
            self._move(self._ready.popleft())
        await self._flush()
        return count

    async def until(self, met: Callable[[], bool], what: str, limit_s: float = 120.0) -> None:
        """Wait for a condition on what was read. Raises SystemExit where it does not come."""
        until_s = time.monotonic() + limit_s
        while not met():
            if time.monotonic() > until_s:
                raise SystemExit(f"not within {limit_s:g} s: {what}")
            if self._reading.done():
                self._reading.result()
            await asyncio.sleep(0.005)

    @property
    def ready(self) -> int:
        """Tables where a move is ready and waits for `wave`."""
        return len(self._ready)

    def _say(self, game: Game, seat: int, command: msgspec.Struct, command_id: str) -> None:
        self.sent[game.table_id] += 1
        envelope = Envelope(
            id=command_id,
            type=CE_TYPES[type(command)],
            source=_SOURCE,
            subject=game.table_id,
            actor=f"{game.table_id[:8]}-{seat}",
        )
        self._out.append(Output(Topic.TABLE_COMMANDS, game.part, game.table_id, encode(command), headers_of(envelope)))

    def _move(self, game: Game) -> None:
        assert game.turn is not None
        assert game.own is not None
        turn, own = game.turn[1], game.own[1]
        command: commands.TableCommand
        if own.legal_cards:
            command = commands.PlayCard(turn_id=turn.turn_id, card=own.legal_cards[0])
        else:
            command = commands.PlaceBid(turn_id=turn.turn_id, bid=1 + turn.seat % 2)
        game.sent_s[turn.turn_id] = time.perf_counter()
        self._say(game, turn.seat, command, f"move:{turn.turn_id}")

    async def _flush(self) -> None:
        out, self._out = self._out, []
        if out:
            self._publisher.check()
            await self._publisher.publish(out, time.time_ns() // 1_000_000, {})

    # in

    async def _read(self) -> None:
        while True:
            polled = await self._consumer.getmany(timeout_ms=200)
            for partition, records in polled.items():
                take_in = self._public if partition.topic == self._events else self._private
                for record in records:
                    game = self.games.get(record.key)
                    if game is not None:
                        take_in(game, dict(record.headers), record.value)
            await self._flush()

    def _public(self, game: Game, found: dict[str, bytes], body: bytes) -> None:
        version = int(found["ce_sequence"])
        if version != game.version + 1:
            # A take tells again what was told: those are passed over, a gap is not.
            if version > game.version:
                self.gaps.append(f"{game.table_id}: {version} behind {game.version}")
            return
        game.version = version
        kind = found["ce_type"]
        if kind == _TURN:
            game.turn = version, _read_turn(body)
            self._look(game)
        elif kind in _MOVES:
            self.moves += 1
            self.last_move_s = time.perf_counter()
            self.moved.set()
            sent_s = game.sent_s.pop(_read_turn(body).turn_id, None)
            if sent_s is not None:
                self.samples_s.append(self.last_move_s - sent_s)
        elif kind == _SCORED:
            for seat in range(4):
                self._say(game, seat, commands.ReadyForNextHand(), f"ready:{version}")
        elif kind == _ENDED:
            game.ended = True
            # A table that is over keeps no refusals, as those of who was ready for its next hand.
            self.sent[game.table_id] -= 4
            if self.plays and not game.idle:
                self._open(f"behind {game.table_id}", idle=False)

    def _private(self, game: Game, found: dict[str, bytes], body: bytes) -> None:
        kind = found["ce_type"]
        if kind == _PART:
            game.own = int(found["ce_sequence"]), _read_part(body)
            self._look(game)
        elif kind == _SNAPSHOT:
            self._snapshot(game, _read_snapshot(body))

    def _snapshot(self, game: Game, seen: private.Snapshot) -> None:
        """A take sends one in place of the parts that went with the process."""
        turn = seen.turn
        if turn is None or turn.seat != seen.seat or game.moved == turn.turn_id:
            return
        move: Any = as_command(rules.judge(_read_view(seen.view)), turn.turn_id, seen.hand_no)
        legal = (move.card,) if isinstance(move, commands.PlayCard) else None
        own = private.Supplement(seat=turn.seat, legal_cards=legal, legal_bids=(1,))
        game.turn, game.own = (seen.version, _Turn(turn.turn_id, turn.seat)), (seen.version, own)
        self._look(game)

    def _look(self, game: Game) -> None:
        """Whether a move is ready now: the turn and its seat's own part of the same version are here."""
        if game.turn is None or game.own is None or game.turn[0] != game.own[0]:
            return
        turn, own = game.turn[1], game.own[1]
        if game.moved == turn.turn_id or (own.legal_cards is None and own.legal_bids is None):
            return
        game.moved = turn.turn_id
        if self.plays and not game.idle:
            self._move(game)
        else:
            self._ready.append(game)
