"""Play Spades from a program.

async with Gateway("http://127.0.0.1:8000") as gateway:
    me = await gateway.guest()
    table_id = await me.open_table({"kind": "practice", "ruleset": {"name": "deniro"}})
    ended = await me.play(table_id, lambda seen: judge(seen.view), starts=True)
"""

from spades_client.account import Account
from spades_client.errors import NoAnswer, PlayedElsewhere, Refused, Rejected, SpadesError
from spades_client.gateway import Gateway
from spades_client.play import Acked, Choose, Play
from spades_client.seen import Frame, Seen, SeqGap
from spades_client.table import Table

__all__ = [
    "Account",
    "Acked",
    "Choose",
    "Frame",
    "Gateway",
    "NoAnswer",
    "Play",
    "PlayedElsewhere",
    "Refused",
    "Rejected",
    "Seen",
    "SeqGap",
    "SpadesError",
    "Table",
]
