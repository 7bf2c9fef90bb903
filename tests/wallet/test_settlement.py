"""Every way a coin game can go, against the rulings: sum zero, escrow empty, stayers untouched by leavers."""

import json
from itertools import permutations
from pathlib import Path

import pytest

from spades_events.wallet import FeeTaken, HoldPlaced, HoldsCaptured, Settlement, WalletEvent
from spades_wallet.decision import Terms
from spades_wallet.domain import FromTable, TableFact, decide, evolve
from spades_wallet.ledger import AccountId, Book, Player, TableId, Transfer
from spades_wallet.settlement import deposit_coins
from tests.wallet.conformance import cases_in
from tests.wallet.games import ABANDONED, DRAW, WIN_1, CoinGame, every_game

CASES = Path(__file__).parents[1] / "cases" / "settlement.json"
START = 2**51


def rich_book(game: CoinGame) -> Book:
    return Book.of(Player(id=AccountId(game.name(seat)), balance_coins=START, entry_no=1) for seat in game.people)


def played(game: CoinGame) -> tuple[Book, list[WalletEvent], list[Transfer]]:
    book, events, transfers = rich_book(game), [], []
    for fact in game.facts():
        book, told, moved = step(book, game, fact)
        events += told
        transfers += moved
    return book, events, transfers


def step(book: Book, game: CoinGame, fact: TableFact) -> tuple[Book, list[WalletEvent], list[Transfer]]:
    decision = decide(book, FromTable(table=TableId(game.table), fact=fact), Terms())
    return evolve(book, decision), [decision.event] if decision.event else [], list(decision.transfers)


def nets_of(game: CoinGame, book: Book, transfers: list[Transfer]) -> dict[str, int]:
    nets = {game.name(s): book.accounts[AccountId(game.name(s))].balance_coins - START for s in game.people}
    for system in ("house", "fees"):
        nets[system] = sum(t.amount_coins * ((t.credit == system) - (t.debit == system)) for t in transfers)
    return nets


def test_the_deposit_is_a_tenth_of_the_stake_rounded_up() -> None:
    assert [deposit_coins(stake) for stake in (1, 9, 10, 11, 20, 25, 50, 100, 101, 1_000)] == [
        1, 1, 1, 2, 2, 3, 5, 10, 11, 100
    ]  # fmt: skip


def test_every_game_pays_by_the_rulings_sums_to_zero_and_leaves_escrow_empty() -> None:
    count = 0
    for game in every_game():
        count += 1
        book, events, transfers = played(game)
        nets = nets_of(game, book, transfers)
        assert nets == game.nets(), game
        assert sum(nets.values()) == 0, game
        escrow = {a.id: a.balance_coins for a in book.accounts.values() if not isinstance(a, Player)}
        assert not any(escrow.values()), (game, escrow)
        settled = [event for event in events if isinstance(event, Settlement)]
        assert len(settled) == 1, game
        told = {payout.account_id: payout.net_coins for payout in settled[0].payouts}
        assert {**dict.fromkeys(("house", "fees"), 0), **told} == game.nets(), game
        assert set(told) - {"house", "fees"} == {game.name(seat) for seat in game.people}, game
    assert count > 3_000


def test_whoever_stays_gets_the_same_whoever_leaves() -> None:
    for game in every_game(stakes=(25,)):
        if not game.leaves or game.end == ABANDONED:
            continue
        without = CoinGame(table=game.table, stake=game.stake, people=game.people, end=game.end, captured=game.captured)
        stayed = [game.name(seat) for seat in game.people if seat not in game.leaves]
        with_leavers, alone = played(game)[0], played(without)[0]
        for name in stayed:
            assert with_leavers.accounts[AccountId(name)] == alone.accounts[AccountId(name)], game


@pytest.mark.parametrize("order", list(permutations((0, 1, 2))))
def test_the_order_of_leaving_does_not_matter(order: tuple[int, ...]) -> None:
    def net(leaves: tuple[int, ...]) -> dict[str, int]:
        game = CoinGame(table="t", stake=25, people=(0, 1, 2, 3), leaves=leaves, end=WIN_1)
        book, _, transfers = played(game)
        return nets_of(game, book, transfers)

    assert net(order) == net((0, 1, 2))


def test_the_fee_is_the_leavers_at_once_and_the_stake_stays_in_the_pot() -> None:
    game = CoinGame(table="t", stake=100, people=(0, 1, 2, 3), leaves=(0,))
    book = rich_book(game)
    before: list[TableFact] = [*(game.reserved(seat) for seat in game.people), game.locked()]
    for fact in before:
        book, _, _ = step(book, game, fact)
    book, events, transfers = step(book, game, game.forfeited(0))
    [taken] = events
    assert isinstance(taken, FeeTaken)
    assert taken.fee_coins == 10
    assert [(t.code, t.debit, t.credit, t.amount_coins) for t in transfers] == [
        ("deposit_back", "hold:t:0:1", "t-u0", 10),
        ("fee", "t-u0", "fees", 10),
    ]
    [balance] = taken.accounts
    assert (balance.available_coins, balance.held_coins, balance.change_coins) == (START - 110, 0, 0)
    pot = book.pot(TableId("t"))
    assert pot is not None
    assert pot.balance_coins == 400


def test_a_captured_hold_stays_held_until_the_settlement() -> None:
    game = CoinGame(table="t", stake=100, people=(0,))
    book = rich_book(game)
    book, [placed], _ = step(book, game, game.reserved(0))
    assert isinstance(placed, HoldPlaced)
    assert [(b.available_coins, b.held_coins, b.change_coins) for b in placed.accounts] == [(START - 110, 110, -110)]
    book, [captured], _ = step(book, game, game.locked())
    assert isinstance(captured, HoldsCaptured)
    assert captured.pot_coins == 400
    assert book.held_coins(AccountId("t-u0")) == 110
    book, [settled], _ = step(book, game, game.ended())
    assert isinstance(settled, Settlement)
    assert [(b.available_coins, b.held_coins, b.change_coins) for b in settled.accounts] == [(START + 100, 0, 210)]


@pytest.mark.parametrize(
    ("balance", "stake", "refused"),
    [
        (2**53 - 1, 10, "stake_too_high"),
        (2**53 - 1 - 21, 10, "stake_too_high"),
        (2**53 - 1 - 22, 10, None),
        (2**52, 2**51, "stake_too_high"),
    ],
)
def test_a_stake_that_could_not_be_paid_out_exactly_is_not_held(balance: int, stake: int, refused: str | None) -> None:
    game = CoinGame(table="t", stake=stake, people=(0,))
    book = Book.of([Player(id=AccountId(game.name(0)), balance_coins=balance, entry_no=1)])
    _, [event], _ = step(book, game, game.reserved(0))
    assert getattr(event, "code", None) == refused


def test_a_draw_is_no_win_and_no_abandonment() -> None:
    events = played(CoinGame(table="t", stake=10, people=(0, 1), end=DRAW))[1]
    assert [event.outcome for event in events if isinstance(event, Settlement)] == ["draw"]


def test_each_fact_told_twice_moves_and_tells_nothing_more() -> None:
    for game in every_game(stakes=(25,)):
        book = rich_book(game)
        for fact in game.facts():
            book, _, _ = step(book, game, fact)
            again, events, transfers = step(book, game, fact)
            assert (events, transfers) == ([], []), (game, fact)
            assert again.accounts == book.accounts


def test_the_worked_cases_hold() -> None:
    cases = cases_in(json.loads(CASES.read_text()))
    assert len(cases) >= 8
    for case in cases:
        book, _, transfers = played(case.game)
        found = {account: coins for account, coins in nets_of(case.game, book, transfers).items()}
        assert found == case.nets, case.name
