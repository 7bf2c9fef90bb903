"""Getting to a table: seats, coins, invites, the queue."""
