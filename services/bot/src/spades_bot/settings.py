"""The bot's knobs."""

from pydantic import Field

from spades_runtime import RuntimeSettings


class BotSettings(RuntimeSettings):
    """All have the prefix `SPADES_`, ours `SPADES_BOT_`."""

    service: str = "bot"
    database_url: str = Field(default="", repr=False)
    """The bot keeps nothing."""

    bot_pace_ms: int = Field(default=667, ge=0, le=60_000)
    """From a prompt to its move; RULES.md's computer speed, two thirds of a second."""
    bot_prompt_age_ms_max: int = Field(default=10_000, ge=100)
    """An older prompt is passed over: the table's guard, 3 s, has played that turn."""
    bot_turns_max: int = Field(default=5_000, ge=1)
    """Turns waiting for their moment at once; beyond it reading pauses."""
