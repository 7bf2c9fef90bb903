"""What the processes say of themselves."""

import logging

from spades_runtime.logging import OncePer


def _said(line: int, message: str) -> logging.LogRecord:
    return logging.LogRecord("aiokafka.conn", logging.ERROR, "conn.py", line, message, None, None)


def test_an_outage_is_told_a_few_times_and_not_at_every_try() -> None:
    now_s = 100.0
    once = OncePer(10.0, lambda: now_s)
    told = []
    for second in range(25):
        now_s = 100.0 + second
        told.append(once.filter(_said(7, f"unable to connect, try {second}")))
    assert [second for second, was_told in enumerate(told) if was_told] == [0, 10, 20]


def test_one_message_does_not_hide_another() -> None:
    once = OncePer(10.0, lambda: 100.0)
    assert once.filter(_said(7, "unable to connect"))
    assert once.filter(_said(8, "not the leader"))
