"""The knobs every process has; a service adds its own in a subclass."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field
from pydantic_settings import BaseSettings, SettingsConfigDict

LogLevel = Annotated[Literal["debug", "info", "warning", "error"], BeforeValidator(lambda level: str(level).lower())]


class RuntimeSettings(BaseSettings):
    """Read from the environment, prefix `SPADES_`. Everything is bounded; units last in the names."""

    # A refusal of one setting would quote all of them, the database's password too.
    model_config = SettingsConfigDict(env_prefix="SPADES_", extra="ignore", frozen=True, hide_input_in_errors=True)

    service: str = Field(min_length=1)
    member_id: str = ""
    """Static membership: the pod's name. Empty: the service's name, for a lone process."""

    kafka_bootstrap: str
    topic_prefix: str = "spades."
    group_prefix: str = "spades."
    partitions: int = Field(default=8, ge=1, le=1_024)

    database_url: str = Field(repr=False)
    database_schema: str = ""
    """Empty: `spades_` and the service's name."""

    admin_host: str = "127.0.0.1"
    admin_port: int = Field(default=0, ge=0, le=65_535)
    """Probes, metrics, and what operators may do; 0 takes a free port."""
    operators_file: Path | None = None
    """Who may act on the admin port, see `operators.py`; without it nobody."""
    log_level: LogLevel = "info"
    log_format: Literal["console", "json"] = "json"

    otlp_endpoint: str = ""
    """Where traces go, as `http://collector:4318`; empty: nothing is traced."""
    trace_share: float = Field(default=1.0, ge=0.0, le=1.0)
    """The share of commands without a trace of their own that begin one."""

    seal_key_file: Path | None = None

    session_ms: int = Field(default=30_000, ge=1_000)
    """How long a silent member keeps its partitions."""
    poll_ms: int = Field(default=500, ge=1, le=1_000)
    poll_records_max: int = Field(default=1_000, ge=1, le=10_000)
    fetch_wait_ms: int = Field(default=200, ge=1, le=500)
    """How long Kafka holds an empty fetch; one with records it answers at once."""
    rest_ms: int = Field(default=50, ge=0, le=200)
    """A pause after a poll that wrote nothing, so that the next one brings more; not with Commit.STATEMENT."""
    interval_ms: int = Field(default=250, ge=10)
    """Commit.INTERVAL: what was judged is written so long after at the latest."""
    in_flight_max: int = Field(default=4, ge=1)
    """Committed batches whose publication is not yet acknowledged."""

    @property
    def schema_name(self) -> str:
        return self.database_schema or f"spades_{self.service}"

    @property
    def member_name(self) -> str:
        return self.member_id or self.service

    @property
    def group(self) -> str:
        return f"{self.group_prefix}{self.service}"

    def topic(self, name: str) -> str:
        """Return the topic's full name in this deployment."""
        return self.topic_prefix + name
