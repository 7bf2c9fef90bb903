"""The table: the only writer of game state."""
