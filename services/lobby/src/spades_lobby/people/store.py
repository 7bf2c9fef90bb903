"""SQL of people: accounts, sessions, tickets. One question a function; the caller's transaction."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, delete, exists, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from spades_lobby.people import scopes
from spades_lobby.people.scopes import Scope
from spades_lobby.people.tokens import SessionId, TokenHash
from spades_lobby.schema import account, muted, queued, session, ticket

REVOKED: Final = "lobby_revoked"
"""The channel on which every gateway hears which session ended."""

DELETED: Final = "Deleted player"


_ALIVE: Final = or_(session.c.expires_at.is_(None), session.c.expires_at > func.now())
_OF_A_TOKEN: Final = (
    *(session.c.session_id, session.c.label, session.c.scope),
    *(session.c.created_at, session.c.expires_at),
)


class NameTaken(Exception):
    """Another account has this name, or one that looks like it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Person:
    """An account as it is known to itself; a guest is one without a password."""

    account_id: str
    name: str
    guest: bool
    session: SessionId
    scope: Scope
    """What this session of theirs may do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PersonalToken:
    """A program's session, as its owner sees it."""

    session: SessionId
    label: str
    scope: Scope
    created_at: datetime
    expires_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Credentials:
    account_id: str
    name: str
    password: str | None


async def add_account(
    db: AsyncConnection, account_id: str, name: str, skeleton: str, password: str | None, recovery_hash: bytes | None
) -> None:
    """Raises NameTaken; the transaction is then lost."""
    row = {"account_id": account_id, "name": name, "skeleton": skeleton}
    try:
        await db.execute(insert(account).values(**row, password=password, recovery_hash=recovery_hash))
    except IntegrityError:
        raise NameTaken from None


async def give_password(
    db: AsyncConnection, account_id: str, name: str, skeleton: str, password: str, recovery_hash: bytes
) -> bool:
    """Make a guest an account in place; False where it is none. Raises NameTaken."""
    try:
        found = await db.execute(
            update(account)
            .where(account.c.account_id == account_id, account.c.password.is_(None))
            .values(name=name, skeleton=skeleton, password=password, recovery_hash=recovery_hash)
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


async def password_of(db: AsyncConnection, account_id: str) -> str | None:
    found = await db.execute(select(account.c.password).where(account.c.account_id == account_id))
    password: str | None = found.scalar_one_or_none()
    return password


async def change_password(db: AsyncConnection, account_id: str, password: str) -> None:
    await db.execute(update(account).where(account.c.account_id == account_id).values(password=password))


async def set_recovery(db: AsyncConnection, account_id: str, recovery_hash: bytes) -> None:
    await db.execute(update(account).where(account.c.account_id == account_id).values(recovery_hash=recovery_hash))


async def recover(
    db: AsyncConnection, skeleton: str, recovery_hash: bytes, password: str, next_hash: bytes
) -> Credentials | None:
    """Set a new password by the recovery code, which the next one replaces; None where the two do not match."""
    found = await db.execute(
        update(account)
        .where(account.c.skeleton == skeleton, account.c.recovery_hash == recovery_hash)
        .values(password=password, recovery_hash=next_hash)
        .returning(account.c.account_id, account.c.name)
    )
    row = found.one_or_none()
    return None if row is None else Credentials(account_id=row.account_id, name=row.name, password=password)


async def delete_account(db: AsyncConnection, account_id: str) -> None:
    """Forget who it was. The row stays without a name: games go on naming its id."""
    for rows in (
        delete(queued).where(queued.c.account_id == account_id),
        delete(muted).where((muted.c.account_id == account_id) | (muted.c.muted_id == account_id)),
    ):
        await db.execute(rows)
    await db.execute(
        update(account)
        .where(account.c.account_id == account_id)
        .values(name=DELETED, skeleton=None, password=None, recovery_hash=None)
    )
    await end_sessions(db, account_id)


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


async def add_session(db: AsyncConnection, token: TokenHash, account_id: str, lifetime: timedelta) -> SessionId:
    made = await db.execute(
        insert(session)
        .values(token_hash=token, account_id=account_id, expires_at=func.now() + lifetime)
        .returning(session.c.session_id)
    )
    return SessionId(made.scalar_one())


async def lock_account(db: AsyncConnection, account_id: str) -> None:
    """Whoever else locks it waits until the transaction ends."""
    await db.execute(select(account.c.account_id).where(account.c.account_id == account_id).with_for_update())


async def add_personal_token(
    db: AsyncConnection, token: TokenHash, account_id: str, label: str, scope: Scope, lifetime: timedelta | None
) -> PersonalToken:
    made = await db.execute(
        insert(session)
        .values(
            token_hash=token,
            account_id=account_id,
            expires_at=None if lifetime is None else func.now() + lifetime,
            label=label,
            scope=scopes.stored(scope),
        )
        .returning(*_OF_A_TOKEN)
    )
    return _personal_token(made.one())


async def personal_tokens(db: AsyncConnection, account_id: str) -> list[PersonalToken]:
    """The living ones, the oldest first."""
    found = await db.execute(
        select(*_OF_A_TOKEN)
        .where(session.c.account_id == account_id, session.c.scope.is_not(None), _ALIVE)
        .order_by(session.c.created_at, session.c.session_id)
    )
    return [_personal_token(row) for row in found]


async def end_personal_token(db: AsyncConnection, account_id: str, which: str) -> bool:
    """End it with its sockets, as a session; False where this account has no such token."""
    mine = (session.c.account_id == account_id) & (session.c.session_id == which) & session.c.scope.is_not(None)
    return await _end(db, mine) == 1


def _personal_token(row: Any) -> PersonalToken:
    return PersonalToken(
        session=SessionId(row.session_id),
        label=row.label,
        scope=scopes.of_stored(row.scope),
        created_at=row.created_at,
        expires_at=row.expires_at,
    )


async def change_token(db: AsyncConnection, of_session: SessionId, token: TokenHash, lifetime: timedelta) -> None:
    """The same session under a new token; the old one is worth nothing from here on."""
    await db.execute(
        update(session)
        .where(session.c.session_id == of_session)
        .values(token_hash=token, expires_at=func.now() + lifetime)
    )


async def person(db: AsyncConnection, token: TokenHash) -> Person | None:
    """Whose session this is; None where it ended."""
    return await _person(db, session.c.token_hash == token)


async def _person(db: AsyncConnection, which: ColumnElement[bool]) -> Person | None:
    found = await db.execute(
        select(
            account.c.account_id,
            account.c.name,
            account.c.password.is_(None).label("guest"),
            session.c.session_id,
            session.c.scope,
        )
        .join(session, session.c.account_id == account.c.account_id)
        .where(which, _ALIVE)
    )
    row = found.one_or_none()
    if row is None:
        return None
    return Person(
        account_id=row.account_id,
        name=row.name,
        guest=row.guest,
        session=SessionId(row.session_id),
        scope=scopes.of_stored(row.scope),
    )


async def account_again(db: AsyncConnection, known: Person) -> Person | None:
    """The same person as their account stands now, whatever became of the session."""
    found = await db.execute(
        select(account.c.name, account.c.password.is_(None).label("guest")).where(
            account.c.account_id == known.account_id
        )
    )
    row = found.one_or_none()
    return None if row is None else replace(known, name=row.name, guest=row.guest)


async def is_guest(db: AsyncConnection, account_id: str) -> bool | None:
    """Whether this account is a guest's; None where there is none, or none any more."""
    found = await db.execute(
        select(account.c.password.is_(None)).where(account.c.account_id == account_id, account.c.name != DELETED)
    )
    return found.scalar_one_or_none()


async def sessions_alive(db: AsyncConnection, sessions: Iterable[SessionId]) -> set[SessionId]:
    found = await db.execute(select(session.c.session_id).where(session.c.session_id.in_(list(sessions)), _ALIVE))
    return {SessionId(row.session_id) for row in found}


async def end_session(db: AsyncConnection, ended: SessionId) -> None:
    """End it and tell every gateway, which drops the sockets that came by it."""
    await _end(db, session.c.session_id == ended)


async def end_other_sessions(db: AsyncConnection, account_id: str, but: SessionId) -> None:
    await _end(db, (session.c.account_id == account_id) & (session.c.session_id != but))


async def end_sessions(db: AsyncConnection, account_id: str) -> None:
    """End all sessions of an account, everywhere, its personal tokens too."""
    await _end(db, session.c.account_id == account_id)


async def _end(db: AsyncConnection, which: ColumnElement[bool]) -> int:
    ended = (await db.execute(delete(session).where(which).returning(session.c.session_id))).all()
    for row in ended:
        await db.execute(select(func.pg_notify(REVOKED, row.session_id)))
    return len(ended)


async def add_ticket(db: AsyncConnection, token: TokenHash, of_session: SessionId, lifetime: timedelta) -> None:
    await db.execute(insert(ticket).values(token_hash=token, session_id=of_session, expires_at=func.now() + lifetime))


async def use_ticket(db: AsyncConnection, token: TokenHash) -> Person | None:
    """Whose ticket it is; it is used up, whoever asks next gets None."""
    used = await db.execute(
        delete(ticket)
        .where(ticket.c.token_hash == token)
        .returning(ticket.c.session_id, (ticket.c.expires_at > func.now()).label("valid"))
    )
    row = used.one_or_none()
    if row is None or not row.valid:
        return None
    return await _person(db, session.c.session_id == row.session_id)


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
    used_up = select(ticket.c.token_hash).where(ticket.c.expires_at <= func.now()).limit(limit).scalar_subquery()
    await db.execute(delete(ticket).where(ticket.c.token_hash.in_(used_up)))
    expired = select(session.c.token_hash).where(session.c.expires_at <= func.now()).limit(limit).scalar_subquery()
    # Told, for a socket may have outlived the session by which it came.
    await _end(db, session.c.token_hash.in_(expired))
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
