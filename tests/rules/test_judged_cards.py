"""The card that judgement plays: what contract, bags and Nils ask of it, one situation each."""

from spades_rules import (
    PlayCard,
    Seat,
    TrickView,
    View,
    card_name,
    card_names,
    judge,
    legal_follows,
    legal_leads,
    parse_card,
    parse_cards,
    ruleset,
    view,
)
from tests.rules.notation import DENIRO, hands, in_play


def seen(
    hand: str,
    trick: str,
    *,
    seat: int,
    bids,
    taken=(0, 0, 0, 0),
    gone: str = "",
    scores=(0, 0),
    rules=DENIRO,
    broken=True,
) -> View:
    """The view of seat `seat`, to play to a trick that lies as `trick`, late in a hand.

    `gone` fills finished tricks: four cards each, all taken by whoever is said to have taken them.
    """
    lying = trick.split()
    leader = (seat - len(lying)) % 4
    by_seat: list[str | None] = [None] * 4
    for place, card in enumerate(lying):
        by_seat[(leader + place) % 4] = card
    mask = parse_cards(hand)
    if lying:
        legal = legal_follows(mask, parse_card(lying[0]))
    else:
        legal = legal_leads(mask, broken=broken)
    cards = gone.split()
    assert len(cards) % 4 == 0
    tricks = tuple(TrickView(leader=0, cards=tuple(cards[at : at + 4]), winner=0) for at in range(0, len(cards), 4))
    return View(
        preset=rules.name,
        options=rules.chosen,
        phase="play",
        seat=seat,
        scores=scores,
        bags=(scores[0] % 10, scores[1] % 10),
        hand_no=3,
        dealer=3,
        hand=card_names(mask),
        bids=bids,
        taken=taken,
        trick_leader=leader,
        trick=(by_seat[0], by_seat[1], by_seat[2], by_seat[3]),
        tricks=tricks,
        broken=broken,
        turn_seat=seat,
        turn_kind="play",
        legal_cards=card_names(legal),
    )


def card_of(view_: View) -> str:
    command = judge(view_)
    assert isinstance(command, PlayCard)
    return card_name(command.card)


def test_with_one_card_left_it_plays_that_card():
    assert card_of(seen("2S", "AH KH QH", seat=3, bids=(3, 3, 3, 3))) == "2S"
    assert card_of(seen("2S", "", seat=0, bids=(3, 3, 3, 3), broken=False)) == "2S"


def test_with_twelve_spades_and_an_ace_it_leads_the_ace():
    spades = "2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS"
    game = in_play(hands(f"{spades} AC", "", "", ""), bids=(12, 1, 1, 1))
    assert judge(view(game, Seat(0))) == PlayCard(Seat(0), parse_cards("AC").bit_length() - 1)


def test_covering_a_nil_it_still_takes_the_cheap_trick_its_contract_lacks():
    late = seen(
        "TH 3H 4D 5D",
        "9H 8H 6H",
        seat=0,
        bids=(5, 4, "nil", 4),
        taken=(2, 3, 0, 3),
    )
    assert card_of(late) == "TH"


def test_it_takes_the_last_cheap_trick_its_contract_needs():
    late = seen("KH 2H 3D", "9H 8H 6H", seat=0, bids=(3, 4, 3, 3), taken=(2, 4, 3, 3))
    assert card_of(late) == "KH"


def test_it_wins_with_the_cheapest_card_that_does():
    last = seen("AH TH 2H 3D", "9H 8H 6H", seat=3, bids=(3, 3, 3, 5), taken=(2, 1, 3, 3))
    assert card_of(last) == "TH"
    ruff = seen("AS 7S 4S 3D", "9H 8H 6H", seat=3, bids=(3, 3, 3, 5), taken=(2, 1, 3, 3))
    assert card_of(ruff) == "4S"


def test_it_does_not_ruff_over_a_winning_partner():
    kept = seen("7S 2S 3D 4D", "2H AH 6H", seat=3, bids=(3, 4, 3, 4), taken=(2, 2, 3, 2))
    assert card_of(kept) in ("3D", "4D")
    over = seen("KS 7S 2S 4D", "2H 5S 6H", seat=3, bids=(3, 4, 3, 4), taken=(2, 2, 3, 2))
    assert card_of(over) == "4D"


def test_it_throws_nothing_high_on_a_partner_s_trick():
    high = seen("KH 3H 4D AD", "2H AH 6H", seat=3, bids=(3, 4, 3, 4), taken=(2, 2, 3, 2))
    assert card_of(high) == "3H"


def test_it_overtakes_a_partner_whose_nil_is_about_to_fail():
    cover = seen("AH 2H 3D 4D 5D 6D", "4H 9H 6H", seat=3, bids=(3, "nil", 3, 4), taken=(2, 0, 3, 2))
    assert card_of(cover) == "AH"


def test_it_covers_with_a_high_card_before_a_nil_partner_has_played():
    lead = seen("AH 2H 3D 4D 5C 6C 7C", "", seat=1, bids=(3, 5, 3, "nil"), taken=(2, 2, 2, 0))
    assert card_of(lead) == "AH"


def test_a_nil_plays_the_highest_card_that_stays_under():
    duck = seen("JH 8H 3H 2D", "9H QH", seat=2, bids=(4, 4, "nil", 4))
    assert card_of(duck) == "JH"
    under = seen("KH 8H 3H 2D", "9H QH", seat=2, bids=(4, 4, "nil", 4))
    assert card_of(under) == "8H"


def test_a_nil_that_is_out_of_the_suit_throws_its_most_dangerous_card_and_no_spade_that_wins():
    thrown = seen("AD 3D 2C 4S", "9H QH", seat=2, bids=(4, 4, "nil", 4))
    assert card_of(thrown) == "AD"


def test_a_nil_throws_a_spade_under_a_higher_one():
    thrown = seen("QS 3D 2C", "9H KS", seat=2, bids=(4, 4, "nil", 4))
    assert card_of(thrown) == "QS"


def test_a_nil_leads_a_card_that_surely_loses():
    lead = seen("AD KD 2C 3C", "", seat=2, bids=(4, 4, "nil", 4))
    assert card_of(lead) in ("2C", "3C")


def test_a_nil_is_attacked_once_the_own_contract_is_safe():
    stays_under = seen("KH 3H 2D 4D", "5H 2H 9H", seat=3, bids=(3, 2, "nil", 2), taken=(3, 4, 0, 2))
    assert card_of(stays_under) == "3H"


def test_the_own_contract_comes_before_an_attack_on_a_nil():
    contract_first = seen("KH 3H 2D", "5H 2H 9H", seat=3, bids=(3, 4, "nil", 4), taken=(3, 4, 0, 3))
    assert card_of(contract_first) == "KH"


def test_it_takes_a_bag_that_sets_opponents_about_to_make_it():
    """They need all three tricks that are left; ours is safe. One bag sets them."""
    bag = seen("KH 2H 3D", "9H 8H 6H", seat=3, bids=(4, 2, 4, 2), taken=(3, 3, 2, 2))
    assert card_of(bag) == "KH"


def test_with_the_contract_made_and_nothing_to_set_it_leaves_the_trick():
    leave = seen("KH 2H 3D", "9H 8H 6H", seat=3, bids=(3, 2, 3, 2), taken=(3, 3, 2, 2))
    assert card_of(leave) == "2H"


def test_a_bag_is_avoided_by_throwing_the_highest_card_that_loses():
    throw = seen("KH 2H 8H 3D", "9H AH 6H", seat=3, bids=(2, 2, 2, 2), taken=(2, 3, 2, 2))
    assert card_of(throw) == "KH"


def test_a_winner_is_cashed_when_tricks_are_needed():
    cash = seen("AD 4D 3C 6H 2H", "", seat=0, bids=(4, 3, 3, 3), taken=(2, 1, 2, 3))
    assert card_of(cash) == "AD"


def test_third_hand_does_not_waste_a_card_behind_a_sure_winner():
    sure = seen("KD 3D 5C", "AD 4D", seat=2, bids=(3, 3, 3, 3), taken=(2, 2, 2, 2))
    assert card_of(sure) == "3D"


def test_a_failed_nil_leaves_tricks_to_its_partner_where_they_would_be_bags():
    facts = {"seat": 2, "bids": (5, 3, "nil", 3), "taken": (3, 3, 1, 3)}
    assert card_of(seen("KH 2H 3D", "9H 5H 6H", rules=DENIRO, **facts)) == "2H"
    assert card_of(seen("KH 2H 3D", "9H 5H 6H", rules=ruleset("classic"), **facts)) == "KH"
