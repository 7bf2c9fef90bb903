"""evolve: fold one fact into a game, and replay: fold many."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never, cast

from spades_rules.cards import Mask
from spades_rules.commands import Hands
from spades_rules.errors import CorruptHistory
from spades_rules.events import (
    BidMade,
    CardPlayed,
    CardsPassed,
    CardsSeen,
    Event,
    GameEnded,
    HandDealt,
    HandScored,
    SpadesBroken,
    TrickTaken,
)
from spades_rules.game import Auction, AwaitingDeal, Bids, Counts, Deal, Ended, Game, Play, Swap
from spades_rules.legality import swap_bidder
from spades_rules.seats import left_of


def evolve(game: Game, event: Event) -> Game:
    """Fold one fact into the game. It never judges: `decide` already did.

    Raises CorruptHistory for an event that cannot follow this state, which is never a player's
    fault.
    """
    match event:
        case CardPlayed():
            return _card_played(game, event)
        case TrickTaken():
            return _trick_taken(game, event)
        case BidMade():
            return _bid_made(game, event)
        case SpadesBroken():
            return _spades_broken(game, event)
        case HandDealt():
            return _hand_dealt(game, event)
        case CardsSeen():
            return _cards_seen(game, event)
        case CardsPassed():
            return _cards_passed(game, event)
        case HandScored():
            return _hand_scored(game, event)
        case GameEnded():
            return _game_ended(game, event)
        case never:
            assert_never(never)


def replay(game: Game, events: Iterable[Event]) -> Game:
    """Fold events, oldest first."""
    for event in events:
        game = evolve(game, event)
    return game


def _corrupt(game: Game, event: Event) -> CorruptHistory:
    # The kinds only: an error text must not carry the cards of an unplayed hand.
    return CorruptHistory(f"{type(event).__name__} cannot follow {type(game).__name__}")


def _hand_dealt(game: Game, event: HandDealt) -> Game:
    if not isinstance(game, AwaitingDeal) or event.hand_no != game.hand_no:
        raise _corrupt(game, event)
    deal = Deal(
        ruleset=game.ruleset,
        scores=game.scores,
        bags=game.bags,
        hand_no=event.hand_no,
        dealer=event.dealer,
        hands=event.hands,
    )
    return Auction(
        deal=deal,
        face_down=event.face_down,
        bids=(None, None, None, None),
        turn=left_of(event.dealer),
    )


def _cards_seen(game: Game, event: CardsSeen) -> Game:
    if isinstance(game, Swap | Play):
        # A Blind Nil bidder's cards turn with the fourth bid, which opened this phase.
        return game
    if not isinstance(game, Auction) or event.seat not in game.face_down:
        raise _corrupt(game, event)
    face_down = tuple(seat for seat in game.face_down if seat != event.seat)
    return Auction(deal=game.deal, face_down=face_down, bids=game.bids, turn=game.turn)


def _bid_made(game: Game, event: BidMade) -> Game:
    if not isinstance(game, Auction) or event.seat != game.turn:
        raise _corrupt(game, event)
    listed = list(game.bids)
    listed[event.seat] = event.bid
    if event.seat != game.deal.dealer:
        bids = (listed[0], listed[1], listed[2], listed[3])
        return Auction(deal=game.deal, face_down=game.face_down, bids=bids, turn=left_of(event.seat))
    closed = cast(Bids, tuple(listed))
    bidder = swap_bidder(game.ruleset, closed)
    if bidder is not None:
        return Swap(deal=game.deal, bids=closed, hands=game.deal.hands, bidder=bidder, passes=())
    return _open_play(game.deal, closed, game.deal.hands, ())


def _open_play(deal: Deal, bids: Bids, hands: Hands, passes: tuple[CardsPassed, ...]) -> Play:
    return Play(
        deal=deal,
        bids=bids,
        passes=passes,
        hands=hands,
        # The seat left of the dealer, who bid first, also leads.
        leader=left_of(deal.dealer),
        trick=(),
        broken=False,
        taken=(0, 0, 0, 0),
        tricks=(),
    )


def _cards_passed(game: Game, event: CardsPassed) -> Game:
    if not isinstance(game, Swap):
        raise _corrupt(game, event)
    listed = list(game.hands)
    listed[event.from_seat] = Mask(listed[event.from_seat] & ~event.cards)
    listed[event.to_seat] = Mask(listed[event.to_seat] | event.cards)
    hands = cast(Hands, tuple(listed))
    passes = (*game.passes, event)
    if len(passes) == 1:
        return Swap(deal=game.deal, bids=game.bids, hands=hands, bidder=game.bidder, passes=passes)
    return _open_play(game.deal, game.bids, hands, passes)


def _card_played(game: Game, event: CardPlayed) -> Game:
    if not isinstance(game, Play):
        raise _corrupt(game, event)
    listed = list(game.hands)
    bit = 1 << event.card
    if not listed[event.seat] & bit:
        raise _corrupt(game, event)
    listed[event.seat] = Mask(listed[event.seat] ^ bit)
    return Play(
        deal=game.deal,
        bids=game.bids,
        passes=game.passes,
        hands=cast(Hands, tuple(listed)),
        leader=game.leader,
        trick=(*game.trick, event.card),
        broken=game.broken,
        taken=game.taken,
        tricks=game.tricks,
    )


def _spades_broken(game: Game, event: SpadesBroken) -> Game:
    if not isinstance(game, Play):
        raise _corrupt(game, event)
    return Play(
        deal=game.deal,
        bids=game.bids,
        passes=game.passes,
        hands=game.hands,
        leader=game.leader,
        trick=game.trick,
        broken=True,
        taken=game.taken,
        tricks=game.tricks,
    )


def _trick_taken(game: Game, event: TrickTaken) -> Game:
    if not isinstance(game, Play) or event.cards != game.trick:
        raise _corrupt(game, event)
    taken = list(game.taken)
    taken[event.winner] += 1
    return Play(
        deal=game.deal,
        bids=game.bids,
        passes=game.passes,
        hands=game.hands,
        leader=event.winner,
        trick=(),
        broken=game.broken,
        taken=cast(Counts, tuple(taken)),
        tricks=(*game.tricks, event),
    )


def _hand_scored(game: Game, event: HandScored) -> Game:
    if not isinstance(game, Play) or len(game.tricks) != 13 or event.hand_no != game.deal.hand_no:
        raise _corrupt(game, event)
    first, second = event.teams
    return AwaitingDeal(
        ruleset=game.deal.ruleset,
        scores=(first.score_after, second.score_after),
        bags=(first.bags_after, second.bags_after),
        hand_no=event.hand_no + 1,
        # The deal goes clockwise every hand, after a tie too.
        dealer=left_of(game.deal.dealer),
    )


def _game_ended(game: Game, event: GameEnded) -> Game:
    if not isinstance(game, AwaitingDeal) or event.scores != game.scores:
        raise _corrupt(game, event)
    return Ended(
        ruleset=game.ruleset,
        scores=game.scores,
        bags=game.bags,
        hand_no=game.hand_no - 1,
        winner=event.winner,
        reason=event.reason,
    )
