"""What was set aside is judged again when an operator says so: once, in its order, and told with a name."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from spades_runtime import Commit, Input, PartitionWorker, Seal, parked_list, partition_of
from spades_runtime.operators import name_of, new_operator
from spades_runtime.probes import Probes
from tests.runtime.corner import Corner
from tests.runtime.counter import COMMANDS, GIFTS, CounterProcessor, command

pytestmark = pytest.mark.real


class NewerCounter(CounterProcessor):
    """A later release, which can read what its predecessor could not: `+3`."""

    is_newer = True

    def _judge(self, record: Input, now_ms: int, effects: Any) -> None:
        if self.is_newer and record.value.startswith(b"+"):
            kind = "add" if record.topic == COMMANDS else "gift"
            record = record._replace(value=json.dumps({kind: int(record.value)}).encode())
        super()._judge(record, now_ms, effects)


@asynccontextmanager
async def operated(corner: Corner, worker: PartitionWorker, tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """An operator, ada, at the worker's admin port."""
    token, line = new_operator("ada")
    file = tmp_path / "operators"
    file.write_text(line + "\n")
    probes = Probes()
    probes.operated = parked_list.app(worker, corner.settings(operators_file=file))
    transport = httpx.ASGITransport(app=probes.app())
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://admin", headers=headers) as client:
        yield client


async def redrive(client: httpx.AsyncClient, topic: str, part: int, offset: int) -> tuple[int, str]:
    answer = await client.post(f"/admin/parked/{topic}/{part}/{offset}/redrive")
    body = answer.json()
    return answer.status_code, str(body.get("outcome") or body["code"])


def marked(corner: Corner) -> list[tuple[Any, ...]]:
    return corner.query('SELECT topic, "offset", by FROM redriven ORDER BY topic, "offset"')


async def _parked(corner: Corner, count: int) -> None:
    await corner.until(lambda: corner.query("SELECT count(*) FROM parked") == [(count,)], f"{count} parked")


@pytest.mark.parametrize("commit", [Commit.STATEMENT, Commit.TRANSACTION], ids=lambda commit: commit.value)
async def test_a_parked_command_is_judged_again_once(corner: Corner, tmp_path: Path, commit: Commit) -> None:
    part = partition_of("c1", corner.partitions)
    await corner.send(COMMANDS, "c1", *command("c1", "k1", b"+3"))
    await corner.add("c1", "k2", 4)
    processor = NewerCounter()
    processor.is_newer = False
    async with corner.working(processor, commit) as worker, operated(corner, worker, tmp_path) as ada:
        await _parked(corner, 1)
        # The release that set it aside still cannot judge it: nothing is marked.
        assert await redrive(ada, COMMANDS, part, 0) == (422, "set_aside_again")
        assert marked(corner) == []
        processor.is_newer = True
        # Its payload was left out here; Kafka still has it.
        outcomes = await asyncio.gather(*(redrive(ada, COMMANDS, part, 0) for _ in range(4)))
        assert sorted(outcomes) == [(200, "already_redriven")] * 3 + [(200, "redriven")]
    await corner.assert_exactly_once({"c1": {"k1": 3, "k2": 4}})
    assert marked(corner) == [(COMMANDS, 0, "operator:ada")]
    told = [one for one in await corner.records("parked") if one.headers["ce_type"] == b"spades.redriven.v1"]
    assert [(one.key, one.value, one.headers["ce_spadesactor"]) for one in told] == [("c1", b"{}", b"operator:ada")]


async def test_a_sealed_command_is_judged_again_from_the_database(corner: Corner, tmp_path: Path) -> None:
    part = partition_of("c1", corner.partitions)
    seal = Seal("k1", {"k1": bytes(32)})
    await corner.send(COMMANDS, "c1", *command("c1", "k1", b"+3"))
    worker = PartitionWorker(CounterProcessor(), corner.settings(), commit=Commit.STATEMENT, seal=seal)
    task = asyncio.create_task(worker.run())
    await _parked(corner, 1)
    worker.stop()
    await task
    # As if Kafka had forgotten the record: another one stands in its place there.
    corner.query('UPDATE parked SET "offset" = 7 WHERE "offset" = 0')
    corner.query("UPDATE parked SET payload = %s", [seal.seal(b"+3", f"{COMMANDS}:{part}:7".encode())])
    worker = PartitionWorker(NewerCounter(), corner.settings(), commit=Commit.STATEMENT, seal=seal)
    task = asyncio.create_task(worker.run())
    async with operated(corner, worker, tmp_path) as ada:
        await corner.until(lambda: worker.problem is None, "ready")
        assert await redrive(ada, COMMANDS, part, 7) == (200, "redriven")
    worker.stop()
    await task
    await corner.assert_exactly_once({"c1": {"k1": 3}})


async def test_what_nobody_has_any_more_is_gone_and_what_never_belonged_here_is_misplaced(
    corner: Corner, tmp_path: Path
) -> None:
    part = partition_of("c1", corner.partitions)
    await corner.send(COMMANDS, "c1", *command("c1", "k1", b"+3"))
    await corner.send(COMMANDS, "c1", *command("c1", "k2", b'{"add": 1}'), part=1 - part)
    await corner.send(COMMANDS, None, *command("c1", "k3", b'{"add": 1}'), part=part)
    async with corner.working(NewerCounter()) as worker, operated(corner, worker, tmp_path) as ada:
        await _parked(corner, 2)
        assert await redrive(ada, COMMANDS, 1 - part, 0) == (409, "misplaced")
        assert await redrive(ada, COMMANDS, part, 1) == (409, "misplaced")
        assert await redrive(ada, COMMANDS, part, 0) == (404, "not_found")
        assert await redrive(ada, "nothing", part, 0) == (404, "not_found")
        assert await redrive(ada, COMMANDS, 77, 0) == (409, "not_here")
        assert await redrive(ada, COMMANDS, part, 2**70) == (404, "not_found")
        corner.query('UPDATE parked SET "offset" = 7000 WHERE part = %s', [part])
        assert await redrive(ada, COMMANDS, part, 7000) == (410, "gone")
    assert marked(corner) == []
    await corner.assert_exactly_once({"c1": {"k1": 3}})


async def test_a_quarantined_stream_is_judged_again_in_its_order_and_opened(corner: Corner, tmp_path: Path) -> None:
    part = partition_of("c1", corner.partitions)
    for number, body in enumerate((b"+1", b'{"gift": 2}', b"unreadable", b'{"gift": 4}')):
        await corner.send(GIFTS, "c1", *command("c1", f"g{number}", body, "gift"))
    async with corner.working(CounterProcessor()):
        await _parked(corner, 4)
    async with corner.working(NewerCounter()) as worker, operated(corner, worker, tmp_path) as ada:
        # The third one still cannot be judged: the two before it are, it and the last one go on waiting.
        assert await redrive(ada, GIFTS, part, 0) == (200, "redriven")
        assert await redrive(ada, GIFTS, part, 0) == (200, "already_redriven")
        assert await redrive(ada, GIFTS, part, 3) == (422, "set_aside_again")
        await corner.send(GIFTS, "c1", *command("c1", "g5", b'{"gift": 5}', "gift"))
        await _parked(corner, 5)
    await corner.assert_exactly_once({"c1": {"g0": 1, "g1": 2}})
    assert marked(corner) == [(GIFTS, 0, "operator:ada"), (GIFTS, 1, "operator:ada")]
    assert corner.query("SELECT stream FROM quarantine") == [("c1",)]

    class Newest(NewerCounter):
        def _judge(self, record: Input, now_ms: int, effects: Any) -> None:
            if record.value == b"unreadable":
                record = record._replace(value=b'{"gift": 3}')
            super()._judge(record, now_ms, effects)

    async with corner.working(Newest()) as worker, operated(corner, worker, tmp_path) as ada:
        assert await redrive(ada, GIFTS, part, 2) == (200, "redriven")
        # Open again: what comes now is judged as it comes.
        await corner.send(GIFTS, "c1", *command("c1", "g6", b'{"gift": 6}', "gift"))
        await corner.until_answered(6)
    await corner.assert_exactly_once({"c1": {"g0": 1, "g1": 2, "g2": 3, "g3": 4, "g5": 5, "g6": 6}})
    assert corner.query("SELECT command_id FROM answer ORDER BY seq") == [
        (f"g{number}",) for number in (0, 1, 2, 3, 5, 6)
    ]
    assert corner.query("SELECT stream FROM quarantine") == []


async def test_a_stream_is_opened_within_a_transaction_too(corner: Corner, tmp_path: Path) -> None:
    part = partition_of("c1", corner.partitions)
    processor = NewerCounter()
    processor.is_newer = False
    for number, body in enumerate((b"+1", b'{"gift": 2}')):
        await corner.send(GIFTS, "c1", *command("c1", f"g{number}", body, "gift"))
    async with corner.working(processor, Commit.TRANSACTION) as worker, operated(corner, worker, tmp_path) as ada:
        await _parked(corner, 2)
        assert await redrive(ada, GIFTS, part, 1) == (422, "set_aside_again")
        processor.is_newer = True
        assert await redrive(ada, GIFTS, part, 1) == (200, "redriven")
        await corner.send(GIFTS, "c1", *command("c1", "g2", b'{"gift": 3}', "gift"))
        await corner.until_answered(3)
    await corner.assert_exactly_once({"c1": {"g0": 1, "g1": 2, "g2": 3}})
    assert corner.query("SELECT stream FROM quarantine") == []


async def test_judged_and_not_marked_is_judged_again_without_another_effect(corner: Corner, tmp_path: Path) -> None:
    part = partition_of("c1", corner.partitions)
    await corner.send(COMMANDS, "c1", *command("c1", "k1", b"+3"))
    async with corner.working(CounterProcessor()):
        await _parked(corner, 1)
    for _ in range(2):
        async with corner.working(NewerCounter()) as worker, operated(corner, worker, tmp_path) as ada:
            assert await redrive(ada, COMMANDS, part, 0) == (200, "redriven")
        # As a process leaves it that dies between its judgement and the mark.
        corner.query("DELETE FROM redriven")
    await corner.assert_exactly_once({"c1": {"k1": 3}})


async def test_the_list_has_places_and_reasons_and_no_content(corner: Corner, tmp_path: Path) -> None:
    part = partition_of("c1", corner.partitions)
    for number in range(5):
        await corner.send(COMMANDS, "c1", *command("c1", f"k{number}", b'{"add": "AS KS"}'))
    async with corner.working(CounterProcessor()) as worker, operated(corner, worker, tmp_path) as ada:
        await _parked(corner, 5)
        offsets, after = [], ""
        while after is not None:
            page = (await ada.get(f"/admin/parked?limit=2{after and '&after=' + after}")).json()
            offsets += [one["offset"] for one in page["parked"]]
            after = page["next"]
        assert offsets == list(range(5))
        answer = await ada.get("/admin/parked?limit=1")
        [one] = answer.json()["parked"]
        at_ms = one.pop("at_ms")
        assert at_ms > 0
        assert one == {
            "topic": COMMANDS,
            "partition": part,
            "offset": 0,
            "stream": "c1",
            "reason": "unreadable: ValueError",
            "payload": "left_out",
            "quarantined": False,
            "redriven_by": None,
            "redriven_ms": None,
        }
        for wrong in ("limit=0", "limit=x", "limit=1001", "after=x", "after=a:b:c", "after=a:1:-1", "after=%00:1:1"):
            assert (await ada.get(f"/admin/parked?{wrong}")).status_code == 400, wrong


async def test_only_operators_come_in(corner: Corner, tmp_path: Path) -> None:
    async with corner.working(CounterProcessor()) as worker, operated(corner, worker, tmp_path) as ada:
        assert (await ada.get("/admin/parked")).status_code == 200
        for wrong in ("", "Bearer", "Bearer x", f"Basic {ada.headers['Authorization'][7:]}", "Bearer \xff"):
            answer = await ada.get("/admin/parked", headers={"Authorization": wrong.encode("latin-1")})
            assert (answer.status_code, answer.json()["code"]) == (401, "not_an_operator")
        # A line taken out of the file counts at once.
        (tmp_path / "operators").write_text("# nobody\n")
        assert (await ada.get("/admin/parked")).status_code == 401
        (tmp_path / "operators").unlink()
        assert (await ada.get("/admin/parked")).status_code == 503
        probes = Probes()
        transport = httpx.ASGITransport(app=probes.app())
        async with httpx.AsyncClient(transport=transport, base_url="http://admin") as nobody:
            assert (await nobody.get("/admin/parked")).status_code == 404
            probes.operated = parked_list.app(worker, corner.settings())
            answer = await nobody.get("/admin/parked", headers=dict(ada.headers))
            assert (answer.status_code, answer.json()["code"]) == (403, "no_operators")


async def test_an_operators_name_is_none_a_player_can_have(tmp_path: Path) -> None:
    token, line = new_operator("ada.l-1")
    file = tmp_path / "operators"
    file.write_text(f"# comment\n\n{line}\nbroken line\n")
    assert name_of(file, token) == "ada.l-1"
    assert token not in line
    assert name_of(file, token + "x") is None
    for name in ("", "Ada", "a b", "a:b", "x" * 41, "-a", "a\n"):
        with pytest.raises(ValueError, match="a name has"):
            new_operator(name)


async def test_a_wish_that_fails_is_told_and_stops_nothing(corner: Corner, tmp_path: Path) -> None:
    part = partition_of("c1", corner.partitions)
    await corner.send(COMMANDS, "c1", *command("c1", "k1", b"+3"))

    class Failing(CounterProcessor):
        def _judge(self, record: Input, now_ms: int, effects: Any) -> None:
            if record.value == b"+3" and self.takes > 2:
                raise psycopg.OperationalError
            super()._judge(record, now_ms, effects)

    processor = Failing()
    async with corner.working(processor) as worker, operated(corner, worker, tmp_path) as ada:
        await _parked(corner, 1)
        processor.takes = 3
        assert await redrive(ada, COMMANDS, part, 0) == (504, "outcome_unknown")
        await corner.add("c1", "k2")
        await corner.until_answered(1)
    await corner.assert_exactly_once({"c1": {"k2": 1}})
