"""Table talk: what may be said when, and its bounds.

TalkRefused         this may not be said
"""

import unicodedata
from collections.abc import Iterable
from typing import Final, NamedTuple

from sqlalchemy import BigInteger, cast, delete, extract, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from spades_lobby.schema import muted, report

PHRASES: Final = {
    "hello": "Hello!",
    "good_luck": "Good luck!",
    "one_moment": "One moment, please.",
    "back": "I am back.",
    "thanks": "Thank you.",
    "you_are_welcome": "You are welcome.",
    "sorry": "Sorry.",
    "no_problem": "No problem.",
    "good_game": "Good game.",
    "rematch": "Another game?",
    "goodbye": "Goodbye.",
}
"""All that can be said during a hand: nothing of cards, suits, bids or play."""

TEXT_LENGTH_MAX: Final = 200
SAID_KEPT: Final = 20
"""What a report can show: the last lines of a table."""
MUTED_MAX: Final = 500


class TalkRefused(Exception):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(code)
        self.code = code
        self.message = message


def cleaned(text: str) -> str:
    """One line of text as others see it. Raises TalkRefused."""
    shown = " ".join(unicodedata.normalize("NFC", text).split())
    if not 1 <= len(shown) <= TEXT_LENGTH_MAX:
        raise TalkRefused("malformed", f"A line has 1 to {TEXT_LENGTH_MAX} characters.")
    if any(unicodedata.category(sign)[0] == "C" for sign in shown):
        raise TalkRefused("malformed", "A line may not hold invisible or control characters.")
    return shown


async def muted_by(db: AsyncConnection, account_id: str) -> set[str]:
    found = await db.execute(select(muted.c.muted_id).where(muted.c.account_id == account_id).limit(MUTED_MAX))
    return {row.muted_id for row in found}


async def mute(db: AsyncConnection, account_id: str, about: str) -> None:
    """Raises TalkRefused where there is no such person, or they are too many."""
    count = await db.execute(select(func.count()).select_from(muted).where(muted.c.account_id == account_id))
    if count.scalar_one() >= MUTED_MAX:
        raise TalkRefused("too_many", f"You can mute {MUTED_MAX} people.")
    try:
        await db.execute(insert(muted).values(account_id=account_id, muted_id=about).on_conflict_do_nothing())
    except IntegrityError:
        raise _nobody() from None


async def unmute(db: AsyncConnection, account_id: str, about: str) -> None:
    await db.execute(delete(muted).where(muted.c.account_id == account_id, muted.c.muted_id == about))


async def add_report(
    db: AsyncConnection, account_id: str, about: str, table_id: str, reason: str, said: Iterable[str]
) -> None:
    """Keep a report for the operators. Raises TalkRefused where there is no such person."""
    try:
        await db.execute(
            insert(report).values(
                account_id=account_id, about_id=about, table_id=table_id, reason=reason, said=list(said)
            )
        )
    except IntegrityError:
        raise _nobody() from None


class Report(NamedTuple):
    """What one player told the operators of another."""

    report_id: int
    at_ms: int
    account_id: str
    about_id: str
    table_id: str
    reason: str
    said: list[str]


async def reports(db: AsyncConnection, about: str | None, before: int | None, limit: int) -> list[Report]:
    """The newest first, below the number `before`; of all people, or about one."""
    at_ms = cast(extract("epoch", report.c.at) * 1_000, BigInteger).label("at_ms")
    columns = [report.c[name] for name in Report._fields if name != "at_ms"]
    wanted = select(at_ms, *columns).order_by(report.c.report_id.desc()).limit(limit)
    if about is not None:
        wanted = wanted.where(report.c.about_id == about)
    if before is not None:
        wanted = wanted.where(report.c.report_id < before)
    return [Report(**row._asdict()) for row in await db.execute(wanted)]


def _nobody() -> TalkRefused:
    return TalkRefused("not_found", "There is no such person.")
