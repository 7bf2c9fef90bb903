"""Fires the deadlines that the tables publish."""
