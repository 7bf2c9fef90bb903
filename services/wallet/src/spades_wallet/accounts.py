"""Commands about one account: open, top up, grant, close. Pure, like the whole domain."""

from dataclasses import dataclass
from typing import Final, TypeAlias, assert_never

from spades_events.commands import CloseAccount, GrantCoins, OpenAccount, TopUp
from spades_events.values import BOT_ACCOUNT
from spades_events.wallet import AccountClosed, AccountOpened, CoinsGranted
from spades_wallet.decision import Decision, Rejected, Terms, balances, may_still_win
from spades_wallet.ledger import (
    HOUSE,
    ISSUER,
    SYSTEM_ACCOUNTS,
    AccountId,
    Book,
    Code,
    Player,
    Transfer,
    TransferKey,
    fingerprint_of,
    movement,
)

GRANT_COINS_MAX: Final = 1_000_000_000
"""One grant: nine million of the largest would be needed to leave the exact integers."""
ACCOUNT_ID_CHARS_MAX: Final = 80

AccountWish: TypeAlias = OpenAccount | TopUp | GrantCoins | CloseAccount


@dataclass(frozen=True, kw_only=True, slots=True)
class FromAccount:
    """A command about one account, sent by `actor`. `days` are the UTC dates whose top-up may be asked for."""

    account: AccountId
    actor: str | None
    command_id: str
    wish: AccountWish
    days: tuple[str, ...]


def decide_wish(book: Book, request: FromAccount, terms: Terms) -> Decision:
    match request.wish:
        case OpenAccount():
            return _open_account(book, request, terms)
        case TopUp(day=day):
            return _top_up(book, request, day, terms)
        case GrantCoins():
            return _grant(book, request, request.wish)
        case CloseAccount():
            return _close_account(book, request)
        case never:
            assert_never(never)


def _open_account(book: Book, request: FromAccount, terms: Terms) -> Decision:
    account = request.account
    if account in SYSTEM_ACCOUNTS or account == BOT_ACCOUNT or ":" in account or len(account) > ACCOUNT_ID_CHARS_MAX:
        # Escrow and system accounts have names of their own, which no person can take.
        raise Rejected("bad_account")
    if account in book.accounts:
        raise Rejected("already_open")
    transfer = _issued(request, Code.WELCOME, account, terms.welcome_grant_coins, None)
    opened = AccountOpened(
        accounts=balances(book, book.after((transfer,)), (account,)),
        account_id=account,
        grant_coins=terms.welcome_grant_coins,
        command_id=request.command_id,
    )
    return Decision(transfers=(transfer,), event=opened)


def _top_up(book: Book, request: FromAccount, day: str, terms: Terms) -> Decision:
    player = _open_player(book, request.account)
    if day not in request.days:
        raise Rejected("wrong_day")
    if top_up_key(request.account, day) in book.keys:
        raise Rejected("already_topped_up")
    # Coins in a running game are still the player's: who has staked them is not poor.
    if player.balance_coins + book.held_coins(player.id) >= terms.top_up_below_coins:
        raise Rejected("enough_coins")
    return _granted(book, request, Code.TOP_UP, day, terms.top_up_coins, "top_up", day)


def _grant(book: Book, request: FromAccount, wish: GrantCoins) -> Decision:
    if request.actor in (None, request.account):
        # A grant is somebody else's decision, and the ledger says whose.
        raise Rejected("not_an_operator")
    player = _open_player(book, request.account)
    if not 1 <= wish.amount_coins <= GRANT_COINS_MAX or not may_still_win(book, player, wish.amount_coins):
        raise Rejected("amount_out_of_range")
    note = f"{wish.reason} (by {request.actor})"
    return _granted(book, request, Code.GRANT, request.command_id, wish.amount_coins, wish.reason, note)


def top_up_key(account: AccountId, day: str) -> TransferKey:
    """One top-up an account and UTC day."""
    return TransferKey(f"{Code.TOP_UP}:{account}:{day}")


def _close_account(book: Book, request: FromAccount) -> Decision:
    player = _open_player(book, request.account)
    if book.holds_of(player.id):
        raise Rejected("holds_open")
    asked = fingerprint_of("close", player.id, request.command_id)
    transfer = movement(Code.CLOSE, player.id, player.id, HOUSE, player.balance_coins, asked)
    closed = AccountClosed(
        accounts=balances(book, book.after((transfer,)), (player.id,)),
        account_id=player.id,
        returned_coins=player.balance_coins,
        command_id=request.command_id,
    )
    return Decision(transfers=(transfer,), event=closed)


def _open_player(book: Book, account: AccountId) -> Player:
    player = book.player(account)
    if player is None:
        raise Rejected("no_account")
    if player.closed:
        raise Rejected("account_closed")
    return player


def _granted(
    book: Book,
    request: FromAccount,
    code: Code,
    once: str,
    amount_coins: int,
    reason: str,
    note: str,
) -> Decision:
    transfer = _issued(request, code, f"{request.account}:{once}", amount_coins, note)
    granted = CoinsGranted(
        accounts=balances(book, book.after((transfer,)), (request.account,)),
        account_id=request.account,
        amount_coins=amount_coins,
        reason=reason,
        command_id=request.command_id,
    )
    return Decision(transfers=(transfer,), event=granted)


def _issued(request: FromAccount, code: Code, about: str, amount_coins: int, note: str | None) -> Transfer:
    asked = fingerprint_of(code, request.account, request.command_id, amount_coins, note)
    return movement(code, about, ISSUER, request.account, amount_coins, asked, note=note)
