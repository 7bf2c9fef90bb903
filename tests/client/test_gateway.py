"""Requests: one key over all tries, and patience that ends."""

import pytest
from starlette.responses import JSONResponse, Response

from spades_client import Gateway, NoAnswer, Refused
from tests.client.scripted import Scripted


async def test_a_request_that_failed_goes_out_again_with_its_key() -> None:
    async with Scripted().running() as scripted, Gateway(scripted.address) as gateway:
        me = await gateway.guest()
        busy = {"code": "unavailable", "message": "no"}
        scripted.answers += [JSONResponse(busy, 503), JSONResponse(busy, 429), JSONResponse({"table_id": "t"}, 201)]
        assert await me.open_table({"kind": "practice"}) == "t"
        keys = [request.headers["idempotency-key"] for request in scripted.requests]
        assert (len(keys), len(set(keys))) == (3, 1)
        assert {request.headers["authorization"] for request in scripted.requests} == {"Bearer token"}


async def test_another_request_has_another_key() -> None:
    async with Scripted().running() as scripted, Gateway(scripted.address) as gateway:
        me = await gateway.guest()
        scripted.answers += [Response(status_code=204), Response(status_code=204)]
        await me.post("/v1/tables/x/start")
        await me.post("/v1/tables/x/start")
        assert len({request.headers["idempotency-key"] for request in scripted.requests}) == 2


async def test_a_no_is_raised_with_its_code_and_not_asked_again() -> None:
    async with Scripted().running() as scripted, Gateway(scripted.address) as gateway:
        me = await gateway.guest()
        scripted.answers.append(JSONResponse({"code": "not_found", "message": "none"}, 404))
        with pytest.raises(Refused) as refused:
            await me.get("/v1/tables/x")
        assert (refused.value.status, refused.value.code) == (404, "not_found")


async def test_an_address_that_fails_gives_way_to_the_next() -> None:
    async with Scripted().running() as scripted, Gateway("http://127.0.0.1:1", scripted.address) as gateway:
        assert (await gateway.guest()).name == "Ada"


async def test_patience_ends() -> None:
    async with Gateway("http://127.0.0.1:1", patience_s=0.2) as gateway:
        with pytest.raises(NoAnswer):
            await gateway.guest()
