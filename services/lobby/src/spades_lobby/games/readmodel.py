"""SQL of what the log says: games, their events, balances. Every write may be repeated."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import msgspec
import psycopg
from sqlalchemy import Select, Text, cast, exists, select, tuple_
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from spades_lobby.domain import Game
from spades_lobby.schema import balance, closed_table, entry, game, game_event, player
from spades_runtime import arrays

_encode: Final = msgspec.json.encode
_decode_game: Final = msgspec.json.Decoder(Game).decode


class EventRow(NamedTuple):
    """One public event as it was read."""

    table_id: str
    version: int
    type: str
    at_ms: int
    seats: str
    body: bytes


class EntryRow(NamedTuple):
    """What one wallet event did to one account."""

    account_id: str
    entry_no: int
    type: str
    subject: str
    change_coins: int
    available_coins: int
    held_coins: int
    at_ms: int


class Wallet(NamedTuple):
    available_coins: int
    held_coins: int


class ListedGame(NamedTuple):
    """A game and where it stands in its list."""

    game: Game
    at: datetime


def _moment(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms / 1_000, UTC)


_ADD_EVENTS: Final = """
INSERT INTO game_event (table_id, version, type, at_ms, seats, body)
SELECT u.table_id, u.version, u.type, u.at_ms, u.seats, u.body::json
  FROM unnest($1::text[], $2::int[], $3::text[], $4::bigint[], $5::text[], $6::text[])
       AS u (table_id, version, type, at_ms, seats, body)
    ON CONFLICT DO NOTHING
"""


async def add_events(db: AsyncConnection, rows: Sequence[EventRow]) -> None:
    """Keep the events that are not there yet. Raises psycopg.Error."""
    table_ids, versions, types, at, seats, bodies = zip(*rows, strict=True)
    columns = (
        *(arrays.texts(table_ids), arrays.int4s(versions), arrays.texts(types)),
        *(arrays.int8s(at), arrays.texts(seats), arrays.utf8s(bodies)),
    )
    # Most of what the gateway writes: past SQLAlchemy, whose arrays cost more than all the rest of it.
    driver = (await db.get_raw_connection()).driver_connection
    assert isinstance(driver, psycopg.AsyncConnection)
    arrays.register(driver.adapters)
    await psycopg.AsyncRawCursor(driver).execute(_ADD_EVENTS, columns, prepare=True)


async def save_games(db: AsyncConnection, games: Iterable[Game]) -> None:
    """Save each game where it is newer than what is there; add the people at it."""
    rows = [
        {
            "table_id": one.table_id,
            "version": one.version,
            "kind": one.kind.value,
            "phase": one.phase,
            "opened_at": _moment(one.opened_ms),
            # A ready text: the driver would encode the struct's fields again.
            "state": msgspec.to_builtins(one),
        }
        for one in games
    ]
    if not rows:
        return
    statement = insert(game)
    newer = statement.excluded
    await db.execute(
        statement.on_conflict_do_update(
            index_elements=[game.c.table_id],
            set_={
                "version": newer.version,
                "phase": newer.phase,
                "state": newer.state,
            },
            where=game.c.version < newer.version,
        ),
        rows,
    )


async def add_players(db: AsyncConnection, seated: Iterable[tuple[str, str, int]]) -> None:
    """Remember who sat where: (account, table, when)."""
    rows = [
        {"account_id": account_id, "table_id": table_id, "joined_at": _moment(at_ms)}
        for account_id, table_id, at_ms in seated
    ]
    if rows:
        await db.execute(insert(player).on_conflict_do_nothing(), rows)


async def games(db: AsyncConnection, table_ids: Iterable[str]) -> dict[str, Game]:
    found = await db.execute(
        select(game.c.table_id, cast(game.c.state, Text).label("state")).where(game.c.table_id.in_(list(table_ids)))
    )
    return {row.table_id: _decode_game(row.state) for row in found}


async def one_game(db: AsyncConnection, table_id: str) -> Game | None:
    return (await games(db, [table_id])).get(table_id)


async def open_games(
    db: AsyncConnection, kinds: Sequence[str], before: tuple[datetime, str] | None, limit: int
) -> list[ListedGame]:
    """Tables with a free seat, the newest first, below the place `before`."""
    wanted = (
        select(game.c.opened_at, cast(game.c.state, Text).label("state"))
        .where(
            game.c.phase == "seating",
            game.c.kind.in_(list(kinds)),
            ~exists().where(closed_table.c.table_id == game.c.table_id),
        )
        .order_by(game.c.opened_at.desc(), game.c.table_id.desc())
        .limit(limit)
    )
    if before is not None:
        wanted = wanted.where(tuple_(game.c.opened_at, game.c.table_id) < tuple_(*before))
    found = await db.execute(wanted)
    return [ListedGame(_decode_game(row.state), row.opened_at) for row in found]


async def games_of(
    db: AsyncConnection, account_id: str, before: tuple[datetime, str] | None, limit: int
) -> list[ListedGame]:
    """The games a person sat at, the newest first, below the place `before`."""
    wanted = (
        select(player.c.joined_at, cast(game.c.state, Text).label("state"))
        .join(game, game.c.table_id == player.c.table_id)
        .where(player.c.account_id == account_id)
        .order_by(player.c.joined_at.desc(), player.c.table_id.desc())
        .limit(limit)
    )
    if before is not None:
        wanted = wanted.where(tuple_(player.c.joined_at, player.c.table_id) < tuple_(*before))
    found = await db.execute(wanted)
    return [ListedGame(_decode_game(row.state), row.joined_at) for row in found]


def _events_of(table_id: str) -> Select[Any]:
    """One game's events in order, their bodies as they were written."""
    body = cast(game_event.c.body, Text).label("body")
    columns = [game_event.c[name] for name in EventRow._fields if name != "body"]
    return select(*columns, body).where(game_event.c.table_id == table_id).order_by(game_event.c.version)


async def _event_rows(db: AsyncConnection, query: Select[Any]) -> list[EventRow]:
    found = await db.execute(query)
    return [EventRow(**{**row._asdict(), "body": row.body.encode()}) for row in found]


async def events_after(db: AsyncConnection, table_id: str, after: int, limit: int) -> list[EventRow]:
    return await _event_rows(db, _events_of(table_id).where(game_event.c.version > after).limit(limit))


async def events_of_types(db: AsyncConnection, table_id: str, types: Sequence[str]) -> list[EventRow]:
    """The events of these CloudEvents types, in order."""
    return await _event_rows(db, _events_of(table_id).where(game_event.c.type.in_(list(types))))


async def post_entries(db: AsyncConnection, rows: Sequence[EntryRow]) -> None:
    """Keep each entry once; of an account's balances the one with the highest entry number."""
    if not rows:
        return
    await db.execute(insert(entry).on_conflict_do_nothing(), [row._asdict() for row in rows])
    newest: dict[str, EntryRow] = {}
    for row in rows:
        if row.account_id not in newest or newest[row.account_id].entry_no < row.entry_no:
            newest[row.account_id] = row
    statement = insert(balance)
    later = statement.excluded
    await db.execute(
        statement.on_conflict_do_update(
            index_elements=[balance.c.account_id],
            set_={
                "entry_no": later.entry_no,
                "available_coins": later.available_coins,
                "held_coins": later.held_coins,
            },
            where=balance.c.entry_no < later.entry_no,
        ),
        # In the order of their ids: two gateways that post at once never wait in a ring.
        [
            {
                "account_id": row.account_id,
                "entry_no": row.entry_no,
                "available_coins": row.available_coins,
                "held_coins": row.held_coins,
            }
            for _, row in sorted(newest.items())
        ],
    )


async def wallet(db: AsyncConnection, account_id: str) -> Wallet | None:
    found = await db.execute(
        select(balance.c.available_coins, balance.c.held_coins).where(balance.c.account_id == account_id)
    )
    row = found.one_or_none()
    return None if row is None else Wallet(row.available_coins, row.held_coins)


async def entries(db: AsyncConnection, account_id: str, before: int | None, limit: int) -> list[EntryRow]:
    """An account's entries, the newest first, below the number `before`."""
    wanted = (
        select(*(entry.c[name] for name in EntryRow._fields))
        .where(entry.c.account_id == account_id)
        .order_by(entry.c.entry_no.desc())
        .limit(limit)
    )
    if before is not None:
        wanted = wanted.where(entry.c.entry_no < before)
    found = await db.execute(wanted)
    return [EntryRow(**row._asdict()) for row in found]
