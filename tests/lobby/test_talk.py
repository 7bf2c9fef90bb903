"""Presence and table talk: to those who sit at the table, never to or from watchers, never in the log."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from sqlalchemy import text

from spades_events import events
from spades_lobby.live.talk import PHRASES
from tests.lobby.conftest import House
from tests.lobby.player import Player, Socket

pytestmark = [pytest.mark.real, pytest.mark.asyncio(loop_scope="module")]


@dataclass
class Round:
    """Two people who sit at a table, and one who watches."""

    table_id: str
    players: tuple[Player, Player, Player]
    sockets: tuple[Socket, Socket, Socket]


@asynccontextmanager
async def sitting(lobby: House) -> AsyncIterator[Round]:
    async with lobby.player() as ann, lobby.player() as ben, lobby.player() as cid:
        for player in (ann, ben, cid):
            await player.guest()
        table_id = await ann.open_table()
        for player in (ann, ben):
            assert (await player.http.put(f"/v1/tables/{table_id}/seats/any")).status_code == 200
        first, second, third = [await player.socket() for player in (ann, ben, cid)]
        for socket in (first, second, third):
            await socket.watch(table_id)
        yield Round(table_id, (ann, ben, cid), (first, second, third))
        for socket in (first, second, third):
            await socket.close()


async def hears_nothing_of(socket: Socket, *kinds: str) -> None:
    """All that was sent before a pong has come with it."""
    socket.say("ping")
    await socket.until("pong")
    assert not [frame for frame in socket.frames if frame["type"] in kinds]


async def test_the_others_hear_that_somebody_is_gone_and_is_back(lobby: House) -> None:
    async with sitting(lobby) as table:
        (ann, _, _), (one, two, watcher) = table.players, table.sockets
        await one.close()
        version = lobby.table.games[table.table_id].version
        for socket in (two, watcher):
            gone = await socket.until("player_disconnected")
            assert gone == {"type": "player_disconnected", "account_id": ann.account_id, "seat": 0}
        # Who comes later hears it, too.
        late = await table.players[2].socket()
        await late.watch(table.table_id)
        assert (await late.until("player_disconnected"))["seat"] == 0
        back = await ann.socket()
        assert (await back.watch(table.table_id))["seat"] == 0
        for socket in (two, watcher, late):
            assert (await socket.until("player_returned"))["account_id"] == ann.account_id
        await hears_nothing_of(back, "player_disconnected", "player_returned")
        # It cost nothing and stands nowhere.
        assert lobby.table.games[table.table_id].version == version
        await late.close()
        await back.close()


async def test_a_second_tab_that_closes_is_no_absence_and_neither_is_watching_again(lobby: House) -> None:
    async with sitting(lobby) as table:
        one, two, _ = table.sockets
        newer = await table.players[0].socket()
        await newer.watch(table.table_id)
        await one.until("error", code="played_elsewhere")
        await one.close()
        await newer.watch(table.table_id)
        said = newer.command("say", phrase="hello")
        await newer.until("ack", id=said)
        await two.until("said")
        await hears_nothing_of(two, "player_disconnected", "player_returned")
        await newer.close()
        await two.until("player_disconnected")


async def test_talk_goes_to_those_who_sit_and_not_to_watchers(lobby: House) -> None:
    async with sitting(lobby) as table:
        (ann, _, _), (one, two, watcher) = table.players, table.sockets
        said = one.command("say", text="  Hello   there ")
        await one.until("ack", id=said)
        for socket in (one, two):
            assert await socket.until("said") == {
                "type": "said",
                "account_id": ann.account_id,
                "seat": 0,
                "phrase": None,
                "text": "Hello there",
            }
        refused = watcher.command("say", phrase="hello")
        assert (await watcher.until("command_rejected", id=refused))["code"] == "not_seated"
        await hears_nothing_of(watcher, "said")


async def test_during_a_hand_only_phrases_and_free_text_again_after_it(lobby: House) -> None:
    async with sitting(lobby) as table:
        (ann, _, _), (one, two, _) = table.players, table.sockets
        await ann.http.post(f"/v1/tables/{table.table_id}/start")
        await two.until("hand_dealt")
        await one.until("hand_dealt")
        refused = one.command("say", text="I have the ace")
        assert (await one.until("command_rejected", id=refused))["code"] == "phrases_only"
        one.command("say", phrase="good_luck")
        assert (await two.until("said"))["text"] == PHRASES["good_luck"]
        await _score(lobby, table.table_id)
        await one.until("hand_scored")
        one.command("say", text="Well done")
        assert (await two.until("said"))["text"] == "Well done"


async def _score(lobby: House, table_id: str) -> None:
    game = lobby.table.games[table_id]
    game.version += 1
    team = events.TeamScore(contract=0, tricks=0, lines=(), delta=0, score=0, bags=0, bag_penalties=0)
    scored = events.HandScored(hand_no=1, bids=(1, 1, 1, 1), tricks=(13, 0, 0, 0), teams=(team, team))
    await lobby.table.publish(lobby.gateway.desk.part_of(table_id), table_id, game.version, scored)


async def test_the_muted_are_not_heard_also_after_coming_back(lobby: House) -> None:
    async with sitting(lobby) as table:
        (ann, ben, _), (one, two, _) = table.players, table.sockets
        muted = two.command("mute", account_id=ann.account_id)
        await two.until("ack", id=muted)
        await two.watch(table.table_id)
        one.command("say", phrase="hello")
        await one.until("said")
        await hears_nothing_of(two, "said")
        heard = two.command("mute", account_id=ann.account_id, muted=False)
        await two.until("ack", id=heard)
        one.command("say", phrase="thanks")
        assert (await two.until("said"))["phrase"] == "thanks"
        nobody = two.command("mute", account_id="nobody")
        assert (await two.until("command_rejected", id=nobody))["code"] == "not_found"
        assert ben.account_id != ann.account_id


async def test_a_report_keeps_what_was_said_for_the_operators(lobby: House) -> None:
    async with sitting(lobby) as table:
        (ann, _, _), (one, two, _) = table.players, table.sockets
        one.command("say", text="Something rude")
        await two.until("said")
        reported = two.command("report", account_id=ann.account_id, reason="rude")
        await two.until("ack", id=reported)
        async with lobby.gateway.engine.connect() as db:
            found = await db.execute(
                text("SELECT reason, said FROM report WHERE about_id = :about"), {"about": ann.account_id}
            )
            assert [tuple(row) for row in found] == [("rude", ["Something rude"])]


NO_LINES: list[dict[str, object]] = [
    *({}, {"phrase": "spades"}, {"phrase": "hello", "text": "both"}, {"text": "  "}, {"text": "x" * 201}),
    *({"text": "a\u202eb"}, {"text": "a\u200bb"}, {"text": "a\0b"}, {"text": 3}),
]


@pytest.mark.parametrize("words", NO_LINES, ids=repr)
async def test_what_is_no_line_is_refused(lobby: House, words: dict[str, object]) -> None:
    async with sitting(lobby) as table:
        one = table.sockets[0]
        refused = one.command("say", **words)
        assert (await one.until("command_rejected", id=refused))["code"] == "malformed"
        one.say("ping")
        await one.until("pong")


async def test_talk_has_a_rate(lobby: House) -> None:
    async with sitting(lobby) as table:
        one = table.sockets[0]
        for _ in range(21):
            one.command("say", phrase="hello")
        assert (await one.until("command_rejected"))["code"] == "rate_limited"
        await asyncio.sleep(0)
