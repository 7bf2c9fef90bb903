"""What the wallet tells Prometheus beside the worker's own. No label carries an id."""

from prometheus_client import Counter, Gauge

TRANSFERS = Counter("spades_wallet_transfers_total", "Transfers posted", ["code"])
COINS_MOVED = Counter("spades_wallet_coins_moved_total", "Coins moved by posted transfers", ["code"])
REFUSALS = Counter("spades_wallet_refusals_total", "Holds and commands refused", ["code"])
REPEATS = Counter("spades_wallet_repeats_total", "Records whose effect was there already", ["kind"])
ALARMS = Counter("spades_wallet_alarms_total", "Facts that a person should look at", ["alarm"])
IMBALANCE_COINS = Gauge("spades_wallet_imbalance_coins", "Sum over all accounts; anything but 0 is a fault")
