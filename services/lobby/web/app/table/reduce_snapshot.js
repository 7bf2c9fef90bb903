// A snapshot: the whole table as it stands, in one frame.
import { NO_HAND } from "./start.js";

/** @typedef {import("./types.js").TableState} TableState */
/** @typedef {import("./types.js").AnyFrame} AnyFrame */

/** @param {TableState} state @param {AnyFrame} frame @returns {TableState} */
export function snapshot(state, frame) {
  const seq = frame.seq ?? frame.version;
  // One that was overtaken by events already folded in would turn the table back.
  if (seq < state.seq && !state.gap) return state;
  return {
    ...state,
    seq,
    gap: false,
    phase: frame.phase,
    kind: frame.kind,
    ruleset: frame.ruleset,
    stakeCoins: frame.stake_coins,
    feeCoins: frame.fee_coins,
    clockMs: frame.clock_ms,
    host: frame.host,
    anchor: frame.anchor,
    seats: frame.seats,
    reserved: frame.reserved,
    names: { ...state.names, ...frame.names },
    // Who is away now is told anew behind it.
    away: [],
    seat: frame.seat ?? seatOf(frame.seats, state.me),
    seeds: frame.seeds,
    seedMissing: frame.seed_missing,
    handNo: frame.hand_no,
    fingerprint: frame.fingerprint,
    ...handOf(frame),
    scores: frame.scores,
    bags: frame.bags,
    ready: frame.ready,
    nextDeadlineMs: frame.next_deadline_ms,
    winner: frame.winner,
    endReason: frame.end_reason,
    settled: frame.settled,
    // What was missed stands in the log; until it is fetched the facts have a hole.
    factsFromStart: state.factsFromStart && state.seq === seq,
  };
}

/** A finished game's last snapshot is the same for everybody: one finds oneself. @param {({account_id: string} | null)[]} seats
 * @param {string} me */
function seatOf(seats, me) {
  const seat = seats.findIndex((holder) => holder?.account_id === me);
  return seat < 0 ? null : seat;
}

/** @param {AnyFrame} frame */
function handOf(frame) {
  const view = frame.view;
  const turn = frame.turn ? turnOf(frame.turn, frame.server_ms) : null;
  if (!view || view.phase === "awaiting_deal" || view.phase === "ended") {
    return { ...NO_HAND, dealer: view?.dealer ?? null, turn };
  }
  const own = frame.seat;
  const facedDown = own !== null && view.face_down[own];
  const running = view.trick_leader === null ? [] : inOrder(view.trick, view.trick_leader);
  const finished = view.last_trick;
  return {
    ...NO_HAND,
    handPhase: view.phase,
    dealer: view.dealer,
    hand: own === null || facedDown ? null : view.hand,
    faceDown: view.face_down,
    cardCounts: view.card_counts,
    blindNilOpen: view.may_look,
    bids: view.bids,
    taken: view.taken,
    // Between two tricks the one just taken still lies in the middle.
    trick: running.length > 0 ? { leader: view.trick_leader, cards: running, winner: null } : finished,
    lastTrick: running.length > 0 ? finished : (view.tricks.at(-2) ?? null),
    tricksPlayed: view.tricks.length,
    broken: view.broken,
    swapBidder: view.swap_bidder,
    passed: view.passed,
    newCards: view.new_cards,
    turn,
    legalCards: view.legal_cards,
    legalBids: view.legal_bids,
    computerSpeed: [0, 1, 2, 3].map((seat) => turn?.seat === seat && turn.computerSpeed),
  };
}

/** @param {AnyFrame} turn @param {number} serverMs @returns {import("./types.js").Turn} */
function turnOf(turn, serverMs) {
  return {
    turnId: turn.turn_id,
    seat: turn.seat,
    kind: turn.kind,
    deadlineMs: turn.deadline_ms,
    limitMs: turn.deadline_ms === null ? null : turn.deadline_ms - serverMs,
    computerSpeed: turn.computer_speed,
  };
}

/** @param {(string | null)[]} bySeat @param {number} leader @returns {string[]} */
function inOrder(bySeat, leader) {
  return [0, 1, 2, 3].flatMap((place) => bySeat[(leader + place) % 4] ?? []);
}
