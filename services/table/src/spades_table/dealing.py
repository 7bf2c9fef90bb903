"""Dealing: the next hand from the committed chain, the turns of a hand, the reveal at its end."""

import spades_rules as rules
from spades_events import events
from spades_events.values import DeadlineKind, TurnKind
from spades_rules import Seat
from spades_table.draft import Draft
from spades_table.house import MISSES_WITH_FULL_CLOCK
from spades_table.phases import BetweenHands, Dealing, Playing
from spades_table.seats import Person

IDLE_SLACK = 30
"""An untimed table may wait longer by a thirtieth: a minute in half an hour."""

_KINDS = {kind.value: kind for kind in TurnKind}


def deal_next(draft: Draft) -> None:
    """Commit the next hand by its fingerprint, deal it and start its first turn."""
    table = draft.at(BetweenHands)
    setup, game = table.setup, table.game
    if setup.root is None:
        # The cancellation of unreadable tables comes before any command.
        raise AssertionError("a hand cannot be dealt without its chain")
    secret = rules.secret(setup.root, game.hand_no)
    seeds, deck_id = table.seeds.as_bytes(), setup.ruleset.deck_id
    dealer = game.dealer
    if dealer is None:
        dealer = setup.rules.first_dealer(secret, setup.table_id, deck_id, seeds)
    draft.tell(
        events.HandCommitted(
            hand_no=game.hand_no,
            fingerprint=rules.fingerprint(secret).hex(),
            dealer=dealer,
            deck_id=deck_id,
        )
    )
    draft.before_deal = draft.at(Dealing)
    hands = setup.rules.deal_hands(secret, setup.table_id, game.hand_no, dealer, deck_id, seeds)
    (dealt,) = setup.rules.decide(game, rules.DealHand(game.hand_no, dealer, hands))
    assert isinstance(dealt, rules.HandDealt)
    draft.tell(
        events.HandDealt(hand_no=game.hand_no, dealer=dealer, face_down=tuple(dealt.face_down)),
        cause=dealt,
    )
    start_turn(draft)


def start_turn(draft: Draft) -> None:
    """Issue the turn that the rules expect, under a new id, and its deadline."""
    table = draft.at(Playing)
    expected = table.setup.rules.expected(table.game)
    assert expected is not None
    seat, limits = expected.seat, table.setup.house.limits
    deadline_ms, computer_speed = None, False
    due_ms, kind = draft.now_ms + limits.bot_guard_ms, DeadlineKind.BOT_GUARD
    if isinstance(table.occupants[seat], Person):
        limit_ms = turn_limit_ms(table, seat)
        kind = DeadlineKind.IDLE if limit_ms is None else DeadlineKind.TURN
        if limit_ms is not None:
            due_ms = deadline_ms = draft.now_ms + limit_ms
            computer_speed = _at_computer_speed(table, seat)
    draft.tell(
        events.TurnStarted(
            turn_id=f"{table.game.hand_no}:{table.turns + 1}",
            hand_no=table.game.hand_no,
            seat=seat,
            kind=_KINDS[expected.kind],
            deadline_ms=deadline_ms,
            server_ms=draft.now_ms,
            computer_speed=computer_speed,
        )
    )
    if kind is DeadlineKind.IDLE:
        wait_idly(draft)
    else:
        draft.set_deadline(due_ms, kind)


def wait_idly(draft: Draft) -> None:
    """Let an untimed table wait its full time from now on.

    A running wait that is long enough stays: a deadline with each move would be one more record
    and frame for all its readers. So a new one is a little longer, and stays for many moves.
    """
    table = draft.at(Playing)
    idle_ms, running = table.setup.house.limits.idle_ms, table.deadline
    if running is None or running.kind is not DeadlineKind.IDLE or running.due_ms < draft.now_ms + idle_ms:
        draft.set_deadline(draft.now_ms + idle_ms + idle_ms // IDLE_SLACK, DeadlineKind.IDLE)


def turn_limit_ms(table: Playing, seat: Seat) -> int | None:
    """How long a person's turn takes at most; None where it is untimed."""
    clock_ms = table.setup.opened.clock_ms
    if clock_ms is not None and _at_computer_speed(table, seat):
        return min(clock_ms, table.setup.house.limits.computer_speed_ms)
    return clock_ms


def _at_computer_speed(table: Playing, seat: Seat) -> bool:
    return table.misses[seat] >= MISSES_WITH_FULL_CLOCK


def revealed(table: Playing) -> events.DealRevealed:
    """The secret of the hand on the table, so that anybody can deal it again."""
    setup, deal = table.setup, table.game.deal
    assert setup.root is not None
    return events.DealRevealed(
        hand_no=deal.hand_no,
        secret=rules.secret(setup.root, deal.hand_no).hex(),
        dealer=deal.dealer,
        deck_id=setup.ruleset.deck_id,
        swaps=_swaps(table.game),
    )


def _swaps(game: rules.Auction | rules.Swap | rules.Play) -> tuple[events.Swap, ...]:
    if isinstance(game, rules.Auction) or not game.passes:
        return ()
    first, *returned = game.passes
    back = rules.card_names(returned[0].cards) if returned else ()
    return (events.Swap(bidder=first.from_seat, passed=rules.card_names(first.cards), returned=back),)
