"""The answer to a prompt: which command, under which id, and when."""

from typing import NamedTuple
from uuid import NAMESPACE_URL, uuid5

import msgspec

from spades_events import CE_TYPES, commands
from spades_events.private import Prompt
from spades_rules import Command, View, card_name, card_names, judge
from spades_rules import LookAtCards as Look
from spades_rules import PassCards as Pass
from spades_rules import PlaceBid as Bid
from spades_rules import PlayCard as Play

_view_of = msgspec.json.Decoder(View).decode


class Move(NamedTuple):
    """A command to a table and the id under which any repetition of it is the same command."""

    table_id: str
    command_id: str
    type: str
    body: commands.TableCommand


def answer(prompt: Prompt) -> Move:
    """Return the bot's move for a prompt; the same prompt always gives the same move and id.

    Raises msgspec.DecodeError where the prompt's view is none, and ValueError where it is not
    that seat's turn in it.
    """
    command = _command_of(judge(_view_of(prompt.view)), prompt)
    ce_type = CE_TYPES[type(command)]
    return Move(prompt.table_id, command_id(prompt.table_id, prompt.turn_id, ce_type), ce_type, command)


def command_id(table_id: str, turn_id: str, ce_type: str) -> str:
    """Looking and bidding may share a turn, so the type is part of the id."""
    return str(uuid5(NAMESPACE_URL, f"{table_id}:{turn_id}:{ce_type}"))


def due_ms(*, read_ms: int, made_ms: int | None, pace_ms: int) -> int:
    """Return when the move is sent: `pace_ms` after its prompt was made, whatever the hand.

    A prompt made later than it was read comes from a clock ahead of ours; it waits the pace, not longer.
    """
    started_ms = read_ms if made_ms is None else min(made_ms, read_ms)
    return started_ms + pace_ms


def _command_of(judged: Command, prompt: Prompt) -> commands.TableCommand:
    match judged:
        case Play():
            return commands.PlayCard(turn_id=prompt.turn_id, card=card_name(judged.card))
        case Bid():
            return commands.PlaceBid(turn_id=prompt.turn_id, bid=judged.bid)
        case Pass():
            first, second = card_names(judged.cards)
            return commands.PassCards(turn_id=prompt.turn_id, cards=(first, second))
        case Look():
            return commands.LookAtCards(hand_no=prompt.hand_no)
        case _:
            raise ValueError(f"a bot never judges {type(judged).__name__}")
