"""The wallet: the ledger of play coins, moved by commands about accounts and by facts of tables."""
