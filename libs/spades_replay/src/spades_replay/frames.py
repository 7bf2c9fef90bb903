"""One game's public events as the gateway gives them to people, who can verify with no more than these.

A line of NDJSON is an event as its WebSocket frame: {"type": "card_played", "seq": 17, …, "at_ms": …}. A page of
JSON ({"events": […]}) and the replay page's download ([…]) hold many in one line. None names its table, and a deal
is dealt again for its table only: `--game ID` says it, or the name of the downloaded file does.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from spades_events import CE_TYPES, Topic, codec, frame_name
from spades_replay.faults import NoSource
from spades_replay.records import Record

_TYPES: Final = {frame_name(kind): CE_TYPES[kind] for kind in codec.TABLE_EVENTS}
_AROUND: Final = ("type", "seq", "at_ms")
_DOWNLOADED: Final = re.compile(r"spades-(.+?)( ?\(\d+\))?\.json")
_LIST: Final = re.compile(rb'\s*(\[|\{\s*"events"\s*:)')
_FRAME: Final = re.compile(rb'\s*\{\s*"type"\s*:\s*"[a-z_]+"\s*,\s*"seq"\s*:')


def is_of_them(line: bytes) -> bool:
    """Whether a line is a frame or a list of them."""
    return bool(_FRAME.match(line) or _LIST.match(line))


def table_named_by(source: str) -> str | None:
    """The table whose download a file is by its name."""
    named = _DOWNLOADED.fullmatch(Path(source).name)
    return named[1] if named else None


def records(line: bytes, table_id: str | None) -> Iterator[Record]:
    """The events of a line. Raises NoSource where nothing says whose they are; KeyError, TypeError, DecodeError."""
    told: Any = msgspec.json.decode(line)
    if isinstance(told, dict) and "events" in told:
        told = told["events"]
    if table_id is None:
        raise NoSource("these events do not name their game: say --game ID")
    for frame in told if isinstance(told, list) else [told]:
        body = {name: value for name, value in frame.items() if name not in _AROUND}
        yield Record(
            topic=Topic.TABLE_EVENTS,
            stream=table_id,
            version=int(frame["seq"]),
            id=f"{table_id}:{frame['seq']}",
            type=_TYPES[frame["type"]],
            body=msgspec.json.encode(body),
            time_ms=frame.get("at_ms"),
            of_read_model=True,
        )
