"""`python -m spades_wallet.grant ACCOUNT COINS REASON --operator NAME`: grant coins, as an entry with its reason.

It sends `GrantCoins` like any other command and waits for the wallet's word. `--id` names the grant:
the same id again grants nothing more. Exit 0 if granted, 1 if refused, 2 if it was asked wrongly or no
answer came in time (then repeat it with the id that it printed). The wallet is asked at SPADES_KAFKA_BOOTSTRAP,
else through the Kafka of the local stack that runs here.
"""

import argparse
import asyncio
import contextlib
import sys
from typing import Final
from uuid import uuid4

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.errors import KafkaError
from pydantic import ValidationError

from spades_events import CE_TYPES, Envelope, Topic, UndecodableMessage, decode, encode, envelope_of, headers_of
from spades_events.commands import GrantCoins
from spades_events.wallet import CoinsGranted, WalletCommandRefused
from spades_runtime import local_stack, partition_of
from spades_wallet.settings import WalletSettings

ANSWER_LIMIT_S: Final = 15.0


async def grant(settings: WalletSettings, command_id: str, account: str, operator: str, wish: GrantCoins) -> int:
    """Send the grant and tell what came of it; the process's exit code."""
    try:
        async with asyncio.timeout(ANSWER_LIMIT_S):
            return _told(await _asked(settings, command_id, account, operator, wish))
    except (TimeoutError, KafkaError) as error:
        sys.stdout.write(f"no answer yet ({type(error).__name__}); repeat it with --id {command_id}\n")
        return 2


async def _asked(
    settings: WalletSettings, command_id: str, account: str, operator: str, wish: GrantCoins
) -> CoinsGranted | WalletCommandRefused:
    part = partition_of(account, settings.partitions)
    answers = TopicPartition(settings.topic(Topic.WALLET_EVENTS), part)
    envelope = Envelope(
        id=command_id,
        type=CE_TYPES[GrantCoins],
        source="/spades/operator",
        subject=account,
        actor=operator,
    )
    async with contextlib.AsyncExitStack() as clients:
        consumer = AIOKafkaConsumer(bootstrap_servers=settings.kafka_bootstrap)
        clients.push_async_callback(consumer.stop)
        producer = AIOKafkaProducer(bootstrap_servers=settings.kafka_bootstrap, acks="all", enable_idempotence=True)
        clients.push_async_callback(producer.stop)
        await consumer.start()
        await producer.start()
        consumer.assign([answers])
        # From here on, before the question: the answer cannot come in between.
        await consumer.seek_to_end(answers)
        await consumer.position(answers)
        await producer.send_and_wait(
            settings.topic(Topic.WALLET_COMMANDS),
            encode(wish),
            key=account.encode(),
            headers=headers_of(envelope),
            partition=part,
        )
        return await _answer(consumer, command_id)


async def _answer(consumer: AIOKafkaConsumer, command_id: str) -> CoinsGranted | WalletCommandRefused:
    while True:
        record = await consumer.getone()
        try:
            event = decode(envelope_of(record.headers).type, record.value)
        except UndecodableMessage:
            continue
        if isinstance(event, CoinsGranted | WalletCommandRefused) and event.command_id == command_id:
            return event


def _told(event: CoinsGranted | WalletCommandRefused) -> int:
    match event:
        case CoinsGranted():
            available = event.accounts[0].available_coins
            sys.stdout.write(f"granted {event.amount_coins}; {event.account_id} now has {available}\n")
            return 0
        case WalletCommandRefused():
            sys.stdout.write(f"refused: {event.code}\n")
            return 1


def main() -> int:
    """Read the arguments and grant; the process's exit code."""
    parser = argparse.ArgumentParser(prog="python -m spades_wallet.grant", description=__doc__)
    parser.add_argument("account")
    parser.add_argument("coins", type=int)
    parser.add_argument("reason")
    parser.add_argument("--operator", required=True, help="who decided it; stands in the ledger")
    parser.add_argument("--id", default="", help="names the grant, so that a repetition is no second one")
    given = parser.parse_args()
    if not local_stack.adopt("wallet", "SPADES_KAFKA_BOOTSTRAP"):
        parser.error("set SPADES_KAFKA_BOOTSTRAP, or start the local stack here")
    wish = GrantCoins(amount_coins=given.coins, reason=given.reason)
    try:
        # What the wallet could not read would be parked there, and never answered.
        decode(CE_TYPES[GrantCoins], encode(wish))
        # The database is the wallet's alone: whoever grants needs no address of it.
        settings = WalletSettings(database_url="")  # type: ignore[call-arg]  # the rest is in the environment
    except (UndecodableMessage, ValidationError) as error:
        parser.error(str(error))
    return asyncio.run(grant(settings, given.id or str(uuid4()), given.account, given.operator, wish))


if __name__ == "__main__":
    sys.exit(main())
