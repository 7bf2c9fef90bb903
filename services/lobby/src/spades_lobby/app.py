"""The gateway put together: what runs, in which order it starts, and how it stops."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Coroutine, Iterator
from datetime import timedelta
from typing import Any, Final

import structlog
import uvicorn
from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError
from sqlalchemy import make_url
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from spades_lobby import metrics
from spades_lobby.games.projection import Projection
from spades_lobby.live.desk import Answers, Desk
from spades_lobby.live.hub import Hub
from spades_lobby.live.wire import WireProtocol
from spades_lobby.operators import routes_admin
from spades_lobby.people import store
from spades_lobby.people.accounts import Accounts
from spades_lobby.people.namebook import Names
from spades_lobby.people.passwords import Passwords
from spades_lobby.rates import Rates
from spades_lobby.rest.gateway import Gateway
from spades_lobby.rest.public import application
from spades_lobby.settings import LobbySettings
from spades_lobby.socket import revocations
from spades_lobby.socket.sockets import Sockets
from spades_lobby.tables import queueing
from spades_lobby.tables.matchmaker import Matchmaker
from spades_lobby.tables.purse import Purse
from spades_lobby.tables.seats import Seats
from spades_runtime import Clock
from spades_runtime.errors import NotReady
from spades_runtime.kafka import producer
from spades_runtime.probes import Probes
from spades_runtime.process import Process

log = structlog.get_logger()

CHECK_S: Final = 2.0
STUCK_S: Final = 30.0
HEADERS_BYTES_MAX: Final = 32 * 1_024
SWEEP_S: Final = 60.0
SWEEP_MAX: Final = 10_000
GUEST_UNSEEN: Final = timedelta(days=7)
QUEUE_KEPT: Final = timedelta(hours=1)
"""How long one finds out where the queue seated one."""
STATEMENT_LIMIT_MS: Final = 10_000


async def main(process: Process[LobbySettings]) -> None:
    """Run the gateway until the process is told to stop. Raises NotReady where it cannot start."""
    settings = process.settings
    async with running(settings, process.probes) as (gateway, _):
        await process.stopping.wait()
        log.info("draining", sockets=gateway.sockets.count)
        await gateway.sockets.drain()


@contextlib.asynccontextmanager
async def running(settings: LobbySettings, probes: Probes) -> AsyncIterator[tuple[Gateway, str]]:
    """A whole gateway, serving at the address it yields, until the block ends."""
    loop = asyncio.get_running_loop()
    clock = Clock()
    answers = Answers()
    async with contextlib.AsyncExitStack() as stack:
        engine = _engine(settings)
        stack.push_async_callback(engine.dispose)
        await _check_database(engine)
        kafka = await _started_producer(settings)
        stack.push_async_callback(kafka.stop)
        desk = Desk(settings, kafka, clock)
        names = Names(engine)
        hub = Hub(settings, desk, answers, names, loop.time)
        await hub.reader.start()
        stack.push_async_callback(hub.reader.stop)
        projection = Projection(settings, engine)
        await projection.start()
        stack.push_async_callback(projection.stop)
        passwords = Passwords(settings.lobby_password_threads)
        stack.callback(passwords.close)
        rates = Rates(settings)
        seats = Seats(settings, engine, hub, desk, answers)
        gateway = Gateway(
            settings=settings,
            engine=engine,
            clock=clock,
            hub=hub,
            desk=desk,
            names=names,
            rates=rates,
            accounts=Accounts(settings, engine, passwords, names),
            seats=seats,
            purse=Purse(settings, engine, hub, desk, clock),
            matchmaker=Matchmaker(settings, engine, desk, loop.time),
            sockets=Sockets(settings, engine, hub, desk, answers, names, clock, rates, loop.time, seats),
        )
        probes.operated = routes_admin.application(gateway)
        health = _Health(gateway, projection)
        probes.is_healthy = health.is_healthy
        probes.problem = health.problem
        metrics.SOCKETS.set_function(lambda: gateway.sockets.count)
        metrics.VIEWERS.set_function(lambda: hub.viewer_count)
        metrics.PARTITIONS_READ.set_function(lambda: hub.reader.partition_count)
        await stack.enter_async_context(
            _background(
                hub.reader.run(),
                hub.sweep(),
                desk.failed(),
                gateway.sockets.sweep(),
                projection.run(),
                gateway.purse.repair(),
                gateway.matchmaker.run(),
                revocations.listen(settings, engine, gateway.sockets),
                health.watch(),
                _housekeeping(engine, names),
            )
        )
        address = await stack.enter_async_context(_serving(gateway, probes))
        log.info("serving", address=address)
        yield gateway, address


@contextlib.asynccontextmanager
async def _background(*work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Work that goes on as long as the block; the first of it that fails ends the block."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(each) for each in work]
        yield
        for task in tasks:
            task.cancel()


class _Server(uvicorn.Server):
    """Uvicorn without signal handlers: the process has its own."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def _serving(gateway: Gateway, probes: Probes) -> AsyncIterator[str]:
    """The public port, open while the block runs."""
    settings = gateway.settings
    try:
        listening = socket.create_server((settings.lobby_host, settings.lobby_port), backlog=2_048, reuse_port=False)
    except OSError as error:
        raise NotReady(
            f"Port {settings.lobby_port} of {settings.lobby_host} cannot be opened: {error.strerror}."
        ) from error
    server = _Server(
        uvicorn.Config(
            application(gateway, probes),
            ws=WireProtocol,
            ws_max_size=settings.lobby_frame_bytes_max,
            ws_ping_interval=settings.lobby_ping_ms / 1_000,
            ws_ping_timeout=settings.lobby_pong_ms / 1_000,
            # Four sends a move cost 173 µs without compression, 330 µs with it; clients pay too.
            ws_per_message_deflate=False,
            h11_max_incomplete_event_size=HEADERS_BYTES_MAX,
            proxy_headers=bool(settings.lobby_trusted_proxies),
            forwarded_allow_ips=settings.lobby_trusted_proxies or None,
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=2,
        )
    )
    task = asyncio.create_task(server.serve([listening]), name="public")
    try:
        host, port = listening.getsockname()[:2]
        yield f"http://{host}:{port}"
    finally:
        server.should_exit = True
        await task


def _engine(settings: LobbySettings) -> AsyncEngine:
    return create_async_engine(
        make_url(settings.database_url).set(drivername="postgresql+psycopg"),
        pool_size=settings.lobby_database_connections_max,
        max_overflow=0,
        pool_pre_ping=True,
        pool_timeout=5.0,
        connect_args={
            "options": f"-c search_path={settings.schema_name} -c statement_timeout={STATEMENT_LIMIT_MS}",
            "application_name": settings.member_name,
            "connect_timeout": 5,
            "keepalives_idle": 5,
            "keepalives_interval": 2,
            "keepalives_count": 3,
            "tcp_user_timeout": 10_000,
        },
    )


async def _check_database(engine: AsyncEngine) -> None:
    try:
        async with engine.connect() as db:
            await store.check(db)
    except (SQLAlchemyError, OSError) as error:
        raise NotReady(
            "The database does not answer, or its schema is not migrated "
            f"(python -m spades_runtime.migrate lobby): {type(error).__name__}."
        ) from error


async def _started_producer(settings: LobbySettings) -> AIOKafkaProducer:
    try:
        return await producer(settings)
    except KafkaError as error:
        raise NotReady(f"Kafka does not answer at {settings.kafka_bootstrap}.") from error


class _Health:
    """Whether the gateway lives and whether it serves, looked at every two seconds."""

    def __init__(self, gateway: Gateway, projection: Projection) -> None:
        self._gateway = gateway
        self._projection = projection
        self._problem: str | None = "starting"

    def is_healthy(self) -> bool:
        reader, now = self._gateway.hub.reader, asyncio.get_running_loop().time()
        reads = reader.idle or now - reader.turned_at < STUCK_S
        return reads and now - self._projection.turned_at < STUCK_S

    def problem(self) -> str | None:
        return "draining" if self._gateway.sockets.draining else self._problem

    async def watch(self) -> None:
        while True:
            self._problem = await self._look()
            await asyncio.sleep(CHECK_S)

    async def _look(self) -> str | None:
        try:
            await _check_database(self._gateway.engine)
            await self._gateway.hub.reader.check()
        except NotReady as problem:
            return str(problem)
        except (KafkaError, TimeoutError):
            return "Kafka does not answer."
        return None


async def _housekeeping(engine: AsyncEngine, names: Names) -> None:
    """Forget what expired."""
    while True:
        await asyncio.sleep(SWEEP_S)
        # Another gateway may have changed one.
        names.forget_all()
        try:
            async with engine.begin() as db:
                await store.sweep(db, GUEST_UNSEEN, SWEEP_MAX)
                await queueing.sweep(db, QUEUE_KEPT)
        except (SQLAlchemyError, OSError) as error:
            log.warning("not_swept", error=type(error).__name__)
