"""Tables by request and answer, before a fake table."""

import asyncio
from uuid import uuid4

import pytest

from tests.lobby.conftest import House

pytestmark = [pytest.mark.real, pytest.mark.asyncio(loop_scope="module")]

DENIRO = {"name": "deniro", "options": {}}


def key() -> dict[str, str]:
    return {"Idempotency-Key": uuid4().hex}


async def test_a_table_says_its_rules_its_price_and_what_a_missed_bid_costs(lobby: House) -> None:
    async with lobby.player() as player:
        await player.account("Fermat")
        wanted = {"kind": "coins", "ruleset": DENIRO, "stake_coins": 100}
        answer = await player.http.post("/v1/tables", json=wanted, headers=key())
        table = answer.json()
        assert answer.status_code == 201
        assert answer.headers["location"] == f"/v1/tables/{table['table_id']}"
        assert table["ruleset"] == {"name": "deniro", "options": {}, "missed_trick_points": -10}
        assert (table["stake_coins"], table["needed_coins"], table["leaving_price_coins"]) == (100, 110, 110)
        assert table["host"] == {"account_id": player.account_id, "name": "Fermat"}
        assert [seat["free"] for seat in table["seats"]] == [True] * 4
        seen = (await player.http.get(f"/v1/tables/{table['table_id']}")).json()
        assert seen["table_id"] == table["table_id"]


async def test_the_same_key_opens_one_table_however_often_and_at_once(lobby: House) -> None:
    async with lobby.player() as player:
        await player.guest()
        body, headers = {"kind": "practice", "ruleset": DENIRO}, key()
        answers = await asyncio.gather(*(player.http.post("/v1/tables", json=body, headers=headers) for _ in range(16)))
        assert {answer.status_code for answer in answers} == {201}
        assert len({answer.json()["table_id"] for answer in answers}) == 1
        other = await player.http.post("/v1/tables", json=body | {"kind": "private"}, headers=headers)
        assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")


async def test_the_same_key_of_two_people_is_two_tables(lobby: House) -> None:
    async with lobby.player() as first, lobby.player() as second:
        body, headers = {"kind": "practice", "ruleset": DENIRO}, key()
        tables = set()
        for player in (first, second):
            await player.guest()
            tables.add((await player.http.post("/v1/tables", json=body, headers=headers)).json()["table_id"])
        assert len(tables) == 2


async def test_without_a_key_no_table_is_opened(lobby: House) -> None:
    async with lobby.player() as player:
        await player.guest()
        answer = await player.http.post("/v1/tables", json={"kind": "practice", "ruleset": DENIRO})
        assert (answer.status_code, answer.json()["code"]) == (400, "idempotency_key_required")


async def test_a_guest_needs_an_account_for_coins(lobby: House) -> None:
    async with lobby.player() as guest, lobby.player() as host:
        await guest.guest()
        await host.account()
        body = {"kind": "coins", "ruleset": DENIRO, "stake_coins": 10}
        refused = await guest.http.post("/v1/tables", json=body, headers=key())
        assert (refused.status_code, refused.json()["code"]) == (403, "account_required")
        table_id = await host.open_table(kind="online", stake_coins=10)
        async with asyncio.timeout(5):
            while (await guest.http.get(f"/v1/games/{table_id}")).status_code == 404:
                await asyncio.sleep(0.02)
        refused = await guest.http.put(f"/v1/tables/{table_id}/seats/any")
        assert (refused.status_code, refused.json()["code"]) == (403, "account_required")
        socket = await guest.socket()
        await socket.watch(table_id)
        command = socket.command("take_seat")
        assert (await socket.until("command_rejected", id=command))["code"] == "account_required"
        await socket.close()


async def test_open_tables_are_listed_page_by_page_and_private_ones_are_not(lobby: House) -> None:
    async with lobby.player() as player:
        await player.guest("Lister")
        mine = [await player.open_table() for _ in range(5)]
        hidden = await player.open_table(kind="private")
        listed: list[str] = []
        async with asyncio.timeout(5):
            while not set(mine) <= set(listed):
                listed, cursor = [], None
                while True:
                    query = {"limit": 2} | ({"cursor": cursor} if cursor else {})
                    page = (await player.http.get("/v1/tables", params=query)).json()
                    listed += [table["table_id"] for table in page["tables"]]
                    cursor = page["next"]
                    if cursor is None:
                        break
        assert hidden not in listed
        assert len(listed) == len(set(listed))
        assert [one for one in listed if one in mine] == mine[::-1]
        # Who knows its id finds it.
        assert (await player.http.get(f"/v1/tables/{hidden}")).status_code == 200


async def test_a_seat_is_taken_given_up_and_taken_again(lobby: House) -> None:
    async with lobby.player() as player, lobby.player() as other:
        await player.guest()
        await other.guest()
        table_id = await player.open_table()
        seats = f"/v1/tables/{table_id}/seats"
        taken = await player.http.put(f"{seats}/2")
        assert (taken.status_code, taken.json()["seat"], taken.json()["state"]) == (200, 2, "taken")
        again = await player.http.put(f"{seats}/3")
        assert (again.status_code, again.json()["code"]) == (409, "already_seated")
        lost = await other.http.put(f"{seats}/2")
        assert (lost.status_code, lost.json()["code"]) == (409, "seat_taken")
        up = await player.http.delete(f"{seats}/2")
        assert (up.status_code, up.json()["first_seq"]) == (200, 3)
        assert (await other.http.put(f"{seats}/2")).status_code == 200


async def test_only_ones_own_seat_is_given_up(lobby: House) -> None:
    async with lobby.player() as player:
        await player.guest()
        table_id = await player.open_table()
        assert (await player.http.put(f"/v1/tables/{table_id}/seats/0")).json()["seat"] == 0
        other = await player.http.delete(f"/v1/tables/{table_id}/seats/3")
        assert (other.status_code, other.json()["code"]) == (409, "not_seated")
        assert (await player.http.delete(f"/v1/tables/{table_id}/seats/0")).status_code == 200


async def test_twenty_joins_of_one_person_at_once_take_one_seat(lobby: House) -> None:
    async with lobby.player() as player:
        await player.guest()
        table_id = await player.open_table()
        answers = await asyncio.gather(
            *(player.http.put(f"/v1/tables/{table_id}/seats/any", headers=key()) for _ in range(20))
        )
        assert sorted(answer.status_code for answer in answers) == [200] + [409] * 19
        assert {answer.json()["code"] for answer in answers if answer.status_code == 409} == {"already_seated"}


async def test_the_same_request_for_a_seat_again_says_the_same_seat(lobby: House) -> None:
    async with lobby.player() as player:
        await player.guest()
        table_id = await player.open_table()
        headers = key()
        first, second = [await player.http.put(f"/v1/tables/{table_id}/seats/1", headers=headers) for _ in range(2)]
        assert (first.status_code, second.status_code) == (200, 200)
        assert first.json() == second.json()


async def test_only_the_host_starts_and_leaving_then_names_its_price(lobby: House) -> None:
    async with lobby.player() as host, lobby.player() as other:
        await host.account()
        await other.account()
        table_id = await host.open_table(kind="online", stake_coins=100)
        for player in (host, other):
            assert (await player.http.put(f"/v1/tables/{table_id}/seats/any")).status_code == 200
        refused = await other.http.post(f"/v1/tables/{table_id}/start")
        assert (refused.status_code, refused.json()["code"]) == (403, "not_host")
        assert (await host.http.post(f"/v1/tables/{table_id}/start")).status_code == 200
        async with asyncio.timeout(5):
            while (await host.http.get(f"/v1/games/{table_id}")).json().get("phase") != "playing":
                await asyncio.sleep(0.02)
        asked = await other.http.delete(f"/v1/tables/{table_id}/seats/any")
        assert (asked.status_code, asked.json()["code"], asked.json()["price_coins"]) == (409, "price_changed", 110)
        wrong = await other.http.delete(f"/v1/tables/{table_id}/seats/any?confirm_price_coins=100")
        assert (wrong.status_code, wrong.json()["price_coins"]) == (409, 110)
        left = await other.http.delete(f"/v1/tables/{table_id}/seats/any?confirm_price_coins=110")
        assert left.status_code == 200


async def test_a_game_is_found_again_with_its_events(lobby: House) -> None:
    async with lobby.player() as player:
        await player.guest()
        table_id = await player.open_table()
        await player.http.put(f"/v1/tables/{table_id}/seats/0")
        await player.http.post(f"/v1/tables/{table_id}/start")
        last = lobby.table.games[table_id].version
        async with asyncio.timeout(5):
            while (await player.http.get(f"/v1/games/{table_id}")).json().get("version") != last:
                await asyncio.sleep(0.02)
        mine = (await player.http.get("/v1/me/games")).json()["games"]
        assert [game["table_id"] for game in mine] == [table_id]
        page = (await player.http.get(f"/v1/games/{table_id}/events?after=1&limit=2")).json()
        assert [(one["type"], one["seq"]) for one in page["events"]] == [("seat_taken", 2), ("game_started", 3)]
        assert page["next"] == 3
        everything = await player.http.get(f"/v1/games/{table_id}/events", headers={"Accept": "application/x-ndjson"})
        assert len(everything.text.splitlines()) == last
        assert "2S" not in everything.text
        proof = await player.http.get(f"/v1/games/{table_id}/hands/1/proof")
        assert (proof.status_code, proof.json()["code"]) == (404, "not_found")


async def test_every_preset_is_offered_with_its_choices(lobby: House) -> None:
    async with lobby.player() as player:
        rulesets = (await player.http.get("/v1/rulesets")).json()["rulesets"]
        by_name = {ruleset["name"]: ruleset for ruleset in rulesets}
        assert set(by_name) == {"deniro", "classic", "bicycle", "club", "jokers"}
        assert by_name["club"]["options"] == {"target": [500, 300]}
        assert by_name["bicycle"]["rules"]["missed_points"] == 0
