"""What can go wrong, as one small tree.

RulesError
├── Rejected        (rejection.py) a player's mistake or a lost race: an answer; the game is unchanged
├── OptionRefused   a host asked for a choice that the preset does not offer
├── BadNotation     text that is not a card, a bid or a game
└── CorruptHistory  a bug: an event that cannot follow the state it is folded into
"""

from __future__ import annotations


class RulesError(Exception):
    """Root of everything that this library raises on purpose."""


class OptionRefused(RulesError):
    """A choice the preset does not offer; `field` names it, `allowed` lists what it offers."""

    def __init__(self, field: str, value: object, allowed: tuple[object, ...], why: str = "") -> None:
        offered = f"one of {', '.join(map(str, allowed))}" if allowed else "not offered here"
        super().__init__(f"{field}={value!r} is refused: {why or offered}")
        self.field = field
        self.value = value
        self.allowed = allowed
        self.why = why


class BadNotation(RulesError):
    """Text that does not read as what it should be; the message quotes it."""


class CorruptHistory(RulesError):
    """An event that cannot follow this state.

    Never a player's fault: the log or the code is wrong.
    """
