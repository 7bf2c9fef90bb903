"""The WebSocket as an AsyncAPI 3 document, from its frames: `python -m spades_lobby.asyncapi` writes it."""

import sys
from pathlib import Path
from typing import Any, Final, get_args

from spades_events import codec, frame_name, private
from spades_events.asyncapi import schemas_of, text_of
from spades_lobby.live import frames
from spades_lobby.live.talk import PHRASES

FILE: Final = Path(__file__).with_name("asyncapi.json")

_TEXT: Final[dict[str, Any]] = {"type": "string"}
_WHOLE: Final[dict[str, Any]] = {"type": "integer"}
_SEQ: Final = {"anyOf": [_WHOLE, {"type": "null"}]}
_WHO: Final = {"account_id": _TEXT, "seat": _WHOLE}
_NAMES: Final = {"type": "object", "additionalProperties": _TEXT, "description": "Account id to name."}

# The gateway's own frames; every public event of the table comes beside them.
_OWN: Final[dict[str, dict[str, Any]]] = {
    "welcome": {"account_id": _TEXT, "name": _TEXT, "guest": {"type": "boolean"}, "server_ms": _WHOLE},
    "ack": {"id": _TEXT, "first_seq": _SEQ, "last_seq": _SEQ},
    "error": {"code": _TEXT, "message": _TEXT},
    "pong": {"client_ms": {"anyOf": [{"type": "number"}, {"type": "null"}]}, "server_ms": _WHOLE},
    "server_draining": {},
    "player_disconnected": _WHO,
    "player_returned": _WHO,
    "said": _WHO | {"phrase": {"enum": [*PHRASES, None]}, "text": _TEXT},
}

_SOMETIMES: Final[dict[str, dict[str, Any]]] = {
    "ack": {"table_id": _TEXT | {"description": "To a rematch: the new table."}},
    "error": {"id": _TEXT, "table_id": _TEXT, "retry_after_ms": _WHOLE},
}


def document() -> dict[str, Any]:
    """The whole document."""
    client_kinds = get_args(frames.AnyFrame)
    client = {str(kind.__struct_config__.tag): kind for kind in client_kinds}
    server = _server_frames()
    schemas = schemas_of((*client_kinds, *codec.TABLE_EVENTS, private.Snapshot, private.Supplement, private.Rejection))
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Spades, at the table",
            "version": "1",
            "description": f"Sub-protocol {frames.SUBPROTOCOL}, JSON text frames. `seq` has no gaps.",
        },
        "defaultContentType": "application/json",
        "channels": {
            "table": {
                "address": "/v1/ws",
                "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in (*client, *server)},
            }
        },
        "operations": {"play": _operation("receive", client), "see": _operation("send", server)},
        "components": {
            "messages": {name: {"name": name, "payload": _ref(kind.__name__)} for name, kind in client.items()}
            | {name: {"name": name, "payload": payload} for name, payload in server.items()},
            "schemas": schemas,
        },
    }


def _server_frames() -> dict[str, dict[str, Any]]:
    numbered = {"seq": _WHOLE}
    events = {
        frame_name(kind): _with(kind.__name__, frame_name(kind), numbered, you=_ref("Supplement"), names=_NAMES)
        for kind in codec.TABLE_EVENTS
    }
    return {
        **{name: _own(name, fields, **_SOMETIMES.get(name, {})) for name, fields in _OWN.items()},
        "command_rejected": _with("Rejection", "command_rejected", {"id": _TEXT}),
        "snapshot": _with("Snapshot", "snapshot", numbered | {"names": _NAMES}),
        **events,
    }


def _own(name: str, needed: dict[str, Any], **more: Any) -> dict[str, Any]:
    properties = {"type": {"const": name}, **needed}
    return {"type": "object", "properties": properties | more, "required": list(properties)}


def _with(schema: str, name: str, needed: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"allOf": [_own(name, needed, **more), _ref(schema)]}


def _operation(action: str, messages: dict[str, Any]) -> dict[str, Any]:
    return {
        "action": action,
        "channel": {"$ref": "#/channels/table"},
        "messages": [{"$ref": f"#/channels/table/messages/{name}"} for name in messages],
    }


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def main() -> int:
    FILE.write_text(text_of(document()), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
