"""The check of a revealed deal against what was published and seen, step by named step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spades_rules.cards import Mask, card_names
from spades_rules.deal import NO_SEED, chain_step, deal_hands, first_dealer, seed_commit


@dataclass(frozen=True, slots=True)
class CheckStep:
    """One comparison: what was published or seen beside what was computed here."""

    name: str
    ok: bool
    shown: str
    computed: str


@dataclass(frozen=True, slots=True)
class PassSeen:
    """One half of a Blind Nil swap, as revealed at the hand's end."""

    from_seat: int
    to_seat: int
    cards: Mask


def check_deal(
    *,
    game_id: str,
    hand_no: int,
    dealer: int,
    deck_id: int,
    anchor: bytes,
    fingerprint: bytes,
    secret: bytes,
    seeds: Sequence[bytes],
    seed_commits: Sequence[bytes | None],
    played: Sequence[Mask],
    passes: Sequence[PassSeen] = (),
    own_hands: Mapping[int, Mask] | None = None,
) -> tuple[CheckStep, ...]:
    """Deal the hand again and compare. The deal is fair as published if every step is ok.

    `seed_commits` has None for a bot's seat or a seed not given, whose seed must then be zero.
    `played` is by seat what it was seen to play: all 13, or the cards so far of a hand that was
    called off. `own_hands` are the dealt hands one was shown. Every difference is a step that is
    not ok, never an exception, unless a value has no size of 32 bytes (ValueError).
    """
    steps = [_same("fingerprint", fingerprint.hex(), chain_step(secret).hex())]
    link = secret
    for _ in range(hand_no):
        link = chain_step(link)
    steps.append(_same("anchor", anchor.hex(), link.hex()))
    for seat in range(4):
        steps.append(_seed_step(seat, seeds[seat], seed_commits[seat]))
    if hand_no == 1:
        drawn = first_dealer(secret, game_id, deck_id, seeds)
        steps.append(_same("first_dealer", str(dealer), str(drawn)))
    hands = list(deal_hands(secret, game_id, hand_no, dealer, deck_id, seeds))
    for seat, own in sorted((own_hands or {}).items()):
        steps.append(_same(f"own_hand_{seat}", _cards(own), _cards(hands[seat])))
    for number, swap in enumerate(passes, 1):
        steps.append(_pass_step(number, swap, hands[swap.from_seat]))
        hands[swap.from_seat] = Mask(hands[swap.from_seat] & ~swap.cards)
        hands[swap.to_seat] = Mask(hands[swap.to_seat] | swap.cards)
    for seat in range(4):
        # A hand that was called off showed only some of its cards; each must be among those dealt.
        expected = hands[seat] if played[seat].bit_count() == 13 else Mask(hands[seat] & played[seat])
        steps.append(_same(f"played_{seat}", _cards(played[seat]), _cards(expected)))
    return tuple(steps)


def _same(name: str, shown: str, computed: str) -> CheckStep:
    return CheckStep(name, shown == computed, shown, computed)


def _seed_step(seat: int, seed: bytes, commit: bytes | None) -> CheckStep:
    if commit is None:
        return _same(f"seed_{seat}", NO_SEED.hex(), seed.hex())
    return _same(f"seed_{seat}", commit.hex(), seed_commit(seed).hex())


def _pass_step(number: int, swap: PassSeen, held: Mask) -> CheckStep:
    name = f"pass_{number}_from_{swap.from_seat}"
    return _same(name, _cards(swap.cards), _cards(Mask(swap.cards & held)))


def _cards(mask: Mask) -> str:
    return " ".join(card_names(mask))
