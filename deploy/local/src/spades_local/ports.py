"""Ports on the loopback address that nobody listens on."""

import asyncio
import socket

from spades_local.problems import PortTaken, WrongSetting

HOST = "127.0.0.1"
# How far past a preferred port to look before giving up.
TRIES_MAX = 50


def is_free(port: int, host: str = HOST) -> bool:
    """Whether a server could bind `port` now; raises WrongSetting where `host` has no address."""
    with socket.socket() as probe:
        # Servers set this too: a port whose last connections linger is still free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except socket.gaierror as error:
            raise WrongSetting(f"{host!r} is no address.\nSet SPADES_LOBBY_HOST to one of this machine.") from error
        except OSError:
            return False
        return True


def any_free() -> int:
    """A port the operating system had to spare."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def same_or_free(port: int | None) -> int:
    """The port used last time if nobody took it, else another."""
    return port if port is not None and is_free(port) else any_free()


def next_free(preferred: int, host: str = HOST) -> int:
    """`preferred`, or the first free port behind it."""
    for port in range(preferred, preferred + TRIES_MAX):
        if is_free(port, host):
            return port
    raise PortTaken(
        f"Ports {preferred} to {preferred + TRIES_MAX - 1} are all taken.\n"
        "Stop one of the programs there, or set SPADES_LOBBY_PORT to a free port."
    )


async def listens(host: str, port: int) -> bool:
    """Whether somebody accepts connections there."""
    try:
        async with asyncio.timeout(2.0):
            _, writer = await asyncio.open_connection(host, port)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True
