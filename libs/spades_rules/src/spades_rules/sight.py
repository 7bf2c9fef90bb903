"""A seat's sight: its view read into sets of cards, with what the tricks so far give away.

Judgement reads this and nothing else, so it can know no more than the seat does.
"""

from __future__ import annotations

from dataclasses import dataclass

from spades_rules.bids import Bid, bid_tricks, is_nil
from spades_rules.cards import DECKS, SUIT_MASK_OF, SUIT_OF, SUITS, Card, Mask, mask_of, parse_card
from spades_rules.legality import winning_card
from spades_rules.presets import ruleset_stamped
from spades_rules.ruleset import FailedNil, Ruleset
from spades_rules.seats import Seat
from spades_rules.view import View


@dataclass(slots=True, kw_only=True)
class Sight:
    """`unseen` are the cards in other hands; `void[seat][suit]` is what a seat has shown to lack.

    `trick` lists the running trick in playing order. `left` counts the tricks not yet finished.
    """

    rules: Ruleset
    me: Seat
    partner: Seat
    hand: Mask
    legal: Mask
    unseen: Mask
    void: list[list[bool]]
    bids: tuple[Bid | None, Bid | None, Bid | None, Bid | None]
    taken: tuple[int, int, int, int]
    bags: tuple[int, int]
    leader: int
    trick: list[Card]
    left: int
    broken: bool

    def nil_alive(self, seat: int) -> bool:
        return is_nil(self.bids[seat]) and self.taken[seat] == 0

    def contract(self, team: int) -> int:
        return sum(bid_tricks(bid) for bid in self.bids[team::2] if bid is not None)

    def helping(self, team: int) -> int:
        if self.rules.failed_nil is FailedNil.HELP:
            return self.taken[team] + self.taken[team + 2]
        return sum(self.taken[seat] for seat in (team, team + 2) if not is_nil(self.bids[seat]))

    def makes_bags_only(self, seat: int) -> bool:
        """Whether the seat's tricks help no contract: a failed Nil's, by some rules."""
        return self.rules.failed_nil is FailedNil.BAGS and is_nil(self.bids[seat])

    def need(self, team: int) -> int:
        """Tricks that the team's contract still lacks."""
        return max(0, self.contract(team) - self.helping(team))

    def bags_now(self, team: int) -> int:
        """The bag count as the hand stands: those brought in and tricks past the contract."""
        return self.bags[team] + max(0, self.helping(team) - self.contract(team))

    def best(self) -> Card:
        """The card that wins the running trick as it lies."""
        return winning_card(self.trick)

    def winner(self) -> int:
        return (self.leader + self.trick.index(self.best())) & 3

    def later(self) -> list[int]:
        """The seats that play to the running trick after me."""
        return [(self.me + place) & 3 for place in range(1, 4 - len(self.trick))]


def sight_of(view: View) -> Sight:
    """Read a seat's own view. Raises ValueError for a watcher's."""
    if view.seat is None:
        raise ValueError("a watcher has no move to judge")
    rules = ruleset_stamped(view.preset, view.options)
    hand = mask_of([parse_card(name) for name in view.hand])
    gone = 0
    void = [[False] * 4 for _ in range(4)]
    for trick in view.tricks:
        cards = [parse_card(name) for name in trick.cards]
        gone |= _read_trick(cards, trick.leader, void)
    leader = view.seat if view.trick_leader is None else view.trick_leader
    running = [name for name in (view.trick[(leader + place) & 3] for place in range(4)) if name is not None]
    trick_now = [parse_card(name) for name in running]
    gone |= _read_trick(trick_now, leader, void)
    unseen = Mask(DECKS[rules.deck] & ~hand & ~gone)
    for suit in range(4):
        if not unseen & SUITS[suit]:
            for seat in range(4):
                void[seat][suit] = True
    return Sight(
        rules=rules,
        me=Seat(view.seat),
        partner=Seat((view.seat + 2) & 3),
        hand=hand,
        legal=mask_of([parse_card(name) for name in view.legal_cards]),
        unseen=unseen,
        void=void,
        bids=view.bids,
        taken=view.taken,
        bags=view.bags,
        leader=leader,
        trick=trick_now,
        left=hand.bit_count(),
        broken=view.broken,
    )


def _read_trick(cards: list[Card], leader: int, void: list[list[bool]]) -> int:
    """Note who did not follow; return the cards as a set."""
    played = 0
    for place, card in enumerate(cards):
        played |= 1 << card
        if place and not SUIT_MASK_OF[cards[0]] >> card & 1:
            void[(leader + place) & 3][SUIT_OF[cards[0]]] = True
    return played
