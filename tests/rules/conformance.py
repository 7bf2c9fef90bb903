"""Run case files against the rules: `python -m tests.rules.conformance FILE...`

Prints every row, and under it what differs from what the file expects; exits with 1 if any does, and
with 2 where a file cannot be read or holds no cases of the rules. It goes through the public door of the rules
only, as a stranger's program would.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import spades_rules as rules
from spades_rules import Seat

Row = dict[str, Any]


class NoCases(Exception):
    """A file cannot be read, or what it holds is for no check of the rules."""


class Differences:
    """What one row got wrong, each line saying what was expected and what came."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def compare(self, what: str, wanted: object, got: object) -> None:
        if wanted != got:
            self.lines.append(f"{what}: expected {wanted!r}, got {got!r}")


def ruleset_of(row: Row) -> rules.Ruleset:
    """A row's rule set; its options may say more than a host of that preset could."""
    options: Row = dict(row.get("options") or {})
    changes: Row = {}
    if "miss" in options:
        changes["missed_points"] = {"minus": 10, "zero": 0}[options.pop("miss")]
    if "jokers" in options:
        changes["deck"] = rules.Deck.JOKERS if options.pop("jokers") else rules.Deck.STANDARD
    for option, field in (
        ("nil", "nil_points"),
        ("target", "target"),
        ("blind_gap", "blind_nil_gap"),
    ):
        if option in options:
            changes[field] = options.pop(option)
    if "blind_nil" in options:
        changes["blind_nil_points"] = options.pop("blind_nil") or 0
    if options:
        raise ValueError(f"options {sorted(options)} are unknown")
    preset = rules.PRESETS[row["preset"]].ruleset
    return rules.custom_ruleset(preset, **changes) if changes else preset


def check_hand(row: Row) -> list[str]:
    """A scored hand: bids and tricks in, the whole score out."""
    found = Differences()
    ruleset, expect = ruleset_of(row), row["expect"]
    bids = tuple(rules.parse_bid(bid) for bid in row["bids"])
    scored = rules.score_hand(
        ruleset,
        bids=bids,  # type: ignore[arg-type]
        tricks=tuple(row["tricks"]),
        scores=tuple(row["score_before"]),
        bags=tuple(row["bags_before"]),
        hand_no=1,
    )
    after = (scored.teams[0].score_after, scored.teams[1].score_after)
    ended = rules.game_end(ruleset, after, scored.hand_no)
    why = "tie_play_on" if scored.tie_plays_on else ended.reason.value if ended else None
    got: Row = {
        "score": list(after),
        "bags": [team.bags_after for team in scored.teams],
        "delta": [team.delta for team in scored.teams],
        "bag_penalties": [team.bag_penalties for team in scored.teams],
        "game_over": ended is not None,
        "winner": ended.winner if ended else None,
        "why": why,
    }
    for name, wanted in expect.items():
        found.compare(name, wanted, got.get(name, "nothing"))
    for team in scored.teams:
        found.compare("sum of the lines", team.delta, sum(line.points for line in team.lines))
    return found.lines


def _at_the_deal(row: Row, ruleset: rules.Ruleset) -> rules.AwaitingDeal:
    scores = (row["score_before"][0], row["score_before"][1])
    # A score's last digit is its bag count, so a row need not give both.
    first, second = row.get("bags_before") or (scores[0] % 10, scores[1] % 10)
    return rules.AwaitingDeal(
        ruleset=ruleset, scores=scores, bags=(first, second), hand_no=2, dealer=Seat(row["dealer"])
    )


def _take(game: rules.Game, command: rules.Command) -> tuple[rules.Game, tuple[rules.Event, ...]]:
    events = rules.decide(game, command)
    return rules.replay(game, events), events


def _bid(game: rules.Game, seat: Seat, bid: Any, *, looks_first: bool) -> rules.Game:
    if looks_first and rules.view(game, seat).may_look:
        game, _ = _take(game, rules.LookAtCards(seat))
    return _take(game, rules.PlaceBid(seat, bid))[0]


def check_bid(row: Row) -> list[str]:
    """A bid at one moment of an auction: does it stand?"""
    found = Differences()
    game: rules.Game = _at_the_deal(row, ruleset_of(row))
    deck = list(rules.cards_in(rules.DECKS[game.ruleset.deck]))
    hands = [rules.mask_of(deck[seat::4]) for seat in range(4)]
    dealer = Seat(row["dealer"])
    deal = rules.DealHand(2, dealer, (hands[0], hands[1], hands[2], hands[3]))
    game, _ = _take(game, deal)
    turn = rules.left_of(dealer)
    for bid in row["bids_so_far"]:
        game = _bid(game, turn, bid, looks_first=bid != "blind_nil")
        turn = rules.left_of(turn)
    before = game
    try:
        looks_first = row.get("looked", row["bid"] != "blind_nil")
        _bid(game, Seat(row["seat"]), row["bid"], looks_first=looks_first)
        legal = True
    except rules.Rejected:
        legal = False
    found.compare("legal", row["expect"]["legal"], legal)
    found.compare("the game after trying", before, game)
    return found.lines


def check_play(row: Row) -> list[str]:
    """A whole hand, card by card, with the cards that must be refused on the way."""
    found = Differences()
    game = _opened(row, found)
    rejects: dict[int, list[Row]] = {}
    for reject in row.get("rejects", ()):
        rejects.setdefault(reject["turn"], []).append(reject)
    seen: list[rules.Event] = []
    for number, turn in enumerate(row["turns"]):
        for reject in rejects.get(number, ()):
            found.compare(f"turn {number} refusal", reject["why"], _refusal(game, reject))
        expected = rules.expected(game)
        found.compare(f"turn {number} seat", turn["seat"], expected.seat if expected else None)
        seat = Seat(turn["seat"])
        if "legal" in turn:
            legal = sorted(rules.view(game, seat).legal_cards)
            found.compare(f"turn {number} legal", sorted(turn["legal"]), legal)
        game, events = _take(game, rules.PlayCard(seat, rules.parse_card(turn["card"])))
        seen += events
    _compare_tricks(row, seen, found)
    _compare_end(row, seen, game, found)
    return found.lines


def _opened(row: Row, found: Differences) -> rules.Game:
    """The hand dealt, bid and swapped, up to the first lead."""
    dealt = [rules.parse_cards(hand) for hand in row.get("hands_dealt") or row["hands"]]
    game: rules.Game = _at_the_deal(row, ruleset_of(row))
    deal = rules.DealHand(2, Seat(row["dealer"]), (dealt[0], dealt[1], dealt[2], dealt[3]))
    game, _ = _take(game, deal)
    seat = rules.left_of(Seat(row["dealer"]))
    for _ in range(4):
        bid = row["bids"][seat]
        game = _bid(game, seat, bid, looks_first=bid != "blind_nil")
        seat = rules.left_of(seat)
    if row.get("swap"):
        bidder = Seat(row["swap"]["bidder"])
        passed, returned = (rules.parse_cards(row["swap"][key]) for key in ("passed", "returned"))
        game, _ = _take(game, rules.PassCards(bidder, passed))
        game, _ = _take(game, rules.PassCards(rules.partner_of(bidder), returned))
    for seat in rules.SEATS:
        held = sorted(rules.view(game, seat).hand)
        found.compare(f"hand of seat {seat}", sorted(row["hands"][seat]), held)
    expected = rules.expected(game)
    found.compare("first leader", row["first_leader"], expected.seat if expected else None)
    return game


def _refusal(game: rules.Game, reject: Row) -> str:
    command = rules.PlayCard(Seat(reject["seat"]), rules.parse_card(reject["card"]))
    try:
        rules.decide(game, command)
    except rules.Rejected as rejected:
        return rejected.code.value
    return "was taken"


def _compare_tricks(row: Row, events: list[rules.Event], found: Differences) -> None:
    tricks: list[Row] = []
    broken = False
    for event in events:
        match event:
            case rules.SpadesBroken():
                broken = True
            case rules.TrickTaken(winner, leader, cards):
                names = [rules.card_name(card) for card in cards]
                tricks.append({"leader": leader, "cards": names, "winner": winner, "broken_after": broken})
            case _:
                pass
    for number, wanted in enumerate(row["tricks"]):
        got = tricks[number] if number < len(tricks) else None
        found.compare(f"trick {number}", wanted, got)
    found.compare("number of tricks", len(row["tricks"]), len(tricks))
    taken = [sum(trick["winner"] == seat for trick in tricks) for seat in range(4)]
    found.compare("taken", row["taken"], taken)


def _compare_end(row: Row, events: list[rules.Event], game: rules.Game, found: Differences) -> None:
    ended = game if isinstance(game, rules.Ended) else None
    got: Row = {
        "score": list(game.scores),
        "bags": list(game.bags),
        "game_over": ended is not None,
        "winner": ended.winner if ended else None,
        "why": ended.reason.value if ended else None,
    }
    for event in events:
        if isinstance(event, rules.HandScored):
            got["delta"] = [team.delta for team in event.teams]
            got["bag_penalties"] = [team.bag_penalties for team in event.teams]
            if event.tie_plays_on:
                got["why"] = "tie_play_on"
    for name, wanted in row["expect"].items():
        found.compare(name, wanted, got.get(name, "nothing"))


def check_fair_deal(vector: Row) -> list[str]:
    """A deal, step by step, and the check that a player makes of it."""
    found = Differences()
    given = vector["inputs"]
    root, length = bytes.fromhex(given["chain_root"]), given.get("chain_length", 64)
    hand_no, dealer, deck_id = given["hand_no"], given["dealer_seat"], given["deck_id"]
    seeds = [bytes.fromhex(seed) for seed in given["client_seeds"]]
    secret = rules.secret(root, hand_no, length)
    trace = rules.deal_trace(secret, given["game_id"], hand_no, dealer, deck_id, seeds)
    steps = trace.cut_2
    got: Row = {
        "anchor": rules.anchor(root, length).hex(),
        "fingerprint": rules.fingerprint(secret).hex(),
        "secret": secret.hex(),
        "seed_commits": [rules.seed_commit(seed).hex() for seed in seeds],
        "deal_key": trace.key.hex(),
        "drbg_block_0": trace.block_0.hex(),
        "first_dealer": rules.first_dealer(rules.secret(root, 1, length), given["game_id"], deck_id, seeds),
        "hands": [" ".join(hand) for hand in trace.hands],
        "trace": {
            "after_shuffle_1": " ".join(trace.after_shuffle_1),
            "cut_1_at": trace.cut_1_at,
            "after_shuffle_2": " ".join(trace.after_shuffle_2),
            "cut_2": [steps[0], steps[1], steps[2]],
            "final_deck": " ".join(trace.final_deck),
            "bytes_used": trace.bytes_used,
            "bytes_rejected": trace.bytes_rejected,
        },
    }
    for name, value in got.items():
        if name == "trace":
            for step, wanted in vector.get("trace", {}).items():
                found.compare(step, wanted, value.get(step, "nothing"))
        elif name in vector:
            found.compare(name, vector[name], value)
    dealt = rules.deal_hands(secret, given["game_id"], hand_no, dealer, deck_id, seeds)
    wanted_hands = [rules.parse_cards(hand) for hand in vector["hands"]]
    found.compare("hands as sets", wanted_hands, list(dealt))
    return found.lines


Check = tuple[str, Callable[[Row], list[str]], Row]


def checks_of(path: Path) -> Iterator[Check]:
    """The rows of a file, each with its label and its check.

    Raises NoCases for another format, and for a file that is not there.
    """
    try:
        yield from _checks_in(path)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise NoCases(f"{path} holds no cases of the rules: {type(error).__name__} {error}") from error


def _checks_in(path: Path) -> Iterator[Check]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        content = json.loads(text)
        if isinstance(content, list) and all("stake" in row for row in content):
            raise ValueError("these are coin tables, for `python -m tests.wallet.conformance`")
        if not isinstance(content, dict) or content.get("format") != "spades-deal/1":
            raise ValueError("neither rows nor a fair deal")
        for vector in content["vectors"]:
            yield vector["name"], check_fair_deal, vector
        return
    for line in text.splitlines():
        if line.strip():
            row = json.loads(line)
            yield f"{row['id']} {row.get('topic', '')}", _check_for(row), row


def _check_for(row: Row) -> Callable[[Row], list[str]]:
    if "turns" in row:
        return check_play
    return {"hand": check_hand, "bid": check_bid}[row["kind"]]


def differences(check: Callable[[Row], list[str]], row: Row) -> list[str]:
    """What differs in a row; a row that cannot be driven at all differs too."""
    try:
        return check(row)
    except (rules.RulesError, ValueError, KeyError, IndexError, TypeError) as failure:
        return [f"{type(failure).__name__}: {failure}"]


def main(paths: list[str]) -> int:
    if not paths:
        print(__doc__)
        return 2
    rows = differ = unread = 0
    for path in paths:
        print(path)
        try:
            checks = list(checks_of(Path(path)))
        except NoCases as error:
            print(error, file=sys.stderr)
            unread += 1
            continue
        for label, check, row in checks:
            found = differences(check, row)
            rows += 1
            differ += bool(found)
            print(f"  {'DIFFERS' if found else 'same   '} {label}")
            for line in found:
                print(f"          {line}")
    print(f"{rows} rows, {differ} differ")
    if unread:
        return 2
    return 1 if differ or not rows else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
