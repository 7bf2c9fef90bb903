"""Prompts as the table would send them."""

import random

import msgspec

import spades_rules as rules
from spades_bot.handlers import PromptRecord
from spades_events import CE_TYPES, Envelope, TurnKind, encode, headers_of
from spades_events.private import Prompt
from spades_rules import NO_SEEDS, DealHand, Seat, deal_hands, secret

encode_view = msgspec.json.Encoder().encode


def games(seed: int = 1, ruleset: str = "deniro", **options: object) -> list[tuple[rules.Game, Prompt]]:
    """Every turn of one whole game, played by judgement, with its prompt."""
    root = random.Random(seed).randbytes(32)
    game: rules.Game = rules.new_game(rules.ruleset(ruleset, options))
    turns = []
    while not isinstance(game, rules.Ended):
        if isinstance(game, rules.AwaitingDeal):
            dealer = Seat(0) if game.dealer is None else game.dealer
            link = secret(root, game.hand_no)
            hands = deal_hands(link, "t", game.hand_no, dealer, game.ruleset.deck_id, NO_SEEDS)
            command: rules.Command = DealHand(game.hand_no, dealer, hands)
        else:
            prompt = prompt_of(game, turn_id=f"{game.hand_no}:{len(turns) + 1}")
            turns.append((game, prompt))
            command = rules.judge(rules.view(game, Seat(prompt.seat)))
        game = rules.replay(game, rules.decide(game, command))
    return turns


def prompt_of(game: rules.Game, *, turn_id: str = "1:1", table_id: str = "t") -> Prompt:
    turn = rules.expected(game)
    assert turn is not None
    return Prompt(
        table_id=table_id,
        turn_id=turn_id,
        hand_no=game.hand_no,
        seat=turn.seat,
        kind=TurnKind(turn.kind),
        view=msgspec.Raw(encode_view(rules.view(game, turn.seat))),
    )


def record_of(prompt: Prompt, *, part: int = 0, made_ms: int | None = None) -> PromptRecord:
    envelope = Envelope(
        id=f"{prompt.table_id}:9:prompt",
        type=CE_TYPES[Prompt],
        source="/spades/table",
        subject=prompt.table_id,
        sequence=9,
        time_ms=made_ms,
        traceparent="00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    )
    return PromptRecord(part, 0, prompt.table_id.encode(), encode(prompt), headers_of(envelope))
