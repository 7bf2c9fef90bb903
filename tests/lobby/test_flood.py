"""One table's flood: bounded before it reaches the log that its partition's tables share."""

from collections.abc import AsyncIterator

import msgspec
import pytest
import pytest_asyncio

from spades_events import Envelope
from spades_lobby.socket.pending import TABLE_PENDING_MAX
from tests.lobby.conftest import House, Namespace, house
from tests.lobby.fake_table import FakeTable

pytestmark = [pytest.mark.real, pytest.mark.asyncio(loop_scope="module")]


class SlowTable(FakeTable):
    """Keeps the commands of some tables until it is told to answer them."""

    slow: str | None = None
    kept: list[tuple[int, Envelope, msgspec.Struct, bytes]]

    async def _answer(self, part: int, envelope: Envelope, command: msgspec.Struct, body: bytes) -> None:
        if envelope.subject == self.slow:
            self.kept.append((part, envelope, command, body))
        else:
            await super()._answer(part, envelope, command, body)

    async def catch_up(self) -> None:
        self.slow = None
        for kept in self.kept:
            await self._answer(*kept)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def lobby(lobby_namespace: Namespace) -> AsyncIterator[House]:
    knobs = {"lobby_frames_per_second": 10_000, "lobby_frames_burst": 10_000, "lobby_answer_ms": 60_000}
    async with house(lobby_namespace, table_of=SlowTable, **knobs) as made:
        yield made


async def test_a_flood_on_one_table_waits_at_the_gateway_and_no_other_table_notices(lobby: House) -> None:
    assert isinstance(lobby.table, SlowTable)
    async with lobby.player() as flooder, lobby.player() as other:
        await flooder.guest()
        await other.guest()
        flooded, calm = await flooder.open_table(), await other.open_table()
        # Two connections: the bound is the table's, whoever asks.
        floods = [await flooder.socket(), await flooder.socket()]
        calm_socket = await other.socket()
        for flood in floods:
            await flood.watch(flooded)
        await calm_socket.watch(calm)
        lobby.table.slow, lobby.table.kept = flooded, []
        half = TABLE_PENDING_MAX // 2
        for number in range(half):
            for place, flood in enumerate(floods):
                flood.command("ready", id=f"{place}-{number}")
        last = floods[0].command("ready", id="one-too-many")
        # Its own frames go in order, so this one came after all that were sent on its connection.
        while lobby.gateway.sockets.answers.by_table[flooded] < TABLE_PENDING_MAX:
            floods[1].say("ping")
            await floods[1].until("pong")
        if not any(frame.get("id") == last for frame in floods[0].frames):
            last = floods[0].command("ready", id="one-too-many-again")
        refused = await floods[0].until("command_rejected")
        assert refused["code"] == "rate_limited"
        # The other table is served meanwhile.
        calm_socket.command("take_seat", id="sit", seat=0)
        await calm_socket.until("ack", id="sit")
        # All that was taken in gets its answer, each once, and then there is room again.
        await lobby.table.catch_up()
        while lobby.gateway.sockets.answers.by_table[flooded]:
            floods[1].say("ping")
            await floods[1].until("pong")
        assert len(lobby.table.kept) == TABLE_PENDING_MAX
        floods[0].command("ready", id="room-again")
        answered = await floods[0].until("ack", "command_rejected", id="room-again")
        assert answered.get("code") != "rate_limited"
        for socket in (*floods, calm_socket):
            await socket.close()
