"""The Kafka side as an AsyncAPI 3 document, from the contracts: `python -m spades_events.asyncapi` writes it."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from spades_events import codec, private
from spades_events.codec import CE_TYPES
from spades_events.topics import SPECS, Topic

FILE: Final = Path(__file__).with_name("asyncapi.json")
REFS: Final = "#/components/schemas/{name}"

Kinds = Sequence[type[msgspec.Struct]]

CARRIED: Final[dict[Topic, Kinds]] = {
    Topic.TABLE_COMMANDS: codec.TABLE_COMMANDS,
    Topic.TABLE_EVENTS: codec.TABLE_EVENTS,
    Topic.TABLE_PRIVATE: tuple(kind for kind in codec.PRIVATE_RECORDS if kind is not private.Prompt),
    Topic.TABLE_PROMPTS: (private.Prompt,),
    Topic.CLOCK_EVENTS: codec.CLOCK_EVENTS,
    Topic.WALLET_COMMANDS: codec.WALLET_COMMANDS,
    Topic.WALLET_EVENTS: codec.WALLET_EVENTS,
    Topic.LOBBY_EVENTS: codec.LOBBY_EVENTS,
    # What is parked is whatever could not be read.
    Topic.PARKED: (),
}
"""Which messages a topic carries."""

WRITERS: Final[dict[Topic, tuple[str, ...]]] = {
    Topic.TABLE_COMMANDS: ("lobby", "bot"),
    Topic.TABLE_EVENTS: ("table",),
    Topic.TABLE_PRIVATE: ("table", "lobby"),
    Topic.TABLE_PROMPTS: ("table",),
    Topic.CLOCK_EVENTS: ("clock",),
    Topic.WALLET_COMMANDS: ("lobby",),
    Topic.WALLET_EVENTS: ("wallet",),
    Topic.LOBBY_EVENTS: ("lobby",),
    Topic.PARKED: ("table", "clock", "wallet", "bot"),
}
READERS: Final[dict[Topic, tuple[str, ...]]] = {
    Topic.TABLE_COMMANDS: ("table",),
    Topic.TABLE_EVENTS: ("lobby", "clock", "wallet"),
    Topic.TABLE_PRIVATE: ("lobby",),
    Topic.TABLE_PROMPTS: ("bot",),
    Topic.CLOCK_EVENTS: ("table",),
    Topic.WALLET_COMMANDS: ("wallet",),
    Topic.WALLET_EVENTS: ("table", "lobby"),
}

_TEXT: Final = {"type": "string"}
_HEADERS: Final = {
    "type": "object",
    "description": "CloudEvents 1.0, Kafka binary mode.",
    "required": ["ce_specversion", "ce_id", "ce_source", "ce_type", "ce_subject"],
    "properties": {
        "ce_specversion": {"const": "1.0"},
        "ce_id": _TEXT,
        "ce_source": _TEXT,
        "ce_type": _TEXT,
        "ce_subject": _TEXT | {"description": "The stream: a table or an account; also the record's key."},
        "ce_sequence": _TEXT | {"description": "The version in the stream, from 1."},
        "ce_time": _TEXT | {"format": "date-time"},
        "ce_spadesactor": _TEXT | {"description": "The account that sent the command, or `operator:NAME`."},
        "ce_spadesseats": _TEXT | {"description": "Seats that have a private part of this event, `02`."},
        "ce_spadesseat": _TEXT | {"description": "Whose private record this is."},
        "traceparent": _TEXT,
    },
}


def message_name(kind: type[msgspec.Struct]) -> str:
    """A message's key in the document: `card_played.v1`."""
    return CE_TYPES[kind].removeprefix("spades.")


def schemas_of(kinds: Kinds) -> dict[str, Any]:
    """The JSON Schemas of these types and of all they are made of, by name."""
    _, components = msgspec.json.schema_components(kinds, ref_template=REFS)
    return dict(sorted(components.items()))


def document() -> dict[str, Any]:
    """The whole document."""
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Spades, between its services",
            "version": "1",
            "description": "Topic names without the deployment's prefix (`spades.`). Partition n of every topic holds "
            "the same tables.",
        },
        "defaultContentType": "application/json",
        "channels": {spec.topic.value: _channel(spec.topic, spec.key) for spec in SPECS},
        "operations": _operations("send", WRITERS) | _operations("receive", READERS),
        "components": {
            "messages": {message_name(kind): _message(kind) for kind in codec.MESSAGES},
            "schemas": schemas_of(codec.MESSAGES) | {"Headers": _HEADERS},
        },
    }


def _channel(topic: Topic, key: str) -> dict[str, Any]:
    carried = {message_name(kind): _ref("messages", message_name(kind)) for kind in CARRIED[topic]}
    return {"address": topic.value, "description": f"Key: {key} id.", "messages": carried}


def _operations(action: str, services: dict[Topic, tuple[str, ...]]) -> dict[str, Any]:
    return {
        f"{service}-{action}s-{topic.value}": {
            "action": action,
            "channel": {"$ref": f"#/channels/{topic.value}"},
            "tags": [{"name": service}],
        }
        for topic, names in services.items()
        for service in names
    }


def _message(kind: type[msgspec.Struct]) -> dict[str, Any]:
    return {
        "name": CE_TYPES[kind],
        "summary": (kind.__doc__ or "").strip().split("\n")[0],
        "headers": _ref("schemas", "Headers"),
        "payload": _ref("schemas", kind.__name__),
    }


def _ref(what: str, name: str) -> dict[str, str]:
    return {"$ref": f"#/components/{what}/{name}"}


def text_of(content: dict[str, Any]) -> str:
    """The committed form: two blanks of indent and a final line feed."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def main() -> int:
    FILE.write_text(text_of(document()), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
