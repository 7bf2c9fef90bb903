// The table before anything is known of it.

/** @typedef {import("./types.js").TableState} TableState */

/** What every hand starts from. */
export const NO_HAND = Object.freeze({
  handPhase: /** @type {const} */ ("none"),
  hand: null,
  faceDown: [false, false, false, false],
  cardCounts: [0, 0, 0, 0],
  blindNilOpen: false,
  bids: [null, null, null, null],
  taken: [0, 0, 0, 0],
  trick: null,
  lastTrick: null,
  tricksPlayed: 0,
  broken: false,
  swapBidder: null,
  passed: [],
  newCards: [],
  turn: null,
  legalCards: [],
  legalBids: [],
  computerSpeed: [false, false, false, false],
  misses: [0, 0, 0, 0],
  ready: [],
});

/** @param {string} tableId @param {string} me own account id @returns {TableState} */
export function startOf(tableId, me) {
  return {
    tableId,
    me,
    seq: 0,
    gap: false,
    phase: "loading",
    kind: "practice",
    ruleset: { name: "deniro", options: {} },
    stakeCoins: 0,
    feeCoins: 0,
    clockMs: null,
    host: "",
    botsWelcome: false,
    anchor: "",
    seats: [null, null, null, null],
    reserved: [],
    names: {},
    seat: null,
    away: [],
    seeds: null,
    seedMissing: null,
    handNo: 0,
    dealer: null,
    fingerprint: null,
    ...NO_HAND,
    scores: [0, 0],
    bags: [0, 0],
    nextDeadlineMs: null,
    winner: null,
    endReason: null,
    results: null,
    settled: false,
    notices: [],
    talk: [],
    facts: [],
    factsFromStart: false,
  };
}

/** @template T @param {readonly T[]} list @param {number} at @param {T} value @returns {T[]} */
export function withAt(list, at, value) {
  const copy = [...list];
  copy[at] = value;
  return copy;
}

const NOTICES_MAX = 6;

/** @param {TableState} state @param {import("./types.js").Notice} notice @returns {TableState} */
export function noticed(state, notice) {
  return { ...state, notices: [...state.notices, notice].slice(-NOTICES_MAX) };
}
