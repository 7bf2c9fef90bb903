"""Plays the computer seats: one prompt in, one command out, nothing kept in between."""
