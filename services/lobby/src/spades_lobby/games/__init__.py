"""The read model: games folded from their events, records of finished hands, deal statistics."""
