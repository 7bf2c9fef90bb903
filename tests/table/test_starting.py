"""Between the lock and the first card: seeds and captured stakes, in either order."""

import hashlib

import spades_rules as rules
from spades_events import commands, events, wallet
from spades_events.values import DeadlineKind, TableKind
from spades_table.phases import NO_SEED_HEX, Ended, Playing, Starting
from tests.table.driving import HOST, START_MS, DrivenTable, names

SEED = hashlib.sha256(b"ann's seed").digest()
OTHER_SEED = hashlib.sha256(b"bob's seed").digest()
CAPTURED = wallet.HoldsCaptured(accounts=(), pot_coins=400)


def promise(seed: bytes) -> commands.TakeSeat:
    return commands.TakeSeat(seed_commit=rules.seed_commit(seed).hex())


def opening(seed: bytes) -> commands.OpenSeed:
    return commands.OpenSeed(seed=seed.hex())


def locked_coin_table(take: commands.TakeSeat) -> DrivenTable:
    driven = DrivenTable()
    driven.open(TableKind.COINS, stake_coins=100)
    reserved = driven.ask(HOST, take)[0]
    assert isinstance(reserved, events.SeatReserved)
    driven.judge(
        wallet.HoldPlaced(
            accounts=(),
            reservation_id=reserved.reservation_id,
            seat=reserved.seat,
            account_id=HOST,
            stake_coins=100,
            deposit_coins=10,
        )
    )
    assert isinstance(driven.table, Starting)
    return driven


def locked_private_table() -> DrivenTable:
    """Ann and bob have promised seeds, cat has not, the fourth seat is a bot's."""
    driven = DrivenTable()
    driven.open(TableKind.PRIVATE)
    driven.ask(HOST, promise(SEED))
    driven.ask("bob", promise(OTHER_SEED))
    driven.ask("cat", commands.TakeSeat())
    driven.ask(HOST, commands.StartGame())
    return driven


def test_stakes_first_then_seeds() -> None:
    driven = locked_coin_table(promise(SEED))
    assert names(driven.judge(CAPTURED)) == ["StakesCaptured"]
    told = names(driven.ask(HOST, opening(SEED)))
    assert told[:5] == ["SeedOpened", "SeedsFixed", "GameStarted", "HandCommitted", "HandDealt"]


def test_seeds_first_then_stakes() -> None:
    driven = locked_coin_table(promise(SEED))
    assert names(driven.ask(HOST, opening(SEED))) == ["SeedOpened", "SeedsFixed", "DeadlineSet"]
    assert driven.table.deadline is not None
    assert driven.table.deadline.kind is DeadlineKind.START
    told = names(driven.judge(CAPTURED))
    assert told[:4] == ["StakesCaptured", "GameStarted", "HandCommitted", "HandDealt"]
    assert driven.judge(CAPTURED) == []


def test_no_capture_no_deal() -> None:
    driven = locked_coin_table(commands.TakeSeat())
    (locked,) = driven.all_of(events.SeatsLocked)
    assert locked.start_due_ms == START_MS + 30_000
    assert names(driven.time_out()) == ["TableCancelled"]
    assert driven.now_ms == START_MS + 30_000
    assert not driven.all_of(events.HandDealt)
    (cancelled,) = driven.all_of(events.TableCancelled)
    assert cancelled.reason == "not_started"
    assert [seat.reservation_id for seat in cancelled.seats] == ["table-1:0:1", None, None, None]
    assert driven.judge(CAPTURED) == []
    driven.judge(wallet.Settlement(accounts=(), outcome="cancelled", payouts=()))
    assert isinstance(driven.table, Ended)
    assert driven.table.settled


def test_all_opened_seeds_are_published_together_and_go_into_the_deal() -> None:
    driven = locked_private_table()
    assert names(driven.ask("bob", opening(OTHER_SEED))) == ["SeedOpened"]
    assert not any(OTHER_SEED.hex().encode() in body for _, body, _ in driven.stored)
    told = driven.ask(HOST, opening(SEED))
    assert names(told)[:3] == ["SeedOpened", "SeedsFixed", "GameStarted"]
    (fixed,) = driven.all_of(events.SeedsFixed)
    assert fixed.seeds == (SEED.hex(), OTHER_SEED.hex(), NO_SEED_HEX, NO_SEED_HEX)
    # Cat promised nothing; a bot has no seed to miss.
    assert fixed.seed_missing == (False, False, True, False)
    table = driven.playing
    seeds = (SEED, OTHER_SEED, bytes(32), bytes(32))
    secret = rules.secret(driven.root, 1)
    dealer = rules.first_dealer(secret, driven.table_id, 0, seeds)
    hands = rules.deal_hands(secret, driven.table_id, 1, dealer, 0, seeds)
    assert table.game.hands == hands


def test_a_seed_that_is_not_opened_in_5_seconds_is_zeros_and_said_to_be_missing() -> None:
    driven = locked_private_table()
    driven.ask(HOST, opening(SEED))
    told = names(driven.time_out())
    assert told[:2] == ["SeedsFixed", "GameStarted"]
    assert driven.now_ms == START_MS + 5_000
    (fixed,) = driven.all_of(events.SeedsFixed)
    assert fixed.seed_missing == (False, True, True, False)
    assert driven.refused("bob", opening(OTHER_SEED)) == "wrong_phase"


def test_a_wrong_seed_is_refused_and_may_be_put_right() -> None:
    driven = locked_private_table()
    assert driven.refused(HOST, opening(OTHER_SEED)) == "seed_mismatch"
    assert driven.refused("cat", opening(SEED)) == "seed_missing"
    assert driven.refused("eve", opening(SEED)) == "not_seated"
    assert names(driven.ask(HOST, opening(SEED))) == ["SeedOpened"]
    assert driven.refused(HOST, opening(SEED)) == "wrong_phase"


def test_no_seed_is_opened_before_the_seats_are_locked() -> None:
    driven = DrivenTable()
    driven.open(TableKind.PRIVATE)
    driven.ask(HOST, promise(SEED))
    assert driven.refused(HOST, opening(SEED)) == "not_started"


def test_a_table_without_promised_seeds_and_coins_starts_at_once() -> None:
    driven = DrivenTable()
    driven.open()
    driven.ask(HOST, commands.TakeSeat())
    driven.ask(HOST, commands.StartGame())
    assert isinstance(driven.table, Playing)
    (fixed,) = driven.all_of(events.SeedsFixed)
    assert fixed.seeds == (NO_SEED_HEX,) * 4
    assert fixed.seed_missing == (True, False, False, False)
