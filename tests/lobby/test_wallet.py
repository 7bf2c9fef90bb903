"""Opening a wallet, whatever fails in between; rates."""

import asyncio

import pytest

from spades_events import CE_TYPES, Envelope, commands, wallet
from spades_lobby.games import handlers
from spades_lobby.games.handlers import WalletRecord
from tests.lobby.conftest import Namespace, house
from tests.lobby.player import Player

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


async def test_the_history_says_what_was_won_and_lost_page_by_page(lobby_namespace: Namespace) -> None:
    async with house(lobby_namespace) as lobby, lobby.player() as player:
        await player.account()
        # One left a game of 100 coins; of another, played to its end and lost, the deposit came back.
        told: list[tuple[type[wallet.WalletEvent], int, int, int, int]] = [
            (wallet.HoldPlaced, 3, 890, 110, -110),
            (wallet.FeeTaken, 6, 890, 0, 0),
            (wallet.HoldPlaced, 7, 780, 110, -110),
            (wallet.Settlement, 9, 790, 0, 10),
        ]
        async with lobby.gateway.engine.begin() as db:
            await handlers.keep_wallet_events(db, [_record(player.account_id, *one) for one in told])
        lost = {7: 0, 3: 0, 9: -100, 6: -110, 1: 1_000}
        assert {number: net for number, net, _ in await _pages(player, 50)} == lost
        for limit in (1, 2, 5):
            assert [one[:2] for one in await _pages(player, limit)] == sorted(lost.items(), reverse=True), limit


def _record(
    account_id: str, kind: type[wallet.WalletEvent], entry_no: int, available: int, held: int, change: int
) -> WalletRecord:
    line = wallet.AccountBalance(
        account_id=account_id, entry_no=entry_no, available_coins=available, held_coins=held, change_coins=change
    )
    envelope = Envelope(
        id=f"w{entry_no}", type=CE_TYPES[kind], source="/spades/wallet", subject="t", sequence=1, time_ms=entry_no
    )
    # The lists read the accounts alone, whatever the event is about.
    return WalletRecord(envelope, wallet.WalletEvent(accounts=(line,)))


async def _pages(player: Player, limit: int) -> list[tuple[int, int, int]]:
    """Number, net and change of every entry, page by page."""
    found: list[tuple[int, int, int]] = []
    query: dict[str, str | int] = {"limit": limit}
    while True:
        page = (await player.http.get("/v1/wallet/entries", params=query)).json()
        assert len(page["entries"]) <= limit
        found += [(one["entry_no"], one["net_coins"], one["change_coins"]) for one in page["entries"]]
        if page["next"] is None:
            return found
        query["cursor"] = page["next"]
