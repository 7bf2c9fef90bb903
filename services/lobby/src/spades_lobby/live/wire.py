"""WebSocket frames as bytes, made once for all who get them, and the way past ASGI to send them.

A server's frames are not masked, so the bytes of one public event are the same for everybody:
they are framed once a table and joined into one write a viewer and poll. ASGI would frame, copy
and write each anew.
"""

from collections.abc import Callable
from typing import Any, Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

EXTENSION: Final = "spades.wire"
CLOSE_S: Final = 10.0
_TEXT_FIN: Final = 0x81


def text_frame(payload: bytes) -> bytes:
    """One whole, unmasked WebSocket text frame (RFC 6455, 5.2)."""
    length = len(payload)
    if length < 126:
        return bytes((_TEXT_FIN, length)) + payload
    if length < 65_536:
        return bytes((_TEXT_FIN, 126)) + length.to_bytes(2, "big") + payload
    return bytes((_TEXT_FIN, 127)) + length.to_bytes(8, "big") + payload


class Wire:
    """One connection's way out. What the peer has not read yet is counted, never waited for."""

    def __init__(self, protocol: "WireProtocol") -> None:
        self._protocol = protocol
        self.on_drained: Callable[[], None] | None = None

    @property
    def unread_bytes(self) -> int:
        return self._protocol.transport.get_write_buffer_size()

    def write(self, frames: bytes) -> None:
        """Send whole frames; nothing where the connection is closing."""
        if not (self._protocol.close_sent or self._protocol.transport.is_closing()):
            self._protocol.transport.write(frames)

    def close(self, code: int, reason: str) -> None:
        """Say goodbye behind what is unread; a peer that does not answer in time is dropped."""
        self._protocol.say_goodbye(code, reason)

    def abort(self) -> None:
        """Drop the connection with all that is unread."""
        self._protocol.transport.abort()

    def drained(self) -> None:
        if self.on_drained is not None:
            self.on_drained()


class WireProtocol(WebSocketsSansIOProtocol):
    """uvicorn's protocol, with its transport shown to the application as the extension above."""

    async def run_asgi(self) -> None:
        self.wire = Wire(self)
        extensions: dict[str, Any] = self.scope.setdefault("extensions", {})
        extensions[EXTENSION] = self.wire
        await super().run_asgi()

    async def send(self, message: Any) -> None:
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            # A refusal is an answer to the handshake, too; uvicorn would call it an error of ours in the log.
            self.handshake_complete = True

    def say_goodbye(self, code: int, reason: str) -> None:
        """As ASGI's close does, but without waiting until the peer has read everything."""
        if self.close_sent or self.transport.is_closing():
            return
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self.conn.send_close(code, reason)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        self.stop_keepalive()
        if self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()
        self.close_timer = self.loop.call_later(CLOSE_S, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if hasattr(self, "wire"):
            self.wire.drained()
