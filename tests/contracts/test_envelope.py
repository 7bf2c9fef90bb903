"""CloudEvents 1.0, binary mode: what a record says beside its body."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spades_events import Envelope, MissingAttribute, envelope_of, headers_of

TEXT = st.text(st.characters(codec="utf-8"), max_size=80)
# To the end of the year 9999, as RFC 3339 writes it.
MOMENT_MS = st.integers(0, 253_402_300_799_999)

FULL = Envelope(
    id="t-1:57",
    type="spades.card_played.v1",
    source="/spades/table",
    subject="t-1",
    sequence=57,
    time_ms=1_767_225_600_123,
    actor="a-1",
    seats="02",
    seat=3,
    traceparent="00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
)
LEAST = Envelope(id="c-1", type="spades.play_card.v1", source="/spades/bot", subject="t-1")


@pytest.mark.parametrize("envelope", [FULL, LEAST])
def test_an_envelope_comes_back_whole(envelope: Envelope) -> None:
    assert envelope_of(headers_of(envelope)) == envelope


@given(
    st.builds(
        Envelope,
        id=TEXT,
        type=TEXT,
        source=TEXT,
        subject=TEXT,
        sequence=st.none() | st.integers(0, 2**53),
        time_ms=st.none() | MOMENT_MS,
        actor=st.none() | TEXT,
        seats=st.sets(st.sampled_from("0123")).map(sorted).map("".join),
        seat=st.none() | st.integers(0, 3),
        traceparent=st.none() | TEXT,
    )
)
def test_any_envelope_comes_back_whole(envelope: Envelope) -> None:
    assert envelope_of(headers_of(envelope)) == envelope


def test_the_headers_are_those_of_cloudevents() -> None:
    assert dict(headers_of(FULL)) == {
        "ce_specversion": b"1.0",
        "ce_id": b"t-1:57",
        "ce_source": b"/spades/table",
        "ce_type": b"spades.card_played.v1",
        "ce_subject": b"t-1",
        "content-type": b"application/json",
        "ce_sequence": b"57",
        "ce_time": b"2026-01-01T00:00:00.123Z",
        "ce_spadesactor": b"a-1",
        "ce_spadesseats": b"02",
        "ce_spadesseat": b"3",
        "traceparent": b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    }


@pytest.mark.parametrize("missing", ["ce_id", "ce_type", "ce_source", "ce_subject"])
@pytest.mark.parametrize("how", ["absent", "without a value"])
def test_a_record_without_a_needed_attribute_is_refused(missing: str, how: str) -> None:
    headers = [(name, value) for name, value in headers_of(FULL) if name != missing]
    with pytest.raises(MissingAttribute, match=missing):
        envelope_of([*headers, (missing, None)] if how == "without a value" else headers)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ce_id", b"\xff"),
        ("ce_sequence", b""),
        ("ce_sequence", b"-1"),
        ("ce_sequence", b"1.5"),
        ("ce_sequence", b" 7"),
        ("ce_sequence", b"1_0"),
        ("ce_sequence", b"9" * 10_000),
        ("ce_sequence", "٣".encode()),
        ("ce_spadesseat", b"x"),
        ("ce_time", b"yesterday"),
        ("ce_time", b"2026-01-01T00:00:00"),
        ("ce_time", b"9" * 10_000),
        ("ce_spadesactor", b"\xed\xa0\x80"),
        ("traceparent", b"\x80"),
    ],
)
def test_an_unreadable_attribute_is_refused_without_being_quoted(name: str, value: bytes) -> None:
    with pytest.raises(MissingAttribute) as refusal:
        envelope_of([*headers_of(FULL), (name, value)])
    assert refusal.value.reason == "unreadable header"


def test_headers_of_others_are_passed_over() -> None:
    assert envelope_of([*headers_of(LEAST), ("baggage", b"\xff"), ("empty", None)]) == LEAST
