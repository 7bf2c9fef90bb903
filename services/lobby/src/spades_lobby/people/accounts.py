"""People: guests, accounts, log-ins. A guest is a real account that has no password yet."""

import secrets
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final
from uuid import uuid4

from sqlalchemy.ext.asyncio import AsyncEngine

from spades_lobby.people import names, recovery, store
from spades_lobby.people.namebook import Names
from spades_lobby.people.passwords import Passwords
from spades_lobby.people.scopes import Scope
from spades_lobby.people.store import NameTaken, Person, PersonalToken
from spades_lobby.people.tokens import SessionId, Token, TokenHash, hash_of, new_token
from spades_lobby.problems import Problem, not_found
from spades_lobby.settings import LobbySettings

TOKENS_MAX: Final = 50
"""Personal tokens of one account."""
GUEST_TRIES: Final = 5
"""A random name that is taken is drawn again; five in a row do not happen."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entered:
    """Somebody with a new session; its token is shown once and never stored."""

    person: Person
    token: Token
    recovery_code: str | None = None
    """Of an account that has just got one: shown once, too."""


class Accounts:
    """Each step one transaction. Raises Problem where the person cannot have what they ask for."""

    def __init__(self, settings: LobbySettings, engine: AsyncEngine, passwords: Passwords, book: Names) -> None:
        self._settings = settings
        self._engine = engine
        self._passwords = passwords
        self._book = book
        self._lifetime = timedelta(days=settings.lobby_session_days)

    async def guest(self, name: str | None) -> Entered:
        if name is not None:
            return await self._enter_new(cleaned(name), None)
        for _ in range(GUEST_TRIES):
            try:
                return await self._enter_new(f"Guest {secrets.token_hex(4)}", None)
            except Problem as problem:
                if problem.code != "name_taken":
                    raise
        raise Problem(503, "unavailable", "No free name was found; try again.")

    async def register(self, person: Person | None, name: str, password: str) -> Entered:
        """Make an account; a guest's own one, so that games and seats stay theirs."""
        if person is not None and not person.guest:
            raise Problem(409, "already_registered", "You have an account already.")
        shown = cleaned(name)
        hashed = await self._passwords.hash(password)
        if person is None:
            return await self._enter_new(shown, hashed)
        token, token_hash = _fresh()
        code = recovery.new_code()
        try:
            async with self._engine.begin() as db:
                upgraded = await store.give_password(
                    db, person.account_id, shown, names.skeleton(shown), hashed, recovery.hash_of(code)
                )
                if not upgraded:
                    raise Problem(409, "already_registered", "You have an account already.")
                # A new right, a new token: one that was planted earlier is worth nothing now.
                await store.change_token(db, person.session, token_hash, self._lifetime)
        except NameTaken:
            raise _name_taken() from None
        return self._entered(replace(person, name=shown, guest=False), token, code)

    async def _enter_new(self, shown: str, hashed: str | None) -> Entered:
        account_id = str(uuid4())
        token, token_hash = _fresh()
        code = None if hashed is None else recovery.new_code()
        code_hash = None if code is None else recovery.hash_of(code)
        try:
            async with self._engine.begin() as db:
                await store.add_account(db, account_id, shown, names.skeleton(shown), hashed, code_hash)
                session = await store.add_session(db, token_hash, account_id, self._lifetime)
        except NameTaken:
            raise _name_taken() from None
        return self._entered(_logged_in(account_id, shown, session, guest=hashed is None), token, code)

    async def log_in(self, name: str, password: str) -> Entered:
        async with self._engine.connect() as db:
            known = await store.credentials(db, names.skeleton(name))
        right = await self._passwords.fits(password, None if known is None else known.password)
        if known is None or not right:
            raise Problem(401, "bad_credentials", "Name or password is wrong.")
        token, token_hash = _fresh()
        async with self._engine.begin() as db:
            session = await store.add_session(db, token_hash, known.account_id, self._lifetime)
        return self._entered(_logged_in(known.account_id, known.name, session, guest=False), token)

    async def recover(self, name: str, code: str, password: str) -> Entered:
        """Set a new password by the recovery code: all sessions end, one begins, the next code is given.

        Raises Problem `bad_recovery`, which does not say whether there is such a name.
        """
        # Before anything is looked up: it takes as long for a name that is not there.
        hashed = await self._passwords.hash(password)
        token, token_hash = _fresh()
        next_code = recovery.new_code()
        async with self._engine.begin() as db:
            known = await store.recover(
                db, names.skeleton(name), recovery.hash_of(code), hashed, recovery.hash_of(next_code)
            )
            if known is None:
                raise Problem(401, "bad_recovery", "Name or recovery code is wrong, or the code was used.")
            await store.end_sessions(db, known.account_id)
            session = await store.add_session(db, token_hash, known.account_id, self._lifetime)
        return self._entered(_logged_in(known.account_id, known.name, session, guest=False), token, next_code)

    async def new_recovery_code(self, person: Person) -> str:
        """Give the account another code; the one before is worth nothing from here on."""
        code = recovery.new_code()
        async with self._engine.begin() as db:
            await store.set_recovery(db, person.account_id, recovery.hash_of(code))
        return code

    def _entered(self, person: Person, token: Token, code: str | None = None) -> Entered:
        self._book.put(person.account_id, person.name)
        return Entered(person=person, token=token, recovery_code=code)

    async def new_personal_token(
        self, person: Person, label: str, scope: Scope, days: int | None
    ) -> tuple[PersonalToken, Token]:
        """Make a program's token. Raises Problem `too_many`."""
        token, token_hash = _fresh()
        lifetime = None if days is None else timedelta(days=days)
        async with self._engine.begin() as db:
            await store.lock_account(db, person.account_id)
            if len(await store.personal_tokens(db, person.account_id)) >= TOKENS_MAX:
                raise Problem(409, "too_many", f"An account has at most {TOKENS_MAX} tokens; revoke one first.")
            made = await store.add_personal_token(db, token_hash, person.account_id, label, scope, lifetime)
        return made, token

    async def personal_tokens(self, person: Person) -> list[PersonalToken]:
        async with self._engine.connect() as db:
            return await store.personal_tokens(db, person.account_id)

    async def revoke_personal_token(self, person: Person, which: str) -> None:
        """Raises Problem `not_found`."""
        async with self._engine.begin() as db:
            if not await store.end_personal_token(db, person.account_id, which):
                raise not_found()

    async def log_out(self, person: Person) -> None:
        async with self._engine.begin() as db:
            await store.end_session(db, person.session)

    async def log_out_everywhere(self, person: Person) -> None:
        async with self._engine.begin() as db:
            await store.end_sessions(db, person.account_id)

    async def check_password(self, person: Person, password: str | None) -> None:
        """Raises Problem `bad_credentials` where it is not theirs; a guest has none."""
        if person.guest:
            return
        async with self._engine.connect() as db:
            stored = await store.password_of(db, person.account_id)
        if not await self._passwords.fits(password or "", stored):
            raise Problem(401, "bad_credentials", "The password is wrong.")

    async def change_password(self, person: Person, password: str) -> None:
        """A new password ends all other sessions: whoever had the old one is out."""
        hashed = await self._passwords.hash(password)
        async with self._engine.begin() as db:
            await store.change_password(db, person.account_id, hashed)
            await store.end_other_sessions(db, person.account_id, person.session)

    async def delete(self, person: Person) -> None:
        """The name is gone at once, also from what is shown of old games."""
        async with self._engine.begin() as db:
            await store.delete_account(db, person.account_id)
        self._book.put(person.account_id, store.DELETED)

    async def rename(self, person: Person, name: str) -> str:
        shown = cleaned(name)
        try:
            async with self._engine.begin() as db:
                await store.rename(db, person.account_id, shown, names.skeleton(shown))
        except NameTaken:
            raise _name_taken() from None
        self._book.put(person.account_id, shown)
        return shown

    async def ticket(self, person: Person) -> Token:
        """A one-use ticket for the person's next socket."""
        token, token_hash = _fresh()
        lifetime = timedelta(milliseconds=self._settings.lobby_ticket_ms)
        async with self._engine.begin() as db:
            await store.add_ticket(db, token_hash, person.session, lifetime)
        return token

    async def of_token(self, text: str) -> Person | None:
        """Whose session this token is; None where it is none, or ended."""
        token_hash = hash_of(text)
        if token_hash is None:
            return None
        async with self._engine.connect() as db:
            return await store.person(db, token_hash)


def cleaned(name: str) -> str:
    try:
        return names.clean(name)
    except names.NameRefused as refused:
        raise Problem(422, "name_refused", refused.reason, field="name") from None


def _logged_in(account_id: str, name: str, session: SessionId, *, guest: bool) -> Person:
    return Person(account_id=account_id, name=name, guest=guest, session=session, scope=Scope.OWNER)


def _name_taken() -> Problem:
    return Problem(409, "name_taken", "This name, or one that looks like it, is taken.", field="name")


def _fresh() -> tuple[Token, TokenHash]:
    token = new_token()
    token_hash = hash_of(token)
    assert token_hash is not None
    return token, token_hash
