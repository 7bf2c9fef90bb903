"""The table service's own judgement behind the fake's topics: real rules, in the test's process."""

from typing import Any

import msgspec

from spades_events import Envelope, Topic
from tests.lobby.fake_table import FakeTable
from tests.table.fake_worker import FakeWorker


class JudgedTable(FakeTable):
    """Judges every command as the service does; the wallet stays the fake's, so nobody plays for coins here."""

    def __init__(self, bootstrap: str, prefix: str, partitions: int) -> None:
        super().__init__(bootstrap, prefix, partitions)
        self.worker = FakeWorker()
        self.tick_ms = 10
        """By how much later each command comes."""
        self._taken = False

    def deal(self, worker: FakeWorker) -> None:
        """From here on this one judges; the tables of the one before are gone."""
        self.worker, self._taken = worker, False

    async def _answer(self, part: int, envelope: Envelope, command: msgspec.Struct, body: bytes) -> None:
        self.commands.append((envelope.actor or "", envelope.id, command))
        if not self._taken:
            self._taken = True
            await self.worker.take()
        record = self.worker.record(Topic.TABLE_COMMANDS, envelope.subject, body, envelope)
        self.worker.now_ms += self.tick_ms
        for output in await self.worker.poll(record):
            await self._producer.send(
                self._prefix + output.topic,
                output.value,
                key=output.key.encode(),
                partition=part,
                headers=list(output.headers),
            )

    def version(self, table_id: str) -> int:
        """How far the table's stream goes."""
        return len(self.worker.public(table_id))

    def last(self, table_id: str, cls: type[Any]) -> Any:
        """The newest event of this type."""
        return next(event for event in reversed(self.worker.public(table_id)) if isinstance(event, cls))
