"""SQL of people: accounts, sessions, tickets. One question a function; the caller's transaction."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from sqlalchemy import delete, exists, func, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from spades_lobby.schema import account, session, ticket
from spades_lobby.tokens import TokenHash

REVOKED: Final = "lobby_revoked"
"""The channel on which every gateway hears whose session ended: the hash in hexadecimal."""


class NameTaken(Exception):
    """Another account has this name, or one that looks like it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Person:
    """An account as it is known to itself; a guest is one without a password."""

    account_id: str
    name: str
    guest: bool
    session: TokenHash


@dataclass(frozen=True, kw_only=True, slots=True)
class Credentials:
    account_id: str
    name: str
    password: str | None


async def add_account(db: AsyncConnection, account_id: str, name: str, skeleton: str, password: str | None) -> None:
    """Raises NameTaken; the transaction is then lost."""
    try:
        await db.execute(insert(account).values(account_id=account_id, name=name, skeleton=skeleton, password=password))
    except IntegrityError:
        raise NameTaken from None


async def give_password(db: AsyncConnection, account_id: str, name: str, skeleton: str, password: str) -> bool:
    """Make a guest an account in place; False where it is none. Raises NameTaken."""
    try:
        found = await db.execute(
            update(account)
            .where(account.c.account_id == account_id, account.c.password.is_(None))
            .values(name=name, skeleton=skeleton, password=password)
        )
    except IntegrityError:
        raise NameTaken from None
    return found.rowcount == 1


async def rename(db: AsyncConnection, account_id: str, name: str, skeleton: str) -> None:
    """Raises NameTaken."""
    try:
        await db.execute(update(account).where(account.c.account_id == account_id).values(name=name, skeleton=skeleton))
    except IntegrityError:
        raise NameTaken from None


async def credentials(db: AsyncConnection, skeleton: str) -> Credentials | None:
    found = await db.execute(
        select(account.c.account_id, account.c.name, account.c.password).where(account.c.skeleton == skeleton)
    )
    row = found.one_or_none()
    return None if row is None else Credentials(account_id=row.account_id, name=row.name, password=row.password)


async def names(db: AsyncConnection, account_ids: Iterable[str]) -> dict[str, str]:
    found = await db.execute(
        select(account.c.account_id, account.c.name).where(account.c.account_id.in_(list(account_ids)))
    )
    return {row.account_id: row.name for row in found}


async def add_session(db: AsyncConnection, token: TokenHash, account_id: str, lifetime: timedelta) -> None:
    await db.execute(insert(session).values(token_hash=token, account_id=account_id, expires_at=func.now() + lifetime))


async def person(db: AsyncConnection, token: TokenHash) -> Person | None:
    """Whose session this is; None where it ended."""
    found = await db.execute(
        select(account.c.account_id, account.c.name, account.c.password.is_(None).label("guest"))
        .join(session, session.c.account_id == account.c.account_id)
        .where(session.c.token_hash == token, session.c.expires_at > func.now())
    )
    row = found.one_or_none()
    return None if row is None else Person(account_id=row.account_id, name=row.name, guest=row.guest, session=token)


async def account_again(db: AsyncConnection, known: Person) -> Person | None:
    """The same person as their account stands now, whatever became of the session."""
    found = await db.execute(
        select(account.c.name, account.c.password.is_(None).label("guest")).where(
            account.c.account_id == known.account_id
        )
    )
    row = found.one_or_none()
    return None if row is None else replace(known, name=row.name, guest=row.guest)


async def sessions_alive(db: AsyncConnection, tokens: Iterable[TokenHash]) -> set[TokenHash]:
    found = await db.execute(
        select(session.c.token_hash).where(session.c.token_hash.in_(list(tokens)), session.c.expires_at > func.now())
    )
    return {TokenHash(bytes(row.token_hash)) for row in found}


async def end_session(db: AsyncConnection, token: TokenHash) -> None:
    """End it and tell every gateway, which drops the sockets that came by it."""
    await db.execute(delete(session).where(session.c.token_hash == token))
    await db.execute(select(func.pg_notify(REVOKED, token.hex())))


async def replace_session(db: AsyncConnection, token: TokenHash) -> None:
    """End it without dropping its sockets: the same person goes on under a new one."""
    await db.execute(delete(session).where(session.c.token_hash == token))


async def end_sessions(db: AsyncConnection, account_id: str) -> None:
    """End all sessions of an account, everywhere."""
    ended = await db.execute(delete(session).where(session.c.account_id == account_id).returning(session.c.token_hash))
    for row in ended.all():
        await db.execute(select(func.pg_notify(REVOKED, row.token_hash.hex())))


async def add_ticket(db: AsyncConnection, token: TokenHash, of_session: TokenHash, lifetime: timedelta) -> None:
    await db.execute(insert(ticket).values(token_hash=token, session_hash=of_session, expires_at=func.now() + lifetime))


async def use_ticket(db: AsyncConnection, token: TokenHash) -> Person | None:
    """Whose ticket it is; it is used up, whoever asks next gets None."""
    used = await db.execute(
        delete(ticket)
        .where(ticket.c.token_hash == token)
        .returning(ticket.c.session_hash, (ticket.c.expires_at > func.now()).label("valid"))
    )
    row = used.one_or_none()
    if row is None or not row.valid:
        return None
    return await person(db, TokenHash(bytes(row.session_hash)))


async def set_wallet_open(db: AsyncConnection, account_ids: Iterable[str]) -> None:
    await db.execute(update(account).where(account.c.account_id.in_(list(account_ids))).values(wallet_open=True))


async def wallet_is_open(db: AsyncConnection, account_id: str) -> bool:
    found = await db.execute(select(account.c.wallet_open).where(account.c.account_id == account_id))
    return bool(found.scalar_one_or_none())


async def wallets_to_open(db: AsyncConnection, older_than: timedelta, limit: int) -> list[str]:
    """Accounts whose wallet was asked for and has not answered."""
    found = await db.execute(
        select(account.c.account_id)
        .where(
            account.c.password.is_not(None),
            ~account.c.wallet_open,
            account.c.created_at < func.now() - older_than,
        )
        .order_by(account.c.created_at)
        .limit(limit)
    )
    return [row.account_id for row in found]


async def sweep(db: AsyncConnection, guest_unseen: timedelta, limit: int) -> None:
    """Forget what expired: tickets, sessions, and the names of guests whose session is gone.

    A guest's row stays, as games name it; the name goes back to the pool.
    """
    for table in (ticket, session):
        expired = (select(table.c.token_hash).where(table.c.expires_at <= func.now()).limit(limit)).scalar_subquery()
        await db.execute(delete(table).where(table.c.token_hash.in_(expired)))
    alone = ~exists().where(session.c.account_id == account.c.account_id)
    gone = (
        select(account.c.account_id)
        .where(
            account.c.password.is_(None),
            account.c.skeleton.is_not(None),
            account.c.created_at < func.now() - guest_unseen,
            alone,
        )
        .limit(limit)
    ).scalar_subquery()
    await db.execute(update(account).where(account.c.account_id.in_(gone)).values(skeleton=None, name="Guest"))


async def check(db: AsyncConnection) -> None:
    """Raises SQLAlchemyError where the database does not answer or the schema is not there."""
    await db.execute(select(account.c.account_id).limit(1))
