"""Guests, accounts, sessions, tickets."""

import asyncio

import pytest
from sqlalchemy import text

from tests.lobby.conftest import House

pytestmark = [pytest.mark.real, pytest.mark.asyncio(loop_scope="module")]


async def test_a_guest_is_a_person_with_a_session_and_no_wallet(lobby: House) -> None:
    async with lobby.player() as player:
        await player.guest("Grace")
        me = (await player.http.get("/v1/me")).json()
        assert me == {"account_id": player.account_id, "name": "Grace", "guest": True}
        wallet = await player.http.get("/v1/wallet")
        assert (wallet.status_code, wallet.json()["code"]) == (403, "account_required")


async def test_a_browser_gets_a_cookie_that_scripts_cannot_read(lobby: House) -> None:
    async with lobby.player() as player:
        answer = await player.http.post("/v1/sessions", json={"guest": True})
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith("spades_session=")
        assert {"HttpOnly", "Path=/", "SameSite=lax"} <= {part.strip() for part in cookie.split(";")}
        assert answer.json()["token"] is None
        assert (await player.http.get("/v1/me")).status_code == 200


async def test_a_guest_becomes_an_account_in_place_and_keeps_the_id(lobby: House) -> None:
    async with lobby.player() as player:
        await player.guest()
        guest_id, guest_token = player.account_id, player.token
        answer = await player.http.post("/v1/accounts", json={"name": "Ada L", "password": "correct horse"})
        assert answer.status_code == 201
        account = answer.json()
        assert (account["account_id"], account["guest"], account["wallet"]) == (guest_id, False, "open")
        assert account["available_coins"] == 1_000
        # The guest's token was exchanged: one that somebody planted is worth nothing.
        assert account["token"] not in (None, guest_token)
        player.http.cookies.clear()
        assert (await player.http.get("/v1/me")).status_code == 401
        player.http.headers["Authorization"] = f"Bearer {account['token']}"
        wallet = (await player.http.get("/v1/wallet")).json()
        assert wallet == {"available_coins": 1_000, "held_coins": 0, "open": True}
        entries = (await player.http.get("/v1/wallet/entries")).json()["entries"]
        assert [(one["type"], one["change_coins"]) for one in entries] == [("account_opened", 1_000)]


async def test_a_name_that_looks_like_another_is_taken(lobby: House) -> None:
    async with lobby.player() as first, lobby.player() as second:
        await first.account("Blaise")
        for lookalike in ("BLAISE", "b-l-a-i-s-e", "B1aise", "Bláise", "ＢＬＡＩＳＥ"):
            answer = await second.http.post("/v1/accounts", json={"name": lookalike, "password": "correct horse"})
            assert (answer.status_code, answer.json()["code"]) == (409, "name_taken"), lookalike


async def test_log_in_needs_the_password_and_says_nothing_about_which_was_wrong(lobby: House) -> None:
    async with lobby.player() as player:
        await player.account("Kepler")
        wrong = await player.http.post("/v1/sessions", json={"name": "Kepler", "password": "wrong horse"})
        nobody = await player.http.post("/v1/sessions", json={"name": "Keplerin", "password": "wrong horse"})
        assert wrong.status_code == nobody.status_code == 401
        assert _without_ref(wrong.json()) == _without_ref(nobody.json())
        right = await player.http.post("/v1/sessions", json={"name": "kepler", "password": "correct horse"})
        assert (right.status_code, right.json()["account_id"]) == (201, player.account_id)


def _without_ref(problem: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in problem.items() if name != "ref"}


async def test_a_ticket_opens_one_socket_once(lobby: House) -> None:
    async with lobby.player() as player:
        await player.guest()
        socket = await player.socket()
        ticket = await player.ticket()
        sockets = [await player.socket() for _ in range(2)]
        for one in sockets:
            await one.close()
        results = []
        for _ in range(2):
            other = await type(socket).open(lobby.address)
            other.say("hello", ticket=ticket)
            results.append((await other.until("welcome", "error"))["type"])
            await other.close()
        assert results == ["welcome", "error"]
        await socket.close()


async def test_twenty_that_use_one_ticket_at_once_are_one(lobby: House) -> None:
    async with lobby.player() as player:
        await player.guest()
        ticket = await player.ticket()
        people = await asyncio.gather(*(lobby.gateway.sockets.welcome(ticket) for _ in range(8)))
        assert sum(person is not None for person in people) == 1


async def test_logging_out_ends_the_session_and_drops_its_sockets_within_two_seconds(lobby: House) -> None:
    async with lobby.player() as player:
        await player.guest()
        socket = await player.socket()
        assert (await player.http.delete("/v1/sessions/current")).status_code == 204
        async with asyncio.timeout(2):
            assert await socket.closed() == 4401
        assert socket.frames[-1]["code"] == "session_ended"
        assert (await player.http.get("/v1/me")).status_code == 401


async def test_sockets_go_with_the_session_also_after_its_token_changed(lobby: House) -> None:
    async with lobby.player() as player:
        await player.guest()
        socket = await player.socket()
        account = await player.http.post("/v1/accounts", json={"name": "Noether", "password": "correct horse"})
        # Becoming an account costs no socket.
        socket.say("ping", client_ms=1)
        await socket.until("pong")
        player.http.headers["Authorization"] = f"Bearer {account.json()['token']}"
        assert (await player.http.delete("/v1/sessions")).status_code == 204
        async with asyncio.timeout(2):
            assert await socket.closed() == 4401


async def test_tokens_are_not_in_the_database(lobby: House) -> None:
    async with lobby.player() as player:
        await player.guest()
        ticket = await player.ticket()
        async with lobby.gateway.engine.connect() as db:
            for table in ("session", "ticket", "account"):
                rows = (await db.execute(text(f"SELECT * FROM {table}"))).all()
                seen = repr([[bytes(cell) if isinstance(cell, memoryview) else cell for cell in row] for row in rows])
                assert player.token not in seen
                assert ticket not in seen
                assert "correct horse" not in seen


async def test_a_new_password_needs_the_old_one_and_ends_all_other_sessions(lobby: House) -> None:
    async with lobby.player() as player, lobby.player() as elsewhere:
        await player.account("Hypatia")
        entered = await elsewhere.http.post("/v1/sessions", json={"name": "Hypatia", "password": "correct horse"})
        assert entered.status_code == 201
        change = {"password": "wrong horse", "new_password": "another horse"}
        wrong = await player.http.put("/v1/me/password", json=change)
        assert (wrong.status_code, wrong.json()["code"]) == (401, "bad_credentials")
        assert (await elsewhere.http.get("/v1/me")).status_code == 200
        right = await player.http.put("/v1/me/password", json=change | {"password": "correct horse"})
        assert right.status_code == 204
        assert (await player.http.get("/v1/me")).status_code == 200
        assert (await elsewhere.http.get("/v1/me")).status_code == 401
        for password, status in (("correct horse", 401), ("another horse", 201)):
            again = await elsewhere.http.post("/v1/sessions", json={"name": "Hypatia", "password": password})
            assert again.status_code == status


async def test_a_deleted_account_returns_its_coins_and_its_name(lobby: House) -> None:
    async with lobby.player() as player, lobby.player() as other:
        await player.account("Archimedes")
        await other.guest()
        table_id = await player.open_table()
        wrong = await player.http.request("DELETE", "/v1/me", json={"password": "wrong horse"})
        assert (wrong.status_code, wrong.json()["code"]) == (401, "bad_credentials")
        assert (await player.http.request("DELETE", "/v1/me", json={"password": "correct horse"})).status_code == 204
        assert (await player.http.get("/v1/me")).status_code == 401
        assert player.account_id in lobby.table.closed
        again = await other.http.post("/v1/sessions", json={"name": "Archimedes", "password": "correct horse"})
        assert again.status_code == 401
        shown = (await other.http.get(f"/v1/tables/{table_id}")).json()["host"]
        assert shown == {"account_id": player.account_id, "name": "Deleted player"}
        assert (await other.http.patch("/v1/me", json={"name": "Archimedes"})).status_code == 200
