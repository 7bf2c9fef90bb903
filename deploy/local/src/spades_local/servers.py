"""PostgreSQL and Kafka: embedded, or those somebody already has."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import psycopg

from spades_local import kafka, postgres, record
from spades_local.credentials import Passwords
from spades_local.jars import ensure_jars
from spades_local.places import Places
from spades_local.ports import same_or_free
from spades_local.problems import NotReady
from spades_local.record import Record
from spades_local.supervisor import Supervisor

# How long a server that somebody else runs may take to answer before we say that it does not.
GIVEN_LIMIT_S = 10.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Servers:
    """Where the two servers answer. The database address is an administrator's."""

    admin_url: str
    bootstrap: str


async def start(
    supervisor: Supervisor,
    places: Places,
    known: Record,
    tell: Callable[[str], None],
    environ: Mapping[str, str] = os.environ,
    *,
    once_postgres_answers: Callable[[str], Awaitable[None]] | None = None,
) -> Servers:
    """Postgres and then Kafka, each ready; ports of the last run are used again if free.

    What needs only the database's address is done beside the start of Kafka.
    """
    admin_url = environ.get("SPADES_DATABASE_URL")
    bootstrap = environ.get("SPADES_KAFKA_BOOTSTRAP")
    # The first run fetches jars and creates data: beside each other they cost half.
    async with asyncio.TaskGroup() as preparing:
        database = None if admin_url else preparing.create_task(_postgres(places, known))
        broker = None if bootstrap else preparing.create_task(_kafka(places, known, tell))
    if database is not None:
        await supervisor.start(postgres.program(database.result()))
        admin_url = database.result().admin_url
    else:
        assert admin_url
        await await_given_postgres(admin_url)
    async with asyncio.TaskGroup() as rest:
        if once_postgres_answers is not None:
            rest.create_task(_as_task(once_postgres_answers(admin_url)))
        if broker is not None:
            rest.create_task(supervisor.start(kafka.program(broker.result())))
            bootstrap = broker.result().bootstrap
        else:
            assert bootstrap
            rest.create_task(await_given_kafka(bootstrap))
    return Servers(admin_url=admin_url, bootstrap=bootstrap)


async def _as_task(work: Awaitable[None]) -> None:
    await work


async def _postgres(places: Places, known: Record) -> postgres.Postgres:
    port = known.ports["postgres"] = same_or_free(known.ports.get("postgres"))
    password = Passwords(places.secrets).of(postgres.ADMIN)[postgres.ADMIN]
    server = postgres.locate(places, port, password)
    await asyncio.to_thread(postgres.prepare, server)
    return server


async def _kafka(places: Places, known: Record, tell: Callable[[str], None]) -> kafka.Kafka:
    jars = await asyncio.to_thread(ensure_jars, places.cache, tell)
    port = known.ports["kafka"] = same_or_free(known.ports.get("kafka"))
    controller = same_or_free(known.ports.get("kafka_controller"))
    known.ports["kafka_controller"] = controller
    broker = kafka.locate(places, jars, port, controller)
    await asyncio.to_thread(kafka.prepare, broker)
    return await kafka.learn(broker, places.cache, tell)


async def await_given_postgres(admin_url: str) -> None:
    """Raises NotReady where the PostgreSQL that somebody else runs does not let us in."""
    try:
        connection = await psycopg.AsyncConnection.connect(admin_url, connect_timeout=int(GIVEN_LIMIT_S))
    except psycopg.Error as error:
        raise NotReady(
            f"The PostgreSQL of SPADES_DATABASE_URL does not let us in: {error}\n"
            "Start it and check the address, or unset the variable to use the embedded one."
        ) from error
    await connection.close()


async def await_given_kafka(bootstrap: str) -> None:
    """Wait a little for the Kafka that somebody else runs; raises NotReady where it does not answer."""
    deadline_s = asyncio.get_running_loop().time() + GIVEN_LIMIT_S
    while not await kafka.answers_at(bootstrap):
        if asyncio.get_running_loop().time() > deadline_s:
            raise NotReady(
                f"No Kafka answers at {bootstrap}, which SPADES_KAFKA_BOOTSTRAP names.\n"
                "Start it and check the address, HOST:PORT, or unset the variable to use the embedded one."
            )
        await asyncio.sleep(0.2)


def note(places: Places, known: Record, supervisor: Supervisor) -> None:
    """Write down who runs now, so that `stop` can clean up after a crash of this very process."""
    known.children = {child.program.name: child.running for child in supervisor.children if child.running is not None}
    record.save(places.record, known)
