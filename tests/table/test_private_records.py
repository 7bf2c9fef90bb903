"""What one seat is told and no other: supplements, prompts, snapshots."""

import msgspec

import spades_rules as rules
from spades_events import CE_TYPES, Topic, commands, envelope_of, events, private
from spades_events.values import RulesetChoice, TableKind
from spades_runtime import Output
from spades_table.phases import BetweenHands, Playing
from tests.table.driving import as_command
from tests.table.fake_worker import PART, FakeWorker, T, of_type, started, view_of


def private_of(outputs: list[Output], cls: type) -> list[tuple[int | None, int | None]]:
    return [
        (envelope.seat, envelope.sequence)
        for envelope in (envelope_of(output.headers) for output in outputs)
        if envelope.type == CE_TYPES[cls]
    ]


async def test_supplements_go_to_persons_and_stand_in_the_public_header(
    worker: FakeWorker,
) -> None:
    await started(worker, T, people=2)
    dealt = next(
        envelope_of(output.headers)
        for output in worker.published
        if envelope_of(output.headers).type == CE_TYPES[events.HandDealt]
    )
    assert dealt.seats == "01"
    assert dealt.sequence is not None
    supplements = private_of(worker.published, private.Supplement)
    assert (0, dealt.sequence) in supplements
    assert (1, dealt.sequence) in supplements
    assert {seat for seat, _ in supplements} == {0, 1}
    hands = [one for one in of_type(worker.published, private.Supplement) if one.cards]
    assert [len(one.cards) for one in hands] == [13, 13]
    assert [one.blind_nil_open for one in hands] == [False, False]


async def test_a_person_on_turn_alone_is_told_what_is_legal(worker: FakeWorker) -> None:
    await started(worker, T, people=4, kind=TableKind.PRIVATE)
    turn = next(event for event in worker.public(T) if isinstance(event, events.TurnStarted))
    legal = [one for one in of_type(worker.published, private.Supplement) if one.legal_bids]
    assert [one.seat for one in legal] == [turn.seat]
    assert legal[0].legal_bids == ("nil", *range(1, 14))
    assert of_type(worker.published, private.Prompt) == []


async def test_a_prompt_holds_the_whole_view_of_its_seat_and_nothing_else(
    worker: FakeWorker,
) -> None:
    await started(worker, T, people=0)
    (prompt,) = of_type(worker.published, private.Prompt)
    record = next(one for one in worker.published if one.topic == Topic.TABLE_PROMPTS)
    table = worker.tables._memory.table(PART, T)
    assert table is not None
    view = view_of(prompt)
    assert view["seat"] == prompt.seat
    assert view["hand"] == rules.card_names(table.game.hands[prompt.seat])  # type: ignore[union-attr]
    others = [
        name
        for seat in range(4)
        if seat != prompt.seat
        for name in rules.card_names(table.game.hands[seat])  # type: ignore[union-attr]
    ]
    assert not any(f'"{name}"'.encode() in record.value for name in others)


async def test_a_viewer_gets_a_snapshot_as_it_sees_the_table(worker: FakeWorker) -> None:
    await started(worker, T, people=2)
    version = len(worker.public(T))
    outputs = await worker.poll(
        worker.command(T, "bob", commands.SyncSeat(connection_id="k1"), "s-1"),
        worker.command(T, "eve", commands.SyncSeat(connection_id="k2"), "s-2"),
    )
    own, watcher = of_type(outputs, private.Snapshot)
    assert (own.seat, own.account_id, own.connection_id, own.version) == (1, "bob", "k1", version)
    assert (watcher.seat, watcher.account_id, watcher.version) == (None, "eve", version)
    assert own.phase == watcher.phase == "playing"
    table = worker.tables._memory.table(PART, T)
    hand = rules.card_names(table.game.hands[1])  # type: ignore[union-attr]
    assert all(f'"{name}"'.encode() in bytes(own.view) for name in hand)
    for seat in (0, 2, 3):
        for name in rules.card_names(table.game.hands[seat]):  # type: ignore[union-attr]
            assert f'"{name}"'.encode() not in bytes(own.view)
    for seat in range(4):
        for name in rules.card_names(table.game.hands[seat]):  # type: ignore[union-attr]
            assert f'"{name}"'.encode() not in bytes(watcher.view)
    assert [one.id for one in worker.store.answers if one.command_id.startswith("s-")] == []


async def test_no_record_for_a_seat_ever_holds_a_card_that_it_may_not_see(worker: FakeWorker) -> None:
    """A whole game of four people: each private record against what its seat has been dealt, passed or shown."""
    accounts = ("ann", "bob", "cat", "dan")
    await started(worker, T, people=4, kind=TableKind.PRIVATE, ruleset=RulesetChoice(name="club"))
    seen = 0
    shown: set[str] = set()
    may_see: list[set[str]] = [set(), set(), set(), set()]
    while (table := worker.tables._memory.table(PART, T)) is not None:
        for record in worker.published[seen:]:
            envelope = envelope_of(record.headers)
            message = msgspec.json.decode(record.value)
            if envelope.type == CE_TYPES[events.CardPlayed]:
                shown.add(message["card"])
            elif envelope.type == CE_TYPES[events.HandDealt]:
                assert isinstance(table, Playing)
                shown = set()
                may_see = [set(rules.card_names(table.game.deal.hands[seat])) for seat in range(4)]
            elif envelope.type == CE_TYPES[private.Supplement]:
                if envelope.sequence is not None and message["cards"] and len(message["cards"]) == 2:
                    may_see[message["seat"]] |= set(message["cards"])
                assert named_in(record.value) <= may_see[message["seat"]] | shown
            elif envelope.type == CE_TYPES[private.Snapshot]:
                own = may_see[message["seat"]] if message["seat"] is not None else set()
                assert named_in(record.value) <= own | shown
        seen = len(worker.published)
        worker.now_ms += 100
        asked = [worker.command(T, account, commands.SyncSeat(connection_id="k")) for account in (*accounts, "eve")]
        if isinstance(table, BetweenHands):
            moves = [worker.command(T, account, commands.ReadyForNextHand()) for account in accounts]
            asked = []
        else:
            assert isinstance(table, Playing)
            assert table.turn is not None
            judged = rules.judge(rules.view(table.game, rules.Seat(table.turn.seat)))
            body = as_command(judged, table.turn.turn_id, table.game.hand_no)
            moves = [worker.command(T, accounts[table.turn.seat], body)]
        # The views first: what they show is judged by what was known before the move.
        await worker.poll(*asked, *moves)


def named_in(body: bytes) -> set[str]:
    return {card for card in rules.CARD_NAMES if f'"{card}"'.encode() in body}
