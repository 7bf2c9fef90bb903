"""Table talk: what may be said when, and its bounds.

TalkRefused         this may not be said
"""

import unicodedata
from collections.abc import Iterable
from typing import Final

from sqlalchemy import delete, func, select
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


def _nobody() -> TalkRefused:
    return TalkRefused("not_found", "There is no such person.")
