"""`python -m spades_wallet`: the wallet service."""

from spades_runtime import run
from spades_wallet.app import main
from spades_wallet.settings import WalletSettings

if __name__ == "__main__":
    run(main, WalletSettings)
