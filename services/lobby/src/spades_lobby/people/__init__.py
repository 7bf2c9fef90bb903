"""Who plays: accounts, names, passwords, tokens, and what ends them."""
