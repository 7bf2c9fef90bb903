"""What the gateway knows of games and coins, folded from events. Pure: no clock, no await."""

from typing import Final, Literal

import msgspec

from spades_events import BOT_ACCOUNT, RulesetChoice, SeatHolder, TableKind, events
from spades_rules import ruleset_stamped

Phase = Literal["seating", "starting", "playing", "ended"]
Seats = tuple[SeatHolder | None, SeatHolder | None, SeatHolder | None, SeatHolder | None]

NOBODY: Final[Seats] = (None, None, None, None)


class Game(msgspec.Struct, frozen=True, kw_only=True):
    """One table as everybody may see it, at `version`; times are Unix milliseconds."""

    table_id: str
    version: int
    opened_ms: int
    kind: TableKind
    ruleset: RulesetChoice
    rules_version: int
    stake_coins: int
    fee_coins: int
    clock_ms: int | None
    host: str
    bots_welcome: bool
    anchor: str
    phase: Phase = "seating"
    seats: Seats = NOBODY
    reserved: dict[str, int] = {}
    """Seats asked for and not yet paid: reservation to seat."""
    players: tuple[str, ...] = ()
    """Every person who ever sat here, in the order in which they came."""
    leavers: tuple[str, ...] = ()
    seeds: tuple[str, str, str, str] | None = None
    seed_missing: tuple[bool, bool, bool, bool] | None = None
    hand_no: int = 0
    fingerprint: str | None = None
    scores: tuple[int, int] = (0, 0)
    bags: tuple[int, int] = (0, 0)
    started_ms: int | None = None
    ended_ms: int | None = None
    winner: int | None = None
    end_reason: str | None = None
    settled: bool = False
    payouts: tuple[events.Payout, ...] = ()

    @property
    def finished(self) -> bool:
        """Nothing more will happen here: the table service has let go of it."""
        return self.phase == "ended" and (self.settled or self.stake_coins == 0)

    @property
    def account_ids(self) -> frozenset[str]:
        """Everybody a picture of it names."""
        seated = {holder.account_id for holder in self.seats if holder is not None}
        return frozenset(seated | {self.host, *self.players})

    @property
    def price_coins(self) -> int:
        """What leaving the running game costs."""
        return self.stake_coins + self.fee_coins

    @property
    def missed_trick_points(self) -> int:
        """What every trick bid costs a team that misses its contract."""
        rules = ruleset_stamped(self.ruleset.name, self.ruleset.options)
        return -rules.missed_points


def opened(event: events.TableOpened, table_id: str, at_ms: int) -> Game:
    """The game that `TableOpened`, always version 1, begins."""
    return Game(
        table_id=table_id,
        version=1,
        opened_ms=at_ms,
        kind=event.kind,
        ruleset=event.ruleset,
        rules_version=event.rules_version,
        stake_coins=event.stake_coins,
        fee_coins=event.fee_coins,
        clock_ms=event.clock_ms,
        host=event.host,
        bots_welcome=event.bots_welcome,
        anchor=event.anchor,
    )


def fold(game: Game, event: msgspec.Struct, version: int, at_ms: int) -> Game:
    """The game after one more event. What a list or a result does not show changes only `version`."""
    return msgspec.structs.replace(game, version=version, **_changes(game, event, at_ms))


def _changes(game: Game, event: msgspec.Struct, at_ms: int) -> dict[str, object]:
    match event:
        case events.SeatReserved():
            return {"reserved": {**game.reserved, event.reservation_id: event.seat}}
        case events.SeatTaken():
            return _taken(game, event)
        case events.SeatRefused():
            return {"reserved": _without(game.reserved, event.reservation_id)}
        case events.SeatReleased():
            held = game.seats[event.seat]
            gone = held is not None and held.account_id == event.account_id
            return {
                "seats": _seated(game.seats, event.seat, None) if gone else game.seats,
                "reserved": _without(game.reserved, event.reservation_id),
            }
        case events.SeatsLocked():
            return {"phase": "starting", "seats": event.seats}
        case events.SeedsFixed():
            return {"seeds": event.seeds, "seed_missing": event.seed_missing}
        case events.GameStarted():
            return {"phase": "playing", "seats": event.seats, "started_ms": at_ms}
        case events.HandCommitted():
            return {"hand_no": event.hand_no, "fingerprint": event.fingerprint}
        case events.HandScored():
            first, second = event.teams
            return {"scores": (first.score, second.score), "bags": (first.bags, second.bags)}
        case events.SeatForfeited():
            return {"leavers": (*game.leavers, event.account_id)}
        case events.TableCancelled():
            return {"phase": "ended", "end_reason": event.reason, "ended_ms": at_ms}
        case events.GameEnded():
            return {
                "phase": "ended",
                "winner": event.winner,
                "end_reason": event.reason,
                "scores": event.scores,
                "ended_ms": at_ms,
            }
        case events.GameSettled():
            return {"settled": True, "payouts": event.payouts}
        case _:
            return {}


def _taken(game: Game, event: events.SeatTaken) -> dict[str, object]:
    account = event.holder.account_id
    known = account in game.players or account == BOT_ACCOUNT
    return {
        "seats": _seated(game.seats, event.holder.seat, event.holder),
        "reserved": _without(game.reserved, event.reservation_id),
        "players": game.players if known else (*game.players, account),
    }


def _seated(seats: Seats, seat: int, holder: SeatHolder | None) -> Seats:
    first, second, third, fourth = (holder if place == seat else held for place, held in enumerate(seats))
    return (first, second, third, fourth)


def _without(reserved: dict[str, int], reservation: str | None) -> dict[str, int]:
    return {key: seat for key, seat in reserved.items() if key != reservation}


def accounts_of(event: msgspec.Struct) -> frozenset[str]:
    """The accounts that an event names, so that its frame can carry their names."""
    match event:
        case events.TableOpened():
            found = [event.host]
        case events.SeatTaken():
            found = [event.holder.account_id, event.replaces or ""]
        case events.SeatReserved() | events.SeatRefused() | events.SeatReleased():
            found = [event.account_id]
        case events.SeatForfeited():
            found = [event.account_id]
        case events.SeatsLocked() | events.GameStarted():
            found = [holder.account_id for holder in event.seats]
        case events.GameEnded() | events.TableCancelled():
            found = [name for seat in event.seats for name in (seat.account_id, seat.leaver or "")]
        case events.GameSettled():
            found = [payout.account_id for payout in event.payouts]
        case _:
            found = []
    return frozenset(found) - {"", "house", "fees"}
