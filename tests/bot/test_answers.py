"""A prompt is the whole input: it alone decides the move, and its turn the command's id."""

from uuid import NAMESPACE_URL, uuid5

import msgspec
import pytest

import spades_rules as rules
from spades_bot.domain import answer, command_id, due_ms
from spades_events import CE_TYPES, commands
from spades_rules import Seat
from tests.bot.prompts import games


@pytest.mark.parametrize(
    ("ruleset", "options"),
    [
        ("deniro", {}),
        ("club", {}),
        ("jokers", {"blind_nil": True}),
        ("bicycle", {"blind_nil": True, "swap": True}),
    ],
    ids=["deniro", "club", "jokers", "bicycle"],
)
def test_every_answer_of_whole_games_is_a_legal_move_of_its_turn(ruleset: str, options: dict[str, object]) -> None:
    kinds = set()
    for seed in range(6):
        for game, prompt in games(seed, ruleset, **options):
            move = answer(prompt)
            kinds.add(type(move.body).__name__)
            assert move.table_id == "t"
            assert move.type == CE_TYPES[type(move.body)]
            rules.decide(game, in_the_rules(move.body, Seat(prompt.seat)))
            if not isinstance(move.body, commands.LookAtCards):
                assert move.body.turn_id == prompt.turn_id
    assert {"PlaceBid", "PlayCard"} <= kinds


def in_the_rules(command: commands.TableCommand, seat: Seat) -> rules.Command:
    match command:
        case commands.LookAtCards():
            return rules.LookAtCards(seat)
        case commands.PlaceBid(bid=bid):
            return rules.PlaceBid(seat, bid)
        case commands.PassCards(cards=cards):
            return rules.PassCards(seat, rules.parse_cards(cards))
        case commands.PlayCard(card=card):
            return rules.PlayCard(seat, rules.parse_card(card))
        case _:
            raise AssertionError(command)


def test_the_same_prompt_is_the_same_command() -> None:
    _, prompt = games()[0]
    assert answer(prompt) == answer(prompt)
    assert answer(prompt).command_id == str(uuid5(NAMESPACE_URL, f"t:{prompt.turn_id}:spades.place_bid.v1"))


def test_looking_and_bidding_in_one_turn_are_two_commands() -> None:
    look, bid = (command_id("t", "3:1", CE_TYPES[cls]) for cls in (commands.LookAtCards, commands.PlaceBid))
    assert look != bid


def test_every_turn_of_a_game_has_an_id_of_its_own() -> None:
    ids = [answer(prompt).command_id for _, prompt in games()]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("view", [b"null", b"{}", b"[]", b'{"seat":0}'])
def test_a_view_that_is_none_is_refused(view: bytes) -> None:
    _, prompt = games()[0]
    with pytest.raises(msgspec.DecodeError):
        answer(msgspec.structs.replace(prompt, view=msgspec.Raw(view)))


def test_a_view_of_another_seats_turn_is_refused() -> None:
    game, prompt = games()[0]
    other = rules.view(game, Seat((prompt.seat + 1) % 4))
    with pytest.raises(ValueError, match="another seat's turn"):
        answer(msgspec.structs.replace(prompt, view=msgspec.Raw(msgspec.json.encode(other))))


def test_the_pace_counts_from_the_prompt_and_nothing_else() -> None:
    assert due_ms(read_ms=1_004, made_ms=1_000, pace_ms=667) == 1_667
    assert due_ms(read_ms=9_000, made_ms=1_000, pace_ms=667) == 1_667
    # The table's clock is ahead of ours: the pace, not longer.
    assert due_ms(read_ms=1_000, made_ms=60_000, pace_ms=667) == 1_667
    assert due_ms(read_ms=1_000, made_ms=None, pace_ms=0) == 1_000
