"""A table's socket: nothing is missing, nothing is done twice, whatever becomes of the line."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

import pytest
from starlette.websockets import WebSocket

from spades_client import Gateway, NoAnswer, PlayedElsewhere, Refused, Rejected, Table
from tests.client.scripted import TABLE, Line, Scripted, at, cut, fact

LIMIT_S = 60.0


@asynccontextmanager
async def table_at(*lines: Line, patience_s: float = LIMIT_S) -> AsyncIterator[tuple[Scripted, Table]]:
    """A table behind a gateway that serves one connection after the other by these lines."""
    async with Scripted().running() as scripted, Gateway(scripted.address, patience_s=patience_s) as gateway:
        scripted.lines += lines
        yield scripted, (await gateway.guest()).table(TABLE)


async def read(table: Table, *, until_seq: int) -> list[int]:
    """The seqs of all frames up to this one."""
    seqs: list[int] = []
    async with asyncio.timeout(LIMIT_S), aclosing(table.frames()) as frames:
        async for frame in frames:
            seqs.append(frame["seq"])
            if frame["seq"] >= until_seq:
                break
    return seqs


async def commanded(table: Table, kind: str, **fields: object) -> object:
    """The command's answer, or what it raised, while somebody reads."""
    reading = asyncio.create_task(read(table, until_seq=1_000_000))
    try:
        async with asyncio.timeout(LIMIT_S):
            return await table.command(kind, **fields)
    except (Rejected, NoAnswer) as error:
        return error
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


async def test_a_cut_line_is_made_again_with_the_last_seq() -> None:
    async def first(_: Scripted, socket: WebSocket) -> None:
        await socket.send_json(at(4))
        await socket.send_json(fact(5))
        await cut(socket)

    async def second(_: Scripted, socket: WebSocket) -> None:
        await socket.send_json(at(7))
        await socket.send_json(fact(8))

    async with table_at(first, second) as (scripted, table):
        assert await read(table, until_seq=8) == [4, 5, 7, 8]
        watched = [frame for line in scripted.frames for frame in line if frame["type"] == "watch"]
        assert watched == [
            {"type": "watch", "table_id": TABLE},
            {"type": "watch", "table_id": TABLE, "last_seq": 5},
        ]
        assert (table.reconnections, table.faults) == (1, [])


async def test_a_command_whose_line_was_cut_goes_out_again_as_it_was() -> None:
    async def first(scripted: Scripted, socket: WebSocket) -> None:
        await socket.send_json(at(1))
        await scripted.hear_command(socket)
        await cut(socket)

    async def second(scripted: Scripted, socket: WebSocket) -> None:
        await socket.send_json(at(2))
        again = await scripted.hear_command(socket)
        await socket.send_json({"type": "ack", "id": again["id"], "first_seq": 2, "last_seq": 2})

    async with table_at(first, second) as (scripted, table):
        assert await commanded(table, "take_seat", seat=1) == (2, 2)
        sent = [frame for line in scripted.frames for frame in line if frame["type"] == "take_seat"]
        assert len(sent) >= 2
        assert all(frame == sent[0] for frame in sent)


async def test_an_unknown_outcome_is_asked_for_by_the_same_id() -> None:
    async def line(scripted: Scripted, socket: WebSocket) -> None:
        await socket.send_json(at(1))
        first = await scripted.hear_command(socket)
        await socket.send_json({"type": "error", "id": first["id"], "code": "outcome_unknown", "message": "?"})
        assert await scripted.hear_command(socket) == first
        await socket.send_json({"type": "command_rejected", "id": first["id"], "code": "seat_taken", "message": "!"})

    async with table_at(line) as (_, table):
        rejected = await commanded(table, "take_seat", seat=1)
        assert isinstance(rejected, Rejected)
        assert rejected.code == "seat_taken"


async def test_a_gap_is_noted_and_healed_by_a_snapshot() -> None:
    async def line(scripted: Scripted, socket: WebSocket) -> None:
        for frame in (at(1), fact(2), fact(4), fact(5)):
            await socket.send_json(frame)
        assert (await scripted.hear(socket))["type"] == "resync"
        await socket.send_json(at(5))
        await socket.send_json(fact(6))

    async with table_at(line) as (_, table):
        assert await read(table, until_seq=6) == [1, 2, 5, 6]
        assert len(table.faults) == 1


async def test_a_snapshot_that_differs_from_what_was_folded_is_noted() -> None:
    async def line(scripted: Scripted, socket: WebSocket) -> None:
        await socket.send_json(at(1))
        assert (await scripted.hear(socket))["type"] == "resync"
        await socket.send_json(at(1, scores=[10, 0]))
        await socket.send_json(fact(2))

    async with table_at(line) as (_, table):
        async with aclosing(table.frames()) as frames, asyncio.timeout(LIMIT_S):
            await anext(frames)
            await table.compare()
            await anext(frames)
        assert (table.compared, len(table.faults)) == (1, 1)


@pytest.mark.parametrize(
    ("code", "raised"), [("not_found", Refused), ("played_elsewhere", PlayedElsewhere)], ids=["not found", "elsewhere"]
)
async def test_what_cannot_be_mended_by_asking_again_is_raised(code: str, raised: type[Exception]) -> None:
    async def line(_: Scripted, socket: WebSocket) -> None:
        await socket.send_json(at(1))
        await socket.send_json({"type": "error", "code": code, "message": "no"})

    async with table_at(line) as (_, table):
        with pytest.raises(raised):
            await read(table, until_seq=2)


async def test_a_greeting_that_failed_is_tried_again() -> None:
    async def broken(_: Scripted, socket: WebSocket) -> None:
        await socket.send_json({"type": "error", "code": "unavailable", "message": "no database"})

    async def good(_: Scripted, socket: WebSocket) -> None:
        await socket.send_json(at(3))

    async with table_at(broken, good) as (_, table):
        assert await read(table, until_seq=3) == [3]


async def test_who_is_not_answered_hears_so_in_the_end() -> None:
    async def mute(_: Scripted, socket: WebSocket) -> None:
        await socket.send_json(at(1))

    async with table_at(mute, patience_s=0.2) as (_, table):
        assert isinstance(await commanded(table, "take_seat"), NoAnswer)


async def test_table_talk_names_no_table() -> None:
    async def line(scripted: Scripted, socket: WebSocket) -> None:
        await socket.send_json(at(1))
        said = await scripted.hear_command(socket)
        assert said == {"type": "say", "id": said["id"], "phrase": "hello"}
        await socket.send_json({"type": "ack", "id": said["id"], "first_seq": None, "last_seq": None})

    async with table_at(line) as (_, table):
        assert await commanded(table, "say", phrase="hello") == (None, None)
