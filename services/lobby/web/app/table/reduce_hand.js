// Events of a hand: deal, auction, swap, tricks, score.
import { NO_HAND, withAt } from "./start.js";

/** @typedef {import("./types.js").TableState} TableState */
/** @typedef {import("./types.js").AnyFrame} AnyFrame */

/** @param {TableState} state @param {AnyFrame} frame @returns {TableState} */
function handCommitted(state, frame) {
  return { ...state, handNo: frame.hand_no, fingerprint: frame.fingerprint, dealer: frame.dealer };
}

/** @param {TableState} state @param {AnyFrame} frame @returns {TableState} */
function handDealt(state, frame) {
  const faceDown = [0, 1, 2, 3].map((seat) => frame.face_down.includes(seat));
  return {
    ...state,
    ...NO_HAND,
    phase: "playing",
    handPhase: "auction",
    handNo: frame.hand_no,
    dealer: frame.dealer,
    faceDown,
    cardCounts: [13, 13, 13, 13],
    hand: frame.you?.cards ?? null,
    blindNilOpen: frame.you?.blind_nil_open ?? false,
    nextDeadlineMs: null,
  };
}

/** @param {TableState} state @param {AnyFrame} frame @returns {TableState} */
function cardsSeen(state, frame) {
  const faceDown = withAt(state.faceDown, frame.seat, false);
  if (frame.seat !== state.seat) return { ...state, faceDown };
  const legalBids = frame.you?.legal_bids ?? state.legalBids;
  return { ...state, faceDown, hand: frame.you?.cards ?? state.hand, blindNilOpen: false, legalBids };
}

/** @param {TableState} state @param {AnyFrame} frame @returns {TableState} */
function turnStarted(state, frame) {
  const limitMs = frame.deadline_ms === null ? null : frame.deadline_ms - frame.server_ms;
  return {
    ...state,
    handPhase: PHASE_OF_TURN[frame.kind] ?? state.handPhase,
    swapBidder: frame.kind === "pass" ? (state.swapBidder ?? frame.seat) : state.swapBidder,
    turn: {
      turnId: frame.turn_id,
      seat: frame.seat,
      kind: frame.kind,
      deadlineMs: frame.deadline_ms,
      limitMs,
      computerSpeed: frame.computer_speed,
    },
    computerSpeed: withAt(state.computerSpeed, frame.seat, frame.computer_speed),
    // In a swap any card held may go.
    legalCards: frame.kind === "play" ? (frame.you?.legal_cards ?? []) : [],
    legalBids: frame.you?.legal_bids ?? [],
  };
}

/** @type {Record<string, "auction" | "swap" | "play">} */
export const PHASE_OF_TURN = { bid: "auction", pass: "swap", play: "play" };

const NO_TURN = { turn: null, legalCards: [], legalBids: [] };

/** @param {TableState} state @param {AnyFrame} frame @returns {TableState} */
function bidMade(state, frame) {
  return {
    ...state,
    ...NO_TURN,
    bids: withAt(state.bids, frame.seat, frame.bid),
    blindNilOpen: frame.seat === state.seat ? false : state.blindNilOpen,
  };
}

/** @param {TableState} state @param {AnyFrame} frame @returns {TableState} */
function cardsPassed(state, frame) {
  const moved = { ...state, ...NO_TURN, swapBidder: state.swapBidder ?? frame.from_seat };
  moved.cardCounts = withAt(
    withAt(state.cardCounts, frame.from_seat, (state.cardCounts[frame.from_seat] ?? 0) - frame.count),
    frame.to_seat,
    (state.cardCounts[frame.to_seat] ?? 0) + frame.count,
  );
  /** @type {string[]} */
  const cards = frame.you?.cards ?? [];
  if (cards.length === 0 || state.hand === null) return moved;
  if (frame.from_seat === state.seat) {
    return {
      ...moved,
      hand: state.hand.filter((card) => !cards.includes(card)),
      passed: cards,
      // A card received and passed straight back is New to nobody.
      newCards: state.newCards.filter((card) => !cards.includes(card)),
    };
  }
  if (frame.to_seat === state.seat) {
    return { ...moved, hand: [...state.hand, ...cards], newCards: [...state.newCards, ...cards] };
  }
  return moved;
}

/** @param {TableState} state @param {AnyFrame} frame @returns {TableState} */
function cardPlayed(state, frame) {
  const open = state.trick && state.trick.winner === null ? state.trick : null;
  const trick = open
    ? { ...open, cards: [...open.cards, frame.card] }
    : { leader: frame.seat, cards: [frame.card], winner: null };
  return {
    ...state,
    ...NO_TURN,
    handPhase: "play",
    trick,
    lastTrick: open ? state.lastTrick : (state.trick ?? state.lastTrick),
    newCards: [],
    hand: frame.seat === state.seat && state.hand ? state.hand.filter((card) => card !== frame.card) : state.hand,
    cardCounts: withAt(state.cardCounts, frame.seat, (state.cardCounts[frame.seat] ?? 1) - 1),
  };
}

/** @param {TableState} state @param {AnyFrame} frame @returns {TableState} */
function trickTaken(state, frame) {
  return {
    ...state,
    trick: { leader: frame.leader, cards: frame.cards, winner: frame.winner },
    taken: withAt(state.taken, frame.winner, (state.taken[frame.winner] ?? 0) + 1),
    tricksPlayed: state.tricksPlayed + 1,
  };
}

/** @param {TableState} state @param {AnyFrame} frame @returns {TableState} */
function handScored(state, frame) {
  return {
    ...state,
    ...NO_TURN,
    phase: "between_hands",
    ready: [],
    scores: frame.teams.map((/** @type {any} */ team) => team.score),
    bags: frame.teams.map((/** @type {any} */ team) => team.bags),
  };
}

/** @type {Record<string, (state: TableState, frame: AnyFrame) => TableState>} */
export const HAND_FRAMES = {
  hand_committed: handCommitted,
  hand_dealt: handDealt,
  cards_seen: cardsSeen,
  turn_started: turnStarted,
  bid_made: bidMade,
  cards_passed: cardsPassed,
  card_played: cardPlayed,
  spades_broken: (state) => ({ ...state, broken: true }),
  trick_taken: trickTaken,
  hand_scored: handScored,
  // Read from `facts` by the score sheet and the check.
  deal_revealed: (state) => state,
  deal_unreadable: (state) => state,
};
