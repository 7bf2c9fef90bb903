import assert from "node:assert/strict";
import { test } from "node:test";
import { reduce, startOf } from "../app/table/reduce.js";
import { bagWarning, bidLine, lastTrickOf, placeOf, whyNot, winningSeat } from "../app/table/selectors.js";

const OPENED = {
  type: "table_opened",
  kind: "practice",
  ruleset: { name: "club", options: {} },
  stake_coins: 0,
  fee_coins: 0,
  clock_ms: 30_000,
  host: "me",
  bots_welcome: true,
  anchor: "aa".repeat(32),
};
const seated = (seat, account_id) => ({
  type: "seat_taken",
  holder: { seat, account_id, seed_commit: null },
  replaces: null,
});
const HOLDERS = [0, 1, 2, 3].map((seat) => ({ seat, account_id: seat === 2 ? "me" : "bot", seed_commit: null }));

/** Numbers the frames from 1 and folds them for account `me`. */
function table(...frames) {
  return frames.map((frame, i) => ({ ...frame, seq: i + 1 })).reduce(reduce, startOf("t", "me"));
}

const STARTED = [
  OPENED,
  seated(2, "me"),
  { type: "game_started", seats: HOLDERS },
  { type: "hand_committed", hand_no: 1, fingerprint: "bb".repeat(32), dealer: 1, deck_id: 0 },
];
const dealt = (you, face_down = []) => ({ type: "hand_dealt", hand_no: 1, dealer: 1, face_down, you });
const turn = (n, seat, kind, you) => ({
  ...{ type: "turn_started", turn_id: `1:${n}`, hand_no: 1, seat, kind, you },
  ...{ deadline_ms: 5000, server_ms: 1000, computer_speed: false },
});
const played = (n, seat, card) => ({ type: "card_played", turn_id: `1:${n}`, seat, card });

test("own cards and legal cards come from what the seat alone is told", () => {
  const state = table(...STARTED, dealt({ cards: ["AS", "2H"] }), turn(1, 2, "play", { legal_cards: ["2H"] }));
  assert.deepEqual(state.hand, ["AS", "2H"]);
  assert.deepEqual(state.legalCards, ["2H"]);
  assert.equal(whyNot(state, "AS"), "spades_not_broken");
  assert.equal(whyNot(state, "2H"), null);
  assert.deepEqual([state.turn.deadlineMs, state.turn.limitMs], [5000, 4000]);
});

test("an event that came already changes nothing, not even the object", () => {
  const state = table(...STARTED);
  assert.equal(reduce(state, { ...OPENED, seq: 1 }), state);
});

test("a missing event sets the gap and nothing else until a snapshot closes it", () => {
  const state = table(...STARTED);
  const gapped = reduce(state, { type: "spades_broken", seq: state.seq + 2 });
  assert.deepEqual(gapped, { ...state, gap: true });
});

test("an unknown event moves the seq, so that a newer server does not stop an older page", () => {
  const state = table(...STARTED, { type: "weather_changed" });
  assert.equal(state.seq, STARTED.length + 1);
  assert.equal(state.gap, false);
});

test("face-down cards hold no card at all until they are seen", () => {
  const down = table(...STARTED, dealt({ cards: null, blind_nil_open: true }, [0, 2]));
  assert.equal(down.hand, null);
  assert.deepEqual([down.blindNilOpen, down.faceDown], [true, [true, false, true, false]]);
  const seen = reduce(down, { type: "cards_seen", seat: 2, you: { cards: ["AS"] }, seq: down.seq + 1 });
  assert.deepEqual([seen.hand, seen.blindNilOpen, seen.faceDown[2]], [["AS"], false, false]);
});

test("passed cards leave one hand, and received ones are New until the first lead", () => {
  const hand = dealt({ cards: ["AS", "2H", "3H"] });
  const pass = (from_seat, to_seat, cards) => ({
    type: "cards_passed",
    turn_id: "1:5",
    from_seat,
    to_seat,
    count: 2,
    you: { cards },
  });
  const given = table(...STARTED, hand, pass(2, 0, ["AS", "2H"]), pass(0, 2, ["KD", "QD"]));
  assert.deepEqual(
    [given.hand, given.newCards, given.passed],
    [
      ["3H", "KD", "QD"],
      ["KD", "QD"],
      ["AS", "2H"],
    ],
  );
  const led = reduce(given, { ...played(7, 3, "2C"), seq: given.seq + 1 });
  assert.deepEqual(led.newCards, []);
});

test("a received card passed straight back is New to nobody", () => {
  const pass = (from_seat, to_seat, cards) => ({
    type: "cards_passed",
    turn_id: "1:5",
    from_seat,
    to_seat,
    count: 2,
    you: { cards },
  });
  const state = table(...STARTED, dealt({ cards: ["AS", "2H"] }), pass(0, 2, ["KD", "QD"]), pass(2, 0, ["KD", "AS"]));
  assert.deepEqual([state.newCards, state.hand], [["QD"], ["2H", "QD"]]);
});

test("a finished trick lies in the middle until the next lead, then it is the last trick", () => {
  const cards = ["2C", "AC", "3C", "4S"];
  const frames = cards.map((card, i) => played(i + 1, (2 + i) % 4, card));
  const taken = { type: "trick_taken", trick_no: 1, leader: 2, winner: 1, cards };
  const state = table(...STARTED, dealt({ cards: ["2C"] }), ...frames, taken);
  assert.deepEqual(state.trick, { leader: 2, cards, winner: 1 });
  assert.deepEqual([state.taken, state.hand, lastTrickOf(state).winner], [[0, 1, 0, 0], [], 1]);
  const next = reduce(state, { ...played(5, 1, "9D"), seq: state.seq + 1 });
  assert.deepEqual([next.trick.cards, next.lastTrick.cards, lastTrickOf(next).cards], [["9D"], cards, cards]);
});

test("the winning card of a running trick is known before it is full", () => {
  const state = table(...STARTED, dealt({ cards: [] }), played(1, 2, "2C"), played(2, 3, "KC"), played(3, 0, "3S"));
  assert.equal(winningSeat(state), 0);
});

test("three misses in a row are told with what the table did", () => {
  const missed = { type: "seat_autoplayed", turn_id: "1:9", seat: 2, misses: 3, computer_speed: true };
  const state = table(...STARTED, dealt({ cards: [] }), missed);
  assert.deepEqual(state.notices.at(-1), {
    ...{ seq: 6, kind: "autoplayed", seat: 2 },
    data: { turn_id: "1:9", misses: 3, computer_speed: true },
  });
  assert.equal(state.computerSpeed[2], true);
});

test("who leaves loses the seat and its cards; a bot is told to sit there", () => {
  const left = { type: "seat_left", seat: 2, account_id: "me", stake_coins: 100, fee_coins: 10 };
  const bot = { ...seated(2, "bot"), replaces: "me" };
  const state = table(...STARTED, dealt({ cards: ["AS"] }), left, bot);
  assert.deepEqual([state.seat, state.hand, state.seats[2].account_id], [null, null, "bot"]);
  assert.deepEqual(
    state.notices.map((notice) => notice.kind),
    ["seat_left", "bot_took_seat"],
  );
});

test("an outage moves the running turn's deadline", () => {
  const extended = {
    type: "clock_extended",
    outage_ms: 4000,
    deadline_id: 9,
    due_ms: 9000,
    kind: "turn",
    turn_id: "1:1",
    turn_deadline_ms: 9000,
  };
  const state = table(...STARTED, dealt({ cards: [] }), turn(1, 2, "bid", { legal_bids: [1] }), extended);
  assert.equal(state.turn.deadlineMs, 9000);
});

test("own seat is at the bottom, the partner across, clockwise from the left", () => {
  const state = table(...STARTED);
  assert.deepEqual(
    [0, 1, 2, 3].map((seat) => placeOf(state, seat)),
    ["north", "east", "south", "west"],
  );
});

test("a seat shows its bid and tricks, and bags warn from seven on", () => {
  const state = table(...STARTED, dealt({ cards: [] }), {
    type: "bid_made",
    turn_id: "1:1",
    seat: 2,
    bid: "blind_nil",
  });
  assert.equal(bidLine(state, 2), "Bid Blind Nil · 0");
  assert.deepEqual([6, 7, 8, 9].map(bagWarning), [
    "",
    "3 more bags cost 100",
    "2 more bags cost 100",
    "1 more bag costs 100",
  ]);
});

test("events fetched later fill the past and keep what the own seat was told", () => {
  const state = table(...STARTED, dealt({ cards: ["AS"] }));
  const late = { ...state, facts: state.facts.slice(-1), factsFromStart: false };
  const events = state.facts.map(({ you, ...open }) => open);
  const filled = reduce(late, { type: "history", events });
  assert.equal(filled.factsFromStart, true);
  assert.deepEqual(filled.facts.at(-1).you, { cards: ["AS"] });
});

test("who is gone and back is a notice once, oneself never", () => {
  const gone = { type: "player_disconnected", account_id: "bob", seat: 0 };
  const once = reduce(table(OPENED, seated(2, "me"), seated(0, "bob")), gone);
  assert.deepEqual(once.away, [0]);
  assert.deepEqual(reduce(once, gone).notices, once.notices);
  const back = reduce(once, { ...gone, type: "player_returned" });
  assert.deepEqual(back.away, []);
  assert.deepEqual(
    back.notices.map(({ kind, seat }) => [kind, seat]),
    [
      ["gone", 0],
      ["back", 0],
    ],
  );
  const own = reduce(table(OPENED, seated(2, "me")), { ...gone, account_id: "me", seat: 2 });
  assert.deepEqual(own.notices, []);
});

test("what is said moves no version and the last lines are kept", () => {
  const before = table(OPENED, seated(2, "me"));
  const said = (text) => ({ type: "said", account_id: "bob", seat: 0, phrase: null, text });
  const after = Array.from({ length: 50 }, (_, i) => said(`line ${i}`)).reduce(reduce, before);
  assert.equal(after.seq, before.seq);
  assert.equal(after.talk.length, 40);
  assert.deepEqual(after.talk.at(-1), { no: 50, seat: 0, account: "bob", phrase: null, text: "line 49" });
});

test("a look brings the bids, and a swap leaves the choice among all cards", () => {
  const cards = ["AS", "KS"];
  const looked = table(
    ...[...STARTED, dealt(undefined, [2]), turn(1, 2, "bid", { legal_bids: ["blind_nil"] })],
    { type: "cards_seen", seat: 2, you: { cards, legal_bids: ["nil", 1, 2] } },
  );
  assert.deepEqual(looked.legalBids, ["nil", 1, 2]);
  assert.deepEqual(looked.hand, cards);
  const swap = reduce(looked, { ...turn(2, 2, "pass", { legal_cards: cards }), seq: looked.seq + 1 });
  assert.deepEqual(swap.legalCards, []);
});
