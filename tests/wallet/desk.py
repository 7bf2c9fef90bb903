"""The wallet without Kafka: its processor behind the worker's own commit, on a real PostgreSQL as the app role."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import count
from typing import Any, cast

from spades_events import CE_TYPES, Envelope, Topic, decode, encode, envelope_of, headers_of
from spades_events.commands import GrantCoins, OpenAccount, WalletCommand
from spades_events.wallet import HoldRefused, WalletCommandRefused, WalletEvent
from spades_local.testing import Namespace
from spades_runtime import Commit, Database, Input, Output, RuntimeSettings, database
from spades_runtime.judging import Judge
from spades_runtime.owned import Owned
from spades_runtime.publisher import Publisher
from spades_runtime.sorting import Batch
from spades_wallet.decision import Terms
from spades_wallet.domain import TableFact
from spades_wallet.handlers import Wallet
from tests.wallet.games import CoinGame

NOON_MS = 1_767_268_800_000
"""2026-01-01, 12:00 UTC."""
DAY_MS = 86_400_000
OPERATOR = "olga"
_ids = count(1)
_games = count(1)


class _Published:
    """Where the worker's publisher would send records: a list."""

    def __init__(self) -> None:
        self.outputs: list[Output] = []
        self.published_seq: dict[int, int] = {}

    async def publish(self, outputs: Iterable[Output], now_ms: int, published: Mapping[int, int]) -> None:
        self.outputs += outputs
        self.published_seq |= published


class Desk:
    """Takes commands and facts for one partition and keeps what the wallet published."""

    def __init__(self, db: Database, settings: RuntimeSettings, part: int = 0, terms: Terms | None = None) -> None:
        self.db = db
        self.part = part
        self.now_ms = NOON_MS
        self.wallet = Wallet(terms or Terms())
        self._offsets = count()
        self._published = _Published()
        self._judge = Judge(
            settings=settings,
            processor=self.wallet,
            publisher=cast(Publisher, self._published),
            owned={part: Owned(part, 0, {}, 0, None)},
            commit=Commit.TRANSACTION,
            seal=None,
        )

    @property
    def owned(self) -> Owned:
        return self._judge.owned[self.part]

    async def handle(self, *inputs: Input) -> list[WalletEvent]:
        """Judge the records in one poll; what was published for them."""
        self._published.outputs.clear()
        last: dict[str, int] = {}
        for source in inputs:
            last[source.topic] = max(source.offset + 1, last.get(source.topic, 0))
        batch = Batch(self.now_ms, inputs=list(inputs), next_offsets={self.part: last})
        await self._judge.judge(batch, self.db, write_all=False)
        return [message for message, _ in self.published()]

    def published(self) -> list[tuple[WalletEvent, Envelope]]:
        """The wallet's events of the last poll, with their envelopes."""
        told = []
        for output in self._published.outputs:
            if output.topic != Topic.WALLET_EVENTS:
                continue
            envelope = envelope_of(output.headers)
            told.append((cast(WalletEvent, decode(envelope.type, output.value)), envelope))
        return told

    def parked(self) -> list[str]:
        """The reasons of what the last poll set aside."""
        return [
            dict(output.headers)["parked_reason"].decode()
            for output in self._published.outputs
            if output.topic == Topic.PARKED
        ]

    async def tell(self, game: CoinGame, *facts: TableFact) -> list[WalletEvent]:
        """Facts of the game's table, in one poll."""
        return await self.handle(*(self.fact(game.table, fact) for fact in facts))

    async def ask(self, account: str, command: WalletCommand, command_id: str | None = None) -> list[WalletEvent]:
        """A command about an account."""
        return await self.handle(self.command(account, command, command_id))

    def fact(self, table: str, fact: TableFact) -> Input:
        sequence = next(_ids)
        envelope = Envelope(
            id=f"{table}:{sequence}",
            type=CE_TYPES[type(fact)],
            source="/spades/table",
            subject=table,
            sequence=sequence,
        )
        return self.record(Topic.TABLE_EVENTS, envelope, encode(fact))

    def command(self, account: str, command: WalletCommand, command_id: str | None = None) -> Input:
        envelope = Envelope(
            id=command_id or f"command-{next(_ids)}",
            type=CE_TYPES[type(command)],
            source="/spades/lobby",
            subject=account,
            actor=OPERATOR if isinstance(command, GrantCoins) else account,
        )
        return self.record(Topic.WALLET_COMMANDS, envelope, encode(command))

    def record(self, topic: str, envelope: Envelope, body: bytes) -> Input:
        return Input(topic, self.part, next(self._offsets), envelope.subject.encode(), body, headers_of(envelope))


def settings_of(namespace: Namespace) -> RuntimeSettings:
    """The settings of a wallet in this namespace."""
    own = namespace.databases["wallet"]
    return RuntimeSettings(
        service="wallet",
        kafka_bootstrap=namespace.bootstrap,
        database_url=own.app_url,
        database_schema=own.schema,
        partitions=namespace.partitions,
    )


@asynccontextmanager
async def desk_at(namespace: Namespace, part: int = 0, terms: Terms | None = None) -> AsyncIterator[Desk]:
    """A desk for one partition, connected as the app role; the schema has to be there."""
    settings = settings_of(namespace)
    db = await database.connect(settings)
    try:
        cursor = await db.execute(
            """
            INSERT INTO partition (part, epoch, next_offsets, seq, published_seq, alive_at_ms, kafka_cluster_id)
            VALUES (%s, 1, '{}', 0, 0, NULL, 'none') ON CONFLICT DO NOTHING
            """,
            [part],
        )
        cursor = await db.execute("UPDATE partition SET epoch = epoch + 1 WHERE part = %s RETURNING epoch, seq", [part])
        row = await cursor.fetchone()
        assert row is not None
        desk = Desk(db, settings, part, terms)
        desk.owned.epoch, desk.owned.seq = row
        yield desk
    finally:
        await db.close()


async def balances(db: Database, names: Sequence[str]) -> dict[str, int]:
    """What the ledger itself says these accounts have."""
    cursor = await db.execute("SELECT id, balance FROM account WHERE id = ANY(%s)", [list(names)])
    found: dict[str, Any] = dict(await cursor.fetchall())
    cursor = await db.execute("SELECT account, balance FROM system_balance")
    return found | dict(await cursor.fetchall())


def game(**how: Any) -> CoinGame:
    """A game at a table of its own."""
    return CoinGame(**{"table": f"table{next(_games)}", "stake": 100, "people": (0,), **how})


async def seat(desk: Desk, of: CoinGame, coins: int | None = None) -> None:
    """Open an account for everybody at the table."""
    for place in of.people:
        await desk.ask(of.name(place), OpenAccount())
        if coins is not None:
            await desk.ask(of.name(place), GrantCoins(amount_coins=coins, reason="a test"))


def codes(events: list[WalletEvent]) -> list[str]:
    return [event.code for event in events if isinstance(event, WalletCommandRefused | HoldRefused)]
