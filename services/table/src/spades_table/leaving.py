"""Leaving a running game: the fee is due, the stake stays, a bot plays on."""

from spades_events import events
from spades_events.commands import LeaveGame
from spades_events.values import BOT_ACCOUNT, SeatHolder
from spades_table.dealing import start_turn
from spades_table.draft import Draft
from spades_table.phases import BetweenHands, Playing
from spades_table.playing import deal_when_ready, not_playing
from spades_table.refusals import refused
from spades_table.seats import people, seat_of
from spades_table.settlement import abandon


def leave_game(draft: Draft, account_id: str, command: LeaveGame) -> None:
    """Leave, for stake and fee; the last person to leave ends the game in the same commit."""
    table = draft.table
    if not isinstance(table, Playing | BetweenHands):
        raise not_playing(table)
    seat = seat_of(table.occupants, account_id)
    if seat is None:
        raise refused("not_seated")
    opened = table.setup.opened
    price_coins = opened.stake_coins + opened.fee_coins
    if command.confirm_price_coins != price_coins:
        raise refused("price_changed", price_coins=price_coins)
    draft.tell(
        events.SeatForfeited(
            seat=seat,
            account_id=account_id,
            stake_coins=opened.stake_coins,
            fee_coins=opened.fee_coins,
        )
    )
    still_here = draft.table
    assert isinstance(still_here, Playing | BetweenHands)
    if not people(still_here.occupants):
        abandon(draft)
        return
    bot = SeatHolder(seat=seat, account_id=BOT_ACCOUNT)
    draft.tell(events.SeatTaken(holder=bot, replaces=account_id))
    if isinstance(draft.table, BetweenHands):
        deal_when_ready(draft)
    elif isinstance(table, Playing) and table.turn is not None and table.turn.seat == seat:
        # A new id, so that what the leaver still sends is stale.
        start_turn(draft)
