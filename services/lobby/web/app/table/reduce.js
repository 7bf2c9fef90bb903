// The table as one person sees it, folded from frames. Pure: used live, in the replay and in tests.
import { noticed, startOf } from "./start.js";
import { HAND_FRAMES } from "./reduce_hand.js";
import { SEAT_FRAMES } from "./reduce_seats.js";
import { snapshot } from "./reduce_snapshot.js";

/** @typedef {import("./types.js").TableState} TableState */
/** @typedef {import("./types.js").AnyFrame} AnyFrame */

/** @type {Record<string, (state: TableState, frame: AnyFrame) => TableState>} */
const EVENTS = { ...SEAT_FRAMES, ...HAND_FRAMES };

/** Every public event type that has a frame. */
export const EVENT_TYPES = Object.keys(EVENTS);

/** Frames beside the stream: they carry no seq. @type {Record<string, (state: TableState, frame: AnyFrame) => TableState>} */
const UNNUMBERED = {
  snapshot,
  history: (state, frame) => withHistory(state, frame.events),
  player_disconnected: (state, frame) => away(state, frame, true),
  player_returned: (state, frame) => away(state, frame, false),
  said,
};

export { startOf };

/**
 * The state after one frame. An event that was seen already changes nothing; one that comes too early
 * sets `gap`, and nothing else, until a snapshot closes it. An unknown event only moves `seq`.
 * @param {TableState} state @param {AnyFrame} frame @returns {TableState}
 */
export function reduce(state, frame) {
  const beside = UNNUMBERED[frame.type];
  if (beside) return beside(state, frame);
  if (typeof frame.seq !== "number") return state;
  if (state.phase === "loading" && frame.type !== "table_opened") return { ...state, gap: true };
  if (frame.seq <= state.seq) return state;
  if (frame.seq > state.seq + 1) return { ...state, gap: true };
  const names = frame.names ? { ...state.names, ...frame.names } : state.names;
  const next = EVENTS[frame.type]?.({ ...state, names }, frame) ?? { ...state, names };
  return whole({ ...next, seq: frame.seq, facts: merged(next.facts, [frame]) });
}

/** Older public events, fetched after a reload; those at hand stay, for they hold the own cards.
 * @param {TableState} state @param {AnyFrame[]} events @returns {TableState} */
function withHistory(state, events) {
  return whole({ ...state, facts: merged(events, state.facts) });
}

/** Two lists of events as one in order, each once; the second list's stand, for they may hold more.
 * @param {readonly AnyFrame[]} some @param {readonly AnyFrame[]} more @returns {AnyFrame[]} */
function merged(some, more) {
  if ((some.at(-1)?.seq ?? 0) < (more[0]?.seq ?? 0)) return [...some, ...more];
  const bySeq = new Map([...some, ...more].map((event) => [event.seq, event]));
  return [...bySeq.values()].sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0));
}

/** Versions start at 1 and have no gaps, so a count tells whether all are there. @param {TableState} state @returns {TableState} */
function whole(state) {
  const upTo = state.facts.filter((fact) => (fact.seq ?? 0) <= state.seq).length;
  return { ...state, factsFromStart: upTo === state.seq };
}

/** @param {TableState} state @param {AnyFrame} frame @param {boolean} gone */
function away(state, frame, gone) {
  const seat = frame.seat ?? state.seats.findIndex((holder) => holder?.account_id === frame.account_id);
  const rest = state.away.filter((other) => other !== seat);
  const next = { ...state, away: gone && seat >= 0 ? [...rest, seat] : rest };
  if (seat < 0 || seat === state.seat || gone === state.away.includes(seat)) return next;
  return noticed(next, { seq: state.seq, kind: gone ? "gone" : "back", seat, data: {} });
}

const LINES_MAX = 40;

/** @param {TableState} state @param {AnyFrame} frame @returns {TableState} */
function said(state, frame) {
  const { seat, account_id: account, phrase, text } = frame;
  const line = { no: (state.talk.at(-1)?.no ?? 0) + 1, seat, account, phrase: phrase ?? null, text };
  return { ...state, talk: [...state.talk, line].slice(-LINES_MAX) };
}
