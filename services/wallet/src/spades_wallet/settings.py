"""The wallet's knobs."""

from pydantic import Field

from spades_runtime import RuntimeSettings
from spades_wallet.decision import Terms


class WalletSettings(RuntimeSettings):
    """Read from the environment: `SPADES_WALLET_…` for what is the wallet's own."""

    service: str = "wallet"

    wallet_welcome_grant_coins: int = Field(default=1_000, ge=0, le=1_000_000)
    wallet_top_up_coins: int = Field(default=500, ge=1, le=1_000_000)
    wallet_top_up_below_coins: int = Field(default=100, ge=0, le=1_000_000)
    wallet_games_at_once_max: int = Field(default=1, ge=1, le=100)
    """A hold beyond so many running games is refused `seated_elsewhere`."""

    @property
    def terms(self) -> Terms:
        return Terms(
            welcome_grant_coins=self.wallet_welcome_grant_coins,
            top_up_coins=self.wallet_top_up_coins,
            top_up_below_coins=self.wallet_top_up_below_coins,
            games_at_once_max=self.wallet_games_at_once_max,
        )
