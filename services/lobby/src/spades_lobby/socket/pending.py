"""One connection's commands that wait for their answers, and the rate of its frames."""

from collections.abc import Callable
from typing import Final

from spades_events.private import Answer
from spades_lobby import metrics
from spades_lobby.live import frames
from spades_lobby.live.desk import AnswerKey, Answers
from spades_lobby.live.wire import text_frame

PENDING_MAX: Final = 200
"""Commands of one connection without an answer; a person has one or two."""
TABLE_PENDING_MAX: Final = 64
"""Commands to one table without an answer, of all connections here. The tables of its partition wait behind them."""


class Bucket:
    """Frames that may come now: so many a second, with bursts."""

    def __init__(self, per_second: int, burst: int, now: float) -> None:
        self._per_second = per_second
        self._burst = burst
        self._tokens = float(burst)
        self._at = now

    def take(self, now: float) -> bool:
        refilled = self._tokens + (now - self._at) * self._per_second
        self._tokens, self._at = min(float(self._burst), refilled), now
        if self._tokens < 1.0:
            return False
        self._tokens -= 1.0
        return True


class Pending:
    """What was sent and not answered; each answer becomes one frame for `send_later`."""

    def __init__(self, answers: Answers, now: Callable[[], float], send_later: Callable[[bytes], None]) -> None:
        self._answers = answers
        self._now = now
        self._send_later = send_later
        self._waiting: dict[tuple[str, int], tuple[AnswerKey, Callable[[Answer], None], float]] = {}
        self._command_no = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def is_full(self, table_id: str) -> bool:
        """Whether a further command to this table has to wait for answers."""
        return len(self) >= PENDING_MAX or self._answers.by_table[table_id] >= TABLE_PENDING_MAX

    def expect(self, table_id: str, command_id: str, account_id: str, answered: Callable[[], object]) -> None:
        """Turn the command's answer into a frame; `answered` is called with it."""
        self._command_no += 1
        place = (command_id, self._command_no)
        sent_at = self._now()
        key = AnswerKey(table_id, account_id, command_id)

        def heard(answer: Answer) -> None:
            self._forget(place)
            answered()
            metrics.ANSWER_SECONDS.observe(self._now() - sent_at)
            if answer.rejection is not None:
                metrics.REJECTIONS.labels(code=answer.rejection.code[:40]).inc()
                self._send_later(text_frame(frames.rejection_frame(command_id, answer.rejection)))
            else:
                self._send_later(text_frame(frames.ack_frame(command_id, answer.first_version, answer.last_version)))

        self._answers.add(key, heard)
        self._waiting[place] = (key, heard, sent_at)
        self._answers.by_table[table_id] += 1

    def _forget(self, place: tuple[str, int]) -> tuple[AnswerKey, Callable[[Answer], None]] | None:
        found = self._waiting.pop(place, None)
        if found is None:
            return None
        key, heard, _ = found
        self._answers.by_table[key.table_id] -= 1
        if not self._answers.by_table[key.table_id]:
            del self._answers.by_table[key.table_id]
        return key, heard

    def _drop(self, place: tuple[str, int]) -> None:
        waited = self._forget(place)
        if waited is not None:
            self._answers.remove(*waited)

    def give_up(self, sent_before: float) -> list[str]:
        """Wait no longer for those sent so long ago; their command ids."""
        late = [place for place, (_, _, sent_at) in self._waiting.items() if sent_at < sent_before]
        for place in late:
            self._drop(place)
        return [command_id for command_id, _ in late]

    def clear(self) -> None:
        for place in list(self._waiting):
            self._drop(place)
