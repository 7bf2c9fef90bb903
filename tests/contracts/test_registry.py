"""One registry names every message once."""

import inspect
from types import ModuleType

import msgspec
import pytest

from spades_events import CE_TYPES, SPECS, Topic, clock, commands, events, frame_name, private, wallet
from spades_events.codec import (
    CLOCK_EVENTS,
    MESSAGES,
    PRIVATE_RECORDS,
    TABLE_COMMANDS,
    TABLE_EVENTS,
    WALLET_COMMANDS,
    WALLET_EVENTS,
)

# Classes that are only ever a part of a message, or a family's root.
PARTS = {
    events.ScoreLine,
    events.TeamScore,
    events.Swap,
    events.SeatResult,
    events.Payout,
    wallet.AccountBalance,
    private.Rejection,
    private.RunningTurn,
}
ROOTS = {commands.TableCommand, commands.WalletCommand, events.TableEvent, wallet.WalletEvent}


def structs_of(module: ModuleType) -> set[type[msgspec.Struct]]:
    found = {item for _, item in inspect.getmembers(module, inspect.isclass) if issubclass(item, msgspec.Struct)}
    return {cls for cls in found if cls.__module__ == module.__name__}


@pytest.mark.parametrize("module", [clock, commands, events, private, wallet], ids=lambda module: module.__name__)
def test_no_message_class_is_missing_from_the_registry(module: ModuleType) -> None:
    assert structs_of(module) - PARTS - ROOTS == {cls for cls in MESSAGES if cls.__module__ == module.__name__}


def test_every_root_family_is_listed_whole() -> None:
    assert set(commands.TableCommand.__subclasses__()) == set(TABLE_COMMANDS)
    assert set(commands.WalletCommand.__subclasses__()) == set(WALLET_COMMANDS)
    assert set(events.TableEvent.__subclasses__()) == set(TABLE_EVENTS)
    assert set(wallet.WalletEvent.__subclasses__()) == set(WALLET_EVENTS)
    assert len(set(MESSAGES)) == len(MESSAGES)


def test_type_names_are_unique() -> None:
    assert len(set(CE_TYPES.values())) == len(CE_TYPES)
    assert CE_TYPES[events.CardPlayed] == "spades.card_played.v1"


def test_frame_names_are_unique_and_are_what_the_websocket_promises() -> None:
    public = TABLE_EVENTS + WALLET_EVENTS + CLOCK_EVENTS + PRIVATE_RECORDS
    names = [frame_name(cls) for cls in public]
    assert len(set(names)) == len(names)
    promised = """
        snapshot seat_refused seats_locked seeds_fixed game_started clock_extended seat_taken seat_left seat_autoplayed
        hand_committed hand_dealt cards_seen turn_started bid_made cards_passed card_played spades_broken trick_taken
        hand_scored deal_revealed game_over seat_reserved seat_released deadline_set table_cancelled game_settled
    """
    assert set(promised.split()) <= set(names)


def test_every_message_is_frozen_and_named_by_keyword() -> None:
    for cls in MESSAGES:
        assert cls.__struct_config__.frozen, cls
        kinds = {parameter.kind for parameter in inspect.signature(cls).parameters.values()}
        assert kinds <= {inspect.Parameter.KEYWORD_ONLY}, cls


def test_commands_refuse_fields_they_do_not_know_and_events_pass_over_them() -> None:
    # A command with a field we do not obey would be half done; an event may grow.
    for cls in MESSAGES:
        assert cls.__struct_config__.forbid_unknown_fields == (cls in TABLE_COMMANDS + WALLET_COMMANDS), cls


def test_every_topic_has_one_specification() -> None:
    assert [spec.topic for spec in SPECS] == list(Topic)
    secret = {Topic.TABLE_PRIVATE, Topic.TABLE_PROMPTS}
    for spec in SPECS:
        assert (spec.retention_ms == 3_600_000) == (spec.topic in secret)
