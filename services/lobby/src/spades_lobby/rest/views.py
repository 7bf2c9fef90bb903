"""Games and wallets as answers show them."""

from collections.abc import Mapping
from typing import Any

import msgspec

import spades_rules as rules
from spades_events import BOT_ACCOUNT
from spades_lobby.domain import Game
from spades_lobby.games import record
from spades_lobby.people.namebook import COMPUTER
from spades_lobby.rest import bodies


def seats(game: Game, names: Mapping[str, str]) -> list[bodies.SeatView]:
    reserved = set(game.reserved.values())
    shown = []
    for seat, holder in enumerate(game.seats):
        account_id = None if holder is None else holder.account_id
        computer = account_id == BOT_ACCOUNT
        shown.append(
            bodies.SeatView(
                seat=seat,
                account_id=account_id,
                name=COMPUTER if computer else names.get(account_id or ""),
                computer=computer,
                free=holder is None and seat not in reserved,
            )
        )
    return shown


def table(game: Game, partition: int, names: Mapping[str, str]) -> bodies.TableView:
    return bodies.TableView(**_table_fields(game, partition, names))


def _table_fields(game: Game, partition: int, names: Mapping[str, str]) -> dict[str, Any]:
    return {
        "table_id": game.table_id,
        "partition": partition,
        "kind": game.kind.value,
        "ruleset": bodies.RulesetView(
            name=game.ruleset.name,
            options=dict(game.ruleset.options),
            missed_trick_points=game.missed_trick_points,
        ),
        "stake_coins": game.stake_coins,
        "needed_coins": game.stake_coins + game.fee_coins,
        "leaving_price_coins": game.price_coins,
        "clock_ms": game.clock_ms,
        "bots_welcome": game.bots_welcome,
        "host": bodies.Host(account_id=game.host, name=names.get(game.host)),
        "phase": game.phase,
        "seats": seats(game, names),
        "opened_ms": game.opened_ms,
    }


def game(known: Game, partition: int, names: Mapping[str, str]) -> bodies.GameView:
    return bodies.GameView(
        **_table_fields(known, partition, names),
        version=known.version,
        hands=known.hand_no,
        scores=known.scores,
        bags=known.bags,
        winner=known.winner,
        end_reason=known.end_reason,
        settled=known.settled,
        payouts=[
            bodies.Payout(
                account_id=payout.account_id,
                name=names.get(payout.account_id),
                net_coins=payout.net_coins,
            )
            for payout in known.payouts
        ],
        leavers=list(known.leavers),
        anchor=known.anchor,
        seeds=None if known.seeds is None else list(known.seeds),
        seed_missing=None if known.seed_missing is None else list(known.seed_missing),
        started_ms=known.started_ms,
        ended_ms=known.ended_ms,
    )


def hand(known: Game, one: record.Hand) -> bodies.HandView:
    bids: list[int | str | None] = [None] * 4
    for made in one.bids:
        bids[made.seat] = made.bid
    dealt = record.dealt_hands(known, one)
    tricks = [one.cards[at : at + 4] for at in range(0, len(one.tricks) * 4, 4)]
    return bodies.HandView(
        table_id=known.table_id,
        hand_no=one.hand_no,
        dealer=one.dealt.dealer,
        face_down=list(one.dealt.face_down),
        bids=bids,
        hands=None if dealt is None else [list(rules.card_names(cards)) for cards in dealt],
        tricks=[
            bodies.TrickView(leader=cards[0].seat, cards=[card.card for card in cards], winner=taken.winner)
            for cards, taken in zip(tricks, one.tricks, strict=True)
        ],
        scored=None if one.scored is None else msgspec.to_builtins(one.scored),
    )
