"""The AsyncAPI documents are those of the contracts, and every reference in them leads somewhere."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spades_clock.handlers import Deadlines
from spades_events import asyncapi as kafka
from spades_events import codec, frame_name
from spades_events.topics import Topic
from spades_lobby import asyncapi as socket
from spades_lobby.live.frames import CLIENT_TYPES
from spades_runtime import Processor
from spades_table.handlers import Tables
from spades_wallet.handlers import Wallet

BOTH = pytest.mark.parametrize("made", [kafka, socket], ids=["kafka", "websocket"])


@BOTH
def test_the_committed_document_is_current(made: Any) -> None:
    file: Path = made.FILE
    assert file.read_text("utf-8") == kafka.text_of(made.document()), f"run: python -m {made.__name__}"


@BOTH
def test_every_reference_leads_somewhere(made: Any) -> None:
    document = made.document()
    for reference in references(document):
        at = document
        for step in reference.removeprefix("#/").split("/"):
            assert step in at, reference
            at = at[step]


def references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        for value in part.values():
            yield from references(value)
    elif isinstance(part, list):
        for value in part:
            yield from references(value)


def test_every_message_is_carried_by_one_topic() -> None:
    assert list(kafka.CARRIED) == list(Topic)
    carried = [kind for kinds in kafka.CARRIED.values() for kind in kinds]
    assert sorted(carried, key=str) == sorted(codec.MESSAGES, key=str)


@pytest.mark.parametrize(("service", "worker"), [("table", Tables), ("clock", Deadlines), ("wallet", Wallet)])
def test_a_service_reads_and_writes_what_the_document_says(service: str, worker: type[Processor]) -> None:
    assert {topic for topic, services in kafka.READERS.items() if service in services} == set(worker.inputs)
    assert {topic for topic, services in kafka.WRITERS.items() if service in services} == {
        *worker.outputs,
        Topic.PARKED,
    }


def test_every_message_says_what_it_is() -> None:
    messages = kafka.document()["components"]["messages"]
    assert [name for name, message in messages.items() if not message["summary"]] == []


def test_the_socket_has_every_frame_of_a_client_and_every_public_event() -> None:
    messages = json.loads(socket.FILE.read_text("utf-8"))["components"]["messages"]
    assert {*CLIENT_TYPES, *(frame_name(kind) for kind in codec.TABLE_EVENTS)} <= messages.keys()
    assert {"player_disconnected", "player_returned", "said", "snapshot", "command_rejected"} <= messages.keys()
