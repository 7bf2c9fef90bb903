"""The short way of fetches is aiokafka's own, byte for byte: the lock pins the version whose ways these are."""

import importlib.util
from io import BytesIO
from typing import Any

import aiokafka.protocol.fetch
import pytest

from spades_runtime import fetching


def _own(message: str) -> Any:
    """How aiokafka itself has the topics of a message, whether or not ours are installed."""
    spec = importlib.util.spec_from_file_location("aiokafka.protocol.untouched", aiokafka.protocol.fetch.__file__)
    assert spec is not None
    assert spec.loader is not None
    untouched = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(untouched)
    schema = getattr(untouched, message).SCHEMA
    return schema.fields[schema.names.index("topics")]


def _answers() -> list[Any]:
    busy = (3, 0, 2**40, 2**40 - 1, 7, [], -1, b"records" * 100)
    aborted = (4, 1, -1, -1, -1, [(1, 2), (3, 2**50)], 2, b"")
    silent = (5, 0, 10, 10, 0, None, -1, None)
    return [("spades.table.commands", [busy, aborted, silent]), ("früh", []), ("spades.clock.events", [silent])]


def test_a_request_has_the_bytes_that_aiokafka_writes() -> None:
    topics = [("spades.table.commands", [(0, -1, 2**40, 0, 262_144), (7, -1, 0, -1, 1)]), ("früh", [])]
    assert fetching.AskedTopics().encode(topics) == _own("FetchRequest_v11").encode(topics)


def test_an_answer_has_the_values_that_aiokafka_reads() -> None:
    own = _own("FetchResponse_v11")
    written = own.encode(_answers())
    assert fetching.AnsweredTopics().decode(BytesIO(written)) == own.decode(BytesIO(written)) == _answers()


def test_an_answer_that_is_cut_short_is_refused() -> None:
    written = _own("FetchResponse_v11").encode(_answers()[:1])
    for length in range(len(written) - 1):
        with pytest.raises(Exception, match=r"buffer|short"):
            fetching.AnsweredTopics().decode(BytesIO(written[:length]))
