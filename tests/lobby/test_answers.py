"""Who hears which answer."""

import asyncio

from spades_events import encode
from spades_events.private import Answer
from spades_lobby.live.desk import AnswerKey, Answers


async def test_one_command_id_at_two_tables_has_two_answers() -> None:
    answers = Answers()
    here, there = AnswerKey("table-1", "ann", "c1"), AnswerKey("table-2", "ann", "c1")
    with answers.expecting(here) as at_one, answers.expecting(there) as at_two:
        answers.heard(there, encode(Answer(command_id="c1", account_id="ann", first_version=4, last_version=4)))
        assert (await asyncio.wait_for(at_two, 1)).first_version == 4
        assert not at_one.done()


async def test_everybody_who_waits_for_an_answer_hears_it_once() -> None:
    answers = Answers()
    key = AnswerKey("table-1", "ann", "c1")
    body = encode(Answer(command_id="c1", account_id="ann", first_version=4, last_version=5))
    with answers.expecting(key) as first, answers.expecting(key) as second:
        answers.heard(key, body)
        answers.heard(key, body)
        assert (await first, await second) == (first.result(), first.result())
    assert len(answers) == 0
