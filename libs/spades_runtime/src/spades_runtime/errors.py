"""What can end or stop a worker.

RuntimeFault
├── Fenced            another process owns a partition of ours: exit, nothing of ours counts any more
├── PublishFailed     the producer gave up on a record: exit, the next start publishes it again
└── NotReady          something only an operator can put right; the process waits and says what
    ├── UnsafeDatabase    the database may lose what it acknowledged
    ├── LostDatabase      our topics have records and the database has none
    └── KeyAbsent         a seal key is not there
"""


class RuntimeFault(Exception):
    """Root of the tree."""


class Fenced(RuntimeFault):
    """Partitions were taken by another owner since we took them."""

    def __init__(self, parts: list[int]) -> None:
        super().__init__(f"another process owns partitions {parts}")
        self.parts = parts


class OutcomeUnknown(RuntimeFault):
    """What is stored is not what memory thinks; the database is right."""


class PublishFailed(RuntimeFault):
    """A record was refused for good, or the producer lost its sequence."""


class NotReady(RuntimeFault):
    """Nothing is decided until an operator has acted; the message says how."""


class UnsafeDatabase(NotReady):
    """A server setting would lose acknowledged commits."""


class LostDatabase(NotReady):
    """The partition has no row, yet its output topic has records."""


class KeyAbsent(NotReady):
    """The key that a seal names, or the key file, is not there."""
