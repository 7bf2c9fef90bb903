"""The table's records: stored events out to the public topic, private ones to their seats.

This is the hot path of every move, so headers that records share are made once.
"""

from functools import lru_cache
from typing import Final

from spades_events import CE_TYPES, Envelope, Topic, encode, headers_of, private
from spades_runtime import Answer, Output

SOURCE: Final = "/spades/table"

_SPEC = ("ce_specversion", b"1.0")
_SOURCE = ("ce_source", SOURCE.encode())
_JSON = ("content-type", b"application/json")
_SUPPLEMENT = ("ce_type", CE_TYPES[private.Supplement].encode())
_ANSWER = ("ce_type", CE_TYPES[private.Answer].encode())
_PROMPT = ("ce_type", CE_TYPES[private.Prompt].encode())
_SEATS = tuple([("ce_spadesseat", b"%d" % seat) for seat in range(4)])


@lru_cache(maxsize=256)
def _time(at_ms: int) -> tuple[str, bytes]:
    envelope = Envelope(id="", type="", source="", subject="", time_ms=at_ms)
    return next(header for header in headers_of(envelope) if header[0] == "ce_time")


@lru_cache(maxsize=256)
def _type(name: str) -> tuple[str, bytes]:
    return ("ce_type", name.encode())


def public_records(answer: Answer) -> list[Output]:
    """The events of an answer as they stand in `table.events`; a refusal has none."""
    stream, version = answer.stream, answer.first_version
    subject = ("ce_subject", stream.encode())
    time = _time(answer.at_ms)
    trace = answer.traceparent
    records = []
    for event in answer.events:
        headers = [
            _SPEC,
            ("ce_id", f"{stream}:{version}".encode()),
            _SOURCE,
            _type(event.type),
            subject,
            _JSON,
            ("ce_sequence", b"%d" % version),
            time,
        ]
        if event.seats:
            headers.append(("ce_spadesseats", event.seats.encode()))
        if trace is not None:
            headers.append(("traceparent", trace.encode()))
        records.append(Output(Topic.TABLE_EVENTS, answer.part, stream, event.body, headers))
        version += 1
    return records


def supplement_record(supplement: private.Supplement, part: int, stream: str, version: int, at_ms: int) -> Output:
    """One seat's supplement of the event at `version`."""
    headers = [
        _SPEC,
        ("ce_id", f"{stream}:{version}:{supplement.seat}".encode()),
        _SOURCE,
        _SUPPLEMENT,
        ("ce_subject", stream.encode()),
        _JSON,
        ("ce_sequence", b"%d" % version),
        _time(at_ms),
        _SEATS[supplement.seat],
    ]
    return Output(Topic.TABLE_PRIVATE, part, stream, encode(supplement), headers)


def answer_record(body: bytes, part: int, stream: str, account: str, command_id: str, at_ms: int) -> Output:
    """What a command got, for whoever sent it; `body` is an encoded `private.Answer`."""
    headers = [
        _SPEC,
        ("ce_id", command_id.encode()),
        _SOURCE,
        _ANSWER,
        ("ce_subject", stream.encode()),
        _JSON,
        _time(at_ms),
        ("ce_spadesactor", account.encode()),
    ]
    return Output(Topic.TABLE_PRIVATE, part, stream, body, headers)


def prompt_record(prompt: private.Prompt, part: int, version: int, at_ms: int) -> Output:
    """A bot seat's turn, for the bot service."""
    stream = prompt.table_id
    headers = [
        _SPEC,
        ("ce_id", f"{stream}:{version}:prompt".encode()),
        _SOURCE,
        _PROMPT,
        ("ce_subject", stream.encode()),
        _JSON,
        ("ce_sequence", b"%d" % version),
        _time(at_ms),
        _SEATS[prompt.seat],
    ]
    return Output(Topic.TABLE_PROMPTS, part, stream, encode(prompt), headers)


def snapshot_record(snapshot: private.Snapshot, part: int, record_id: str) -> Output:
    """The table as one viewer sees it."""
    envelope = Envelope(
        id=record_id,
        type=CE_TYPES[private.Snapshot],
        source=SOURCE,
        subject=snapshot.table_id,
        sequence=snapshot.version,
        time_ms=snapshot.server_ms,
        actor=snapshot.account_id,
        seat=snapshot.seat,
    )
    return Output(Topic.TABLE_PRIVATE, part, snapshot.table_id, encode(snapshot), headers_of(envelope))
