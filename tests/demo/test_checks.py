"""The demo's own checks find what they look for."""

from tests.demo.checks import HAND_DEALT, BlindNils, Streams
from tests.demo.game import Played, plans

BID, PASS = "spades.bid_made.v1", "spades.cards_passed.v1"
SWAPPED = [
    (HAND_DEALT, {"hand_no": 1, "face_down": []}),
    (BID, {"turn_id": "1:4", "seat": 0, "bid": 3}),
    (HAND_DEALT, {"hand_no": 2, "face_down": [0, 2]}),
    (BID, {"turn_id": "2:30", "seat": 2, "bid": "blind_nil"}),
    (PASS, {"turn_id": "2:33", "from_seat": 2, "to_seat": 0, "count": 2}),
    (PASS, {"turn_id": "2:34", "from_seat": 0, "to_seat": 2, "count": 2}),
]


def test_what_is_delivered_twice_is_one_blind_bid_and_one_swap():
    blind = BlindNils()
    for event_type, body in SWAPPED * 2:
        blind.note(event_type, body)
    assert (blind.face_down, blind.bids, blind.swaps) == ({2}, {(2, 2)}, 1)


def test_an_offer_that_nobody_in_its_game_takes_is_a_fault():
    streams = Streams()
    taken, refused, never_offered = games = [Played(plan, table_id=f"t{plan.number}") for plan in plans(3, "club")]
    for event_type, body in SWAPPED:
        streams.blind[taken.table_id].note(event_type, body)
    for played, offers in ((taken, 1), (refused, 2)):
        played.players.append(Offered(offers))
    assert never_offered.blind_offers == 0
    assert streams.unbid(games) == ["game 2: Blind Nil was offered 2 times and never bid"]
    assert streams.blind_nil_line(games).startswith("1 hands dealt face down, 1 blind bids, 1 swaps")


class Offered:
    """A person of whom only this is asked."""

    def __init__(self, blind_offers: int) -> None:
        self.blind_offers = blind_offers
