"""Goals, and the line about them that every bench ends with."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Goal:
    """A figure and its bound."""

    name: str
    figure: float
    bound: float
    at_least: bool = False
    """The figure has to reach the bound; otherwise it must not pass it."""

    @property
    def met(self) -> bool:
        return self.figure >= self.bound if self.at_least else self.figure <= self.bound

    def __str__(self) -> str:
        return f"{self.name} ({self.figure:g}, {'≥' if self.at_least else '≤'} {self.bound:g})"


def tell(goals: Sequence[Goal]) -> None:
    """Print which goals are met. A missed one is a figure to look at, no failure."""
    missed = [str(goal) for goal in goals if not goal.met]
    print(f"goals: {len(goals) - len(missed)} met, {len(missed)} missed: {', '.join(missed) or 'none'}")
