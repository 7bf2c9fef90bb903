"""One table's viewers, without a server: order, seats' own parts, takeovers, for every interleaving."""

import itertools
import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from websockets.frames import Frame, Opcode

from spades_events import SeatHolder, events
from spades_events.private import Rejection
from spades_lobby.live.feeds import EVENTS_HELD_MAX, Feed, PublicEvent, SeatSnapshot, Viewer, public_event
from spades_lobby.live.wire import text_frame


@dataclass
class Screen:
    """An outlet that keeps what it got, as the client would read it."""

    frames: list[bytes] = field(default_factory=list)
    asked: int = 0
    told_elsewhere: int = 0
    silent: int = 0

    def send_later(self, frames: bytes) -> None:
        self.frames.append(frames)

    def ask_snapshot(self, viewer: Viewer) -> None:
        self.asked += 1

    def no_snapshot(self, viewer: Viewer, rejection: Rejection) -> None:
        raise AssertionError(rejection)

    def table_silent(self, viewer: Viewer) -> None:
        self.silent += 1

    def played_elsewhere(self, viewer: Viewer) -> None:
        self.told_elsewhere += 1

    @property
    def read(self) -> list[tuple[str, int, Any]]:
        """(type, seq, own part) of each frame."""
        told = [json.loads(unframed(frame)) for frame in self.frames]
        return [(frame["type"], frame["seq"], frame.get("you")) for frame in told]


def unframed(frame: bytes) -> bytes:
    length = frame[1]
    return frame[{126: 4, 127: 10}.get(length, 2) :]


def event(version: int, seats: str = "", fact: Any = None) -> PublicEvent:
    return public_event(b"moved", version, seats, b"{}", b"", fact)


def snapshot(version: int, seat: int | None = 0, connection: str | None = "c1", **more: Any) -> SeatSnapshot:
    frame = text_frame(json.dumps({"type": "snapshot", "seq": version}).encode())
    fields: dict[str, Any] = {"account_id": "ada", "stake_coins": 0, "claims": connection is not None}
    return SeatSnapshot(version=version, seat=seat, connection_id=connection, frame=frame, **(fields | more))


def joined(feed: Feed, connection: str = "c1", account: str = "ada", **view: Any) -> tuple[Viewer, Screen]:
    screen = Screen()
    viewer = Viewer(feed, connection, account, screen)
    feed.add(viewer)
    if view:
        feed.on_snapshot(snapshot(connection=connection, account_id=account, **view))
    return viewer, screen


def new_feed() -> Feed:
    return Feed("t", lambda: 0.0)


def test_events_before_the_snapshot_are_dropped_and_those_behind_it_follow() -> None:
    feed = new_feed()
    _, screen = joined(feed)
    for version in (3, 4, 5, 6):
        feed.on_event(event(version))
    feed.on_snapshot(snapshot(4))
    feed.on_event(event(7))
    assert screen.read == [("snapshot", 4, None), ("moved", 5, None), ("moved", 6, None), ("moved", 7, None)]


# Each topic keeps its own order.
ARRIVALS = [
    order
    for order in itertools.permutations(("e2", "p2", "e3", "p3", "e4"))
    if [step for step in order if step[0] == "e"] == ["e2", "e3", "e4"]
]


@pytest.mark.parametrize("order", ARRIVALS, ids="-".join)
def test_in_whatever_order_two_topics_arrive_the_viewer_sees_one_order(order: tuple[str, ...]) -> None:
    feed = new_feed()
    _, screen = joined(feed, version=1, seat=0)
    for step in order:
        version = int(step[1])
        if step[0] == "p":
            feed.on_supplement(version, 0, b'{"cards":["%d"]}' % version)
        else:
            feed.on_event(event(version, "0" if version < 4 else ""))
    assert screen.read == [
        ("snapshot", 1, None),
        ("moved", 2, {"cards": ["2"]}),
        ("moved", 3, {"cards": ["3"]}),
        ("moved", 4, None),
    ]
    assert screen.asked == 0


def test_another_seats_part_is_never_shown() -> None:
    feed = new_feed()
    _, screen = joined(feed, version=1, seat=0)
    feed.on_supplement(2, 1, b'{"cards":["AS"]}')
    feed.on_event(event(2, "1"))
    feed.on_event(event(3, "01"))
    feed.on_supplement(3, 1, b'{"cards":["KS"]}')
    feed.on_supplement(3, 0, b'{"cards":["2C"]}')
    assert screen.read == [("snapshot", 1, None), ("moved", 2, None), ("moved", 3, {"cards": ["2C"]})]


@pytest.mark.parametrize("version", [2, 3, 4])
def test_a_snapshot_at_or_behind_the_awaited_event_ends_the_wait(version: int) -> None:
    feed = new_feed()
    _, screen = joined(feed, version=1, seat=0)
    feed.on_event(event(2, "0"))
    feed.on_event(event(3))
    feed.on_event(event(4))
    assert screen.read == [("snapshot", 1, None)]
    feed.on_snapshot(snapshot(version, connection=None, claims=False))
    rest = [("moved", later, None) for later in range(version + 1, 5)]
    assert screen.read == [("snapshot", 1, None), ("snapshot", version, None), *rest]


def test_a_snapshot_read_before_its_events_serves_in_place_of_the_missing_part() -> None:
    feed = new_feed()
    _, screen = joined(feed, version=1, seat=0)
    feed.on_snapshot(snapshot(3, connection=None, claims=False))
    for version in (2, 3, 4):
        feed.on_event(event(version, "0" if version == 3 else ""))
    assert screen.read == [("snapshot", 1, None), ("moved", 2, None), ("snapshot", 3, None), ("moved", 4, None)]


def test_events_that_come_twice_are_shown_once() -> None:
    feed = new_feed()
    _, screen = joined(feed, version=1, seat=None)
    for version in (2, 3, 2, 3, 1, 4):
        feed.on_event(event(version))
    assert [seq for _, seq, _ in screen.read] == [1, 2, 3, 4]


def test_a_gap_asks_for_a_snapshot_and_goes_on_from_it() -> None:
    feed = new_feed()
    _, screen = joined(feed, version=1, seat=None)
    for version in (2, 5, 6, 7):
        feed.on_event(event(version))
    assert screen.asked == 1
    feed.on_snapshot(snapshot(6, seat=None))
    assert [seq for _, seq, _ in screen.read] == [1, 2, 6, 7]


def test_the_newest_connection_of_a_person_sees_the_seat() -> None:
    feed = new_feed()
    _, older = joined(feed, "c1", version=1, seat=0)
    feed.on_event(event(2, "0"))
    _, newer = joined(feed, "c2", version=2, seat=0)
    feed.on_event(event(3, "0"))
    feed.on_supplement(3, 0, b'{"cards":["AS"]}')
    assert older.told_elsewhere == 1
    assert older.read == [("snapshot", 1, None), ("moved", 2, None), ("moved", 3, None)]
    assert newer.read == [("snapshot", 2, None), ("moved", 3, {"cards": ["AS"]})]


def test_joining_anew_takes_nothing_back_from_a_newer_connection() -> None:
    feed = new_feed()
    viewer, older = joined(feed, "c1", version=1, seat=0)
    viewer.rejoin()
    _, newer = joined(feed, "c2", version=1, seat=0)
    feed.on_snapshot(snapshot(1, connection="c1", claims=False))
    assert (older.told_elsewhere, newer.told_elsewhere) == (1, 0)
    # The snapshot with the seat's cards is not shown; a watcher's is asked for.
    assert (older.read, older.asked) == ([("snapshot", 1, None)], 2)
    assert viewer.demoted


def test_who_takes_a_seat_while_watching_gets_its_parts_from_then_on() -> None:
    feed = new_feed()
    viewer, screen = joined(feed, version=1, seat=None)
    taken = events.SeatTaken(holder=SeatHolder(seat=3, account_id="ada"))
    feed.on_event(event(2, fact=taken))
    feed.on_supplement(3, 3, b'{"cards":["AS"]}')
    feed.on_event(event(3, "3"))
    assert viewer.seat == 3
    assert screen.read[-1] == ("moved", 3, {"cards": ["AS"]})


def test_who_leaves_waits_for_no_part_any_more() -> None:
    feed = new_feed()
    viewer, screen = joined(feed, version=1, seat=0)
    left = events.SeatForfeited(seat=0, account_id="ada", stake_coins=0, fee_coins=0)
    feed.on_event(event(2, fact=left))
    feed.on_event(event(3, "0"))
    assert viewer.seat is None
    assert [seq for _, seq, _ in screen.read] == [1, 2, 3]


def test_events_held_for_a_snapshot_are_bounded() -> None:
    feed = new_feed()
    viewer, screen = joined(feed)
    for version in range(1, EVENTS_HELD_MAX + 3):
        feed.on_event(event(version))
    assert len(viewer.held) <= EVENTS_HELD_MAX
    assert screen.asked == 1


def test_a_stalled_viewer_gets_nothing_until_its_new_snapshot() -> None:
    feed = new_feed()
    viewer, screen = joined(feed, version=1, seat=None)
    viewer.stall()
    feed.on_event(event(2))
    viewer.rejoin()
    feed.on_event(event(3))
    feed.on_snapshot(snapshot(2, seat=None))
    assert [seq for _, seq, _ in screen.read] == [1, 2, 3]


def test_a_table_that_stays_silent_is_reported_once() -> None:
    feed = new_feed()
    viewer, screen = joined(feed)
    for _ in range(6):
        viewer.rejoin()
    assert screen.silent == 1


@pytest.mark.parametrize("length", [0, 125, 126, 65_535, 65_536])
def test_a_frames_length_is_written_as_the_standard_has_it(length: int) -> None:
    payload = b"x" * length
    assert text_frame(payload) == Frame(Opcode.TEXT, payload).serialize(mask=False)
