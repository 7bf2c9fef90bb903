"""Simulation: the same tricks on bare integers, for a computer player that tries out many worlds.

A `Table` is changed in place and checks nothing: its caller plays legal cards. Legality, trick
winners and the breaking of spades are those of `decide`, and tests hold the two side by side.
"""

from __future__ import annotations

from collections.abc import Sequence

from spades_rules.cards import SPADES, SUIT_MASK_OF
from spades_rules.game import Play

_SIDE_SUITS = (1 << 39) - 1
_SPADES: int = SPADES
# The suit to follow, by the bit length of the led card's bit (a card number plus one).
_SUIT_BY_LENGTH = (0, *(int(mask) for mask in SUIT_MASK_OF))
DICE_SIDES = 54  # a roll points at a card number


class Table:
    """Tricks being played: cards held, the running trick in playing order, tricks taken."""

    __slots__ = ("broken", "hands", "leader", "taken", "trick")

    def __init__(
        self,
        hands: Sequence[int],
        *,
        leader: int,
        trick: Sequence[int] = (),
        broken: int = 0,
        taken: Sequence[int] = (0, 0, 0, 0),
    ) -> None:
        self.hands = list(hands)
        self.leader = leader
        self.trick = list(trick)
        self.broken = broken
        self.taken = list(taken)

    def copy(self) -> Table:
        return Table(
            self.hands,
            leader=self.leader,
            trick=self.trick,
            broken=self.broken,
            taken=self.taken,
        )

    @property
    def turn(self) -> int:
        return (self.leader + len(self.trick)) & 3

    def legal(self) -> int:
        """The cards that the seat on turn may play; 0 once all are played."""
        hand = self.hands[(self.leader + len(self.trick)) & 3]
        if self.trick:
            return hand & SUIT_MASK_OF[self.trick[0]] or hand
        return hand if self.broken else hand & _SIDE_SUITS or hand

    def play(self, card: int) -> None:
        """Play a legal card for the seat on turn; the fourth card closes the trick."""
        trick = self.trick
        self.hands[(self.leader + len(trick)) & 3] ^= 1 << card
        trick.append(card)
        if card >= 39 > trick[0]:
            self.broken = 1
        if len(trick) == 4:
            played = 1 << trick[0] | 1 << trick[1] | 1 << trick[2] | 1 << card
            top = (played & _SPADES or played & SUIT_MASK_OF[trick[0]]).bit_length() - 1
            self.leader = (self.leader + trick.index(top)) & 3
            self.taken[self.leader] += 1
            self.trick = []


def table_of(game: Play) -> Table:
    """The table of a game in play, as somebody who knows all four hands has it."""
    return Table(
        game.hands,
        leader=game.leader,
        trick=game.trick,
        broken=int(game.broken),
        taken=game.taken,
    )


def pick(legal: int, dice: int) -> int:
    """One card of a set, as a bit: the first at or above `dice`, else the lowest."""
    above = legal >> dice << dice
    return above & -above or legal & -legal


def play_out(table: Table, dice: Sequence[int]) -> list[int]:
    """Play all remaining tricks with cards that `dice` picks; return the tricks taken by seat.

    `dice` has a number from 0 to 53 for each card that is left, used in turn. The table is played
    out too. This is the inner loop of a simulation, so it is written out rather than well factored.
    """
    rolls = iter(dice)
    while table.trick:
        table.play(pick(table.legal(), next(rolls)).bit_length() - 1)
    hands, taken = table.hands, table.taken
    leader, broken = table.leader, table.broken
    suits, spades, side_suits = _SUIT_BY_LENGTH, _SPADES, _SIDE_SUITS
    first, second, third, fourth = hands[leader:] + hands[:leader]
    while first:
        legal = first if broken else first & side_suits or first
        roll = next(rolls)
        above = legal >> roll << roll
        one = above & -above or legal & -legal
        suit = suits[one.bit_length()]
        legal = second & suit or second
        roll = next(rolls)
        above = legal >> roll << roll
        two = above & -above or legal & -legal
        legal = third & suit or third
        roll = next(rolls)
        above = legal >> roll << roll
        three = above & -above or legal & -legal
        legal = fourth & suit or fourth
        roll = next(rolls)
        above = legal >> roll << roll
        four = above & -above or legal & -legal
        played = one | two | three | four
        trumps = played & spades
        if trumps and suit != spades:
            broken = 1
        # Only one bit is the highest, so whoever's card is no less than it won the trick.
        top = 1 << ((trumps or played & suit).bit_length() - 1)
        first, second, third, fourth = first ^ one, second ^ two, third ^ three, fourth ^ four
        if two == top:
            leader = leader + 1 & 3
            first, second, third, fourth = second, third, fourth, first
        elif three == top:
            leader = leader + 2 & 3
            first, second, third, fourth = third, fourth, first, second
        elif four == top:
            leader = leader + 3 & 3
            first, second, third, fourth = fourth, first, second, third
        taken[leader] += 1
    table.hands, table.leader, table.broken = [0, 0, 0, 0], leader, broken
    return taken
