"""The read model: each record may come twice, late, or be none of ours."""

import asyncio
import random
from collections.abc import Sequence

import msgspec
import pytest
from aiokafka import AIOKafkaProducer

from spades_events import CE_TYPES, Envelope, RulesetChoice, SeatHolder, TableKind, encode, events, headers_of, wallet
from spades_lobby import domain
from spades_lobby.domain import Game
from spades_lobby.games import handlers, readmodel
from spades_lobby.games.handlers import WalletRecord
from spades_lobby.games.readmodel import EventRow
from tests.lobby.conftest import House

pytestmark = [pytest.mark.real, pytest.mark.asyncio(loop_scope="module")]

HEX = "cd" * 32
SEATS = (
    SeatHolder(seat=0, account_id="ada"),
    SeatHolder(seat=1, account_id="bot"),
    SeatHolder(seat=2, account_id="bob"),
    SeatHolder(seat=3, account_id="bot"),
)


def story(table_id: str) -> list[EventRow]:
    """A coin game from its opening to its settlement, as rows of the log."""
    results = tuple(
        events.SeatResult(seat=seat, account_id=SEATS[seat].account_id, reservation_id=None) for seat in range(4)
    )
    team = events.TeamScore(contract=4, tricks=5, lines=(), delta=41, score=41, bags=1, bag_penalties=0)
    told: Sequence[msgspec.Struct] = (
        events.TableOpened(
            kind=TableKind.ONLINE,
            ruleset=RulesetChoice(name="deniro"),
            rules_version=1,
            stake_coins=100,
            fee_coins=10,
            clock_ms=30_000,
            host="ada",
            bots_welcome=True,
            anchor=HEX,
        ),
        events.SeatReserved(
            reservation_id="r1", seat=0, account_id="ada", seed_commit=None, stake_coins=100, deposit_coins=10, due_ms=9
        ),
        events.SeatTaken(holder=SEATS[0], reservation_id="r1"),
        events.SeatReserved(
            reservation_id="r2", seat=2, account_id="bob", seed_commit=None, stake_coins=100, deposit_coins=10, due_ms=9
        ),
        events.SeatRefused(reservation_id="r2", seat=2, account_id="bob", code="insufficient_balance"),
        events.SeatTaken(holder=SEATS[2], reservation_id="r3"),
        events.SeatsLocked(seats=SEATS, stake_coins=100, seeds_due_ms=5, start_due_ms=30),
        events.SeedsFixed(seeds=(HEX, HEX, HEX, HEX), seed_missing=(False, False, False, False)),
        events.GameStarted(seats=SEATS),
        events.HandCommitted(hand_no=1, fingerprint=HEX, dealer=3, deck_id=0),
        events.HandDealt(hand_no=1, dealer=3, face_down=()),
        events.SeatForfeited(seat=2, account_id="bob", stake_coins=100, fee_coins=10),
        events.SeatTaken(holder=SeatHolder(seat=2, account_id="bot"), replaces="bob"),
        events.HandScored(hand_no=1, bids=(1, 1, 1, 1), tricks=(4, 3, 3, 3), teams=(team, team)),
        events.DealRevealed(hand_no=1, secret=HEX, dealer=3, deck_id=0, swaps=()),
        events.GameEnded(
            winner=0,
            reason="target",
            scores=(500, 41),
            hands=1,
            stake_coins=100,
            seats=(results[0], results[1], results[2], results[3]),
        ),
        events.GameSettled(payouts=(events.Payout(account_id="ada", net_coins=100),)),
    )
    return [
        EventRow(table_id, version, CE_TYPES[type(event)], 1_000 + version, "", encode(event))
        for version, event in enumerate(told, start=1)
    ]


async def game_after(lobby: House, table_id: str, batches: Sequence[Sequence[EventRow]]) -> Game:
    for batch in batches:
        async with lobby.gateway.engine.begin() as db:
            await handlers.keep_table_events(db, batch)
    async with lobby.gateway.engine.connect() as db:
        game = await readmodel.one_game(db, table_id)
    assert game is not None
    return game


async def test_a_game_is_what_its_events_say(lobby: House) -> None:
    rows = story("whole")
    game = await game_after(lobby, "whole", [rows])
    assert (game.version, game.phase, game.finished, game.winner) == (len(rows), "ended", True, 0)
    assert (game.players, game.leavers) == (("ada", "bob"), ("bob",))
    assert [holder and holder.account_id for holder in game.seats] == ["ada", "bot", "bot", "bot"]
    assert (game.reserved, game.hand_no, game.scores, game.bags) == ({}, 1, (500, 41), (1, 1))
    assert game.payouts == (events.Payout(account_id="ada", net_coins=100),)


@pytest.mark.parametrize("seed", range(8))
async def test_batches_that_come_again_change_nothing(lobby: House, seed: int) -> None:
    chance = random.Random(seed)
    table_id = f"again-{seed}"
    rows = story(table_id)
    batches, read = [], 0
    while read < len(rows):
        # As a consumer that crashed reads again: from somewhere before where it was.
        start = chance.randint(0, read)
        read = min(len(rows), read + chance.randint(1, 5))
        batches.append(rows[start:read])
    again = await game_after(lobby, table_id, batches)
    once = await game_after(lobby, f"once-{seed}", [story(f"once-{seed}")])
    assert msgspec.structs.replace(again, table_id="") == msgspec.structs.replace(once, table_id="")
    async with lobby.gateway.engine.connect() as db:
        kept = await readmodel.events_after(db, table_id, 0, 100)
    assert kept == rows


async def test_an_older_state_never_replaces_a_newer_one(lobby: House) -> None:
    rows = story("late")
    newest = await game_after(lobby, "late", [rows])
    old = domain.opened(
        msgspec.json.decode(rows[0].body, type=events.TableOpened), table_id="late", at_ms=rows[0].at_ms
    )
    async with lobby.gateway.engine.begin() as db:
        await readmodel.save_games(db, [old])
    assert await game_after(lobby, "late", []) == newest


async def test_an_event_that_is_not_known_yet_is_kept_for_a_release_that_knows_it(lobby: House) -> None:
    rows = story("newer")[:3]
    unknown = EventRow("newer", 4, "spades.table_blessed.v7", 1_004, "", b'{"by":"ada"}')
    game = await game_after(lobby, "newer", [rows, [unknown]])
    assert game.version == 3
    async with lobby.gateway.engine.connect() as db:
        assert (await readmodel.events_after(db, "newer", 3, 10)) == [unknown]


def entry(entry_no: int, available: int, account_id: str) -> WalletRecord:
    balance = wallet.AccountBalance(
        account_id=account_id, entry_no=entry_no, available_coins=available, held_coins=0, change_coins=1
    )
    envelope = Envelope(
        id=f"w{entry_no}", type=CE_TYPES[wallet.HoldVoided], source="/spades/wallet", subject="t", sequence=1, time_ms=1
    )
    event = wallet.HoldVoided(accounts=(balance,), reservation_id="r", account_id=account_id, returned_coins=1)
    return WalletRecord(envelope, event)


@pytest.mark.parametrize("seed", range(6))
async def test_the_balance_is_that_of_the_highest_entry_in_whatever_order_they_come(lobby: House, seed: int) -> None:
    account_id = f"purse-{seed}"
    records = [entry(number, number * 10, account_id) for number in range(1, 9)] * 2
    random.Random(seed).shuffle(records)
    for start in range(0, len(records), 3):
        async with lobby.gateway.engine.begin() as db:
            await handlers.keep_wallet_events(db, records[start : start + 3])
    async with lobby.gateway.engine.connect() as db:
        assert await readmodel.wallet(db, account_id) == readmodel.Wallet(80, 0)
        kept = await readmodel.entries(db, account_id, None, 50)
    assert [row.entry_no for row in kept] == list(range(8, 0, -1))


async def test_records_that_are_none_of_ours_stop_nobody(lobby: House) -> None:
    async with lobby.player() as player:
        await player.guest()
        table_id = await player.open_table()
        part = lobby.gateway.desk.part_of(table_id)
        socket = await player.socket()
        await socket.watch(table_id)
        producer = AIOKafkaProducer(bootstrap_servers=lobby.namespace.bootstrap)
        await producer.start()
        key = table_id.encode()
        good = headers_of(
            Envelope(id="x", type=CE_TYPES[events.SpadesBroken], source="/x", subject=table_id, sequence=2)
        )
        for topic in ("table.events", "table.private", "wallet.events"):
            name = lobby.namespace.topic(topic)
            for value, headers in (
                (b"not json", good),
                (b'{"a":"\xff"}', good),
                (b"[" * 5_000, good),
                (b"{}", []),
                (b"{}", [("ce_type", b"\xff")]),
                (b"{}", [*good[:-1], ("ce_sequence", b"9" * 40)]),
                (b"x" * 900_000, good),
            ):
                await producer.send(name, value, key=key, partition=part, headers=headers)
            await producer.send(name, b"{}", key=None, partition=part)
        await producer.flush()
        await producer.stop()
        # Both readers live: the socket's next event comes, and the list shows the next table.
        socket.command("take_seat", seat=0)
        await socket.until("seat_taken")
        another = await player.open_table()
        async with asyncio.timeout(5):
            while (await player.http.get(f"/v1/games/{another}")).status_code != 200:
                await asyncio.sleep(0.02)
        await socket.close()
