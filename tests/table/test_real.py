"""The table service on the real Kafka and PostgreSQL."""

import asyncio
from pathlib import Path

import pytest

import spades_rules as rules
from spades_events import Envelope, Topic, commands, encode, events
from spades_events.clock import TimedOut
from spades_local.testing import Namespace
from spades_runtime import SnapshotRow, answers, database, snapshots
from spades_table.settings import TableSettings
from spades_table.store import PostgresStore
from tests.table.fake_worker import MemoryStore
from tests.table.real import RealTables, TableProcess, opening, table_process

pytestmark = pytest.mark.real


async def start_game(tables: RealTables, table_id: str, **fields: object) -> None:
    await tables.send(table_id, "ann", opening(**fields))
    await tables.send(table_id, "ann", commands.StartGame())


async def test_a_practice_game_of_four_bots_comes_to_its_end_in_the_log(namespace: Namespace, tmp_path: Path) -> None:
    log = tmp_path / "table.log"
    async with RealTables(namespace).connected() as tables, table_process(namespace, log) as process:
        await start_game(tables, "game-1", options={"target": 200})
        await tables.until(lambda: tables.has("game-1", events.GameEnded))
        told = tables.told["game-1"]
        assert tables.repeated == 0
        assert process.get("/healthz")
        assert 'spades_table_ended_total{reason="target"} 1.0' in process.get("/metrics")
        # A viewer of the finished table is shown its end by a query.
        await tables.send("game-1", "eve", commands.SyncSeat(connection_id="k1"))
        await tables.until(lambda: bool(tables.snapshots))
        assert tables.snapshots[0].phase == "ended"
        assert process.stop() == 0

        moves = sum(isinstance(event, events.BidMade | events.CardPlayed) for event in told)
        hands = sum(isinstance(event, events.HandScored) for event in told)
        assert moves == 56 * hands
        assert_legal(told, "game-1")
        # One row an answered command; no card of a hand in any of them, nor in the log.
        rows = tables.stored("SELECT count(*), max(last_version) FROM answer WHERE refusal IS NULL")
        assert rows == [(moves + 2, len(told))]
        said = log.read_text()
        assert not any(f'"{card}"' in said for card in rules.CARD_NAMES)


def assert_legal(told: list[events.TableEvent], table_id: str) -> None:
    """Deal every hand again from its revealed secret and play it by the rules."""
    opened = told[0]
    assert isinstance(opened, events.TableOpened)
    game: rules.Game = rules.new_game(rules.ruleset(opened.ruleset.name, opened.ruleset.options))
    secrets = {event.hand_no: bytes.fromhex(event.secret) for event in told if isinstance(event, events.DealRevealed)}
    for event in told:
        if isinstance(event, events.HandDealt):
            hands = rules.deal_hands(secrets[event.hand_no], table_id, event.hand_no, event.dealer, 0, rules.NO_SEEDS)
            command: rules.Command = rules.DealHand(event.hand_no, rules.Seat(event.dealer), hands)
        elif isinstance(event, events.BidMade):
            command = rules.PlaceBid(rules.Seat(event.seat), event.bid)
        elif isinstance(event, events.CardPlayed):
            command = rules.PlayCard(rules.Seat(event.seat), rules.parse_card(event.card))
        else:
            continue
        game = rules.replay(game, rules.decide(game, command))
    (over,) = [event for event in told if isinstance(event, events.GameEnded)]
    assert isinstance(game, rules.Ended)
    assert (game.winner, game.scores) == (over.winner, over.scores)


async def test_games_go_on_through_kills_without_a_lost_or_repeated_move(namespace: Namespace, tmp_path: Path) -> None:
    log = tmp_path / "table.log"
    games = [f"game-{n}" for n in range(6)]
    async with RealTables(namespace).connected() as tables:
        process = TableProcess(namespace, log)
        try:
            await process.until_ready()
            for game in games:
                await start_game(tables, game, options={"target": 200})
            for kills in range(1, 5):
                many = 80 * kills
                await tables.until(lambda many=many: sum(map(len, tables.told.values())) > 6 * many)
                process.kill()
                process = TableProcess(namespace, log, SPADES_TABLE_BOT_GUARD_MS="500")
                await process.until_ready()
                for game in games:
                    # A prompt that the dead process never sent comes with the take.
                    assert tables.told[game]
            await tables.until(lambda: all(tables.has(game, events.GameEnded) for game in games))
        finally:
            process.end()
        for game in games:
            assert_legal(tables.told[game], game)
            stored = tables.stored(f"SELECT max(last_version) FROM answer WHERE stream = '{game}'")
            assert stored == [(len(tables.told[game]),)]


async def test_a_person_plays_on_after_a_restart_from_the_same_turn(namespace: Namespace, tmp_path: Path) -> None:
    log = tmp_path / "table.log"
    table_id = "game-1"
    async with RealTables(namespace).connected() as tables:
        async with table_process(namespace, log) as process:
            await tables.send(table_id, "ann", opening(kind="private"))
            for seat, account in enumerate(("ann", "bob", "cat", "dan")):
                await tables.send(table_id, account, commands.TakeSeat(seat=seat))
            await tables.send(table_id, "ann", commands.StartGame())
            await tables.until(lambda: waits_for_a_person(tables, table_id))
            process.kill()
        turn = next(event for event in tables.told[table_id] if isinstance(event, events.TurnStarted))
        account = ("ann", "bob", "cat", "dan")[turn.seat]
        async with table_process(namespace, log):
            # Everybody's view comes again by itself.
            await tables.until(lambda: {one.account_id for one in tables.snapshots} >= {"ann", "bob", "cat", "dan"})
            views = {one.account_id: one for one in tables.snapshots}
            assert views[account].turn is not None
            bid = commands.PlaceBid(turn_id=turn.turn_id, bid=3)
            answer = await tables.answer(await tables.send(table_id, account, bid, "bid-1"))
            assert answer.rejection is None
            # The same command again, to a process that has forgotten nothing.
            tables.answers.clear()
            await tables.send(table_id, account, bid, "bid-1")
            assert await tables.answer("bid-1") == answer


async def test_the_time_of_an_outage_is_given_back(namespace: Namespace, tmp_path: Path) -> None:
    log = tmp_path / "table.log"
    table_id = "game-1"
    async with RealTables(namespace).connected() as tables:
        async with table_process(namespace, log, SPADES_TABLE_CLOCK_ONLINE_MS="60000") as process:
            await tables.send(table_id, "ann", opening(kind="private"))
            await tables.send(table_id, "ann", commands.TakeSeat())
            await tables.send(table_id, "ann", commands.StartGame())
            await tables.until(lambda: waits_for_a_person(tables, table_id))
            process.freeze()
            due = tables.told[table_id][-1]
            assert isinstance(due, events.DeadlineSet)
            late = TimedOut(deadline_id=due.deadline_id or 0, due_ms=due.due_ms or 0)
            envelope = Envelope(id=f"{table_id}:1", type="spades.timed_out.v1", source="/t", subject=table_id)
            await tables.record(Topic.CLOCK_EVENTS, table_id, encode(late), envelope)
            # Longer than two seconds is an outage; there is nothing to wait for but time.
            await asyncio.sleep(3)
            process.thaw()
            await tables.until(lambda: tables.has(table_id, events.ClockExtended))
            (extended,) = [event for event in tables.told[table_id] if isinstance(event, events.ClockExtended)]
            assert extended.due_ms is not None
            assert due.due_ms is not None
            assert 2_000 < extended.outage_ms < 20_000
            assert extended.due_ms > due.due_ms
            assert not tables.has(table_id, events.SeatAutoplayed)


def waits_for_a_person(tables: RealTables, table_id: str) -> bool:
    told = tables.told.get(table_id, [])
    last = told[-1] if told else None
    return isinstance(last, events.DeadlineSet) and last.kind == "turn"


async def test_the_store_in_memory_answers_as_postgres_does(namespace: Namespace, tmp_path: Path) -> None:
    log = tmp_path / "table.log"
    async with RealTables(namespace).connected() as tables:
        async with table_process(namespace, log) as process:
            await start_game(tables, "game-1", options={"target": 200})
            await tables.until(lambda: tables.has("game-1", events.GameEnded))
            tables.bots_play = False
            await start_game(tables, "game-2")
            await start_game(tables, "game-3")
            await tables.send("game-3", "bob", commands.StartGame(), "refused-1")
            await tables.answer("refused-1")
            process.stop()
        env = namespace.service_env("table")
        settings = TableSettings(
            kafka_bootstrap=env["SPADES_KAFKA_BOOTSTRAP"],
            database_url=env["SPADES_DATABASE_URL"],
            database_schema=env["SPADES_DATABASE_SCHEMA"],
        )
        db = await database.connect(settings)
        try:
            fake = MemoryStore()
            for part in range(2):
                rows: list[SnapshotRow] = await snapshots.live(db, part)
                fake.snapshots |= {row.stream: row for row in rows}
            fake.snapshots |= await snapshots.fetch(db, ["game-1"])
            for game in ("game-1", "game-2", "game-3"):
                fake.answers += await answers.of_stream(db, game)
            ids = [one.id for one in fake.answers] + [("game-3", "bob", "refused-1")]
            real = PostgresStore()
            fake.answers += [one for one in (await real.stored_answers(db, ids)).values() if one.refusal is not None]
            assert len(fake.answers) == len(ids)
            for part in range(2):
                assert await real.live_tables(db, part) == await fake.live_tables(db, part)
            asked = ["game-1", "game-2", "nowhere"]
            assert await real.known_tables(db, asked) == await fake.known_tables(db, asked)
            assert await real.stored_answers(db, ids) == await fake.stored_answers(db, ids)
            for game in asked:
                assert await real.whole_stream(db, game) == await fake.whole_stream(db, game)
        finally:
            await db.close()
