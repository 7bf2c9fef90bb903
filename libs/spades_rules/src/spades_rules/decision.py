"""decide: what a command causes in a game, or why the rules forbid it."""

from __future__ import annotations

from typing import assert_never

from spades_rules.bids import Bid, parse_bid
from spades_rules.cards import CARD_NAMES, DECKS, SUIT_OF, Card, Mask
from spades_rules.commands import Command, DealHand, LookAtCards, PassCards, PlaceBid, PlayCard
from spades_rules.events import (
    BidMade,
    CardPlayed,
    CardsPassed,
    CardsSeen,
    Event,
    HandDealt,
    SpadesBroken,
    TrickTaken,
)
from spades_rules.game import Auction, AwaitingDeal, Ended, Expected, Game, Play, Swap, phase_of
from spades_rules.legality import (
    bids_open,
    blind_nil_team,
    breaks_spades,
    legal_follows,
    legal_leads,
    winning_card,
)
from spades_rules.rejection import Reject, Rejected
from spades_rules.ruleset import TRICKS_PER_HAND
from spades_rules.scoring import game_end, score_hand
from spades_rules.seats import SEATS, Seat, partner_of, seats_of


def decide(game: Game, command: Command) -> tuple[Event, ...]:
    """Return the events that `command` causes in `game`, in order.

    Raises Rejected where the rules forbid it; the game is then as it was. Reads no clock and draws
    no card: the same command on the same game always gives the same events, and a command that was
    already taken is rejected.
    """
    match command:
        case PlayCard():
            return _play_card(game, command)
        case PlaceBid():
            return _place_bid(game, command)
        case DealHand():
            return _deal_hand(game, command)
        case LookAtCards():
            return _look_at_cards(game, command)
        case PassCards():
            return _pass_cards(game, command)
        case never:
            assert_never(never)


def expected(game: Game) -> Expected | None:
    """The seat and kind of move that the game waits for; None between hands and after the end."""
    match game:
        case Play():
            return Expected(Seat((game.leader + len(game.trick)) & 3), "play")
        case Auction():
            return Expected(game.turn, "bid")
        case Swap():
            return Expected(_swap_turn(game), "pass")
        case AwaitingDeal() | Ended():
            return None


def legal_cards(game: Game) -> Mask:
    """The cards the seat on turn may play: never empty during play, none in other phases."""
    if not isinstance(game, Play):
        return Mask(0)
    trick = game.trick
    hand = game.hands[(game.leader + len(trick)) & 3]
    return legal_follows(hand, trick[0]) if trick else legal_leads(hand, broken=game.broken)


def legal_bids(game: Game) -> tuple[Bid, ...]:
    """The bids that the seat on turn may make as its cards lie now; none outside the auction."""
    if not isinstance(game, Auction):
        return ()
    return bids_open(face_down=game.turn in game.face_down)


def _wrong_phase(game: Game, seat: Seat | None) -> Rejected:
    if isinstance(game, Ended):
        return Rejected(Reject.GAME_OVER, seat=seat)
    return Rejected(Reject.WRONG_PHASE, seat=seat, phase=phase_of(game))


def _deal_hand(game: Game, command: DealHand) -> tuple[Event, ...]:
    if not isinstance(game, AwaitingDeal):
        raise _wrong_phase(game, None)
    if command.hand_no != game.hand_no:
        raise Rejected(Reject.WRONG_HAND)
    if command.dealer not in SEATS or game.dealer not in (None, command.dealer):
        raise Rejected(Reject.WRONG_DEALER)
    dealt = 0
    for hand in command.hands:
        if hand.bit_count() != TRICKS_PER_HAND:
            raise Rejected(Reject.BAD_DEAL)
        dealt |= hand
    # Four hands of 13 that make up the whole deck have no card twice.
    if len(command.hands) != 4 or dealt != DECKS[game.ruleset.deck]:
        raise Rejected(Reject.BAD_DEAL)
    team = blind_nil_team(game.ruleset, game.scores)
    face_down = () if team is None else seats_of(team)
    return (HandDealt(command.hand_no, command.dealer, command.hands, face_down),)


def _look_at_cards(game: Game, command: LookAtCards) -> tuple[Event, ...]:
    seat = command.seat
    if not isinstance(game, Auction):
        raise _wrong_phase(game, seat)
    if seat not in SEATS:
        raise Rejected(Reject.NO_SUCH_SEAT, seat=seat)
    if seat not in game.face_down:
        raise Rejected(Reject.ALREADY_SEEN, seat=seat)
    if game.bids[seat] is not None:
        raise Rejected(Reject.BID_IS_BLIND, seat=seat)
    return (CardsSeen(seat),)


def _place_bid(game: Game, command: PlaceBid) -> tuple[Event, ...]:
    seat = command.seat
    if not isinstance(game, Auction):
        raise _wrong_phase(game, seat)
    if seat != game.turn:
        raise Rejected(Reject.NOT_YOUR_TURN, seat=seat, turn=game.turn)
    bid = parse_bid(command.bid)
    legal = legal_bids(game)
    if bid not in legal:
        code = Reject.LOOK_FIRST if seat in game.face_down else Reject.BLIND_NIL_CLOSED
        raise Rejected(code, seat=seat, legal_bids=legal)
    made = BidMade(seat, bid)
    if seat != game.deal.dealer:
        return (made,)
    # The dealer bids last. Blind Nil bidders now turn their cards, to pass or to play from them.
    return (made, *[CardsSeen(blind) for blind in game.face_down])


def _swap_turn(game: Swap) -> Seat:
    return partner_of(game.bidder) if game.passes else game.bidder


def _pass_cards(game: Game, command: PassCards) -> tuple[Event, ...]:
    seat, cards = command.seat, command.cards
    if not isinstance(game, Swap):
        raise _wrong_phase(game, seat)
    turn = _swap_turn(game)
    if seat != turn:
        raise Rejected(Reject.NOT_YOUR_TURN, seat=seat, turn=turn)
    hand = game.hands[seat]
    if cards.bit_count() != game.ruleset.swap_cards:
        raise Rejected(Reject.WRONG_PASS, seat=seat, turn=turn, legal=hand)
    if cards & ~hand:
        raise Rejected(Reject.NOT_IN_HAND, seat=seat, turn=turn, legal=hand)
    return (CardsPassed(seat, partner_of(seat), cards),)


def _play_card(game: Game, command: PlayCard) -> tuple[Event, ...]:
    seat, card = command.seat, command.card
    if not isinstance(game, Play):
        raise _wrong_phase(game, seat)
    trick, leader = game.trick, game.leader
    turn = (leader + len(trick)) & 3
    if seat != turn:
        raise Rejected(Reject.NOT_YOUR_TURN, seat=seat, turn=Seat(turn))
    legal = legal_cards(game)
    # A negative number would raise from the shift; what is no card at all is in no hand either.
    if not 0 <= card < len(CARD_NAMES) or not legal >> card & 1:
        raise _card_refused(game, seat, card, legal)
    played = CardPlayed(seat, card)
    if not trick:
        return (played,)
    breaks = not game.broken and breaks_spades(trick[0], card)
    if len(trick) < 3:
        return (played, SpadesBroken()) if breaks else (played,)
    return _close_trick(game, played, breaks)


def _card_refused(game: Play, seat: Seat, card: Card, legal: Mask) -> Rejected:
    led = SUIT_OF[game.trick[0]] if game.trick else None
    if not 0 <= card < len(CARD_NAMES) or not game.hands[seat] >> card & 1:
        code = Reject.NOT_IN_HAND
    else:
        code = Reject.SPADES_NOT_BROKEN if led is None else Reject.MUST_FOLLOW
    return Rejected(code, seat=seat, turn=seat, suit_led=led, legal=legal)


def _close_trick(game: Play, played: CardPlayed, breaks: bool) -> tuple[Event, ...]:
    leader = game.leader
    cards = (*game.trick, played.card)
    winner = Seat((leader + cards.index(winning_card(cards))) & 3)
    taken = TrickTaken(winner, leader, cards)
    closing: tuple[Event, ...] = (played, SpadesBroken(), taken) if breaks else (played, taken)
    if len(game.tricks) < TRICKS_PER_HAND - 1:
        return closing
    counts = game.taken
    tricks = (
        counts[0] + (winner == 0),
        counts[1] + (winner == 1),
        counts[2] + (winner == 2),
        counts[3] + (winner == 3),
    )
    return closing + _close_hand(game, tricks)


def _close_hand(game: Play, tricks: tuple[int, int, int, int]) -> tuple[Event, ...]:
    deal = game.deal
    scored = score_hand(
        deal.ruleset,
        bids=game.bids,
        tricks=tricks,
        scores=deal.scores,
        bags=deal.bags,
        hand_no=deal.hand_no,
    )
    first, second = scored.teams
    ended = game_end(deal.ruleset, (first.score_after, second.score_after), deal.hand_no)
    return (scored,) if ended is None else (scored, ended)
