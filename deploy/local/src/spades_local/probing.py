"""Asking a service whether it is ready."""

import asyncio

from spades_local.ports import HOST

LIMIT_S = 2.0


async def why_unready(port: int) -> str | None:
    """What /readyz on this port says against serving; None where it answers 200."""
    try:
        async with asyncio.timeout(LIMIT_S):
            reader, writer = await asyncio.open_connection(HOST, port)
            try:
                writer.write(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                await writer.drain()
                status = await reader.readline()
                if status.split()[1:2] == [b"200"]:
                    return None
                answer = await reader.read()
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return "it does not answer"
    reason = answer.partition(b"\r\n\r\n")[2].decode(errors="replace").strip()
    return reason or "not ready"
