"""One table as its viewers here see it: public events in order, each seat's own part merged in.

Pure bookkeeping, no await: records go in, bytes come out at the viewers. A viewer joins with a
snapshot at version v and then gets v + 1, v + 2, … without a gap. An event of which its seat has
a part of its own waits for that part; a snapshot at the same version or later ends the wait.
"""

from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol

import msgspec

from spades_events import events
from spades_events.private import PlayerDisconnected, Rejection, Said
from spades_lobby.live import frames
from spades_lobby.live.talk import PHRASES, SAID_KEPT
from spades_lobby.live.wire import text_frame

EVENTS_HELD_MAX: Final = 4_000
"""Events that wait for one viewer's snapshot; more are a snapshot that never came."""
TRIES_SILENT: Final = 3
"""Snapshots asked for in vain before a viewer is told that the table does not answer."""
SUPPLEMENTS_MAX: Final = 256
"""Seats' parts kept for events not read yet: two topics are never further apart."""


@dataclass(slots=True)
class PublicEvent:
    """One public event: its frame as everybody gets it, and as a seat with a part of its own does."""

    version: int
    seats: str
    """Seats that have a part of their own: `02`."""
    open_frame: bytes
    """The JSON without its closing brace."""
    fact: msgspec.Struct | None
    """Decoded where it changes who sits where."""
    frame: bytes = field(init=False)

    def __post_init__(self) -> None:
        self.frame = text_frame(self.open_frame + b"}")

    def frame_with(self, supplement: bytes) -> bytes:
        return text_frame(b'%b,"you":%b}' % (self.open_frame, supplement))


@dataclass(frozen=True, slots=True)
class SeatSnapshot:
    """A snapshot record: of one seat, or a watcher's where `seat` is None."""

    version: int
    seat: int | None
    account_id: str | None
    connection_id: str | None
    stake_coins: int
    frame: bytes
    """Ready to be sent, names included."""
    claims: bool = False
    """It answers a `watch`: this connection is its person's newest. Other snapshots claim nothing."""
    in_hand: bool = False


class Outlet(Protocol):
    """Where a viewer's frames go, and what a viewer may ask of its connection."""

    def send_later(self, frames: bytes) -> None:
        """Send with the next flush."""

    def ask_snapshot(self, viewer: "Viewer") -> None:
        """Ask the table for a snapshot for this viewer; it comes as a record."""

    def no_snapshot(self, viewer: "Viewer", rejection: Rejection) -> None:
        """The table refuses one: there is no such table, or no longer."""

    def table_silent(self, viewer: "Viewer") -> None:
        """The table has not answered for some time; the viewer goes on asking."""

    def played_elsewhere(self, viewer: "Viewer") -> None:
        """The same person took the seat's view on a newer connection."""


class Viewer:
    """One connection's view of one table."""

    __slots__ = (
        "account_id",
        "connection_id",
        "demoted",
        "feed",
        "held",
        "joining",
        "muted",
        "next",
        "outlet",
        "seat",
        "since",
        "stake_coins",
        "stalled",
        "tries",
    )

    def __init__(self, feed: "Feed", connection_id: str, account_id: str, outlet: Outlet) -> None:
        self.feed = feed
        self.connection_id = connection_id
        self.account_id = account_id
        self.outlet = outlet
        self.seat: int | None = None
        self.stake_coins = 0
        self.demoted = False
        """Its person plays this seat on a newer connection: from then on it only watches."""
        self.joining = True
        """A snapshot is on its way; events wait in `held`."""
        self.stalled = False
        """The reader is too slow: events are dropped until it has caught up and joins anew."""
        self.next = 0
        self.held: deque[PublicEvent] = deque()
        self.since = 0.0
        """When the running wait (for a snapshot or a seat's part) began."""
        self.tries = 0
        self.muted: set[str] = set()
        """Whose table talk it does not want to hear."""

    @property
    def waits(self) -> bool:
        return self.joining or bool(self.held)

    def lacks(self, snapshot: SeatSnapshot) -> bool:
        """Whether it waits for its seat's part of an event that this snapshot of the seat includes."""
        waits = bool(self.held) and self.seat is not None and self.seat == snapshot.seat
        return waits and self.held[0].version <= snapshot.version

    def rejoin(self) -> None:
        """Go on from a new snapshot."""
        self.stalled = False
        self.joining = True
        self.since = self.feed.now()
        self.tries += 1
        if self.tries == TRIES_SILENT:
            self.outlet.table_silent(self)
        self.outlet.ask_snapshot(self)

    def stall(self) -> None:
        self.stalled = True
        self.joining = False
        self.held.clear()

    def demote(self) -> None:
        """From here on a watcher's view, without the seat's own part."""
        self.demoted = True
        self.seat = None
        self.outlet.played_elsewhere(self)
        if not self.joining:
            self._drain()

    def on_event(self, event: PublicEvent) -> None:
        if self.stalled:
            return
        if self.joining or self.held:
            self.held.append(event)
            if len(self.held) > EVENTS_HELD_MAX:
                self.held.clear()
                self.rejoin()
        elif not self._show(event):
            self.held.append(event)
            self.since = self.feed.now()

    def on_supplement(self, version: int) -> None:
        if not self.joining and self.held and self.held[0].version == version:
            self._drain()

    def on_snapshot(self, snapshot: SeatSnapshot) -> None:
        """Start, or start again, from this snapshot."""
        self.joining = False
        self.tries = 0
        if snapshot.seat is not None and not self.feed.is_newest(self):
            # It was joining anew while a newer connection took over: a watcher's view, not the seat's.
            if not self.demoted:
                self.demoted = True
                self.outlet.played_elsewhere(self)
            self.seat = None
            self.rejoin()
            return
        self.seat = None if self.demoted else snapshot.seat
        self.stake_coins = snapshot.stake_coins
        self.next = snapshot.version + 1
        self.outlet.send_later(snapshot.frame)
        for gone in self.feed.absent.values():
            self.hear(gone.account_id, gone.frame)
        self._drain()

    def hear(self, account_id: str, frame: bytes) -> None:
        """A frame without a number, about somebody else at the table."""
        if account_id != self.account_id and not self.joining and not self.stalled:
            self.outlet.send_later(frame)

    def _drain(self) -> None:
        while self.held and not self.joining:
            event = self.held[0]
            if not self._show(event):
                self.since = self.feed.now()
                return
            # A seat lost on the way drains too: the event may be gone already.
            if self.held and self.held[0] is event:
                self.held.popleft()

    def _show(self, event: PublicEvent) -> bool:
        """Send the event if it is the next one; False while the seat's part of it is missing."""
        if event.version < self.next:
            return True
        if event.version > self.next:
            # It is committed, so the snapshot that is asked for only now includes it.
            self.rejoin()
            return True
        frame = event.frame
        if self.seat is not None and str(self.seat) in event.seats:
            supplement = self.feed.supplement(event.version, self.seat)
            if supplement is None:
                return self._show_snapshot_instead(event)
            frame = event.frame_with(supplement)
        self.outlet.send_later(frame)
        self.next = event.version + 1
        if event.fact is not None:
            self._move(event.fact)
        return True

    def _show_snapshot_instead(self, event: PublicEvent) -> bool:
        # After a restart of the table service seats get one fresh snapshot and no parts.
        assert self.seat is not None
        snapshot = self.feed.newest_snapshot(self.seat)
        if snapshot is None or snapshot.version < event.version:
            return False
        self.outlet.send_later(snapshot.frame)
        self.next = snapshot.version + 1
        return True

    def _move(self, fact: msgspec.Struct) -> None:
        if self.demoted:
            return
        match fact:
            case events.SeatTaken() if fact.holder.account_id == self.account_id:
                self.seat = fact.holder.seat
                self.feed.seated(self)
            case events.SeatTaken() if fact.replaces == self.account_id:
                self.seat = None
            case events.SeatReleased() | events.SeatForfeited():
                if fact.account_id == self.account_id:
                    self.seat = None
            case _:
                pass


@dataclass(frozen=True, slots=True)
class Absent:
    """Somebody who sits at the table and whose connection ended."""

    account_id: str
    seat: int
    frame: bytes


class Feed:
    """One table's viewers, and what they have to wait for."""

    def __init__(self, table_id: str, now: Callable[[], float]) -> None:
        self.table_id = table_id
        self.now = now
        self.viewers: dict[str, Viewer] = {}
        self.listeners: list[Callable[[msgspec.Struct], None]] = []
        """Those who wait for who sits where, as a request for a seat does."""
        self._supplements: OrderedDict[tuple[int, int], bytes] = OrderedDict()
        self._snapshots: dict[int, SeatSnapshot] = {}
        self._owners: dict[str, str] = {}
        self.absent: dict[str, Absent] = {}
        self.in_hand = False
        """A hand is being played: from its deal to its score."""
        self._in_hand_since = 0
        self.said: deque[tuple[str, str]] = deque(maxlen=SAID_KEPT)
        """(account, words) of the last table talk."""

    @property
    def idle(self) -> bool:
        return not self.viewers and not self.listeners

    def add(self, viewer: Viewer) -> None:
        """The viewer's snapshot has still to be asked for."""
        self.viewers[viewer.connection_id] = viewer
        viewer.since = self.now()

    def remove(self, viewer: Viewer) -> None:
        self.viewers.pop(viewer.connection_id, None)

    def supplement(self, version: int, seat: int) -> bytes | None:
        return self._supplements.get((version, seat))

    def newest_snapshot(self, seat: int) -> SeatSnapshot | None:
        return self._snapshots.get(seat)

    def owns(self, viewer: Viewer) -> None:
        """This connection is the one on which its person acts now."""
        self._owners[viewer.account_id] = viewer.connection_id

    def is_newest(self, viewer: Viewer) -> bool:
        """Whether no newer connection of its person watches this table."""
        return self._owners.get(viewer.account_id, viewer.connection_id) == viewer.connection_id

    def seated(self, viewer: Viewer) -> None:
        """The viewer's person has a seat now: only their newest connection sees its cards."""
        if not self.is_newest(viewer):
            viewer.demote()

    def on_event(self, event: PublicEvent) -> None:
        if event.fact is not None:
            if isinstance(event.fact, events.SeatReleased | events.SeatForfeited):
                self.absent.pop(event.fact.account_id, None)
            for listener in self.listeners:
                listener(event.fact)
        for viewer in list(self.viewers.values()):
            viewer.on_event(event)

    def on_supplement(self, version: int, seat: int, body: bytes) -> None:
        self._supplements[version, seat] = body
        if len(self._supplements) > SUPPLEMENTS_MAX:
            self._supplements.popitem(last=False)
        for viewer in list(self.viewers.values()):
            if viewer.seat == seat:
                viewer.on_supplement(version)

    def on_snapshot(self, snapshot: SeatSnapshot) -> None:
        """For the viewer that asked; and for its seat's other viewer, if that waits."""
        if snapshot.seat is not None:
            self._snapshots[snapshot.seat] = snapshot
        self._note_hand(snapshot.version, in_hand=snapshot.in_hand)
        if snapshot.claims and snapshot.account_id and snapshot.connection_id:
            self._claim(snapshot.account_id, snapshot.connection_id)
        for viewer in list(self.viewers.values()):
            if viewer.joining:
                if viewer.connection_id == snapshot.connection_id:
                    viewer.on_snapshot(snapshot)
            elif viewer.lacks(snapshot):
                viewer.on_snapshot(snapshot)

    def _claim(self, account_id: str, connection_id: str) -> None:
        self._owners[account_id] = connection_id
        back = self.absent.pop(account_id, None)
        if back is not None:
            self._tell_others(account_id, text_frame(frames.presence_frame("player_returned", account_id, back.seat)))
        for viewer in list(self.viewers.values()):
            older = viewer.account_id == account_id and viewer.connection_id != connection_id
            if older and viewer.seat is not None and not viewer.demoted:
                viewer.demote()

    # -- presence and table talk: unnumbered -----------------------------------------------

    def note_hand(self, kind: bytes, version: int) -> None:
        """This event was shown: a hand may have begun or ended by it."""
        in_hand = _HAND_RUNS.get(kind)
        if in_hand is not None:
            self._note_hand(version, in_hand=in_hand)

    def _note_hand(self, version: int, *, in_hand: bool) -> None:
        if version >= self._in_hand_since:
            self.in_hand, self._in_hand_since = in_hand, version

    def on_gone(self, gone: PlayerDisconnected) -> None:
        if self._owners.get(gone.account_id, gone.connection_id) != gone.connection_id:
            # They have come back already, by a newer connection.
            return
        frame = text_frame(frames.presence_frame("player_disconnected", gone.account_id, gone.seat))
        self.absent[gone.account_id] = Absent(gone.account_id, gone.seat, frame)
        self._tell_others(gone.account_id, frame)

    def _tell_others(self, account_id: str, frame: bytes) -> None:
        for viewer in list(self.viewers.values()):
            viewer.hear(account_id, frame)

    def on_said(self, said: Said) -> None:
        """Table talk, to those who sit here and want to hear it; free text that comes into a hand is dropped."""
        words = PHRASES.get(said.phrase or "") or said.text
        if words is None or (said.phrase is None and self.in_hand):
            return
        self.said.append((said.account_id, words))
        frame = text_frame(frames.said_frame(said.account_id, said.seat, said.phrase, words))
        for viewer in list(self.viewers.values()):
            if viewer.seat is not None and said.account_id not in viewer.muted and not viewer.stalled:
                viewer.outlet.send_later(frame)


_HAND_RUNS: Final = {b"hand_dealt": True, b"hand_scored": False, b"game_over": False, b"table_cancelled": False}

SEAT_FACTS: Final = (
    events.SeatTaken,
    events.SeatRefused,
    events.SeatReleased,
    events.SeatForfeited,
    events.TableCancelled,
)
"""Events that say who sits where; whoever waits for a seat needs them typed."""


def public_event(
    kind: bytes, version: int, seats: str, body: bytes, names: bytes, fact: msgspec.Struct | None
) -> PublicEvent:
    """Make an event's frame, once. `names` is a JSON object, empty where the event names nobody."""
    opened = frames.spliced(kind, version, body)
    if names:
        opened = b'%b,"names":%b' % (opened, names)
    return PublicEvent(version=version, seats=seats, open_frame=opened, fact=fact)
