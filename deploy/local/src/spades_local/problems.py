"""What can go wrong on a person's machine.

Problem
├── AlreadyRunning     a second start while one runs
├── WrongSetting       a variable of the environment has a value that it cannot have
├── PortTaken          an address that was asked for belongs to another program
├── DiskFull           no room to keep what must not be lost
├── WheelMissing       a package has no build for this machine
├── JarsUnavailable    the Kafka jars could not be resolved, or keep being damaged
├── PartitionsDiffer   a topic exists with another partition count
└── NotReady           a program did not start in its time

Every message says what to do next: it is all that a person sees, with exit code 1.
"""


class Problem(Exception):
    """Something a person can put right; the message says how."""


class AlreadyRunning(Problem):
    """A second start while one runs."""


class WrongSetting(Problem):
    """A variable of the environment has a value that it cannot have."""


class PortTaken(Problem):
    """An address that was asked for belongs to another program."""


class DiskFull(Problem):
    """No room to keep what must not be lost."""


class WheelMissing(Problem):
    """A package has no build for this machine."""


class JarsUnavailable(Problem):
    """The Kafka jars could not be resolved, or keep being damaged."""


class PartitionsDiffer(Problem):
    """A topic exists with another partition count, which is fixed for life."""


class NotReady(Problem):
    """A program did not start in its time."""
