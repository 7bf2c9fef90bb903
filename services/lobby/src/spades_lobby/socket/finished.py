"""A finished game's last state, as the snapshot that its table no longer gives."""

import msgspec

from spades_events.private import Snapshot
from spades_lobby.domain import Game
from spades_lobby.live import frames


def finished_snapshot(game: Game, names: dict[str, str], now_ms: int) -> bytes:
    """The frame; `view` is null, as nobody holds a card any more."""
    snapshot = Snapshot(
        table_id=game.table_id,
        version=game.version,
        connection_id=None,
        seat=None,
        account_id=None,
        server_ms=now_ms,
        kind=game.kind,
        ruleset=game.ruleset,
        rules_version=game.rules_version,
        stake_coins=game.stake_coins,
        fee_coins=game.fee_coins,
        clock_ms=game.clock_ms,
        host=game.host,
        anchor=game.anchor,
        phase="ended",
        seats=game.seats,
        reserved=(),
        seeds=game.seeds,
        seed_missing=game.seed_missing,
        hand_no=game.hand_no,
        fingerprint=game.fingerprint,
        scores=game.scores,
        bags=game.bags,
        turn=None,
        view=msgspec.Raw(b"null"),
        ready=(),
        next_deadline_ms=None,
        winner=game.winner,
        end_reason=game.end_reason,
        settled=game.settled,
    )
    body = msgspec.json.encode(snapshot)
    opened = frames.spliced(b"snapshot", game.version, body)
    return b'%b,"names":%b}' % (opened, msgspec.json.encode(names))
