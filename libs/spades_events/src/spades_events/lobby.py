"""Events of the gateway (`lobby.events`): what operators had it do. The envelope's actor is the operator.

Written before the deed: an operator who was told that something is done finds it here.
"""

from typing import Literal

import msgspec

from spades_events.commands import Reason
from spades_events.values import Coins


class OperatorActed(msgspec.Struct, frozen=True, kw_only=True):
    """An operator's call; the subject is the table, the account or the gateway that it is about."""

    action: Literal["drain", "resume", "look_at_game", "cancel_game", "grant_coins", "read_reports"]
    command_id: str | None = None
    """Of the command that the call became."""
    reason: Reason | None = None
    """Why, in the operator's words."""
    amount_coins: Coins | None = None
