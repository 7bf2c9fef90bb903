"""The fair deal: its bytes, its check, its statistics."""

import json
from collections import Counter
from dataclasses import replace
from math import comb, exp
from pathlib import Path

import pytest

from spades_rules import (
    DECKS,
    NO_SEED,
    NO_SEEDS,
    SPADES,
    DealStream,
    Deck,
    Mask,
    PassSeen,
    anchor,
    chain,
    chain_step,
    check_deal,
    deal_hands,
    deal_trace,
    fingerprint,
    first_dealer,
    parse_card,
    parse_cards,
    secret,
    seed_commit,
)
from spades_rules.deal import deal_key, shuffle

ROOT = bytes(range(32))
SEEDS = tuple(bytes([seat]) * 32 for seat in (1, 2, 3, 4))
VECTOR = json.loads((Path(__file__).parents[1] / "cases" / "fair_deal.json").read_text())["vectors"][0]


def test_a_chain_leads_from_the_anchor_to_its_root():
    links = chain(ROOT)
    assert len(links) == 65
    assert links[64] == ROOT
    assert all(chain_step(links[hand]) == links[hand - 1] for hand in range(1, 65))
    assert (anchor(ROOT), secret(ROOT, 64)) == (links[0], ROOT)


def test_the_first_fingerprint_is_the_anchor_and_a_later_one_the_secret_just_revealed():
    assert fingerprint(secret(ROOT, 1)) == anchor(ROOT)
    assert fingerprint(secret(ROOT, 7)) == secret(ROOT, 6)


@pytest.mark.parametrize("hand_no", [0, 65, -1])
def test_there_is_no_hand_beyond_the_chain(hand_no):
    with pytest.raises(ValueError, match="chain"):
        secret(ROOT, hand_no)


def test_secrets_and_seeds_have_32_bytes():
    for wrong in (b"", ROOT[:31], ROOT + b"x"):
        with pytest.raises(ValueError, match="32"):
            chain(wrong)
        with pytest.raises(ValueError, match="32"):
            seed_commit(wrong)
        with pytest.raises(ValueError, match="32"):
            deal_hands(ROOT, "g", 1, 0, 0, (wrong, *SEEDS[:3]))
    with pytest.raises(ValueError, match="four"):
        deal_hands(ROOT, "g", 1, 0, 0, SEEDS[:3])


def test_draws_throw_the_last_partial_round_away():
    stream = DealStream(bytes.fromhex(VECTOR["deal_key"]))
    key = DealStream(bytes.fromhex(VECTOR["deal_key"]))
    raw = [key.draw(256) for _ in range(400)]
    drawn = [stream.draw(52) for _ in range(300)]
    assert drawn == [byte % 52 for byte in raw if byte < 208][:300]
    assert stream.bytes_rejected > 0
    assert stream.bytes_used == 300 + stream.bytes_rejected


@pytest.mark.parametrize("dealer", range(4))
def test_the_card_first_dealt_goes_left_of_the_dealer(dealer):
    trace = deal_trace(ROOT, "game", 3, dealer, 0, SEEDS)
    for seat in range(4):
        place = (seat - dealer - 1) % 4
        assert trace.hands[seat] == trace.final_deck[place::4]
        assert parse_cards(trace.hands[seat]) == trace.hand_masks[seat]


@pytest.mark.parametrize("deck", Deck)
def test_a_deal_is_the_whole_deck_of_its_rules(deck):
    four = deal_hands(ROOT, "game", 1, 0, int(deck), SEEDS)
    assert sum(four) == DECKS[deck]
    assert [hand.bit_count() for hand in four] == [13] * 4


def test_the_cuts_keep_to_their_ranges_and_leave_no_third_in_place():
    seen = Counter()
    for hand_no in range(1, 300):
        trace = deal_trace(ROOT, "cuts", hand_no, 0, 0, NO_SEEDS)
        first, second, order = trace.cut_2
        assert 20 <= trace.cut_1_at <= 32
        assert 14 <= first <= 20
        assert 32 <= second <= 38
        seen[order] += 1
    assert set(seen) == {"BCA", "CAB"}


def test_every_input_changes_the_deal():
    base = (ROOT, "game", 3, 1, 0, SEEDS)
    changed = [
        (chain_step(ROOT), *base[1:]),
        (ROOT, "gamf", *base[2:]),
        (*base[:2], 4, *base[3:]),
        (*base[:3], 2, *base[4:]),
        (*base[:4], 1, SEEDS),
        *((*base[:5], (*SEEDS[:seat], NO_SEED, *SEEDS[seat + 1 :])) for seat in range(4)),
    ]
    keys = {deal_key(*inputs) for inputs in (base, *changed)}
    assert len(keys) == 1 + len(changed)


def test_a_game_id_is_measured_in_bytes_and_cannot_run_into_the_hand_number():
    assert deal_key(ROOT, "ü", 1, 0, 0, SEEDS) != deal_key(ROOT, "u", 1, 0, 0, SEEDS)


# --- the check -------------------------------------------------------------------------------


def check(**changes):
    """A game's second hand, played out as dealt, with anything changed."""
    hand_secret = secret(ROOT, 2)
    four = deal_hands(hand_secret, "game", 2, 1, 0, SEEDS)
    facts = {
        "game_id": "game",
        "hand_no": 2,
        "dealer": 1,
        "deck_id": 0,
        "anchor": anchor(ROOT),
        "fingerprint": fingerprint(hand_secret),
        "secret": hand_secret,
        "seeds": SEEDS,
        "seed_commits": tuple(map(seed_commit, SEEDS)),
        "played": four,
        "own_hands": {0: four[0]},
    }
    return [step.name for step in check_deal(**(facts | changes)) if not step.ok]


def one_byte_off(value: bytes) -> bytes:
    return value[:5] + bytes([value[5] ^ 1]) + value[6:]


FOUR = deal_hands(secret(ROOT, 2), "game", 2, 1, 0, SEEDS)


def test_an_honest_deal_passes_every_step():
    assert check() == []


def test_one_changed_byte_of_the_secret_fails():
    failed = check(secret=one_byte_off(secret(ROOT, 2)))
    assert {"fingerprint", "anchor", "own_hand_0", "played_0"} <= set(failed)


def test_each_lie_fails_at_its_own_step():
    wrong = one_byte_off(ROOT)
    assert check(anchor=wrong) == ["anchor"]
    assert check(fingerprint=wrong) == ["fingerprint"]
    commits = [seed_commit(seed) for seed in SEEDS]
    assert check(seed_commits=(*commits[:2], wrong, commits[3])) == ["seed_2"]
    assert check(own_hands={0: FOUR[1]}) == ["own_hand_0"]
    swapped = (FOUR[1], FOUR[0], FOUR[2], FOUR[3])
    assert check(played=swapped) == ["played_0", "played_1"]


def test_a_seat_without_a_commitment_must_have_the_zero_seed():
    commits = tuple(map(seed_commit, SEEDS))
    assert check(seed_commits=(None, *commits[1:])) == ["seed_0"]
    seeds = (NO_SEED, *SEEDS[1:])
    four = deal_hands(secret(ROOT, 2), "game", 2, 1, 0, seeds)
    facts = {"seeds": seeds, "played": four, "own_hands": {}}
    assert check(seed_commits=(None, *commits[1:]), **facts) == []


def test_a_swap_is_followed_card_by_card():
    gave = Mask(FOUR[0] & -FOUR[0] | 1 << FOUR[0].bit_length() - 1)
    got = Mask(FOUR[2] & -FOUR[2] | 1 << FOUR[2].bit_length() - 1)
    passes = (PassSeen(0, 2, gave), PassSeen(2, 0, got))
    after = (
        Mask(FOUR[0] & ~gave | got),
        FOUR[1],
        Mask(FOUR[2] & ~got | gave),
        FOUR[3],
    )
    assert check(played=after, passes=passes) == []
    assert check(played=FOUR, passes=passes) == ["played_0", "played_2"]
    stolen = (replace(passes[0], cards=Mask(FOUR[1] & -FOUR[1])), passes[1])
    assert "pass_1_from_0" in check(played=after, passes=stolen)


def test_a_hand_called_off_early_shows_cards_that_were_dealt():
    some = tuple(Mask(hand & -hand) for hand in FOUR)
    assert check(played=some) == []
    assert check(played=(some[1], *some[1:])) == ["played_0"]


def test_the_first_dealer_is_checked_with_the_first_hand():
    hand_secret = secret(ROOT, 1)
    dealer = first_dealer(hand_secret, "game", 0, SEEDS)
    facts = {"hand_no": 1, "secret": hand_secret, "fingerprint": anchor(ROOT), "own_hands": {}}

    def dealt_by(seat):
        four = deal_hands(hand_secret, "game", 1, seat, 0, SEEDS)
        return check(dealer=seat, played=four, **facts)

    assert dealt_by(int(dealer)) == []
    assert dealt_by((dealer + 1) % 4) == ["first_dealer"]


# --- the statistics --------------------------------------------------------------------------

DEALS = 10_000
P_LEAST = 1e-6


def chi_square_p(value: float, degrees: int) -> float:
    """The chance of a chi-square at least this great, as Wilson and Hilferty have it."""
    z = ((value / degrees) ** (1 / 3) - (1 - 2 / (9 * degrees))) / (2 / (9 * degrees)) ** 0.5
    # A tail bound that is exact enough at the far ends, where it matters.
    return 1.0 if z <= 0 else exp(-z * z / 2) / (z * 2.5066 + 1)


def uniform_p(counts: Counter, cells: int, total: int, degrees: int) -> float:
    expected = total / cells
    return chi_square_p(sum((counts[cell] - expected) ** 2 / expected for cell in range(cells)), degrees)


def first_shuffles():
    """Decks after the first shuffle: what later shuffles would hide shows here."""
    for number in range(DEALS):
        deck = list(range(52))
        shuffle(deck, DealStream(deal_key(ROOT, "statistics", number, 0, 0, NO_SEEDS)))
        yield deck


@pytest.fixture(scope="module")
def shuffled():
    return list(first_shuffles())


def test_the_first_shuffle_puts_every_card_everywhere_alike(shuffled):
    by_place = Counter(card * 52 + place for deck in shuffled for place, card in enumerate(deck))
    assert uniform_p(by_place, 2704, 52 * DEALS, 51 * 51) > P_LEAST


def test_the_first_shuffle_gives_every_card_to_every_seat_alike(shuffled):
    by_seat = Counter(card * 4 + place % 4 for deck in shuffled for place, card in enumerate(deck))
    assert uniform_p(by_seat, 208, 52 * DEALS, 51 * 3) > P_LEAST


def test_spades_in_a_hand_are_as_many_as_chance_would_have(shuffled):
    counts = Counter()
    for deck in shuffled:
        counts[sum(card >= 39 for card in deck[::4])] += 1
    value = 0.0
    for spades in range(9):
        chance = comb(13, spades) * comb(39, 13 - spades) / comb(52, 13)
        value += (counts[spades] - DEALS * chance) ** 2 / (DEALS * chance)
    assert chi_square_p(value, 8) > P_LEAST


def test_the_statistics_do_find_a_biased_shuffle():
    """Swapping each place with any other, the classic mistake, is far from even."""
    by_place = Counter()
    for number in range(DEALS):
        stream = DealStream(deal_key(ROOT, "biased", number, 0, 0, NO_SEEDS))
        deck = list(range(52))
        for i in range(52):
            j = stream.draw(52)
            deck[i], deck[j] = deck[j], deck[i]
        by_place.update(card * 52 + place for place, card in enumerate(deck))
    assert uniform_p(by_place, 2704, 52 * DEALS, 51 * 51) < P_LEAST


def test_the_spade_suit_is_where_the_statistics_think_it_is():
    assert SPADES >> parse_card("2S") == (1 << 15) - 1
