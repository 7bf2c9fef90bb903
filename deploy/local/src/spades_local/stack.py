"""The order of things: servers, topics, schemas, migrations, services; and the way back."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping

from spades_events import PARTITIONS_LOCAL
from spades_local import environment, probing, record, roles, servers, topics
from spades_local.credentials import Passwords, ensure_operator, ensure_seal_key
from spades_local.environment import Surroundings
from spades_local.places import Places, make_state_folder, write_private
from spades_local.ports import HOST, any_free, is_free, next_free, same_or_free
from spades_local.problems import NotReady, PortTaken, Problem
from spades_local.programs import Program
from spades_local.record import Record
from spades_local.roles import Database
from spades_local.supervisor import Supervisor, Tell
from spades_local.telling import Telling

PAGE_PORT = 8080
PORTS = range(65_536)
# As many as a service accepts.
PARTITION_COUNTS = range(1, 1_025)
# Those of one line start beside each other, the next line when all of it are ready. The table comes last: it gives
# an outage's time back up to its own start, so nobody should wait for the page behind it.
SERVICES_IN_ORDER = (("wallet", "clock", "bot", "lobby"), ("table",))
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Begin = Callable[[Supervisor, Record], Awaitable[None]]


async def run(places: Places, tell: Tell, begin: Begin, until: asyncio.Event | None = None) -> None:
    """Do `begin` and then supervise until a stop signal, or until `until` is set; then drain.

    Raises AlreadyRunning, DiskFull and whatever Problem `begin` meets, after draining.
    """
    make_state_folder(places)
    with record.only_one(places):
        known = record.load(places.record)
        for name in record.end_leftovers(known):
            tell("stack", f"ended {name}, which an earlier run left")
        known = Record(ports=known.ports, supervisor=record.myself())
        record.save(places.record, known)
        _forget(places)
        stop = until or asyncio.Event()
        for stop_signal in STOP_SIGNALS:
            asyncio.get_running_loop().add_signal_handler(stop_signal, stop.set)
        supervisor = Supervisor(places.logs, tell, lambda: servers.note(places, known, supervisor))
        try:
            await _unless_stopped(begin(supervisor, known), stop)
            await stop.wait()
        finally:
            known.ready = False
            await supervisor.drain()
            record.save(places.record, Record(ports=known.ports))
            _forget(places)


async def begin_servers(places: Places, tell: Tell, supervisor: Supervisor, known: Record) -> servers.Servers:
    """Only PostgreSQL and Kafka, and a file that a shell can source to use them."""
    here = await servers.start(supervisor, places, known, lambda text: tell("stack", text))
    write_private(
        places.env,
        f"export SPADES_KAFKA_BOOTSTRAP='{here.bootstrap}'\nexport SPADES_DATABASE_URL='{here.admin_url}'\n",
    )
    known.bootstrap = here.bootstrap
    known.ready = True
    servers.note(places, known, supervisor)
    return here


async def begin_all(
    places: Places,
    tell: Tell,
    supervisor: Supervisor,
    known: Record,
    environ: Mapping[str, str] = os.environ,
) -> None:
    """Everything, up to the page's address."""
    page_host, page_port, moved = _page_address(environ)
    partitions = environment.number("SPADES_PARTITIONS", PARTITION_COUNTS, PARTITIONS_LOCAL, environ)
    databases: dict[str, Database] = {}

    async def make_schemas(admin_url: str) -> None:
        schemas = environ.get("SPADES_SCHEMA_PREFIX", "")
        passwords = Passwords(places.secrets)
        databases.update(await asyncio.to_thread(roles.create, admin_url, schemas, passwords))
        tell("stack", "migrating the schemas")
        await migrate_all(databases, environ)

    here = await servers.start(
        supervisor,
        places,
        known,
        lambda text: tell("stack", text),
        environ,
        once_postgres_answers=make_schemas,
    )
    around = _surroundings(places, here, databases, partitions, environ)
    await topics.create(here.bootstrap, around.topic_prefix, around.partitions)
    given: dict[str, dict[str, str]] = {}
    for line in SERVICES_IN_ORDER:
        programs = []
        for service in line:
            port = same_or_free(known.ports.get(service))
            known.ports[service] = port
            env = environment.of_service(service, around, port, environ)
            if service == "lobby":
                env |= {"SPADES_LOBBY_HOST": page_host, "SPADES_LOBBY_PORT": str(page_port)}
            given[service] = environment.ours(env)
            programs.append(service_program(service, env, port))
        tell("stack", f"starting {', '.join(line)}")
        await supervisor.start(*programs)
    # For the commands of a service, as its audit: they find here what the service itself was given.
    write_private(places.given, json.dumps(given, indent=1))
    known.address = f"http://{page_host}:{page_port}"
    known.bootstrap = here.bootstrap
    known.ready = True
    servers.note(places, known, supervisor)
    # The address is what a person waits for: what the services tell of their start comes before it.
    await supervisor.quiet()
    tell("stack", f"what they say is in {places.logs}, warnings and errors are told here; Ctrl-C stops everything")
    if moved:
        tell("stack", f"port {PAGE_PORT} is taken by another program, so the page is at port {page_port}")
    tell("stack", f"ready: {known.address}")


async def migrate_all(databases: Mapping[str, Database], environ: Mapping[str, str] = os.environ) -> None:
    """Bring every schema up to date, beside each other: none knows another's tables."""
    async with asyncio.TaskGroup() as migrations:
        for service, database in databases.items():
            migrations.create_task(migrate(service, database, environ))


async def migrate(service: str, database: Database, environ: Mapping[str, str] = os.environ) -> None:
    """Bring one service's schema up to date as its owner; raises NotReady with what it said."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "spades_runtime.migrate", service),
        env=environment.of_migration(service, database, environ),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        said, _ = await process.communicate()
    finally:
        if process.returncode is None:
            # Given up in the middle: its transaction ends with it.
            process.kill()
            await process.wait()
    if process.returncode != 0:
        raise NotReady(f"The schema of {service} could not be migrated:\n{said.decode()[-3000:]}")


def service_program(service: str, env: Mapping[str, str], admin_port: int) -> Program:
    """One of our services as a child, ready when its /readyz says so."""

    async def answers() -> bool:
        return await probing.why_unready(admin_port) is None

    return Program(
        name=service,
        argv=(sys.executable, "-m", f"spades_{service}"),
        env=env,
        ready=answers,
        told=Telling(),
        port=admin_port,
        faces_people=service == "lobby",
    )


def stop(places: Places, tell: Tell) -> bool:
    """Stop the stack of this folder and what a crash left of it; whether there was anything."""
    known = record.load(places.record)
    found = False
    if known.supervisor is not None and record.is_held(places):
        process = record.still_runs(known.supervisor)
        if process is not None:
            found = True
            tell("stack", f"stopping the stack (process {process.pid})")
            process.terminate()
            record.await_end(process)
    for name in record.end_leftovers(record.load(places.record)):
        found = True
        tell("stack", f"ended {name}, which a crash left")
    if places.state.exists() and not record.is_held(places):
        ports = record.load(places.record).ports
        record.save(places.record, Record(ports=ports))
        _forget(places)
    return found


def _forget(places: Places) -> None:
    """Addresses of servers that no longer run."""
    for file in (places.env, places.given):
        file.unlink(missing_ok=True)


async def wipe_given(environ: Mapping[str, str] = os.environ) -> None:
    """Remove what is ours from servers that somebody else runs; raises NotReady where one does not answer."""
    if url := environ.get("SPADES_DATABASE_URL"):
        await servers.await_given_postgres(url)
        await asyncio.to_thread(roles.drop, url, environ.get("SPADES_SCHEMA_PREFIX", ""))
    if bootstrap := environ.get("SPADES_KAFKA_BOOTSTRAP"):
        await servers.await_given_kafka(bootstrap)
        await topics.delete(bootstrap, environ.get("SPADES_TOPIC_PREFIX", environment.TOPIC_PREFIX))


def _surroundings(
    places: Places,
    here: servers.Servers,
    databases: Mapping[str, Database],
    partitions: int,
    environ: Mapping[str, str],
) -> Surroundings:
    ensure_seal_key(places.seal_key)
    if not environ.get("SPADES_OPERATORS_FILE"):
        ensure_operator(places.operators, places.operator_token)
    else:
        # A token that opens nothing here would only mislead.
        for file in (places.operators, places.operator_token):
            file.unlink(missing_ok=True)
    return Surroundings(
        bootstrap=here.bootstrap,
        databases=databases,
        seal_key=places.seal_key,
        operators=places.operators,
        topic_prefix=environ.get("SPADES_TOPIC_PREFIX", environment.TOPIC_PREFIX),
        group_prefix=environ.get("SPADES_GROUP_PREFIX", environment.GROUP_PREFIX),
        partitions=partitions,
        log_level=environ.get("SPADES_LOG_LEVEL", "INFO"),
    )


def _page_address(environ: Mapping[str, str]) -> tuple[str, int, bool]:
    """Host and port of the page, and whether the usual port was not to be had."""
    host = environ.get("SPADES_LOBBY_HOST", HOST)
    if environ.get("SPADES_LOBBY_PORT"):
        asked = environment.number("SPADES_LOBBY_PORT", PORTS, PAGE_PORT, environ)
        if asked == 0:
            return host, any_free(), False
        if not is_free(asked, host):
            raise PortTaken(
                f"Port {asked} is taken by another program.\n"
                "Stop that one, or set SPADES_LOBBY_PORT to another port (0: any)."
            )
        return host, asked, False
    port = next_free(PAGE_PORT, host)
    return host, port, port != PAGE_PORT


async def _unless_stopped(work: Awaitable[None], stop: asyncio.Event) -> None:
    """Await `work`, or give it up when `stop` is set; the first Problem of several is raised."""
    doing = asyncio.ensure_future(work)
    stopping = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait([doing, stopping], return_when=asyncio.FIRST_COMPLETED)
        if doing.done():
            doing.result()
    except BaseExceptionGroup as group:
        raise first_problem(group) from group
    finally:
        for task in (doing, stopping):
            task.cancel()
        await asyncio.gather(doing, stopping, return_exceptions=True)


def first_problem(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first Problem in a tree of errors, else the first error."""
    flat: list[BaseException] = []
    waiting: list[BaseException] = [group]
    while waiting:
        error = waiting.pop(0)
        if isinstance(error, BaseExceptionGroup):
            waiting += error.exceptions
        else:
            flat.append(error)
    return next((error for error in flat if isinstance(error, Problem)), flat[0])
