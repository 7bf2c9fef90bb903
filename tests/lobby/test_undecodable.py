"""A record that cannot be decoded at all is stepped over; what stands beside it and behind it is read."""

import asyncio

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition

from spades_lobby import metrics
from tests.lobby.conftest import House, house
from tests.lobby.player import Player
from tests.undecodable import send_undecodable

pytestmark = [pytest.mark.real, pytest.mark.asyncio(loop_scope="module")]

TOPICS = ("table.events", "table.private", "wallet.events")
LIMIT_S = 30.0


async def poison(lobby: House, times: int = 1) -> None:
    for topic in TOPICS:
        for part in range(lobby.namespace.partitions):
            for _ in range(times):
                await send_undecodable(lobby.namespace.bootstrap, lobby.namespace.topic(topic), part)


async def listed(player: Player, table_id: str) -> None:
    async with asyncio.timeout(LIMIT_S):
        while (await player.http.get(f"/v1/games/{table_id}")).status_code != 200:
            await asyncio.sleep(0.02)


async def tables_in_both_parts(lobby: House, player: Player) -> list[str]:
    by_part: dict[int, str] = {}
    while len(by_part) < lobby.namespace.partitions:
        table_id = await player.open_table()
        by_part.setdefault(lobby.gateway.desk.part_of(table_id), table_id)
    return list(by_part.values())


async def test_the_tables_of_every_partition_go_on_and_the_lists_too(lobby: House) -> None:
    async with lobby.player() as player:
        await player.account()
        tables = await tables_in_both_parts(lobby, player)
        sockets = []
        for table_id in tables:
            socket = await player.socket()
            await socket.watch(table_id)
            sockets.append(socket)
        for times in (1, 3):
            await poison(lobby, times)
            for socket in sockets:
                for frame, event in (("take_seat", "seat_taken"), ("release_seat", "seat_released")):
                    command = socket.command(frame)
                    await socket.until(event)
                    await socket.until("ack", id=command)
            for table_id in await tables_in_both_parts(lobby, player):
                await listed(player, table_id)
        for socket in sockets:
            # Nothing of the tables' own was lost: the numbers have no gap.
            assert socket.seqs == list(range(socket.seqs[0], socket.seqs[-1] + 1))
            await socket.close()
        # The wallet's word still comes, and is kept.
        async with lobby.player() as another:
            await another.account()
            assert (await another.http.get("/v1/wallet")).json()["available_coins"] == 1_000


async def test_a_gateway_that_starts_before_such_records_reads_all_that_stands_around_them(lobby: House) -> None:
    """Much at once, in one fetch: the bad ones in the midst of it."""
    async with lobby.player() as player:
        await player.account()
        before = [await player.open_table() for _ in range(20)]
        await poison(lobby)
        behind = [await player.open_table() for _ in range(20)]
        # A group of its own reads the log from its beginning, into the same model as nothing were there yet.
        async with lobby.gateway.engine.begin() as db:
            for table in ("game_event", "game", "player"):
                await db.exec_driver_sql(f"DELETE FROM {table}")
        async with house(lobby.namespace, group_prefix=f"{lobby.namespace.group_prefix}again."):
            for table_id in before + behind:
                await listed(player, table_id)


async def test_the_wallets_events_behind_such_a_record_are_kept(lobby: House) -> None:
    counted = metrics.PROJECTED.labels(topic="wallet.events")._value.get()
    await poison(lobby, 2)
    async with lobby.player() as player:
        await player.account()
        async with asyncio.timeout(LIMIT_S):
            while metrics.PROJECTED.labels(topic="wallet.events")._value.get() <= counted:
                await asyncio.sleep(0.02)
        entries = (await player.http.get("/v1/wallet/entries")).json()["entries"]
        assert [entry["type"] for entry in entries] == ["account_opened"]


async def test_the_record_is_one_that_stops_a_plain_consumer(lobby: House) -> None:
    """The test of the tests: without a step it is met again and again."""
    topic = lobby.namespace.topic("clock.events")
    offset = await send_undecodable(lobby.namespace.bootstrap, topic, 0)
    async with AIOKafkaConsumer(bootstrap_servers=lobby.namespace.bootstrap) as plain:
        part = TopicPartition(topic, 0)
        plain.assign([part])
        plain.seek(part, offset)
        for _ in range(2):
            with pytest.raises(UnicodeDecodeError):
                async with asyncio.timeout(LIMIT_S):
                    await plain.getone()
