"""One table's stream, replayed: every event must follow from those before it."""

from dataclasses import dataclass

import spades_rules as rules
from spades_events import BOT_ACCOUNT, SeatHolder, TableKind, events
from spades_replay.faults import Illegal
from spades_replay.hand import (
    DealtHand,
    HandFault,
    HandReplay,
    Replayed,
    TurnEvent,
    cards_played,
    passes_seen,
)
from spades_replay.payouts import fee_of, nets_of, nets_told
from spades_rules import NO_SEED, check_deal

NO_SEED_HEX = NO_SEED.hex()
SEATS = range(4)


@dataclass(kw_only=True, slots=True)
class Chair:
    """One seat: who holds it, by which reservation it was paid, and who forfeited it."""

    holder: SeatHolder | None = None
    paid_by: str | None = None
    leaver: str | None = None


class TableReplay:
    """A table as its public events tell it. `feed` raises Illegal at the first that cannot be."""

    def __init__(self, table_id: str) -> None:
        self.table_id = table_id
        self.opened: events.TableOpened | None = None
        self.chairs = [Chair() for _ in SEATS]
        self.locked: events.SeatsLocked | None = None
        self.seeds: events.SeedsFixed | None = None
        self.started = False
        self.captured = False
        self.game: rules.Game | None = None
        self.hand: DealtHand | None = None
        self.hands_proved = 0
        self.unreadable = False
        self.ended: events.GameEnded | events.TableCancelled | None = None
        self.settled: events.GameSettled | None = None
        self._reserved: dict[str, events.SeatReserved] = {}
        self._refused: set[str] = set()
        self._last_secret: str | None = None
        self._promised_end: rules.GameEnded | None = None

    @property
    def hand_no(self) -> int:
        """The hand that a fault would be in; 0 before the first."""
        return self.hand.hand_no if self.hand else self.hands_proved

    @property
    def stake_coins(self) -> int:
        return self.opened.stake_coins if self.opened else 0

    def feed(self, version: int, event: events.TableEvent) -> None:
        """Judge one event and fold it."""
        if (self.opened is None) != isinstance(event, events.TableOpened):
            raise Illegal(f"{type(event).__name__} where only the opening can stand, or a second opening")
        if self.ended is not None and not isinstance(
            event, events.GameSettled | events.DeadlineSet | events.ClockExtended
        ):
            raise Illegal(f"{type(event).__name__} after the end")
        if isinstance(event, TurnEvent):
            self._move(version, event)
        else:
            self._fold(version, event)

    def _fold(self, version: int, event: events.TableEvent) -> None:
        match event:
            case events.TableOpened():
                self._open(event)
            case events.SeatReserved():
                self._reserve(event)
            case events.SeatTaken():
                self._take_seat(event)
            case events.SeatRefused():
                if self._reserved.pop(event.reservation_id, None) is None:
                    raise Illegal("a refusal of no reservation")
                self._refused.add(event.reservation_id)
            case events.SeatReleased():
                self._release(event)
            case events.SeatsLocked():
                self._lock(event)
            case events.SeedOpened():
                if self.locked is None or self.seeds is not None:
                    raise Illegal("a seed opened out of its time")
            case events.StakesCaptured():
                self._capture(event)
            case events.SeedsFixed():
                self._fix_seeds(event)
            case events.GameStarted():
                self._start(event)
            case events.HandCommitted():
                self._commit_hand(event)
            case events.HandDealt():
                self._deal_hand(version, event)
            case events.DealRevealed():
                self._prove_hand(version, event)
            case events.DealUnreadable():
                self.unreadable = True
            case events.SeatForfeited():
                self._forfeit(event)
            case events.GameEnded():
                self._end(event)
            case events.TableCancelled():
                self._cancel(event)
            case events.GameSettled():
                self._settle(event)
            case events.SeatReady() | events.DeadlineSet() | events.ClockExtended():
                pass
            case _:
                raise Illegal(f"{type(event).__name__} is not known to this replayer")

    def _open(self, event: events.TableOpened) -> None:
        book = rules.rules_for(event.rules_version)
        options = {name: value for name, value in event.ruleset.options.items() if value is not None}
        self.game = book.new_game(rules.ruleset_stamped(event.ruleset.name, options))
        if event.fee_coins != fee_of(event.stake_coins):
            raise Illegal(f"a fee of {event.fee_coins} for a stake of {event.stake_coins}")
        if (event.stake_coins > 0) != (event.kind in (TableKind.COINS, TableKind.ONLINE)):
            raise Illegal(f"a stake of {event.stake_coins} at a table of kind {event.kind}")
        self.opened = event

    def _reserve(self, event: events.SeatReserved) -> None:
        if self.locked or self.chairs[event.seat].holder or any(r.seat == event.seat for r in self._reserved.values()):
            raise Illegal(f"seat {event.seat} was reserved though it is not free")
        if (event.stake_coins, event.deposit_coins) != (self.stake_coins, fee_of(self.stake_coins)):
            raise Illegal("a reservation at another price than the table's")
        self._reserved[event.reservation_id] = event

    def _take_seat(self, event: events.SeatTaken) -> None:
        holder, chair = event.holder, self.chairs[event.holder.seat]
        if event.replaces is not None:
            if chair.leaver != event.replaces or holder.account_id != BOT_ACCOUNT:
                raise Illegal(f"seat {holder.seat} was taken over from {event.replaces}, who had not left it")
            chair.holder = holder
            return
        if self.locked or chair.holder is not None:
            raise Illegal(f"seat {holder.seat} was taken though it is not free")
        if holder.account_id != BOT_ACCOUNT and self._sits(holder.account_id):
            raise Illegal("one account on two seats")
        if self.stake_coins and holder.account_id != BOT_ACCOUNT:
            reserved = self._reserved.pop(event.reservation_id or "", None)
            if reserved is None or (reserved.seat, reserved.account_id) != (holder.seat, holder.account_id):
                raise Illegal(f"seat {holder.seat} was taken without a reservation of its own")
        chair.holder, chair.paid_by = holder, event.reservation_id

    def _release(self, event: events.SeatReleased) -> None:
        chair = self.chairs[event.seat]
        if self.locked:
            raise Illegal("a seat was released after the seats were locked")
        if event.reservation_id in self._refused:
            # An expired reservation is refused and released, so that a late hold is voided.
            return
        if event.reservation_id is not None and self._reserved.pop(event.reservation_id, None) is not None:
            return
        if chair.holder is None or chair.holder.account_id != event.account_id:
            raise Illegal(f"seat {event.seat} was released by somebody who did not hold it")
        self.chairs[event.seat] = Chair()

    def _lock(self, event: events.SeatsLocked) -> None:
        if self.locked or tuple(event.seats) != tuple(chair.holder for chair in self.chairs):
            raise Illegal("the seats were locked with other holders than those who sit there")
        self.locked = event

    def _capture(self, event: events.StakesCaptured) -> None:
        if self.captured or not self.locked or event.pot_coins != 4 * self.stake_coins:
            raise Illegal(f"a pot of {event.pot_coins} for four stakes of {self.stake_coins}")
        self.captured = True

    def _fix_seeds(self, event: events.SeedsFixed) -> None:
        if self.locked is None or self.seeds is not None:
            raise Illegal("the seeds were fixed out of their time")
        for holder, seed, is_missing in zip(self.locked.seats, event.seeds, event.seed_missing, strict=True):
            if (is_missing or holder.seed_commit is None) and seed != NO_SEED_HEX:
                raise Illegal(f"seat {holder.seat} has a seed that it never promised")
        self.seeds = event

    def _start(self, event: events.GameStarted) -> None:
        if self.started or self.seeds is None or self.locked is None or event.seats != self.locked.seats:
            raise Illegal("the game started before its seats and seeds were fixed")
        if self.stake_coins and not self.captured:
            raise Illegal("the game started before the stakes were in the pot")
        self.started = True

    def _commit_hand(self, event: events.HandCommitted) -> None:
        game = self.game
        if not self.started or self.hand is not None or not isinstance(game, rules.AwaitingDeal) or self._promised_end:
            raise Illegal("a hand was committed out of its time")
        if event.hand_no != game.hand_no or game.dealer not in (None, event.dealer):
            raise Illegal(f"hand {event.hand_no} with dealer {event.dealer} is not the next one")
        assert self.opened is not None
        if event.fingerprint != (self._last_secret or self.opened.anchor):
            raise Illegal("the hand's fingerprint is not the next link of the chain")
        if event.deck_id != game.ruleset.deck_id:
            raise Illegal(f"deck {event.deck_id} is not the rule set's")
        self.hand = DealtHand(
            hand_no=event.hand_no, dealer=event.dealer, deck_id=event.deck_id, fingerprint=event.fingerprint
        )

    def _deal_hand(self, version: int, event: events.HandDealt) -> None:
        if self.hand is None or self.hand.version:
            raise Illegal("a hand was dealt that was not committed")
        if (event.hand_no, event.dealer) != (self.hand.hand_no, self.hand.dealer):
            raise Illegal("another hand was dealt than the one committed")
        self.hand.version, self.hand.face_down = version, tuple(event.face_down)

    def _move(self, version: int, event: TurnEvent) -> None:
        # The cards are not known before the secret is: the hand is judged when it is revealed.
        if self.hand is None or not self.hand.version:
            raise Illegal(f"{type(event).__name__} outside a hand")
        self.hand.moves.append((version, event))

    def _prove_hand(self, version: int, event: events.DealRevealed) -> None:
        hand = self.hand
        if hand is None or self.opened is None or self.seeds is None or self.locked is None:
            raise Illegal("a deal was revealed outside a hand")
        if (event.hand_no, event.dealer, event.deck_id) != (hand.hand_no, hand.dealer, hand.deck_id):
            raise Illegal("another deal was revealed than the one committed")
        commits = [
            None if missing or holder.seed_commit is None else bytes.fromhex(holder.seed_commit)
            for holder, missing in zip(self.locked.seats, self.seeds.seed_missing, strict=True)
        ]
        seeds = [bytes.fromhex(seed) for seed in self.seeds.seeds]
        for step in check_deal(
            game_id=self.table_id,
            hand_no=hand.hand_no,
            dealer=hand.dealer,
            deck_id=hand.deck_id,
            anchor=bytes.fromhex(self.opened.anchor),
            fingerprint=bytes.fromhex(hand.fingerprint),
            secret=bytes.fromhex(event.secret),
            seeds=seeds,
            seed_commits=commits,
            played=cards_played(hand.moves),
            passes=passes_seen(event.swaps),
        ):
            if not step.ok:
                raise Illegal(f"the deal does not verify at {step.name}: shown {step.shown}, computed {step.computed}")
        replayed = self.replay_hand(hand, event)
        if hand.version and replayed.is_scored:
            self.game, self._promised_end = replayed.game, replayed.ended
        self.hand, self.hands_proved, self._last_secret = None, hand.hand_no, event.secret

    def replay_hand(self, hand: DealtHand, revealed: events.DealRevealed) -> Replayed:
        """Deal a revealed hand again and judge its moves from the game as it stood before it."""
        assert self.opened is not None
        replay = self.hand_replay(hand, revealed)
        for version, event in hand.moves:
            replay.feed(version, event)
        last = hand.moves[-1][0] if hand.moves else hand.version
        return replay.finish(last)

    def hand_replay(self, hand: DealtHand, revealed: events.DealRevealed) -> HandReplay:
        """A revealed hand, dealt, before its first move."""
        assert self.opened is not None
        assert self.game is not None
        assert self.seeds is not None
        book = rules.rules_for(self.opened.rules_version)
        seeds = [bytes.fromhex(seed) for seed in self.seeds.seeds]
        replay = HandReplay(book, self.game, hand, revealed)
        replay.deal(
            book.deal_hands(
                bytes.fromhex(revealed.secret), self.table_id, hand.hand_no, hand.dealer, hand.deck_id, seeds
            )
        )
        return replay

    def _forfeit(self, event: events.SeatForfeited) -> None:
        chair = self.chairs[event.seat]
        if not self.started or chair.holder is None or chair.holder.account_id != event.account_id:
            raise Illegal(f"seat {event.seat} was forfeited by somebody who did not hold it")
        if (event.stake_coins, event.fee_coins) != (self.stake_coins, fee_of(self.stake_coins)):
            raise Illegal("leaving at another price than the table's")
        chair.leaver = event.account_id

    def _end(self, event: events.GameEnded) -> None:
        self._check_results(event.seats, event.stake_coins)
        if event.reason == "abandoned":
            if event.winner is not None or (self.stake_coins and any(self._has_person(chair) for chair in self.chairs)):
                # Without coins a table is also abandoned when nobody moves for half an hour.
                raise Illegal("abandoned, and yet a person sits there")
        else:
            promised = self._promised_end
            if promised is None:
                raise Illegal("the game ended where the rules play on")
            reason = "draw" if promised.winner is None else promised.reason.value
            if (event.winner, event.reason, event.scores) != (promised.winner, reason, promised.scores):
                raise Illegal(f"the game ended {event.reason} where the rules say {promised}")
            assert self.opened is not None
            assert self.game is not None
            self.game = rules.rules_for(self.opened.rules_version).evolve(self.game, promised)
        if self.hand is not None and not self.unreadable:
            raise Illegal("the game ended and its last hand was not revealed")
        self.ended = event

    def _cancel(self, event: events.TableCancelled) -> None:
        self._check_results(event.seats, event.stake_coins)
        if self.hand is not None and self.hand.version and not self.unreadable:
            raise Illegal("the game was cancelled and its last hand was not revealed")
        self.ended = event

    def _settle(self, event: events.GameSettled) -> None:
        if self.settled is not None or self.ended is None or not self.stake_coins:
            raise Illegal("settled out of its time")
        if nets_told(event.payouts) != nets_of(self.ended):
            raise Illegal(f"settled {nets_told(event.payouts)} where the rulings say {nets_of(self.ended)}")
        self.settled = event

    def _check_results(self, results: tuple[events.SeatResult, ...], stake_coins: int) -> None:
        if stake_coins != self.stake_coins:
            raise Illegal("the game ended with another stake than the table's")
        for result in results:
            chair = self.chairs[result.seat]
            holder = chair.holder.account_id if chair.holder else None
            if result.leaver != chair.leaver or (result.account_id != holder and chair.leaver is None):
                raise Illegal(f"seat {result.seat} ended with another holder than the one who sat there")
            if result.reservation_id != chair.paid_by:
                raise Illegal(f"seat {result.seat} ended with another hold than the one that paid for it")

    def _sits(self, account_id: str) -> bool:
        return any(chair.holder is not None and chair.holder.account_id == account_id for chair in self.chairs)

    @staticmethod
    def _has_person(chair: Chair) -> bool:
        return chair.holder is not None and chair.holder.account_id not in (BOT_ACCOUNT, chair.leaver)


__all__ = ["Chair", "HandFault", "TableReplay"]
