"""What each process of a running stack has used so far: processor time and memory."""

from dataclasses import dataclass

import psutil

from tests.demo.stack import Stack


@dataclass(frozen=True, slots=True)
class Usage:
    """Processor seconds by child of the stack, the processes under each included."""

    cpu_s: dict[str, float]

    def a_move_us(self, before: "Usage", moves: int) -> dict[str, int]:
        """Microseconds a move since `before`, by child."""
        return {
            name: round(1e6 * (used_s - before.cpu_s.get(name, 0.0)) / max(1, moves))
            for name, used_s in self.cpu_s.items()
        }


def usage(stack: Stack) -> Usage:
    return Usage({name: sum(_cpu_s(member) for member in _family(pid)) for name, pid in stack.pids().items()})


def _family(pid: int) -> list[psutil.Process]:
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)]


def _cpu_s(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
        return float(times.user + times.system)
    except psutil.Error:
        return 0.0
