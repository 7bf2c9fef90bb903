"""A hundred live tables at once, for the memory that they take."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from spades_client import Account, Gateway

TABLES = 100
AT_ONCE = 16

T = TypeVar("T")


async def hundred_tables(gateway: Gateway, measure: Callable[[], Awaitable[T]]) -> T:
    """Open a hundred tables, deal at each, measure, and leave them all."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def open_one() -> tuple[Account, str]:
        async with gate:
            account = await gateway.guest()
            table_id = await account.open_table({"kind": "practice", "ruleset": {"name": "deniro"}})
            await account.put(f"/v1/tables/{table_id}/seats/any")
            await account.post(f"/v1/tables/{table_id}/start")
            return account, table_id

    async def leave_one(account: Account, table_id: str) -> None:
        async with gate:
            await account.delete(f"/v1/tables/{table_id}/seats/any?confirm_price_coins=0")

    tables = await asyncio.gather(*(open_one() for _ in range(TABLES)))
    try:
        return await measure()
    finally:
        await asyncio.gather(*(leave_one(account, table_id) for account, table_id in tables))
