"""The WebSocket `spades.v1`: admission, one client's frames, their bytes, and what ends a connection."""
