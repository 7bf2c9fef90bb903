"""The recovery code: a new password for who has it, once, and nothing for who guesses."""

import asyncio
from typing import Any

import httpx
import pytest
from sqlalchemy import text

from spades_lobby.people import recovery
from spades_local.testing import Namespace
from tests.lobby.conftest import House, house
from tests.lobby.player import Player

pytestmark = [pytest.mark.real, pytest.mark.asyncio(loop_scope="module")]


async def with_code(player: Player, name: str) -> str:
    answer = await player.http.post("/v1/accounts", json={"name": name, "password": "correct horse", "token": True})
    player._entered(answer)
    return str(answer.json()["recovery_code"])


async def recover(player: Player, name: str, code: str, **more: Any) -> httpx.Response:
    body = {"name": name, "recovery_code": code, "new_password": "another horse"} | more
    return await player.http.post("/v1/recoveries", json=body)


async def test_a_code_is_140_bits_and_forgives_how_it_is_written() -> None:
    codes = {recovery.new_code() for _ in range(100)}
    assert len(codes) == 100
    for code in codes:
        assert [len(group) for group in code.split("-")] == [4] * 7
        assert recovery.hash_of(f" {code.lower().replace('-', ' ')}\n") == recovery.hash_of(code)
    assert recovery.hash_of("\udce9") != recovery.hash_of("")


async def test_the_code_sets_a_new_password_once_and_ends_all_sessions(lobby: House) -> None:
    async with lobby.player() as player, lobby.player() as elsewhere:
        code = await with_code(player, "Lovelace")
        socket = await player.socket()
        answer = await recover(elsewhere, "lovelace", code.lower(), token=True)
        assert answer.status_code == 201, answer.text
        found = answer.json()
        assert (found["account_id"], found["name"], found["guest"]) == (player.account_id, "Lovelace", False)
        assert await socket.closed() == 4401
        assert (await player.http.get("/v1/me")).status_code == 401
        entered = await elsewhere.http.get("/v1/me", headers={"Authorization": f"Bearer {found['token']}"})
        assert entered.json()["account_id"] == player.account_id
        for password, status in (("correct horse", 401), ("another horse", 201)):
            again = await elsewhere.http.post("/v1/sessions", json={"name": "Lovelace", "password": password})
            assert again.status_code == status
        # Used up; the next one came with the answer.
        assert (await recover(elsewhere, "Lovelace", code)).json()["code"] == "bad_recovery"
        assert found["recovery_code"] != code
        assert (await recover(elsewhere, "Lovelace", found["recovery_code"])).status_code == 201


async def test_of_many_who_use_one_code_at_once_one_gets_in(lobby: House) -> None:
    async with lobby.player() as player:
        code = await with_code(player, "Emmy")
        answers = await asyncio.gather(*(recover(player, "Emmy", code) for _ in range(4)))
        assert sorted(answer.status_code for answer in answers) == [201, 401, 401, 401]


async def test_nobody_learns_which_names_there_are(lobby: House) -> None:
    async with lobby.player() as player, lobby.player() as guest:
        await with_code(player, "Fermat")
        await guest.guest("Galois")
        wrong = recovery.new_code()
        answers = [
            await recover(guest, name, wrong) for name in ("Fermat", "Galois", "Nobody of that name", "x\u202ey", "")
        ]
        told = [{name: value for name, value in one.json().items() if name != "ref"} for one in answers]
        assert all(one == told[0] for one in told)
        assert (told[0]["status"], told[0]["code"]) == (401, "bad_recovery")


async def test_a_new_code_takes_the_password_and_voids_the_old_one(lobby: House) -> None:
    async with lobby.player() as player, lobby.player() as guest:
        await guest.guest()
        answer = await guest.http.post("/v1/me/recovery-code", json={"password": ""})
        assert (answer.status_code, answer.json()["code"]) == (403, "account_required")
        old = await with_code(player, "Riemann")
        wrong = await player.http.post("/v1/me/recovery-code", json={"password": "wrong horse"})
        assert (wrong.status_code, wrong.json()["code"]) == (401, "bad_credentials")
        made = await player.http.post("/v1/me/recovery-code", json={"password": "correct horse"})
        new = made.json()["recovery_code"]
        async with lobby.gateway.engine.connect() as db:
            stored = await db.execute(text("SELECT recovery_hash FROM account WHERE name = 'Riemann'"))
            assert [bytes(one) for one in stored.scalars()] == [recovery.hash_of(new)]
        assert (await recover(player, "Riemann", old)).status_code == 401
        assert (await recover(player, "Riemann", new)).status_code == 201


async def test_a_deleted_account_is_not_recovered(lobby: House) -> None:
    async with lobby.player() as player:
        code = await with_code(player, "Hilbert")
        assert (await player.http.request("DELETE", "/v1/me", json={"password": "correct horse"})).status_code == 204
        assert (await recover(player, "Hilbert", code)).status_code == 401


async def test_tries_are_counted_for_a_name_that_is_there_as_for_one_that_is_not(lobby_namespace: Namespace) -> None:
    # Beside the other gateway, so a member of its own.
    beside = house(lobby_namespace, lobby_rate_recoveries="3/hour", member_id="lobby-strict")
    async with beside as lobby, lobby.player() as player:
        code = await with_code(player, "Cantor")
        wrong = recovery.new_code()
        answers = [(await recover(player, "Cantor", wrong)).status_code for _ in range(4)]
        assert answers == [401, 401, 401, 429]
        right = await recover(player, "Cantor", code)
        assert (right.status_code, right.json()["code"]) == (429, "rate_limited")
