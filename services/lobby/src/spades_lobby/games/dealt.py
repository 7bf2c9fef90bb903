"""SQL of the deal statistics: each revealed hand is dealt again and counted once."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from spades_events import CE_TYPES, UndecodableMessage, decode, events
from spades_lobby.domain import Game
from spades_lobby.games import fairness, readmodel
from spades_lobby.games.fairness import Seen
from spades_lobby.games.readmodel import EventRow
from spades_lobby.schema import counted_hand, deal_count
from spades_rules import deal_hands

_REVEALED: Final = CE_TYPES[events.DealRevealed]


class Revealed(NamedTuple):
    table_id: str
    event: events.DealRevealed


async def count_deals(db: AsyncConnection, rows: Sequence[EventRow]) -> None:
    """Count the hands that these events reveal. A hand that was counted already counts no more."""
    found = {(one.table_id, one.event.hand_no): one for one in _revealed(rows)}
    if not found:
        return
    games = await readmodel.games(db, {table_id for table_id, _ in found})
    dealt = {key: one for key, one in found.items() if key[0] in games and games[key[0]].seeds is not None}
    new = await _note(db, dealt)
    await _add(db, Counter(seen for key in new for seen in _seen(dealt[key], games[key[0]])))


def _revealed(rows: Iterable[EventRow]) -> list[Revealed]:
    found = []
    for row in rows:
        if row.type != _REVEALED:
            continue
        try:
            event = decode(row.type, row.body)
        except UndecodableMessage:
            # Kept as it is; what cannot be read cannot be dealt again.
            continue
        assert isinstance(event, events.DealRevealed)
        # Another deck is a newer release's: it is counted there.
        if event.deck_id in fairness.SUITS:
            found.append(Revealed(row.table_id, event))
    return found


def _seen(one: Revealed, game: Game) -> list[Seen]:
    event = one.event
    seeds = [bytes.fromhex(seed) for seed in game.seeds or ()]
    secret = bytes.fromhex(event.secret)
    hands = deal_hands(secret, one.table_id, event.hand_no, event.dealer, event.deck_id, seeds)
    return fairness.seen_in(event.deck_id, hands)


async def _note(db: AsyncConnection, keys: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Those of the hands that were not counted before."""
    rows = [{"table_id": table_id, "hand_no": hand_no} for table_id, hand_no in sorted(keys)]
    if not rows:
        return []
    added = insert(counted_hand).values(rows).on_conflict_do_nothing()
    new = await db.execute(added.returning(counted_hand.c.table_id, counted_hand.c.hand_no))
    return [(row.table_id, row.hand_no) for row in new]


async def _add(db: AsyncConnection, counts: Counter[Seen]) -> None:
    if not counts:
        return
    statement = insert(deal_count)
    more = deal_count.c.hands + statement.excluded.hands
    # In one order: two gateways that count at once never wait in a ring.
    await db.execute(
        statement.on_conflict_do_update(
            index_elements=[deal_count.c[name] for name in Seen._fields], set_={"hands": more}
        ),
        [{**seen._asdict(), "hands": hands} for seen, hands in sorted(counts.items())],
    )


async def counts(db: AsyncConnection) -> Counter[Seen]:
    """All counts: a few hundred rows however many hands there were."""
    found = await db.execute(select(deal_count))
    return Counter({Seen(*(getattr(row, name) for name in Seen._fields)): row.hands for row in found})
