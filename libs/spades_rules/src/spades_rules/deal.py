"""The fair deal, `spades-deal/1`: a hand's cards from its secret and the players' seeds.

A chain of hashes is made before anyone sits down. Its anchor is published, hand h is dealt from
link h, and link h - 1, shown before the deal, is its fingerprint. Whoever holds the revealed secret
can deal the hand again.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from spades_rules.cards import CARD_NAMES, Card, Deck, Mask
from spades_rules.commands import Hands
from spades_rules.ruleset import HANDS_MAX
from spades_rules.seats import Seat

FORMAT: Final = "spades-deal/1"
SECRET_BYTES: Final = 32
NO_SEED: Final = bytes(32)
NO_SEEDS: Final = (NO_SEED, NO_SEED, NO_SEED, NO_SEED)

_CHAIN_TAG = b"spades-chain/1\x00"
_SEED_TAG = b"spades-cseed/1\x00"
_DEAL_TAG = b"spades-deal/1\x00"
_DECKS = {
    Deck.STANDARD: tuple(Card(number) for number in range(52)),
    # Without the deuces of clubs (0) and diamonds (13); the jokers come last.
    Deck.JOKERS: tuple(Card(number) for number in range(54) if number not in (0, 13)),
}


def chain_step(secret: bytes) -> bytes:
    """The link before `secret` in its chain."""
    return hashlib.sha256(_CHAIN_TAG + secret).digest()


def chain(root: bytes, n: int = HANDS_MAX) -> tuple[bytes, ...]:
    """The links S[0] to S[n] of the chain whose last link is `root`; S[0] is the anchor."""
    _check_32_bytes(root)
    links = [root]
    for _ in range(n):
        links.append(chain_step(links[-1]))
    return tuple(reversed(links))


def anchor(root: bytes, n: int = HANDS_MAX) -> bytes:
    return chain(root, n)[0]


def secret(root: bytes, hand_no: int, n: int = HANDS_MAX) -> bytes:
    """The secret S[hand_no] of a hand, 1 to n.

    Raises ValueError beyond the chain: there is no second one.
    """
    if not 1 <= hand_no <= n:
        raise ValueError(f"hand {hand_no} is not on a chain of {n}")
    return chain(root, n)[hand_no]


def fingerprint(secret: bytes) -> bytes:
    """What is shown before the deal: S[h-1] for the secret S[h]."""
    _check_32_bytes(secret)
    return chain_step(secret)


def seed_commit(seed: bytes) -> bytes:
    """What a browser sends with its join command for a seed it opens later."""
    _check_32_bytes(seed)
    return hashlib.sha256(_SEED_TAG + seed).digest()


def deal_key(secret: bytes, game_id: str, hand_no: int, dealer: int, deck_id: int, seeds: Sequence[bytes]) -> bytes:
    _check_32_bytes(secret)
    if len(seeds) != 4:
        raise ValueError("a deal takes four seeds")
    for seed in seeds:
        _check_32_bytes(seed)
    name = game_id.encode()
    message = b"".join(
        (
            _DEAL_TAG,
            len(name).to_bytes(2, "big"),
            name,
            hand_no.to_bytes(4, "big"),
            dealer.to_bytes(1, "big"),
            deck_id.to_bytes(1, "big"),
            *seeds,
        )
    )
    return hmac.digest(secret, message, "sha256")


class DealStream:
    """The bytes of one deal key, each used once and in order; it counts what it threw away."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._block = b""
        self._blocks = 0
        self._at = 0
        self.bytes_used = 0
        self.bytes_rejected = 0

    def draw(self, n: int) -> int:
        """A whole number from 0 to n - 1, each as likely, for 2 <= n <= 256."""
        limit = 256 - 256 % n
        while True:
            if self._at == len(self._block):
                self._block = hmac.digest(self._key, self._blocks.to_bytes(4, "big"), "sha256")
                self._blocks += 1
                self._at = 0
            byte = self._block[self._at]
            self._at += 1
            self.bytes_used += 1
            if byte < limit:
                return byte % n
            # The last, partial round of n would favour small numbers.
            self.bytes_rejected += 1


def shuffle(deck: list[Card], stream: DealStream) -> None:
    """Fisher and Yates, from the bottom up, in place."""
    for i in range(len(deck) - 1, 0, -1):
        j = stream.draw(i + 1)
        deck[i], deck[j] = deck[j], deck[i]


@dataclass(frozen=True, kw_only=True, slots=True)
class DealTrace:
    """Every step of one deal, for comparing two programs; decks are names from index 0."""

    key: bytes
    block_0: bytes
    after_shuffle_1: tuple[str, ...]
    cut_1_at: int
    after_shuffle_2: tuple[str, ...]
    cut_2: tuple[int, int, str]
    final_deck: tuple[str, ...]
    bytes_used: int
    bytes_rejected: int
    hands: tuple[tuple[str, ...], ...]
    hand_masks: Hands


def deal_trace(
    secret: bytes, game_id: str, hand_no: int, dealer: int, deck_id: int, seeds: Sequence[bytes]
) -> DealTrace:
    """Deal a hand and keep every step.

    A hand in the trace lists its cards in the order they were dealt.
    """
    key = deal_key(secret, game_id, hand_no, dealer, deck_id, seeds)
    stream = DealStream(key)
    deck = list(_DECKS[Deck(deck_id)])
    shuffle(deck, stream)
    after_shuffle_1 = _names(deck)
    cut = 20 + stream.draw(13)
    deck = deck[cut:] + deck[:cut]
    shuffle(deck, stream)
    after_shuffle_2 = _names(deck)
    first, second = 14 + stream.draw(7), 32 + stream.draw(7)
    # Of the six orders of three thirds only these two leave none in its place.
    order = ("BCA", "CAB")[stream.draw(2)]
    thirds = {"A": deck[:first], "B": deck[first:second], "C": deck[second:]}
    deck = [card for third in order for card in thirds[third]]
    shuffle(deck, stream)
    hands = tuple(tuple(deck[(seat - dealer - 1) % 4 :: 4]) for seat in range(4))
    masks = [Mask(sum(1 << card for card in hand)) for hand in hands]
    return DealTrace(
        key=key,
        block_0=hmac.digest(key, bytes(4), "sha256"),
        after_shuffle_1=after_shuffle_1,
        cut_1_at=cut,
        after_shuffle_2=after_shuffle_2,
        cut_2=(first, second, order),
        final_deck=_names(deck),
        bytes_used=stream.bytes_used,
        bytes_rejected=stream.bytes_rejected,
        hands=tuple(_names(hand) for hand in hands),
        hand_masks=(masks[0], masks[1], masks[2], masks[3]),
    )


def deal_hands(secret: bytes, game_id: str, hand_no: int, dealer: int, deck_id: int, seeds: Sequence[bytes]) -> Hands:
    """The four hands of seats 0 to 3.

    `deck_id` is the rule set's; bots' and missing seeds are 32 zero bytes.
    """
    return deal_trace(secret, game_id, hand_no, dealer, deck_id, seeds).hand_masks


def first_dealer(secret1: bytes, game_id: str, deck_id: int, seeds: Sequence[bytes]) -> Seat:
    """Who deals hand 1, drawn from that hand's own secret and so checkable once it is revealed."""
    return Seat(DealStream(deal_key(secret1, game_id, 0, 0, deck_id, seeds)).draw(4))


def _names(cards: Sequence[Card]) -> tuple[str, ...]:
    return tuple([CARD_NAMES[card] for card in cards])


def _check_32_bytes(value: bytes) -> None:
    if len(value) != SECRET_BYTES:
        raise ValueError(f"{SECRET_BYTES} bytes are needed, not {len(value)}")
