"""Sessions that ended, heard from the database by every gateway: their sockets go within moments."""

import asyncio
from typing import Final

import structlog
from psycopg import AsyncConnection, OperationalError, sql
from psycopg.conninfo import make_conninfo
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from spades_lobby.people import store
from spades_lobby.people.tokens import SessionId
from spades_lobby.settings import LobbySettings
from spades_lobby.socket.sockets import Sockets

log = structlog.get_logger()

RETRY_S: Final = 0.5


async def listen(settings: LobbySettings, engine: AsyncEngine, sockets: Sockets) -> None:
    """Hear revocations until cancelled. What was said while the line was cut is looked up."""
    conninfo = make_conninfo(
        settings.database_url,
        application_name=f"{settings.member_name}-revocations",
        connect_timeout=5,
        keepalives_idle=5,
        keepalives_interval=2,
        keepalives_count=3,
    )
    while True:
        try:
            async with await AsyncConnection.connect(conninfo, autocommit=True) as line:
                await line.execute(sql.SQL("LISTEN {}").format(sql.Identifier(store.REVOKED)))
                await _catch_up(engine, sockets)
                async for notice in line.notifies():
                    sockets.revoke(SessionId(notice.payload))
        except (OperationalError, SQLAlchemyError, OSError) as error:
            log.warning("revocations_not_heard", error=type(error).__name__)
        await asyncio.sleep(RETRY_S)


async def _catch_up(engine: AsyncEngine, sockets: Sockets) -> None:
    held = sockets.sessions
    if not held:
        return
    async with engine.connect() as db:
        alive = await store.sessions_alive(db, held)
    for session in held - alive:
        sockets.revoke(session)
