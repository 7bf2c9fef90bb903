"""The versions of the rules.

A game is pinned to one, so that its history is folded for ever as it was played.

Judgement is not part of a version: its moves are stored as facts, so it may improve at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from spades_rules.bids import Bid
from spades_rules.cards import Mask
from spades_rules.commands import Command, Hands
from spades_rules.deal import deal_hands, first_dealer
from spades_rules.decision import decide, expected, legal_bids, legal_cards
from spades_rules.errors import RulesError
from spades_rules.events import Event
from spades_rules.game import AwaitingDeal, Expected, Game, new_game
from spades_rules.history import evolve, replay
from spades_rules.ruleset import Ruleset
from spades_rules.seats import Seat
from spades_rules.view import RULES_VERSION, View, view


class UnknownRulesVersion(RulesError):
    """A record is pinned to rules that this library does not have."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """One version of the rules: every function that a stored game depends on."""

    version: int
    new_game: Callable[[Ruleset], AwaitingDeal]
    decide: Callable[[Game, Command], tuple[Event, ...]]
    evolve: Callable[[Game, Event], Game]
    replay: Callable[[Game, Iterable[Event]], Game]
    expected: Callable[[Game], Expected | None]
    legal_cards: Callable[[Game], Mask]
    legal_bids: Callable[[Game], tuple[Bid, ...]]
    view: Callable[[Game, Seat | None], View]
    deal_hands: Callable[..., Hands]
    first_dealer: Callable[..., Seat]


_VERSION_1 = Rules(
    version=1,
    new_game=new_game,
    decide=decide,
    evolve=evolve,
    replay=replay,
    expected=expected,
    legal_cards=legal_cards,
    legal_bids=legal_bids,
    view=view,
    deal_hands=deal_hands,
    first_dealer=first_dealer,
)
_VERSIONS: Final[Mapping[int, Rules]] = MappingProxyType({RULES_VERSION: _VERSION_1})


def rules_for(version: int) -> Rules:
    """The rules of a version. Raises UnknownRulesVersion."""
    try:
        return _VERSIONS[version]
    except KeyError:
        raise UnknownRulesVersion(f"rules version {version} is unknown") from None
