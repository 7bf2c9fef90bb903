"""The gateway's knobs, each with its unit in the name; `SPADES_LOBBY_…` in the environment."""

from pathlib import Path
from urllib.parse import urlsplit

from pydantic import Field

from spades_runtime import RuntimeSettings

WEB_DIR = Path(__file__).resolve().parents[2] / "web"
KIB = 1_024


class LobbySettings(RuntimeSettings):
    """What a deployment may set. Rates are in the notation of `limits`: `600/minute`."""

    service: str = "lobby"
    fetch_wait_ms: int = Field(default=50, ge=1, le=500)
    """Who joins a partition waits behind the fetch that is under way."""

    lobby_host: str = "127.0.0.1"
    lobby_port: int = Field(default=8080, ge=0, le=65_535)
    lobby_public_url: str = ""
    """The address people use, `https://spades.example`; https makes the cookie a secure one."""
    lobby_origins: str = ""
    """Further origins that may use the interface from a browser, separated by commas."""
    lobby_trusted_proxies: str = ""
    """Addresses whose X-Forwarded-For is believed, separated by commas."""
    lobby_web_dir: Path = WEB_DIR

    lobby_answer_ms: int = Field(default=5_000, ge=50)
    """How long a request waits for what its command got before it is `outcome_unknown`."""
    lobby_seat_ms: int = Field(default=10_000, ge=50)
    """How long a seat at a coin table waits for the wallet's word."""
    lobby_supplement_ms: int = Field(default=2_000, ge=10)
    """How long a viewer waits for a seat's own part of an event before it asks for a snapshot."""
    lobby_repair_ms: int = Field(default=5_000, ge=10)
    """How often wallets that should be open and are not are asked for again."""
    lobby_partition_idle_ms: int = Field(default=30_000, ge=0)
    """How long a partition is still read after its last viewer went."""

    lobby_queue_ms: int = Field(default=250, ge=10)
    """How often the queue is matched."""
    lobby_queue_patience_ms: int = Field(default=15_000, ge=10)
    """Without four players by then bots are offered; a match not seated by then is cancelled."""

    lobby_session_days: int = Field(default=30, ge=1, le=400)
    lobby_ticket_ms: int = Field(default=30_000, ge=1)
    lobby_hello_ms: int = Field(default=10_000, ge=10)
    """How long a socket may stay silent before it says who it is."""
    lobby_ping_ms: int = Field(default=10_000, ge=10)
    lobby_pong_ms: int = Field(default=15_000, ge=10)
    """Ping and pong together are the silence that closes a socket: 25 s."""
    lobby_drain_ms: int = Field(default=5_000, ge=0)
    """How long a stopping gateway waits for the answers its sockets still expect."""

    lobby_frame_bytes_max: int = Field(default=4 * KIB, ge=256)
    lobby_frames_per_second: int = Field(default=20, ge=1)
    lobby_frames_burst: int = Field(default=40, ge=1)
    lobby_unread_bytes_max: int = Field(default=256 * KIB, ge=4 * KIB)
    """What a slow reader may leave unread: beyond it one snapshot, a second time the socket closes."""
    lobby_overflow_forgotten_ms: int = Field(default=60_000, ge=0)
    """An overflow so long ago does not count as the first of two."""
    lobby_sockets_max: int = Field(default=20_000, ge=1)
    lobby_body_bytes_max: int = Field(default=16 * KIB, ge=1_024)

    lobby_password_threads: int = Field(default=2, ge=1, le=64)
    lobby_database_connections_max: int = Field(default=10, ge=2, le=200)

    # Generous: one address may be a school, or a test client that runs a hundred tables.
    lobby_rate_requests: str = "12000/minute"
    """All requests of one address."""
    lobby_rate_sessions: str = "3000/minute"
    """New guests and log-ins of one address."""
    lobby_rate_accounts: str = "1000/minute"
    """New accounts of one address."""
    lobby_rate_passwords: str = "20/minute"
    """Tries of one account's password."""
    lobby_rate_recoveries: str = "20/minute"
    """Tries of a recovery code, of one address and for one name."""
    lobby_rate_tokens: str = "30/minute"
    """New personal tokens of one account."""
    lobby_rate_tables: str = "600/minute"
    """New tables of one account."""
    lobby_rate_talk: str = "20/minute"
    """Lines of table talk of one account; mutes count, too."""
    lobby_rate_reports: str = "5/minute"
    lobby_rate_wrong_codes: str = "5/minute"
    """Wrong invite codes of one account, and of one address."""

    @property
    def secure(self) -> bool:
        return self.lobby_public_url.startswith("https://")

    @property
    def hosts(self) -> frozenset[str]:
        """Host names, with their ports, that are this gateway itself."""
        return frozenset({urlsplit(self.lobby_public_url).netloc.lower()} - {""})

    @property
    def origins(self) -> frozenset[str]:
        listed = {origin.strip().lower().rstrip("/") for origin in self.lobby_origins.split(",")}
        public = urlsplit(self.lobby_public_url)
        if public.netloc:
            listed.add(f"{public.scheme}://{public.netloc}".lower())
        return frozenset(listed - {""})
