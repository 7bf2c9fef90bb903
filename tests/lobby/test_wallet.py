"""Opening a wallet, whatever fails in between; rates."""

import asyncio

import pytest

from spades_events import commands
from tests.lobby.conftest import Namespace, house

pytestmark = [pytest.mark.real, pytest.mark.asyncio]


async def test_a_wallet_that_does_not_answer_opens_by_itself_later(lobby_namespace: Namespace) -> None:
    quick = {"lobby_answer_ms": 200, "lobby_repair_ms": 100}
    async with house(lobby_namespace, **quick) as lobby, lobby.player() as player:
        lobby.table.wallet_is_silent = True
        answer = await player.http.post("/v1/accounts", json={"name": "Patience", "password": "correct horse"})
        assert (answer.status_code, answer.json()["wallet"]) == (202, "opening")
        wallet = (await player.http.get("/v1/wallet")).json()
        assert wallet == {"available_coins": 0, "held_coins": 0, "open": False}
        lobby.table.wallet_is_silent = False
        async with asyncio.timeout(10):
            while not (wallet := (await player.http.get("/v1/wallet")).json())["open"]:
                await asyncio.sleep(0.05)
        assert wallet["available_coins"] == 1_000
        # However often it was asked for, it was one command.
        asked = {
            command_id
            for account, command_id, command in lobby.table.commands
            if isinstance(command, commands.OpenAccount) and account == answer.json()["account_id"]
        }
        assert len(asked) == 1


async def test_a_top_up_that_is_refused_says_why(lobby_namespace: Namespace) -> None:
    async with house(lobby_namespace) as lobby, lobby.player() as player:
        await player.account()
        answer = await player.http.post("/v1/wallet/top-up")
        assert (answer.status_code, answer.json()["code"]) == (409, "enough_coins")


async def test_beyond_its_rate_an_address_waits_and_a_password_cannot_be_guessed(lobby_namespace: Namespace) -> None:
    rates = {"lobby_rate_sessions": "5/minute", "lobby_rate_passwords": "3/minute"}
    async with house(lobby_namespace, **rates) as lobby, lobby.player() as player:
        guess = {"name": "Nobody", "password": "x" * 10}
        codes = [(await player.http.post("/v1/sessions", json=guess)).json()["code"] for _ in range(4)]
        assert codes == ["bad_credentials"] * 3 + ["rate_limited"]
        answers = [await player.http.post("/v1/sessions", json={"guest": True}) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [201, 429]
        assert int(answers[1].headers["retry-after"]) >= 1


async def test_over_https_the_cookie_belongs_to_this_host_alone(lobby_namespace: Namespace) -> None:
    async with house(lobby_namespace, lobby_public_url="https://spades.example") as lobby, lobby.player() as player:
        answer = await player.http.post("/v1/sessions", json={"guest": True})
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith("__Host-spades_session=")
        assert "Secure" in cookie
        assert answer.headers["strict-transport-security"].startswith("max-age=")
