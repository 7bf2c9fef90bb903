"""Laws of the game: true in every hand, whatever is dealt, bid and played."""

import os
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spades_rules import (
    DECKS,
    PRESETS,
    Auction,
    AwaitingDeal,
    BidMade,
    CardPlayed,
    CardsPassed,
    CardsSeen,
    CorruptHistory,
    DealHand,
    Ended,
    GameEnded,
    HandDealt,
    HandScored,
    LookAtCards,
    Mask,
    PassCards,
    PlaceBid,
    Play,
    PlayCard,
    Rejected,
    Seat,
    SpadesBroken,
    Swap,
    TrickTaken,
    decide,
    evolve,
    expected,
    legal_bids,
    legal_cards,
    new_game,
    parse_bid,
    replay,
    rules_for,
    ruleset,
    score_team,
    view,
)
from tests.rules.games import random_deal, random_game

RULESETS = [
    *(ruleset(name) for name in PRESETS),
    ruleset("classic", {"blind_nil": True, "swap": True, "nil": 50, "target": 250}),
    ruleset("bicycle", {"blind_nil": True}),
    ruleset("jokers", {"blind_nil": True, "swap": True, "target": 200}),
]


class Course(list):
    """The steps of a random game; a failing test prints what makes it again."""

    def __init__(self, rules, seed):
        super().__init__(random_game(rules, seed=seed, hands_max=4))
        self.label = f"random_game(ruleset({rules.name!r}, {rules.chosen}), seed={seed})"

    def __repr__(self):
        return self.label


games = st.builds(Course, st.sampled_from(RULESETS), st.integers(0, 2**32))
# Games a law is tried on: enough for every run; a change of the rules is worth a thousand.
EXAMPLES = int(os.environ.get("SPADES_LAW_EXAMPLES", "25"))
law = settings(max_examples=EXAMPLES, deadline=None)


def cards_about(game: Auction | Swap | Play) -> int:
    """Every card of a hand, wherever it is: held, on the table, or in a finished trick."""
    total = [*game.hands]
    if isinstance(game, Play):
        total += [Mask(1 << card) for card in game.trick]
        total += [Mask(1 << card) for trick in game.tricks for card in trick.cards]
    assert sum(mask.bit_count() for mask in total) == 52
    return sum(total)


@law
@given(games)
def test_a_hand_has_52_cards_and_13_tricks_and_each_card_is_somewhere(steps):
    for game, _, events in steps:
        if isinstance(game, Auction | Swap | Play):
            assert cards_about(game) == DECKS[game.ruleset.deck]
        for event in events:
            if isinstance(event, HandScored):
                assert sum(event.tricks) == 13


@law
@given(games)
def test_there_is_always_a_legal_move_and_every_legal_move_is_taken(steps):
    for game, _, _ in steps:
        turn = expected(game)
        if isinstance(game, Play):
            legal = legal_cards(game)
            assert legal
            for card in range(-1, 55):
                command = PlayCard(turn.seat, card)
                if card >= 0 and legal >> card & 1:
                    assert decide(game, command)[0] == CardPlayed(turn.seat, card)
                else:
                    with pytest.raises(Rejected):
                        decide(game, command)
        elif isinstance(game, Auction):
            assert legal_bids(game)
            for bid in legal_bids(game):
                assert decide(game, PlaceBid(turn.seat, bid))[0] == BidMade(turn.seat, bid)


@law
@given(games)
def test_replaying_the_events_gives_the_same_state(steps):
    start = steps[0][0]
    history = [event for _, _, events in steps for event in events]
    game = start
    for at, command, events in steps:
        assert game == at
        game = replay(game, events)
        assert decide(at, command) == events
    assert replay(start, history) == game
    assert rules_for(1).replay(start, history) == game


@law
@given(games)
def test_a_command_that_was_taken_is_refused_when_it_is_repeated(steps):
    for game, command, events in steps:
        after = replay(game, events)
        with pytest.raises(Rejected):
            decide(after, command)


@law
@given(games)
def test_no_command_of_a_past_turn_is_ever_taken_again(steps):
    done = []
    for game, command, _ in steps:
        for old in done[-8:]:
            # A bid or a card may come back in a later hand; a deal never.
            if isinstance(old, DealHand):
                with pytest.raises(Rejected):
                    decide(game, old)
        done.append(command)


@law
@given(games)
def test_a_score_s_last_digit_is_the_bag_count(steps):
    for game, _, _ in steps:
        assert [score % 10 for score in game.scores] == list(game.bags)
        assert all(0 <= bags <= 9 for bags in game.bags)


@law
@given(
    st.sampled_from(RULESETS),
    st.integers(-1000, 999),
    st.tuples(*[st.one_of(st.integers(1, 13), st.sampled_from(["nil", "blind_nil"]))] * 2),
    st.tuples(st.integers(0, 13), st.integers(0, 13)).filter(lambda took: sum(took) <= 13),
)
def test_the_last_digit_law_holds_for_any_hand(rules, score, bids, took):
    scored = score_team(
        rules,
        0,
        bids=(bids[0], 1, bids[1], 1),
        tricks=(took[0], 0, took[1], 0),
        score=score,
        bags=score % 10,
    )
    assert scored.score_after % 10 == scored.bags_after
    assert scored.delta == sum(line.points for line in scored.lines)


def _turned(game_or_event, by):
    """The same fact at a table turned by `by` seats."""
    at = lambda seat: None if seat is None else Seat((seat + by) % 4)  # noqa: E731
    team = lambda number: None if number is None else (number + by) % 2  # noqa: E731
    seats = lambda four: tuple(four[(seat - by) % 4] for seat in range(4))  # noqa: E731
    teams = lambda two: two if by % 2 == 0 else two[::-1]  # noqa: E731
    match game_or_event:
        case HandDealt(no, dealer, four, down):
            return HandDealt(no, at(dealer), seats(four), tuple(sorted(map(at, down))))
        case CardsSeen(seat):
            return CardsSeen(at(seat))
        case BidMade(seat, bid):
            return BidMade(at(seat), bid)
        case CardsPassed(giver, taker, cards):
            return CardsPassed(at(giver), at(taker), cards)
        case CardPlayed(seat, card):
            return CardPlayed(at(seat), card)
        case TrickTaken(winner, leader, cards):
            return TrickTaken(at(winner), at(leader), cards)
        case SpadesBroken():
            return SpadesBroken()
        case HandScored() as scored:
            return (
                seats(scored.bids),
                seats(scored.tricks),
                scored.tie_plays_on,
                *tuple(
                    (
                        t.score_after,
                        t.bags_after,
                        t.delta,
                        sorted((x.rule, x.points) for x in t.lines),
                    )
                    for t in teams(scored.teams)
                ),
            )
        case GameEnded(winner, reason, scores):
            return GameEnded(team(winner), reason, teams(scores))
    raise AssertionError(game_or_event)


def _turned_command(command, by):
    at = lambda seat: Seat((seat + by) % 4)  # noqa: E731
    match command:
        case DealHand(no, dealer, four):
            return DealHand(no, at(dealer), tuple(four[(seat - by) % 4] for seat in range(4)))
        case PlaceBid(seat, bid):
            return PlaceBid(at(seat), bid)
        case PassCards(seat, cards):
            return PassCards(at(seat), cards)
        case PlayCard(seat, card):
            return PlayCard(at(seat), card)
        case LookAtCards(seat):
            return LookAtCards(at(seat))
    raise AssertionError(command)


@law
@given(games, st.integers(1, 3))
def test_turning_the_table_changes_nothing_but_the_seats_names(steps, by):
    game = new_game(steps[0][0].ruleset)
    for _, command, events in steps:
        caused = decide(game, _turned_command(command, by))
        # Two Blind Nil bidders turn their cards together: which is named first means nothing.
        here, there = (
            [_turned(event, 0) for event in caused],
            [_turned(event, by) for event in events],
        )
        assert sorted(map(repr, here)) == sorted(map(repr, there))
        game = replay(game, caused)


def _other_world(game, seat, chance):
    """The same game with the cards that `seat` cannot see dealt anew among those who hold them."""
    others = [other for other in range(4) if other != seat]
    pool = [card for other in others for card in range(54) if game.hands[other] >> card & 1]
    chance.shuffle(pool)
    hands = list(game.hands)
    for other in others:
        count = game.hands[other].bit_count()
        hands[other] = Mask(sum(1 << card for card in pool[:count]))
        pool = pool[count:]
    return hands


@law
@given(games, st.integers(0, 2**32))
def test_a_view_never_depends_on_what_it_may_not_show(steps, seed):
    chance = random.Random(seed)
    for game, _, _ in steps[::7]:
        if not isinstance(game, Play) or game.passes:
            continue
        turn = expected(game).seat
        for seat in range(4):
            hands = tuple(_other_world(game, seat, chance))
            other = Play(
                deal=game.deal,
                bids=game.bids,
                passes=game.passes,
                hands=hands,
                leader=game.leader,
                trick=game.trick,
                broken=game.broken,
                taken=game.taken,
                tricks=game.tricks,
            )
            assert view(other, Seat(seat)) == view(game, Seat(seat)), (turn, seat)


@law
@given(st.sampled_from(["club", "classic"]), st.integers(0, 2**32))
def test_a_face_down_hand_shows_nothing_of_itself_or_of_any_other(name, seed):
    rules = ruleset(name, {"blind_nil": True} if name == "classic" else None)
    chance = random.Random(seed)
    start = AwaitingDeal(ruleset=rules, scores=(0, 100), bags=(0, 0), hand_no=4, dealer=Seat(seed % 4))
    games_ = [replay(start, decide(start, random_deal(start, chance))) for _ in range(2)]
    for _ in range(3):
        for seat in (*games_[0].face_down, None):
            assert view(games_[0], seat) == view(games_[1], seat)
        turn = expected(games_[0]).seat
        bid = PlaceBid(turn, "blind_nil" if turn in games_[0].face_down else chance.randint(1, 5))
        games_ = [replay(game, decide(game, bid)) for game in games_]


@law
@given(games)
def test_the_deal_passes_clockwise_every_hand_and_ends_within_its_chain(steps):
    dealers = [command.dealer for _, command, _ in steps if isinstance(command, DealHand)]
    numbers = [command.hand_no for _, command, _ in steps if isinstance(command, DealHand)]
    assert dealers == [(dealers[0] + hand) % 4 for hand in range(len(dealers))]
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("seed", range(5))
def test_every_game_ends_and_nothing_is_taken_after_it(seed):
    steps = list(random_game(ruleset("deniro"), seed=seed))
    game, _command, events = steps[-1]
    ended = replay(game, events)
    assert isinstance(ended, Ended)
    assert ended.hand_no <= 64
    assert isinstance(events[-1], GameEnded)
    for _, old, _ in steps[-60:]:
        with pytest.raises(Rejected):
            decide(ended, old)


def test_an_event_that_cannot_follow_is_a_corrupt_history_and_names_no_card():
    start = new_game(ruleset("deniro"))
    for event in (
        BidMade(Seat(0), 3),
        CardPlayed(Seat(0), 51),
        CardsSeen(Seat(0)),
        SpadesBroken(),
        CardsPassed(Seat(0), Seat(2), Mask(3)),
        TrickTaken(Seat(0), Seat(0), (51, 50, 49, 48)),
        HandDealt(2, Seat(0), (Mask(1), Mask(2), Mask(4), Mask(8)), ()),
    ):
        with pytest.raises(CorruptHistory) as caught:
            evolve(start, event)
        assert "51" not in str(caught.value)
    assert parse_bid(3) == 3
    assert isinstance(start, AwaitingDeal)
