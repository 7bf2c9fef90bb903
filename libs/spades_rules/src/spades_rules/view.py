"""A view: what one seat, or a watcher, may see of a game. The only place that decides it.

A view is plain values (whole numbers, text, tuples, None), so an encoder that knows dataclasses
writes and reads it by type. It never holds another seat's cards, a face-down seat's own cards, or
what a Blind Nil swap moved between two others. Its encoded size depends on public facts alone:
`pad` fills up what the own hand makes shorter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from spades_rules.bids import Bid
from spades_rules.cards import CARD_NAMES, Card, Mask, card_name, card_names
from spades_rules.decision import expected, legal_bids, legal_cards
from spades_rules.events import TrickTaken
from spades_rules.game import (
    Auction,
    AwaitingDeal,
    Ended,
    Game,
    Phase,
    Play,
    Swap,
    TurnKind,
    phase_of,
)
from spades_rules.ruleset import OptionValue
from spades_rules.seats import Seat

RULES_VERSION: Final = 1


def _list_bytes(cards: int) -> int:
    """The size of a JSON list of card names: four characters each, commas, brackets."""
    return 5 * cards + 1 if cards else 2


@dataclass(frozen=True, kw_only=True, slots=True)
class TrickView:
    """A finished trick: `cards` in playing order, the leader's first."""

    leader: int
    cards: tuple[str, ...]
    winner: int


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """All that a seat may see; `seat` is None for a watcher.

    Tuples of four are by seat, of two by team.

    `hand` is empty while the own cards lie face down. `trick` has the running trick's cards by
    seat, `tricks` all finished ones of this hand. `legal_cards` and `legal_bids` are filled on the
    seat's own turn; a Blind Nil swap's `hand` holds what it may pass. `may_look` says that the own
    cards can be turned. `new_cards` are those received in the swap and still held, until the first
    lead. `winner` is the winning team, None before the end and for a draw.
    """

    rules_version: int = RULES_VERSION
    preset: str
    options: dict[str, OptionValue]
    phase: Phase
    seat: int | None
    scores: tuple[int, int]
    bags: tuple[int, int]
    hand_no: int
    dealer: int | None
    hand: tuple[str, ...] = ()
    card_counts: tuple[int, int, int, int] = (0, 0, 0, 0)
    face_down: tuple[bool, bool, bool, bool] = (False, False, False, False)
    bids: tuple[Bid | None, Bid | None, Bid | None, Bid | None] = (None, None, None, None)
    taken: tuple[int, int, int, int] = (0, 0, 0, 0)
    trick_leader: int | None = None
    trick: tuple[str | None, str | None, str | None, str | None] = (None, None, None, None)
    last_trick: TrickView | None = None
    tricks: tuple[TrickView, ...] = ()
    broken: bool = False
    turn_seat: int | None = None
    turn_kind: TurnKind | None = None
    legal_cards: tuple[str, ...] = ()
    legal_bids: tuple[Bid, ...] = ()
    may_look: bool = False
    swap_bidder: int | None = None
    passed: tuple[str, ...] = ()
    received: tuple[str, ...] = ()
    new_cards: tuple[str, ...] = ()
    winner: int | None = None
    end_reason: str | None = None
    pad: str = field(default="", repr=False)


def view(game: Game, seat: Seat | None) -> View:
    """What `seat` may see of `game`; a watcher (None) sees what lies on the table."""
    match game:
        case AwaitingDeal():
            return View(
                preset=game.ruleset.name,
                options=game.ruleset.chosen,
                phase=phase_of(game),
                seat=seat,
                scores=game.scores,
                bags=game.bags,
                hand_no=game.hand_no,
                dealer=game.dealer,
            )
        case Ended():
            return View(
                preset=game.ruleset.name,
                options=game.ruleset.chosen,
                phase=phase_of(game),
                seat=seat,
                scores=game.scores,
                bags=game.bags,
                hand_no=game.hand_no,
                dealer=None,
                winner=game.winner,
                end_reason=game.reason.value,
            )
        case Auction() | Swap() | Play():
            return _hand_view(game, seat)


def _hand_view(game: Auction | Swap | Play, seat: Seat | None) -> View:
    face_down = game.face_down if isinstance(game, Auction) else ()
    sees_hand = seat is not None and seat not in face_down
    hand = game.hands[seat] if seat is not None and sees_hand else Mask(0)
    turn = expected(game)
    own_turn = turn is not None and turn.seat == seat
    legal = legal_cards(game) if own_turn else Mask(0)
    passed, received, fresh = _swapped(game, seat)
    in_play = game if isinstance(game, Play) else None
    tricks = tuple([_trick_view(trick) for trick in in_play.tricks]) if in_play else ()
    padding = 0
    if in_play and own_turn:
        padding += _list_bytes(hand.bit_count()) - _list_bytes(legal.bit_count())
    if received and _before_lead(game):
        padding += _list_bytes(received.bit_count()) - _list_bytes(fresh.bit_count())
    return View(
        preset=game.deal.ruleset.name,
        options=game.deal.ruleset.chosen,
        phase=phase_of(game),
        seat=seat,
        scores=game.deal.scores,
        bags=game.deal.bags,
        hand_no=game.deal.hand_no,
        dealer=game.deal.dealer,
        hand=card_names(hand),
        card_counts=_counts(game),
        face_down=(0 in face_down, 1 in face_down, 2 in face_down, 3 in face_down),
        bids=game.bids,
        taken=in_play.taken if in_play else (0, 0, 0, 0),
        trick_leader=in_play.leader if in_play else None,
        trick=_running_trick(in_play.leader, in_play.trick) if in_play else (None, None, None, None),
        last_trick=tricks[-1] if tricks else None,
        tricks=tricks,
        broken=in_play.broken if in_play else False,
        turn_seat=turn.seat if turn else None,
        turn_kind=turn.kind if turn else None,
        legal_cards=card_names(legal),
        legal_bids=legal_bids(game) if own_turn else (),
        may_look=seat is not None and seat in face_down and game.bids[seat] is None,
        swap_bidder=_swap_bidder(game),
        passed=card_names(passed),
        received=card_names(received),
        new_cards=card_names(fresh),
        pad="." * padding,
    )


def _counts(game: Auction | Swap | Play) -> tuple[int, int, int, int]:
    first, second, third, fourth = game.hands
    return (first.bit_count(), second.bit_count(), third.bit_count(), fourth.bit_count())


def _trick_view(trick: TrickTaken) -> TrickView:
    return TrickView(
        leader=trick.leader,
        cards=tuple([CARD_NAMES[card] for card in trick.cards]),
        winner=trick.winner,
    )


def _running_trick(leader: Seat, trick: tuple[Card, ...]) -> tuple[str | None, str | None, str | None, str | None]:
    by_seat: list[str | None] = [None, None, None, None]
    for place, card in enumerate(trick):
        by_seat[(leader + place) & 3] = card_name(card)
    return (by_seat[0], by_seat[1], by_seat[2], by_seat[3])


def _swap_bidder(game: Auction | Swap | Play) -> Seat | None:
    match game:
        case Swap():
            return game.bidder
        case Play() if game.passes:
            return game.passes[0].from_seat
        case _:
            return None


def _before_lead(game: Auction | Swap | Play) -> bool:
    """Whether no card of the hand has been led; until then received cards are New."""
    return not (isinstance(game, Play) and (game.tricks or game.trick))


def _swapped(game: Auction | Swap | Play, seat: Seat | None) -> tuple[Mask, Mask, Mask]:
    """What `seat` passed, what it received, and what of that is still New to it."""
    passed = received = 0
    if isinstance(game, Swap | Play):
        for swap in game.passes:
            if swap.from_seat == seat:
                passed |= swap.cards
            elif swap.to_seat == seat:
                received |= swap.cards
    fresh = received & game.hands[seat] if seat is not None and _before_lead(game) else 0
    return Mask(passed), Mask(received), Mask(fresh)
