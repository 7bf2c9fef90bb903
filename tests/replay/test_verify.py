"""An untouched record verifies; the smallest lie in it is found and named."""

import json
from collections.abc import Callable, Sequence

import pytest

from spades_events import RulesetChoice, TableKind, Topic
from spades_events.commands import OpenTable
from spades_replay import Fault, Record, Verifier
from tests.replay.played import World, leave, open_table, play_on

PEOPLE = ["north", "east", "south", "west"]


def verified(records: Sequence[Record], *, settling_ms_max: int = 0) -> list[Fault]:
    verifier = Verifier(settling_ms_max=settling_ms_max)
    faults = [fault for record in records if (fault := verifier.feed(record)) is not None]
    return faults + list(verifier.finish())


def coin_game(people: int = 2, *, leaver: str | None = None, stake_coins: int = 100) -> World:
    world = World()
    world.open_accounts(*PEOPLE[:people])
    open_table(world, "t", PEOPLE[:people], kind=TableKind.ONLINE, stake_coins=stake_coins)
    if leaver:
        play_on(world, "t", turns=30)
        leave(world, "t", leaver, stake_coins + 10)
    play_on(world, "t")
    return world


@pytest.fixture(scope="module")
def played() -> World:
    return coin_game(leaver="east")


@pytest.mark.parametrize("ruleset", ["deniro", "classic", "bicycle", "club", "jokers"])
def test_whole_games_of_every_rule_set_verify(ruleset: str) -> None:
    world = World(seed=3)
    open_table(world, "t", ["north"], ruleset=ruleset)
    play_on(world, "t")
    verifier = Verifier()
    assert [fault for record in world.records if (fault := verifier.feed(record)) is not None] == []
    assert list(verifier.finish()) == []
    totals = verifier.totals()
    assert (totals.games, totals.finished) == (1, 1)
    assert totals.hands >= 4


def test_games_with_blind_nil_and_its_swap_verify() -> None:
    world = World(seed=11)
    options = {"blind_nil": True, "swap": True}
    for number in range(12):
        open_table(world, f"t{number}", ["north"], ruleset="bicycle", options=options)
        play_on(world, f"t{number}")
    assert any(b'"blind_nil"' in record.body for record in world.records)
    assert any(record.type == "spades.cards_passed.v1" for record in world.records)
    assert verified(world.records) == []


@pytest.mark.parametrize("people", [1, 2, 3, 4])
def test_coin_games_verify_with_people_and_bots(people: int) -> None:
    assert verified(coin_game(people).records) == []


def test_a_game_somebody_left_verifies(played: World) -> None:
    assert any(record.type == "spades.seat_forfeited.v1" for record in played.records)
    assert verified(played.records) == []


def test_a_game_all_people_left_verifies() -> None:
    world = World()
    world.open_accounts("north")
    open_table(world, "t", ["north"], kind=TableKind.COINS, stake_coins=50)
    play_on(world, "t", turns=25)
    leave(world, "t", "north", 55)
    assert any(b'"abandoned"' in record.body for record in world.records)
    assert verified(world.records) == []


def test_a_game_whose_cards_are_lost_is_counted_and_no_fault() -> None:
    world = World()
    world.open_accounts("north")
    open_table(world, "t", ["north"], kind=TableKind.COINS, stake_coins=50)
    play_on(world, "t", turns=25)
    world.lose_cards("t")
    verifier = Verifier(settling_ms_max=0)
    assert [fault for record in world.records if (fault := verifier.feed(record)) is not None] == []
    assert list(verifier.finish()) == []
    assert (verifier.totals().unreadable, verifier.totals().hands) == (1, 0)
    # Without the word that they are lost, the hand on the table is a fault.
    kept_silent = [record for record in world.records if record.type != "spades.deal_unreadable.v1"]
    assert verified(kept_silent)


def test_a_game_where_somebody_never_answers_verifies() -> None:
    world = World()
    world.open_accounts(*PEOPLE)
    open_table(world, "t", PEOPLE, kind=TableKind.ONLINE, stake_coins=10)
    play_on(world, "t", silent=frozenset({"south"}))
    assert any(record.type == "spades.seat_autoplayed.v1" for record in world.records)
    assert verified(world.records) == []


def test_a_running_game_verifies_as_far_as_it_goes() -> None:
    world = World()
    world.open_accounts("north", "east")
    open_table(world, "t", ["north", "east"], kind=TableKind.ONLINE, stake_coins=100)
    play_on(world, "t", turns=100)
    assert verified(world.records) == []


def test_a_table_that_closed_before_its_game_verifies() -> None:
    world = World()
    world.open_accounts("north")
    open_table(world, "t", ["north"], kind=TableKind.COINS, stake_coins=100)
    assert verified(world.records[: len(world.records) - 1]) == []


def test_a_coin_table_that_nobody_paid_for_verifies() -> None:
    world = World(seed=5)
    world.ask("t", "north", OpenTable(kind=TableKind.ONLINE, ruleset=RulesetChoice(name="deniro"), stake_coins=10))
    world.time_out("t")
    assert world.records[-1].topic == Topic.WALLET_EVENTS, "the wallet closes the books of it all the same"
    assert verified(world.records) == []


def test_records_that_come_twice_count_once(played: World) -> None:
    twice = [record for record in played.records for _ in range(2)]
    assert verified(twice) == []
    again = played.records + played.records
    assert verified(again) == []


def test_a_coin_game_that_just_ended_may_wait_for_the_wallet(played: World) -> None:
    unpaid = [record for record in played.records if record.type not in SETTLED]
    assert verified(unpaid, settling_ms_max=60_000) == []
    assert any("never settled" in fault.text for fault in verified(unpaid))


SETTLED = ("spades.settlement.v1", "spades.game_settled.v1")

Change = Callable[[dict], None]


def set_field(name: str, value: object) -> Change:
    def change(body: dict) -> None:
        assert body[name] != value
        body[name] = value

    return change


def next_card(body: dict) -> None:
    body["card"] = "2C" if body["card"] != "2C" else "3C"


def other_digit(name: str) -> Change:
    def change(body: dict) -> None:
        body[name] = ("0" if body[name][0] != "0" else "1") + body[name][1:]

    return change


def first_team_scores_more(body: dict) -> None:
    body["teams"][0]["score"] += 10


def bag_forgotten(body: dict) -> None:
    body["teams"][1]["bags"] = (body["teams"][1]["bags"] + 1) % 10


def one_coin_more(body: dict) -> None:
    body["payouts"][0]["net_coins"] += 1


def first_line_lies(body: dict) -> None:
    body["teams"][0]["lines"][0]["points"] += 10


def trick_to_partner(body: dict) -> None:
    body["winner"] = (body["winner"] + 2) % 4


def seed_of_first(body: dict) -> None:
    body["seeds"][0] = "ab" * 32


LIES = [
    ("spades.card_played.v1", 20, next_card),
    ("spades.card_played.v1", 33, set_field("turn_id", "9:99")),
    ("spades.bid_made.v1", 2, set_field("bid", 13)),
    ("spades.trick_taken.v1", 4, trick_to_partner),
    ("spades.trick_taken.v1", 4, set_field("trick_no", 7)),
    ("spades.turn_started.v1", 7, set_field("seat", 9)),
    ("spades.turn_started.v1", 7, set_field("turn_id", "1:77")),
    ("spades.hand_scored.v1", 0, first_team_scores_more),
    ("spades.hand_scored.v1", 1, bag_forgotten),
    ("spades.hand_scored.v1", 1, first_line_lies),
    ("spades.hand_committed.v1", 1, other_digit("fingerprint")),
    ("spades.hand_dealt.v1", 1, set_field("face_down", [0, 2])),
    ("spades.deal_revealed.v1", 0, other_digit("secret")),
    ("spades.deal_revealed.v1", 2, set_field("hand_no", 1)),
    ("spades.seeds_fixed.v1", 0, seed_of_first),
    ("spades.table_opened.v1", 0, other_digit("anchor")),
    ("spades.table_opened.v1", 0, set_field("fee_coins", 9)),
    ("spades.game_ended.v1", 0, set_field("reason", "floor")),
    ("spades.game_settled.v1", 0, one_coin_more),
    ("spades.settlement.v1", 0, one_coin_more),
    ("spades.holds_captured.v1", 0, set_field("pot_coins", 399)),
    ("spades.seat_forfeited.v1", 0, set_field("fee_coins", 0)),
]


@pytest.mark.parametrize(("ce_type", "nth", "change"), LIES, ids=lambda value: getattr(value, "__name__", str(value)))
def test_a_lie_is_found(played: World, ce_type: str, nth: int, change: Change) -> None:
    places = [place for place, record in enumerate(played.records) if record.type == ce_type]
    records = list(played.records)
    told = records[places[nth]]
    body = json.loads(told.body)
    change(body)
    records[places[nth]] = told._replace(body=json.dumps(body).encode())
    faults = verified(records)
    assert faults
    assert faults[0].stream == "t"


OMITTED = [
    "spades.card_played.v1",
    "spades.spades_broken.v1",
    "spades.trick_taken.v1",
    "spades.hand_scored.v1",
    "spades.deal_revealed.v1",
    "spades.game_ended.v1",
    "spades.seat_taken.v1",
    "spades.game_started.v1",
]


@pytest.mark.parametrize("ce_type", OMITTED)
@pytest.mark.parametrize("renumbered", [False, True], ids=["a gap", "renumbered"])
def test_an_event_left_out_is_found(played: World, ce_type: str, *, renumbered: bool) -> None:
    place = next(place for place, record in enumerate(played.records) if record.type == ce_type)
    left_out = played.records[place]
    records = []
    for record in played.records[:place] + played.records[place + 1 :]:
        behind = (record.topic, record.stream) == (left_out.topic, "t") and record.version > left_out.version
        records.append(record._replace(version=record.version - 1) if behind and renumbered else record)
    assert verified(records)


def test_a_version_with_two_contents_is_found(played: World) -> None:
    place = next(place for place, record in enumerate(played.records) if record.type == "spades.card_played.v1")
    forged = played.records[place]._replace(body=played.records[place].body.replace(b'"card"', b'"card" '))
    assert [fault.text for fault in verified([*played.records, forged])] == [
        f"version {forged.version} was published twice with different contents"
    ]


def test_a_game_paid_twice_is_found(played: World) -> None:
    paid = next(record for record in played.records if record.type == "spades.settlement.v1")
    last = max(r.version for r in played.records if (r.topic, r.stream) == (paid.topic, "t"))
    faults = verified([*played.records, paid._replace(version=last + 1)])
    assert "settled 2 times" in [fault.text for fault in faults]


def test_coins_from_nowhere_are_found(played: World) -> None:
    records = list(played.records)
    place = next(place for place, record in enumerate(records) if record.type == "spades.account_opened.v1")
    body = json.loads(records[place].body)
    body["accounts"][0]["available_coins"] += 1
    records[place] = records[place]._replace(body=json.dumps(body).encode())
    assert any(fault.stream == "north" for fault in verified(records))


@pytest.mark.parametrize("leaves", [False, True])
def test_coins_are_counted_while_a_game_runs(*, leaves: bool) -> None:
    world = World()
    world.open_accounts("north", "east", "south")
    open_table(world, "t", ["north", "east"], kind=TableKind.ONLINE, stake_coins=100)
    play_on(world, "t", turns=30)
    if leaves:
        leave(world, "t", "east", 110)
    assert verified(world.records) == []
    place = next(
        place for place, r in enumerate(world.records) if (r.topic, r.stream) == (Topic.WALLET_EVENTS, "south")
    )
    body = json.loads(world.records[place].body)
    body["grant_coins"] += 1
    world.records[place] = world.records[place]._replace(body=json.dumps(body).encode())
    assert [fault.stream for fault in verified(world.records)] == ["south"]


def test_bytes_that_are_no_event_are_a_fault_and_not_a_crash(played: World) -> None:
    broken = played.records[-1]._replace(body=b"{")
    assert "malformed" in verified([*played.records[:-1], broken])[0].text
    foreign = played.records[0]._replace(type="spades.play_card.v1", body=b'{"turn_id":"1:1","card":"2C"}', version=1)
    assert "no place in a public stream" in verified([foreign])[0].text


def test_after_its_first_fault_a_stream_is_left_alone(played: World) -> None:
    records = [record for record in played.records if record.type != "spades.trick_taken.v1"]
    assert len([fault for fault in verified(records) if fault.stream == "t"]) == 1
