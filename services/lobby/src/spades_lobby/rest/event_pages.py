"""A game's public events as the read model keeps them: a page of JSON, or all of them as NDJSON."""

from collections.abc import AsyncIterator
from typing import Final

import msgspec
from sqlalchemy.ext.asyncio import AsyncEngine
from starlette.responses import Response, StreamingResponse

from spades_events import CE_TYPES, codec, frame_name
from spades_lobby.games import readmodel
from spades_lobby.games.readmodel import EventRow
from spades_lobby.live import frames

NDJSON: Final = "application/x-ndjson"
CHUNK: Final = 500
_FRAME_NAMES: Final = {CE_TYPES[kind]: frame_name(kind) for kind in codec.TABLE_EVENTS}


async def answer(engine: AsyncEngine, table_id: str, after: int, limit: int, accept: str) -> Response:
    """The events behind `after`: all of them where the client accepts NDJSON, else at most `limit`."""
    if NDJSON in accept:
        return StreamingResponse(_all_events(engine, table_id, after), media_type=NDJSON)
    async with engine.connect() as db:
        rows = await readmodel.events_after(db, table_id, after, limit)
    more = rows[-1].version if len(rows) == limit else None
    return Response(
        b'{"events":[%b],"next":%b}' % (b",".join(map(_event, rows)), msgspec.json.encode(more)),
        media_type="application/json",
    )


async def _all_events(engine: AsyncEngine, table_id: str, after: int) -> AsyncIterator[bytes]:
    while True:
        async with engine.connect() as db:
            rows = await readmodel.events_after(db, table_id, after, CHUNK)
        if not rows:
            return
        yield b"".join(_event(row) + b"\n" for row in rows)
        after = rows[-1].version


def _event(row: EventRow) -> bytes:
    """As its WebSocket frame, with the time of the commit that made it."""
    kind = (_FRAME_NAMES.get(row.type) or row.type.split(".")[1]).encode()
    return b'%b,"at_ms":%d}' % (frames.spliced(kind, row.version, row.body), row.at_ms)
