"""Kafka and Postgres plumbing of the services: the partition worker and what stands around it.

It knows no card, seat or player. DESIGN.md's promises about single writers, exactly-once
effects and recovery are kept here and nowhere else.
"""

from spades_runtime.clock import Clock
from spades_runtime.errors import Fenced, KeyAbsent, LostDatabase, NotReady, PublishFailed, RuntimeFault, UnsafeDatabase
from spades_runtime.partitions import partition_of
from spades_runtime.process import Process, run
from spades_runtime.producer import Producer
from spades_runtime.seal import Seal
from spades_runtime.settings import RuntimeSettings
from spades_runtime.types import (
    Answer,
    AnswerId,
    Commit,
    Database,
    Effects,
    Headers,
    Input,
    Output,
    Parked,
    Poll,
    Processor,
    SnapshotRow,
    StoredEvent,
)
from spades_runtime.worker import PartitionWorker

__all__ = [
    "Answer",
    "AnswerId",
    "Clock",
    "Commit",
    "Database",
    "Effects",
    "Fenced",
    "Headers",
    "Input",
    "KeyAbsent",
    "LostDatabase",
    "NotReady",
    "Output",
    "Parked",
    "PartitionWorker",
    "Poll",
    "Process",
    "Processor",
    "Producer",
    "PublishFailed",
    "RuntimeFault",
    "RuntimeSettings",
    "Seal",
    "SnapshotRow",
    "StoredEvent",
    "UnsafeDatabase",
    "partition_of",
    "run",
]
