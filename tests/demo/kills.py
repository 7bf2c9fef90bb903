"""kill -9 of processes of the stack while games are played: `wallet:20,clock:20`."""

import asyncio
import random
from collections import Counter

from tests.demo.stack import Stack

BACK_LIMIT_S = 60.0
LOOK_EVERY_S = 0.1
PAUSE_S = (0.5, 3.0)
"""Between a process's return and its next end."""


def parsed(text: str) -> dict[str, int]:
    """`wallet:20,clock:20` as numbers by name; `0` and nothing are none. Raises ValueError."""
    wanted: Counter[str] = Counter()
    for part in filter(None, text.replace(" ", "").split(",")):
        name, _, number = part.rpartition(":")
        if name:
            wanted[name] += int(number)
        elif int(number):
            raise ValueError(f"whose kills? {part}: say NAME:NUMBER")
    return dict(wanted)


class Killer:
    """Ends each named process so many times, whenever it is back."""

    def __init__(self, stack: Stack, wanted: dict[str, int]) -> None:
        self.done: Counter[str] = Counter()
        self.wanted = wanted
        self._stack = stack
        self._chance = random.Random(7)

    async def run(self) -> None:
        """All of them beside each other, each one after the other."""
        async with asyncio.TaskGroup() as tasks:
            for name, number in self.wanted.items():
                tasks.create_task(self._kill(name, number))

    async def _kill(self, name: str, number: int) -> None:
        while self.done[name] < number:
            await asyncio.sleep(self._chance.uniform(*PAUSE_S))
            ended = self._stack.kill(name)
            if ended is not None:
                self.done[name] += 1
                await self._await_back(name, ended)

    async def _await_back(self, name: str, ended: int) -> None:
        """A process that dies while it starts proves little: it has to be ready first."""
        async with asyncio.timeout(BACK_LIMIT_S):
            while self._stack.pids().get(name, ended) == ended or not await self._stack.is_ready(name):
                await asyncio.sleep(LOOK_EVERY_S)
