"""The words of `spades.v1`: every client frame is one command, every public event has a frame."""

import unicodedata
from typing import get_args

import pytest

from spades_events import codec, commands, frame_name
from spades_lobby.live import frames
from spades_lobby.live.talk import PHRASES

# What the interface promises clients; presence and talk have no number and are no events.
PROMISED = {
    *("seat_refused", "seats_locked", "seeds_fixed", "game_started", "clock_extended", "seat_taken", "seat_left"),
    *("seat_autoplayed", "hand_committed", "hand_dealt", "cards_seen", "turn_started", "bid_made", "cards_passed"),
    *("card_played", "spades_broken", "trick_taken", "hand_scored", "deal_revealed", "game_over"),
    *("seat_reserved", "seat_released", "deadline_set", "table_cancelled", "game_settled"),
}
OURS = {"welcome", "snapshot", "ack", "command_rejected", "error", "pong", "server_draining"}


def test_every_promised_frame_is_an_event_of_the_table() -> None:
    assert {frame_name(event) for event in codec.TABLE_EVENTS} >= PROMISED


def test_no_event_is_called_as_one_of_the_gateways_own_frames() -> None:
    names = [frame_name(event) for event in codec.TABLE_EVENTS]
    assert len(names) == len(set(names))
    assert not OURS & set(names)


def test_every_promised_frame_of_a_client_is_known() -> None:
    promised = "hello watch take_seat open_seed start leave rematch mute report ready look_at_cards bid pass_cards"
    assert set(frames.CLIENT_TYPES) >= {*promised.split(), "play_card", "say", "resync", "ping"}


def test_the_types_that_are_known_are_those_that_are_decoded() -> None:
    tags = [frame.__struct_config__.tag for frame in get_args(frames.AnyFrame)]
    assert sorted(tags) == sorted(frames.CLIENT_TYPES)


HEX = "ab" * 32


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ('{"type":"take_seat","id":"c"}', commands.TakeSeat()),
        (f'{{"type":"take_seat","id":"c","seat":3,"seed_commit":"{HEX}"}}', commands.TakeSeat(seat=3, seed_commit=HEX)),
        ('{"type":"release_seat","id":"c"}', commands.ReleaseSeat()),
        ('{"type":"start","id":"c"}', commands.StartGame()),
        (f'{{"type":"open_seed","id":"c","seed":"{HEX}"}}', commands.OpenSeed(seed=HEX)),
        ('{"type":"leave","id":"c","confirm_price":110}', commands.LeaveGame(confirm_price_coins=110)),
        # Without a price nobody leaves a coin game: the answer names it.
        ('{"type":"leave","id":"c"}', commands.LeaveGame(confirm_price_coins=0)),
        ('{"type":"ready","id":"c"}', commands.ReadyForNextHand()),
        ('{"type":"look_at_cards","id":"c","hand_no":2}', commands.LookAtCards(hand_no=2)),
        ('{"type":"bid","id":"c","turn_id":"1:1","bid":0}', commands.PlaceBid(turn_id="1:1", bid=0)),
        ('{"type":"bid","id":"c","turn_id":"1:1","bid":"nil"}', commands.PlaceBid(turn_id="1:1", bid="nil")),
        ('{"type":"pass_cards","id":"c","turn_id":"1:5","cards":["2C","LJ"]}',
         commands.PassCards(turn_id="1:5", cards=("2C", "LJ"))),
        ('{"type":"play_card","id":"c","turn_id":"1:6","card":"TD"}', commands.PlayCard(turn_id="1:6", card="TD")),
    ],
)  # fmt: skip
def test_a_command_frame_is_one_command(text: str, command: commands.TableCommand) -> None:
    frame = frames.decode(text)
    assert isinstance(frame, frames.CommandFrame)
    assert (frame.id, frame.command()) == ("c", command)


def test_a_body_goes_into_its_frame_as_it_is() -> None:
    assert frames.spliced(b"card_played", 57, b'{"card":"TD"}') == b'{"type":"card_played","seq":57,"card":"TD"'
    assert frames.spliced(b"spades_broken", 58, b"{}") == b'{"type":"spades_broken","seq":58'


def test_no_phrase_speaks_of_cards_suits_bids_or_play() -> None:
    said = {word.strip(".,!").casefold() for words in PHRASES.values() for word in words.split()}
    barred = "card cards ace king queen jack spade spades heart hearts diamond diamonds club clubs suit trump trick"
    barred += " tricks bid nil blind bag bags set lead led follow void pass high low play played partner hand"
    assert said.isdisjoint(barred.split())
    assert all(unicodedata.category(sign)[0] in "LPZ" for words in PHRASES.values() for sign in words)
