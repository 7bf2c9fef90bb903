"""What only one seat may see: supplements of public events, snapshots, a bot's prompt.

Hands leave the table through the rules' `view` alone, and through a seat's own supplements.
"""

from typing import Final

import msgspec

import spades_rules as rules
from spades_events import events
from spades_events.private import Prompt, RunningTurn, Snapshot, Supplement
from spades_events.values import SeatHolder
from spades_rules import Mask, Seat
from spades_table.facts import Fact
from spades_table.phases import (
    BetweenHands,
    Dealing,
    Ended,
    Opened,
    Playing,
    Seating,
    Seeds,
    Starting,
    Unreadable,
    chairs_of,
)
from spades_table.seats import SEATS, Bot, Chairs, Open, Person, Reserved, holder

_encode = msgspec.json.Encoder().encode
WITH_SUPPLEMENTS: Final = frozenset((events.TurnStarted, events.HandDealt, events.CardsSeen, events.CardsPassed))
"""The events of which a seat may see more than the public does."""

_NO_VIEW: Final = msgspec.Raw(b"null")


def supplements(fact: Fact, table: Opened) -> tuple[Supplement, ...]:
    """What seats held by persons see of a fact beyond its public form, in seat order.

    `table` is the table that the whole answer makes: no seat's cards change behind the fact.
    """
    if not isinstance(table, Playing):
        return ()
    event = fact.event
    match event:
        case events.TurnStarted(seat=seat):
            return _of_turn(table, seat) if _is_person(table, seat) else ()
        case events.HandDealt():
            return tuple([_of_deal(table, event, seat) for seat in SEATS if _is_person(table, seat)])
        case events.CardsSeen(seat=seat):
            return (_of_look(table, seat),) if _is_person(table, seat) else ()
        case events.CardsPassed(from_seat=giver, to_seat=taker):
            cards = rules.card_names(Mask(int.from_bytes(fact.secret or b"", "big")))
            return tuple(
                [Supplement(seat=seat, cards=cards) for seat in sorted((giver, taker)) if _is_person(table, seat)]
            )
        case _:
            return ()


def _is_person(table: Playing, seat: int) -> bool:
    return isinstance(table.occupants[seat], Person)


def _of_turn(table: Playing, seat: int) -> tuple[Supplement, ...]:
    version, game = table.setup.rules, table.game
    if isinstance(game, rules.Play):
        return (Supplement(seat=seat, legal_cards=rules.card_names(version.legal_cards(game))),)
    if isinstance(game, rules.Auction):
        return (Supplement(seat=seat, legal_bids=version.legal_bids(game)),)
    # In a swap every card held may be passed.
    return (Supplement(seat=seat, legal_cards=rules.card_names(game.hands[seat])),)


def _of_deal(table: Playing, event: events.HandDealt, seat: int) -> Supplement:
    face_down = seat in event.face_down
    return Supplement(
        seat=seat,
        cards=None if face_down else rules.card_names(table.game.hands[seat]),
        blind_nil_open=face_down,
    )


def _of_look(table: Playing, seat: int) -> Supplement:
    game = table.game
    on_turn = isinstance(game, rules.Auction) and game.turn == seat
    return Supplement(
        seat=seat,
        cards=rules.card_names(game.hands[seat]),
        legal_bids=table.setup.rules.legal_bids(game) if on_turn else None,
        blind_nil_open=False,
    )


def prompt(table: Opened) -> Prompt | None:
    """The running turn with all that its seat sees, where a bot holds it."""
    if not isinstance(table, Playing) or table.turn is None:
        return None
    turn = table.turn
    if not isinstance(table.occupants[turn.seat], Bot):
        return None
    return Prompt(
        table_id=table.setup.table_id,
        turn_id=turn.turn_id,
        hand_no=table.game.hand_no,
        seat=turn.seat,
        kind=turn.kind,
        view=msgspec.Raw(_encode(table.setup.rules.view(table.game, Seat(turn.seat)))),
    )


def snapshot(
    table: Opened, seat: int | None, account_id: str | None, now_ms: int, connection_id: str | None
) -> Snapshot:
    """The table as one seat sees it, or as a watcher does (None)."""
    setup = table.setup
    opened = setup.opened
    chairs = chairs_of(table)
    seeds = _seeds(table)
    scores, bags, hand_no = _sheet(table)
    turn = _running_turn(table)
    return Snapshot(
        table_id=setup.table_id,
        version=table.version,
        connection_id=connection_id,
        seat=seat,
        account_id=account_id,
        server_ms=now_ms,
        kind=opened.kind,
        ruleset=opened.ruleset,
        rules_version=opened.rules_version,
        stake_coins=opened.stake_coins,
        fee_coins=opened.fee_coins,
        clock_ms=opened.clock_ms,
        host=opened.host,
        anchor=opened.anchor,
        phase=_phase_name(table),
        seats=(
            _holder(chairs, 0),
            _holder(chairs, 1),
            _holder(chairs, 2),
            _holder(chairs, 3),
        ),
        reserved=tuple([seat for seat in SEATS if isinstance(chairs[seat], Reserved)]),
        seeds=None if seeds is None else seeds.seeds,
        seed_missing=None if seeds is None else seeds.missing,
        hand_no=hand_no,
        fingerprint=table.fingerprint if isinstance(table, Playing | Dealing) else None,
        scores=scores,
        bags=bags,
        turn=turn,
        view=_view(table, seat),
        ready=table.ready if isinstance(table, BetweenHands) else (),
        next_deadline_ms=_next_deadline_ms(table),
        winner=table.winner if isinstance(table, Ended) else None,
        end_reason=table.reason if isinstance(table, Ended) else None,
        settled=isinstance(table, Ended) and table.settled,
    )


def _holder(chairs: Chairs, seat: int) -> SeatHolder | None:
    chair = chairs[seat]
    return None if isinstance(chair, Open | Reserved) else holder(seat, chair)


def _seeds(table: Opened) -> Seeds | None:
    match table:
        case Seating():
            return None
        case Starting(seeding=seeding):
            return seeding if isinstance(seeding, Seeds) else None
        case _:
            return table.seeds


def _sheet(table: Opened) -> tuple[tuple[int, int], tuple[int, int], int]:
    """Scores, bags, and the hand that is on the table or was the last."""
    match table:
        case Seating() | Starting():
            return (0, 0), (0, 0), 0
        case BetweenHands(game=waiting):
            return waiting.scores, waiting.bags, waiting.hand_no - 1
        case Dealing(game=waiting):
            return waiting.scores, waiting.bags, waiting.hand_no
        case Playing(game=game):
            return game.scores, game.bags, game.hand_no
        case Unreadable():
            return table.scores, table.bags, table.hand_no
        case Ended():
            return table.scores, table.bags, table.hands


def _phase_name(table: Opened) -> str:
    match table:
        case Seating():
            return "seating"
        case Starting():
            return "starting"
        case Playing() | Dealing() | Unreadable():
            return "playing"
        case BetweenHands():
            return "between_hands"
        case Ended():
            return "ended"


def _running_turn(table: Opened) -> RunningTurn | None:
    if not isinstance(table, Playing) or table.turn is None:
        return None
    turn = table.turn
    return RunningTurn(
        turn_id=turn.turn_id,
        seat=turn.seat,
        kind=turn.kind,
        deadline_ms=turn.deadline_ms,
        computer_speed=turn.computer_speed,
    )


def _view(table: Opened, seat: int | None) -> msgspec.Raw:
    if not isinstance(table, Playing | BetweenHands):
        return _NO_VIEW
    if isinstance(table, BetweenHands) and table.game.hand_no == 1:
        return _NO_VIEW
    seen = table.setup.rules.view(table.game, None if seat is None else Seat(seat))
    return msgspec.Raw(_encode(seen))


def _next_deadline_ms(table: Opened) -> int | None:
    if isinstance(table, Seating | Starting | BetweenHands) and table.deadline is not None:
        return table.deadline.due_ms
    return None
