"""Personal tokens: what each scope may do, shown once, revoked with everything else."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import httpx
import pytest
from sqlalchemy import text

from spades_lobby.people import store
from tests.lobby.conftest import House
from tests.lobby.player import Player

pytestmark = [pytest.mark.real, pytest.mark.asyncio(loop_scope="module")]

COINS = {"kind": "coins", "ruleset": {"name": "deniro"}, "stake_coins": 100}
PRACTICE = {"kind": "practice", "ruleset": {"name": "deniro"}}


async def made(owner: Player, scope: str, **more: object) -> dict[str, object]:
    answer = await owner.http.post("/v1/me/tokens", json={"label": "a program", "scope": scope} | more)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


async def program(lobby: House, owner: Player, scope: str) -> Player:
    """A client that has nothing but a token of this scope."""
    client = lobby.player()
    client.account_id = owner.account_id
    client.token = str((await made(owner, scope))["token"])
    client.http.headers["Authorization"] = f"Bearer {client.token}"
    return client


async def opened(client: Player, body: dict[str, object]) -> httpx.Response:
    return await client.http.post("/v1/tables", json=body, headers={"Idempotency-Key": uuid4().hex})


def refused(answer: httpx.Response) -> tuple[int, str, str]:
    return answer.status_code, answer.json().get("code"), answer.json().get("needed_scope")


async def test_a_token_is_shown_once_listed_without_its_secret_and_revoked(lobby: House) -> None:
    async with lobby.player() as owner, lobby.player() as stranger:
        await owner.account()
        await stranger.account()
        token = await made(owner, "read", expires_days=7)
        assert (token["label"], token["scope"]) == ("a program", "read")
        lives_ms = int(str(token["expires_ms"])) - int(str(token["created_ms"]))
        assert lives_ms == 7 * 86_400_000
        listed = (await owner.http.get("/v1/me/tokens")).json()["tokens"]
        assert listed == [{name: value for name, value in token.items() if name != "token"}]
        async with lobby.gateway.engine.connect() as db:
            rows = (await db.execute(text("SELECT * FROM session"))).all()
        assert str(token["token"]) not in repr(
            [[bytes(c) if isinstance(c, memoryview) else c for c in r] for r in rows]
        )
        by_token = {"Authorization": f"Bearer {token['token']}"}
        async with httpx.AsyncClient(base_url=lobby.address, headers=by_token) as client:
            assert (await client.get("/v1/me")).json()["account_id"] == owner.account_id
            path = f"/v1/me/tokens/{token['token_id']}"
            assert (await stranger.http.delete(path)).status_code == 404
            assert (await owner.http.delete(path)).status_code == 204
            assert (await owner.http.delete(path)).status_code == 404
            assert (await client.get("/v1/me")).status_code == 401
        assert (await owner.http.get("/v1/me/tokens")).json() == {"tokens": []}


async def test_a_guest_has_no_tokens_and_nobody_has_too_many(lobby: House) -> None:
    async with lobby.player() as guest, lobby.player() as owner:
        await guest.guest()
        body = {"label": "x", "scope": "read"}
        answer = await guest.http.post("/v1/me/tokens", json=body)
        assert (answer.status_code, answer.json()["code"]) == (403, "account_required")
        await owner.account()
        async with lobby.gateway.engine.begin() as db:
            await db.execute(
                text(
                    "INSERT INTO session (token_hash, account_id, scope, label)"
                    " SELECT sha256(gen_random_uuid()::text::bytea), :id, 'read', 'x' FROM generate_series(1, 49)"
                ),
                {"id": owner.account_id},
            )
        answers = await asyncio.gather(*(owner.http.post("/v1/me/tokens", json=body) for _ in range(4)))
        assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409]
        assert {answer.json()["code"] for answer in answers if answer.status_code == 409} == {"too_many"}


@pytest.mark.parametrize("scope", ["read", "bot", "play"])
async def test_only_a_log_in_changes_the_account(lobby: House, scope: str) -> None:
    async with lobby.player() as owner:
        await owner.account()
        async with await program(lobby, owner, scope) as client:
            answers = [
                await client.http.put("/v1/me/password", json={"password": "correct horse", "new_password": "x" * 9}),
                await client.http.request("DELETE", "/v1/me", json={"password": "correct horse"}),
                await client.http.patch("/v1/me", json={"name": "Somebody"}),
                await client.http.post("/v1/me/tokens", json={"label": "x", "scope": "read"}),
                await client.http.get("/v1/me/tokens"),
                await client.http.post("/v1/me/recovery-code", json={"password": "correct horse"}),
                await client.http.delete("/v1/sessions"),
            ]
            assert {refused(answer) for answer in answers} == {(403, "scope_missing", "owner")}
            assert (await client.http.get("/v1/wallet")).status_code == 200
            # It may end itself.
            assert (await client.http.delete("/v1/sessions/current")).status_code == 204
            assert (await client.http.get("/v1/me")).status_code == 401
        assert (await owner.http.get("/v1/me")).status_code == 200


async def test_a_token_that_reads_sees_and_does_nothing(lobby: House) -> None:
    async with lobby.player() as owner:
        await owner.account()
        table_id = await owner.open_table()
        async with await program(lobby, owner, "read") as client:
            answers = [
                await opened(client, PRACTICE),
                await client.http.put(f"/v1/tables/{table_id}/seats/0"),
                await client.http.post(f"/v1/tables/{table_id}/start"),
                await client.http.post("/v1/invites", json={"code": "A" * 12}),
            ]
            assert {refused(answer) for answer in answers} == {(403, "scope_missing", "bot")}
            answers = [
                await client.http.post("/v1/queue", json={"ruleset": "deniro", "stake_coins": 100}),
                await client.http.post("/v1/wallet/top-up"),
            ]
            assert {refused(answer) for answer in answers} == {(403, "scope_missing", "play")}
            for path in (f"/v1/tables/{table_id}", "/v1/tables", "/v1/me/games", "/v1/wallet", "/v1/queue"):
                assert (await client.http.get(path)).status_code == 200


async def test_a_socket_of_a_reading_token_watches_as_a_watcher_and_takes_nobodys_view(lobby: House) -> None:
    async with lobby.player() as owner:
        await owner.account()
        table_id = await owner.open_table()
        assert (await owner.http.put(f"/v1/tables/{table_id}/seats/0")).status_code == 200
        assert (await owner.http.post(f"/v1/tables/{table_id}/start")).status_code == 200
        async with await program(lobby, owner, "read") as client:
            mine = await owner.socket()
            assert (await mine.watch(table_id))["view"] is not None
            reads = await client.socket()
            seen = await reads.watch(table_id)
            assert (seen["seat"], seen["view"]) == (None, None)
            for frame in ("ready", "start", "take_seat", "rematch"):
                command = reads.command(frame)
                assert (await reads.until("command_rejected", id=command))["code"] == "scope_missing"
            command = reads.command("say", phrase="hello")
            assert (await reads.until("command_rejected", id=command))["code"] == "scope_missing"
            bid = mine.command("bid", turn_id="1:5", bid=3)
            await mine.until("ack", id=bid)
            turn = await reads.until("turn_started")
            assert "you" not in turn
            assert not [frame for frame in mine.frames if frame.get("code") == "played_elsewhere"]
            await mine.close()
            await reads.close()


async def test_a_bots_token_plays_where_no_coins_are_at_stake(lobby: House) -> None:
    async with lobby.player() as owner:
        await owner.account()
        async with await program(lobby, owner, "bot") as client:
            answer = await opened(client, PRACTICE)
            assert answer.status_code == 201
            table_id = answer.json()["table_id"]
            assert (await client.http.put(f"/v1/tables/{table_id}/seats/0")).status_code == 200
            assert refused(await opened(client, COINS)) == (403, "scope_missing", "play")
            coins = (await opened(owner, COINS)).json()["table_id"]
            socket = await client.socket()
            await socket.watch(table_id)
            start = socket.command("start")
            await socket.until("ack", id=start)
            await socket.watch(coins)
            for frame, more in (("take_seat", {}), ("start", {}), ("leave", {"confirm_price": 110})):
                command = socket.command(frame, **more)
                assert (await socket.until("command_rejected", id=command))["code"] == "scope_missing"
            sent = len(lobby.table.commands)
            answers = [
                await client.http.put(f"/v1/tables/{coins}/seats/any"),
                await client.http.post(f"/v1/tables/{coins}/start"),
                await client.http.delete(f"/v1/tables/{coins}/seats/any?confirm_price_coins=110"),
                await client.http.post("/v1/queue", json={"ruleset": "deniro", "stake_coins": 100}),
            ]
            assert {refused(answer) for answer in answers} == {(403, "scope_missing", "play")}
            told = {type(command).__name__ for _, _, command in lobby.table.commands[sent:]}
            assert told <= {"SyncSeat"}
            await socket.close()


async def test_a_playing_token_plays_for_coins(lobby: House) -> None:
    async with lobby.player() as owner:
        await owner.account()
        async with await program(lobby, owner, "play") as client:
            answer = await opened(client, COINS)
            assert answer.status_code == 201
            seat = await client.http.put(f"/v1/tables/{answer.json()['table_id']}/seats/any")
            assert seat.status_code == 200


@pytest.mark.parametrize("how", ["everywhere", "password", "revoked", "expired"])
async def test_a_token_ends_and_its_sockets_with_it(lobby: House, how: str) -> None:
    async with lobby.player() as owner:
        await owner.account()
        async with await program(lobby, owner, "play") as client:
            socket = await client.socket()
            if how == "everywhere":
                assert (await owner.http.delete("/v1/sessions")).status_code == 204
            elif how == "password":
                change = {"password": "correct horse", "new_password": "another horse"}
                assert (await owner.http.put("/v1/me/password", json=change)).status_code == 204
            elif how == "revoked":
                [token] = (await owner.http.get("/v1/me/tokens")).json()["tokens"]
                assert (await owner.http.delete(f"/v1/me/tokens/{token['token_id']}")).status_code == 204
            else:
                async with lobby.gateway.engine.begin() as db:
                    await db.execute(
                        text("UPDATE session SET expires_at = now() WHERE account_id = :id AND scope IS NOT NULL"),
                        {"id": owner.account_id},
                    )
            assert (await client.http.get("/v1/me")).status_code == 401
            if how == "expired":
                await _sweep(lobby)
            assert await socket.closed() == 4401


async def _sweep(lobby: House) -> None:
    async with lobby.gateway.engine.begin() as db:
        await store.sweep(db, timedelta(days=7), 1_000)


BAD_TOKENS: list[dict[str, object]] = [
    *({}, {"label": "x"}, {"label": "x", "scope": "owner"}, {"label": "x", "scope": "admin"}),
    *({"label": "", "scope": "read"}, {"label": "a\nb", "scope": "read"}, {"label": "x" * 41, "scope": "read"}),
    *({"label": "x", "scope": "read", "expires_days": 0}, {"label": "x", "scope": "read", "expires_days": "7"}),
]


@pytest.mark.parametrize("body", BAD_TOKENS, ids=repr)
async def test_what_is_no_token_is_refused(lobby: House, body: dict[str, object]) -> None:
    async with lobby.player() as owner:
        await owner.guest()
        answer = await owner.http.post("/v1/me/tokens", json=body)
        assert (answer.status_code, answer.json()["code"]) == (422, "malformed")
