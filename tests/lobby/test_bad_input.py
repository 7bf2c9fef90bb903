"""Bad input while people sit down, bid, play, and when the game is over, before the table's own judgement.

Each case gets its own clear answer, none is a 500; the connection lives (or, for the few that close it, the
service), a canary command is answered behind it, nobody else at the table notices, and the table stays as it was.
How long the canaries took is printed: `pytest -s`.
"""

import asyncio
import json
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from websockets.frames import Frame, Opcode

from spades_events import events
from spades_local.testing import Namespace
from tests.lobby.bad_input import BAD_CARDS, COMMANDS, REQUESTS, STALE, play
from tests.lobby.conftest import House, house
from tests.lobby.judged_table import JudgedTable
from tests.lobby.player import Player, Socket
from tests.lobby.test_bad_frames import MALFORMED_COMMANDS, NOT_FRAMES
from tests.lobby.test_http import check_problem

pytestmark = [pytest.mark.real, pytest.mark.asyncio(loop_scope="module")]

STATES = ("lobby", "auction", "play")
LIMIT_S = 30.0
FREE = {
    "lobby_frames_per_second": 5_000,
    "lobby_frames_burst": 50_000,
    "lobby_rate_requests": "1000000/minute",
    "lobby_rate_talk": "100000/minute",
    "lobby_rate_wrong_codes": "100000/minute",
}
"""The rates have tests of their own."""


@dataclass
class Scene:
    """One table in one state: who moves, who does not, who watches, and who only looks on as the canary."""

    lobby: House
    state: str
    table_id: str
    sockets: dict[str, Socket]
    canary: Socket
    mover: Player
    fill: dict[str, str]
    version: int
    told: int
    """Frames about the table that the canary was shown."""
    waits_ms: list[float] = field(default_factory=list)

    @property
    def table(self) -> JudgedTable:
        assert isinstance(self.lobby.table, JudgedTable)
        return self.lobby.table

    def filled(self, frame: dict[str, Any]) -> dict[str, Any]:
        return {name: self.fill.get(value, value) if isinstance(value, str) else value for name, value in frame.items()}

    async def sing(self, what: str) -> None:
        """The canary: another player is answered; the table stands as it stood, nobody was told of anything."""
        started_s = time.perf_counter()
        command = self.canary.command("take_seat")
        answer = await self.canary.until("command_rejected", "error", "ack", id=command)
        self.waits_ms.append((time.perf_counter() - started_s) * 1_000)
        assert answer["code"] == ("game_over" if self.state == "over" else "already_seated"), what
        assert self.table.version(self.table_id) == self.version, what
        assert sum("seq" in frame for frame in self.canary.frames) == self.told, what


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def judged(lobby_namespace: Namespace) -> AsyncIterator[House]:
    async with house(lobby_namespace, table_of=JudgedTable, **FREE) as made:
        yield made


async def shown(socket: Socket, kind: str, **fields: Any) -> dict[str, Any]:
    """This frame, however long ago it came."""
    async with asyncio.timeout(LIMIT_S):
        while True:
            for frame in socket.frames:
                if frame["type"] == kind and fields.items() <= frame.items():
                    return frame
            await asyncio.sleep(0.005)


async def obeyed(socket: Socket, kind: str, **fields: Any) -> None:
    command = socket.command(kind, **fields)
    await shown(socket, "ack", id=command)


async def play_on(table: JudgedTable, table_id: str, sockets: list[Socket], *, until: str) -> events.TurnStarted:
    """Bid 3 and play the first legal card up to a turn of this kind; a card's is one behind a lead."""
    while True:
        turn: events.TurnStarted = table.last(table_id, events.TurnStarted)
        own = (await shown(sockets[turn.seat], "turn_started", turn_id=turn.turn_id))["you"]
        played = any(isinstance(event, events.CardPlayed) for event in table.worker.public(table_id))
        if turn.kind == until and (until == "bid" or played):
            return turn
        if turn.kind == "bid":
            await obeyed(sockets[turn.seat], "bid", turn_id=turn.turn_id, bid=3)
        else:
            await obeyed(sockets[turn.seat], "play_card", turn_id=turn.turn_id, card=own["legal_cards"][0])


async def scene_of(lobby: House, state: str, rest: AsyncExitStack) -> Scene:
    """Four people and a watcher at a table in this state."""
    assert isinstance(lobby.table, JudgedTable)
    people = [await rest.enter_async_context(lobby.player()) for _ in range(5)]
    for person in people:
        await person.guest()
    table_id = await people[0].open_table(kind="practice", ruleset={"name": "classic"})
    sockets = [await person.socket() for person in people]
    for socket in sockets:
        rest.push_async_callback(socket.close)
        await socket.watch(table_id)
    for seat, socket in enumerate(sockets[:4]):
        await obeyed(socket, "take_seat", seat=seat)
    mover, fill = 0, dict[str, str]()
    if state != "lobby":
        await obeyed(sockets[0], "start")
        turn = await play_on(lobby.table, table_id, sockets, until="play" if state == "play" else "bid")
        mover, fill = turn.seat, await cards_for(sockets[turn.seat], turn)
    if state == "over":
        for socket in sockets[:4]:
            await obeyed(socket, "leave")
    for socket in sockets:
        # Nothing of the way here is on the way any more.
        async with asyncio.timeout(LIMIT_S):
            while max(frame.get("seq", 0) for frame in socket.frames) < lobby.table.version(table_id):
                await asyncio.sleep(0.005)
    named = {"mover": sockets[mover], "other": sockets[(mover + 1) % 4], "watcher": sockets[4]}
    canary = sockets[(mover + 2) % 4]
    told = sum("seq" in frame for frame in canary.frames)
    return Scene(lobby, state, table_id, named, canary, people[mover], fill, lobby.table.version(table_id), told)


async def cards_for(mover: Socket, turn: events.TurnStarted) -> dict[str, str]:
    """Cards to misuse, from the mover's own frames."""
    hand: list[str] = (await shown(mover, "hand_dealt"))["you"]["cards"]
    played = [frame["card"] for frame in mover.frames if frame["type"] == "card_played"]
    legal = (await shown(mover, "turn_started", turn_id=turn.turn_id))["you"].get("legal_cards") or hand
    deck = [rank + suit for suit in "CDHS" for rank in "23456789TJQKA"]
    return {
        "{turn}": turn.turn_id,
        "{held}": legal[0],
        "{alien}": next(card for card in deck if card not in hand and card not in played),
        "{off}": next((card for card in hand if card not in legal), ""),
    }


@pytest_asyncio.fixture(scope="module", params=STATES, loop_scope="module")
async def scene(judged: House, request: pytest.FixtureRequest) -> AsyncIterator[Scene]:
    async with AsyncExitStack() as rest:
        made = await scene_of(judged, request.param, rest)
        yield made
        waits_ms = sorted(made.waits_ms)
        print(
            f"\n{made.state}: {len(waits_ms)} canaries answered, "
            f"median {statistics.median(waits_ms):.1f} ms, slowest {waits_ms[-1]:.1f} ms"
        )


async def refused(scene: Scene, what: str, who: str, frame: dict[str, Any]) -> str:
    """The code of the answer; the frame must not be obeyed."""
    socket = scene.sockets[who]
    command = f"bad-{len(scene.waits_ms)}"
    socket.say_raw(json.dumps({"id": command, **frame}))
    answer = await socket.until("command_rejected", "ack", "error", id=command)
    assert answer["type"] == "command_rejected", what
    assert answer["message"], what
    await scene.sing(what)
    return str(answer["code"])


async def test_what_is_no_frame_is_said_to_be_none(scene: Scene) -> None:
    socket = scene.sockets["mover"]
    for what, text in NOT_FRAMES.items():
        if what == "no table watched" or "path" in what or "an id" in what:
            # These would stop the watching that the other cases need; they are at test_bad_frames.
            continue
        socket.say_raw(text)
        error = await socket.until("error")
        assert error["message"], what
        assert error["code"] in ("malformed", "unknown_type", "text_only", "already_welcome"), what
        await scene.sing(what)
    assert socket.close_code is None


async def test_a_malformed_command_is_rejected_by_its_id(scene: Scene) -> None:
    for what, frame in MALFORMED_COMMANDS.items():
        assert await refused(scene, what, "mover", frame) == "malformed", what


async def test_what_is_no_card_is_malformed(scene: Scene) -> None:
    turn = scene.fill.get("{turn}", STALE)
    for card in BAD_CARDS:
        # Two letters are a card's name by their length; which cards there are the game knows.
        codes = {"malformed", "not_started"} if scene.state == "lobby" else {"malformed"}
        assert await refused(scene, repr(card), "mover", play(card, turn)) in codes, card


async def test_a_command_out_of_place_is_refused_with_its_own_code(scene: Scene) -> None:
    await check_commands(scene)


async def test_after_the_end_every_command_is_told_so(judged: House) -> None:
    async with AsyncExitStack() as rest:
        await check_commands(await scene_of(judged, "over", rest))


async def check_commands(scene: Scene) -> None:
    cases = COMMANDS[scene.state]
    found = {case.what: await refused(scene, case.what, case.who, scene.filled(case.frame)) for case in cases}
    assert found == {case.what: case.code for case in cases}


async def test_a_bad_request_is_a_problem_and_never_a_500(scene: Scene) -> None:
    found, wanted = {}, {asked.what: asked.code for asked in REQUESTS}
    if scene.state != "lobby":
        wanted["a proof before its time"] = "not_revealed"
    for asked in REQUESTS:
        path = asked.path.replace("{table}", scene.table_id)
        answer = await scene.mover.http.request(
            asked.method,
            path,
            headers={"Idempotency-Key": uuid4().hex, "Content-Type": "application/json", **asked.headers},
            content=b"" if asked.body is None else json.dumps(asked.body),
        )
        assert 400 <= answer.status_code < 500, f"{asked.what}: {answer.text}"
        check_problem(answer)
        found[asked.what] = answer.json()["code"]
        await scene.sing(asked.what)
    assert found == wanted


async def test_the_same_id_is_one_effect_and_another_body_under_it_a_conflict(scene: Scene) -> None:
    socket, one = scene.sockets["mover"], {"type": "take_seat", "seat": 1}
    answers = []
    for frame in (one, one, {"type": "take_seat", "seat": 2}):
        socket.say_raw(json.dumps({"id": "again", **frame}))
        answers.append(await socket.until("command_rejected", id="again"))
        await scene.sing("the same id")
    assert answers[0] == answers[1]
    assert answers[2]["code"] == "conflict"


async def test_what_closes_a_connection_closes_only_that_one(scene: Scene) -> None:
    for what, code in (("x" * 5 * 1024 * 1024, 1009), ('{"id":' + "9" * 10_000, 1009), (b"\xff\xfe", 1007)):
        socket = await scene.mover.socket()
        if isinstance(what, bytes):
            socket.connection.protocol.send_frame(Frame(Opcode.TEXT, what))
            socket.connection.send_data()
        else:
            socket.say_raw(what)
        assert await socket.closed() == code
        await scene.sing(str(code))
