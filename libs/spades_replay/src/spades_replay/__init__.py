"""Reads, replays and verifies the public record of games."""

from spades_replay.faults import Fault, Illegal, NoSource, ReplayError
from spades_replay.payouts import fee_of, nets_of, nets_told
from spades_replay.records import Record
from spades_replay.sources import line_of, read
from spades_replay.table import TableReplay
from spades_replay.verify import Totals, Verifier

__all__ = [
    "Fault",
    "Illegal",
    "NoSource",
    "Record",
    "ReplayError",
    "TableReplay",
    "Totals",
    "Verifier",
    "fee_of",
    "line_of",
    "nets_of",
    "nets_told",
    "read",
]
