"""The end of a table: won, drawn, abandoned, cancelled; and the wallet's word that it is paid."""

import spades_rules as rules
from spades_events import events, wallet
from spades_table.dealing import revealed
from spades_table.draft import Draft
from spades_table.phases import BetweenHands, Ended, Playing, Seating, Starting, Unreadable
from spades_table.seats import Reserved, results


def end_game(draft: Draft, ended: rules.GameEnded) -> None:
    """The rules ended the game: one event says who won, who stayed and who left."""
    reason = "draw" if ended.winner is None else ended.reason.value
    _tell_end(draft, ended.winner, reason, hands=draft.at(BetweenHands).game.hand_no - 1)


def abandon(draft: Draft) -> None:
    """All people are gone: the hand on the table is revealed, the stakes are the house's."""
    table = draft.table
    if isinstance(table, Playing):
        draft.tell(revealed(table))
        _tell_end(draft, None, "abandoned", hands=table.game.hand_no)
    else:
        hands = draft.at(BetweenHands).game.hand_no - 1
        _tell_end(draft, None, "abandoned", hands=hands)


def _tell_end(draft: Draft, winner: int | None, reason: str, *, hands: int) -> None:
    table = draft.table
    assert isinstance(table, Playing | BetweenHands)
    first, second, third, fourth = results(table.occupants)
    draft.tell(
        events.GameEnded(
            winner=winner,
            reason=reason,
            scores=table.game.scores,
            hands=hands,
            stake_coins=table.setup.opened.stake_coins,
            seats=(first, second, third, fourth),
        )
    )


def cancel(draft: Draft, reason: str) -> None:
    """The server ends the table: the hand on it is revealed, those who stayed get all back."""
    table = draft.table
    match table:
        case Seating(chairs=chairs):
            for seat, chair in enumerate(chairs):
                if isinstance(chair, Reserved):
                    # Its hold may still come; the release behind it voids it.
                    draft.tell(
                        events.SeatReleased(
                            seat=seat,
                            account_id=chair.account_id,
                            reservation_id=chair.reservation_id,
                        )
                    )
        case Playing(occupants=chairs):
            draft.tell(revealed(table))
        case Starting(occupants=chairs) | BetweenHands(occupants=chairs):
            pass
        case Unreadable(occupants=chairs):
            # Its hand's secret cannot be read, so there is nothing to reveal.
            pass
        case _:
            raise AssertionError(f"{type(table).__name__} cannot be cancelled")
    draft.tell(
        events.TableCancelled(
            reason=reason,
            stake_coins=table.setup.opened.stake_coins,
            seats=tuple(results(chairs)),
        )
    )


def settled(draft: Draft, news: wallet.Settlement) -> None:
    """The wallet has paid: the last event of a coin table. Once more: no effect."""
    table = draft.table
    if isinstance(table, Ended) and not table.settled:
        draft.tell(events.GameSettled(payouts=news.payouts))
