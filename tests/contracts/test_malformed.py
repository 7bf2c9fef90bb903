"""Whatever bytes come, the answer is one typed refusal that quotes none of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spades_events import CE_TYPES, MalformedBody, UndecodableMessage, UnknownType, decode
from spades_events.commands import GrantCoins, LookAtCards, OpenSeed, OpenTable, PassCards, PlaceBid, TakeSeat, TopUp
from spades_events.events import BidMade, SpadesBroken
from tests.contracts.golden import Sample, golden_samples

DEEP = 100_000
DIGITS = b"9" * 10_000

LOOK = "spades.look_at_cards.v1"
REFUSED_BYTES = {
    "empty": b"",
    "truncated": b'{"hand_no":1',
    "trailing": b'{"hand_no":1} x',
    "two objects": b'{"hand_no":1}{"hand_no":1}',
    "null": b"null",
    "scalar": b"1",
    "array": b"[]",
    "text": b'"hand_no"',
    "not JSON": b"hand_no=1",
    "single quotes": b"{'hand_no':1}",
    "invalid UTF-8": b'{"hand_no":1,"\xff":1}',
    "byte order mark": b'\xef\xbb\xbf{"hand_no":1}',
    "UTF-16": '{"hand_no":1}'.encode("utf-16"),
    "NUL": b'\x00{"hand_no":1}',
    "NaN": b'{"hand_no":NaN}',
    "Infinity": b'{"hand_no":Infinity}',
    "1e400": b'{"hand_no":1e400}',
    "float for a whole number": b'{"hand_no":1.0}',
    "exponent for a whole number": b'{"hand_no":1e1}',
    "true for 1": b'{"hand_no":true}',
    "text for a number": b'{"hand_no":"3"}',
    "null for a number": b'{"hand_no":null}',
    "zero": b'{"hand_no":0}',
    "minus zero": b'{"hand_no":-0}',
    "negative": b'{"hand_no":-1}',
    "beyond the chain": b'{"hand_no":65}',
    "2^53+1": b'{"hand_no":9007199254740993}',
    "2^64": b'{"hand_no":18446744073709551616}',
    "10,000 digits": b'{"hand_no":%s}' % DIGITS,
    "deep array": b'{"hand_no":' + b"[" * DEEP + b"]" * DEEP + b"}",
    "deep object": b'{"hand_no":' + b'{"a":' * DEEP,
    "unknown field": b'{"hand_no":1,"seat":2}',
    "__proto__": b'{"hand_no":1,"__proto__":{"seat":2}}',
    "missing field": b"{}",
}


@pytest.mark.parametrize("body", REFUSED_BYTES.values(), ids=REFUSED_BYTES)
def test_malformed_bytes_are_refused(body: bytes) -> None:
    with pytest.raises(MalformedBody):
        decode(LOOK, body)


REFUSED_FIELDS = [
    (PlaceBid, b'{"turn_id":"1:1","bid":14}'),
    (PlaceBid, b'{"turn_id":"1:1","bid":-1}'),
    (PlaceBid, b'{"turn_id":"1:1","bid":3.5}'),
    (PlaceBid, b'{"turn_id":"1:1","bid":3.0}'),
    (PlaceBid, b'{"turn_id":"1:1","bid":"3"}'),
    (PlaceBid, b'{"turn_id":"1:1","bid":true}'),
    (PlaceBid, b'{"turn_id":"1:1","bid":null}'),
    (PlaceBid, b'{"turn_id":"1:1","bid":"Nil"}'),
    (PlaceBid, b'{"turn_id":"","bid":"nil"}'),
    (PlaceBid, b'{"turn_id":"%s","bid":"nil"}' % (b"1" * 81)),
    (PlaceBid, b'{"turn_id":"\\ud800","bid":"nil"}'),
    (PlaceBid, b'{"turn_id":"\\udc00\\ud800","bid":"nil"}'),
    (PlaceBid, b'{"turn_id":"\xed\xa0\x80","bid":"nil"}'),
    (PlaceBid, b'{"turn_id":"1\x00","bid":"nil"}'),
    (TakeSeat, b'{"seat":4}'),
    (TakeSeat, b'{"seat":-1}'),
    (TakeSeat, b'{"seed_commit":"%s"}' % (b"0" * 62)),
    (TakeSeat, b'{"seed_commit":"%s"}' % (b"A" * 64)),
    (OpenSeed, b'{"seed":"%s\\n"}' % (b"a" * 64)),
    (OpenSeed, b'{"seed":null}'),
    (PassCards, b'{"turn_id":"1:5","cards":["2C"]}'),
    (PassCards, b'{"turn_id":"1:5","cards":["2C","3C","4C"]}'),
    (PassCards, b'{"turn_id":"1:5","cards":["2C","10H"]}'),
    (OpenTable, b'{"kind":"secret","ruleset":{"name":"deniro"}}'),
    (OpenTable, b'{"kind":"practice","ruleset":{"name":"deniro"},"stake_coins":-100}'),
    (OpenTable, b'{"kind":"practice","ruleset":{"name":"deniro"},"stake_coins":1.5}'),
    (OpenTable, b'{"kind":"practice","ruleset":{"name":"deniro"},"stake_coins":"100"}'),
    (OpenTable, b'{"kind":"practice","ruleset":{"name":"deniro"},"stake_coins":9007199254740992}'),
    (OpenTable, b'{"kind":"practice","ruleset":{"name":"deniro"},"stake_coins":%s}' % DIGITS),
    (OpenTable, b'{"kind":"practice","ruleset":{"name":"deniro"},"clock_ms":0}'),
    (OpenTable, b'{"kind":"practice","ruleset":{"name":"deniro","options":{"target":1.5}}}'),
    (OpenTable, b'{"kind":"practice","ruleset":{"name":"deniro","options":{"target":"500"}}}'),
    (OpenTable, b'{"kind":"practice","ruleset":{"name":"deniro","options":{"target":%s}}}' % DIGITS),
    (OpenTable, b'{"kind":"practice","ruleset":{"name":"deniro","seed":1}}'),
    (TopUp, b'{"day":"2026-1-31"}'),
    (TopUp, b'{"day":"2026-01-31\\n"}'),
    (GrantCoins, b'{"amount_coins":1,"reason":""}'),
    (GrantCoins, b'{"amount_coins":1,"reason":"two\\nlines"}'),
    (GrantCoins, b'{"amount_coins":1,"reason":"\\u0000"}'),
    (BidMade, b'{"turn_id":"1:1","seat":true,"bid":3}'),
    (SpadesBroken, b'{"later":' + b"[" * DEEP + b"]" * DEEP + b"}"),
]


@pytest.mark.parametrize(("cls", "body"), REFUSED_FIELDS, ids=lambda value: str(value)[:60])
def test_a_field_outside_its_type_is_refused(cls: type, body: bytes) -> None:
    with pytest.raises(MalformedBody):
        decode(CE_TYPES[cls], body)


@pytest.mark.parametrize("ce_type", ["", "spades.card_played.v2", "spades.card_played", "card_played", "x" * 10_000])
def test_an_unknown_type_or_version_is_refused_without_repeating_it_at_length(ce_type: str) -> None:
    with pytest.raises(UnknownType) as refusal:
        decode(ce_type, b"{}")
    assert len(refusal.value.reason) < 200


def test_a_refusal_quotes_no_value() -> None:
    secret = "5ec2e7" * 5
    for body in (
        b'{"kind":"%s","ruleset":{"name":"deniro"}}' % secret.encode(),
        b'{"kind":"practice","ruleset":{"name":"deniro"},"stake_coins":"%s"}' % secret.encode(),
        b'{"kind":"practice","ruleset":"%s"}' % secret.encode(),
    ):
        with pytest.raises(MalformedBody) as refusal:
            decode(CE_TYPES[OpenTable], body)
        assert secret not in refusal.value.reason
        assert refusal.value.__cause__ is None


def test_an_event_may_have_grown_a_field() -> None:
    assert decode(CE_TYPES[BidMade], b'{"turn_id":"1:1","seat":0,"bid":3,"thought_ms":12}') == BidMade(
        turn_id="1:1", seat=0, bid=3
    )


def test_of_a_key_given_twice_the_last_counts() -> None:
    # Said here because JSON leaves it open: one reader, one meaning, and the fingerprint is over the bytes.
    assert decode(LOOK, b'{"hand_no":1,"hand_no":2}') == LookAtCards(hand_no=2)


def reason_of_refusal(ce_type: str, body: bytes) -> str:
    """Empty where the bytes are a message; anything but a typed refusal rises."""
    try:
        decode(ce_type, body)
    except UndecodableMessage as refusal:
        return refusal.reason
    return ""


@given(st.sampled_from(sorted(CE_TYPES.values())), st.binary(max_size=200))
def test_any_bytes_are_a_message_or_one_typed_refusal(ce_type: str, body: bytes) -> None:
    assert len(reason_of_refusal(ce_type, body)) <= 300


@given(st.sampled_from(list(golden_samples())), st.integers(0, 10_000), st.binary(min_size=1, max_size=4))
def test_a_damaged_sample_is_a_message_or_one_typed_refusal(sample: Sample, at: int, damage: bytes) -> None:
    at %= len(sample.body)
    damaged = sample.body[:at] + damage + sample.body[at + len(damage) :]
    assert len(reason_of_refusal(sample.ce_type, damaged)) <= 300
