"""The log is never rewritten: old versions are upcast, link by link, when they are read."""

import msgspec
import pytest

from spades_events import Codec, MalformedBody, UnknownType, ce_type_of
from spades_events.codec import MESSAGES, UPCASTERS


class BellRungV3(msgspec.Struct, frozen=True, kw_only=True):
    """The newest of three planted versions: v1 counted in `times`, v2 renamed it, v3 added who."""

    strokes: int
    ringer: str


def _renamed(body: dict) -> dict:
    return {"strokes": body["times"]}


def _with_ringer(body: dict) -> dict:
    return {**body, "ringer": "nobody"}


PLANTED = Codec(
    (*MESSAGES, BellRungV3),
    {
        **UPCASTERS,
        "spades.bell_rung.v1": ("spades.bell_rung.v2", _renamed),
        "spades.bell_rung.v2": ("spades.bell_rung.v3", _with_ringer),
    },
)


@pytest.mark.parametrize(
    ("version", "body", "expected"),
    [
        (1, b'{"times":3}', BellRungV3(strokes=3, ringer="nobody")),
        (2, b'{"strokes":3}', BellRungV3(strokes=3, ringer="nobody")),
        (3, b'{"strokes":3,"ringer":"North"}', BellRungV3(strokes=3, ringer="North")),
    ],
)
def test_every_version_is_read_as_the_newest(version: int, body: bytes, expected: BellRungV3) -> None:
    assert PLANTED.decode(f"spades.bell_rung.v{version}", body) == expected


def test_a_version_from_the_future_is_unknown() -> None:
    with pytest.raises(UnknownType):
        PLANTED.decode("spades.bell_rung.v4", b"{}")


@pytest.mark.parametrize("body", [b"[]", b"{", b'{"times":"3"}', b"NaN", b'{"a":' * 100_000])
def test_an_old_version_that_is_malformed_is_refused_like_a_new_one(body: bytes) -> None:
    with pytest.raises(MalformedBody):
        PLANTED.decode("spades.bell_rung.v1", body)


def test_a_chain_that_leads_nowhere_is_noticed_at_once() -> None:
    with pytest.raises(AssertionError, match="no reader for"):
        Codec(MESSAGES, {"spades.bell_rung.v1": ("spades.bell_rung.v2", _renamed)})


def test_the_version_is_part_of_the_class_name() -> None:
    assert ce_type_of(BellRungV3) == "spades.bell_rung.v3"
