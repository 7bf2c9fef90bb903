// Events around the game: who sits where, how it starts, what the clock says, how it ends.
import { NO_HAND, noticed, withAt } from "./start.js";

/** @typedef {import("./types.js").TableState} TableState */
/** @typedef {import("./types.js").AnyFrame} AnyFrame */

export const BOT = "bot";

/** @param {TableState} state @param {AnyFrame} frame @returns {TableState} */
function tableOpened(state, frame) {
  return {
    ...state,
    phase: "seating",
    kind: frame.kind,
    ruleset: frame.ruleset,
    stakeCoins: frame.stake_coins,
    feeCoins: frame.fee_coins,
    clockMs: frame.clock_ms,
    host: frame.host,
    botsWelcome: frame.bots_welcome,
    anchor: frame.anchor,
  };
}

/** @param {TableState} state @param {AnyFrame} frame @returns {TableState} */
function seatTaken(state, frame) {
  const holder = frame.holder;
  const next = {
    ...state,
    seats: withAt(state.seats, holder.seat, holder),
    reserved: state.reserved.filter((seat) => seat !== holder.seat),
    away: state.away.filter((seat) => seat !== holder.seat),
    seat: ownSeat(state, holder),
    turn: state.turn,
  };
  if (!frame.replaces) return next;
  const data = { replaces: frame.replaces };
  return noticed(next, { seq: frame.seq ?? 0, kind: "bot_took_seat", seat: holder.seat, data });
}

/** @param {TableState} state @param {{seat: number, account_id: string}} holder */
function ownSeat(state, holder) {
  if (holder.account_id === state.me) return holder.seat;
  return state.seat === holder.seat ? null : state.seat;
}

/** @param {TableState} state @param {AnyFrame} frame @returns {TableState} */
function seatReleased(state, frame) {
  return {
    ...state,
    seats: withAt(state.seats, frame.seat, null),
    reserved: state.reserved.filter((seat) => seat !== frame.seat),
    seat: state.seat === frame.seat ? null : state.seat,
  };
}

/** @param {TableState} state @param {AnyFrame} frame @returns {TableState} */
function seatRefused(state, frame) {
  const next = { ...state, reserved: state.reserved.filter((seat) => seat !== frame.seat) };
  if (frame.account_id !== state.me) return next;
  return noticed(next, { seq: frame.seq ?? 0, kind: "seat_refused", seat: frame.seat, data: frame });
}

/** @param {TableState} state @param {AnyFrame} frame @returns {TableState} */
function seatsLocked(state, frame) {
  return { ...state, phase: "starting", seats: frame.seats, reserved: [], nextDeadlineMs: frame.start_due_ms };
}

/** @param {TableState} state @param {AnyFrame} frame @returns {TableState} */
function seatForfeited(state, frame) {
  const gone = state.seat === frame.seat ? { seat: null, hand: null, legalCards: [], legalBids: [] } : {};
  const next = { ...state, ...gone };
  return noticed(next, { seq: frame.seq ?? 0, kind: "seat_left", seat: frame.seat, data: frame });
}

/** @param {TableState} state @param {AnyFrame} frame @returns {TableState} */
function seatAutoplayed(state, frame) {
  const next = {
    ...state,
    misses: withAt(state.misses, frame.seat, frame.misses),
    computerSpeed: withAt(state.computerSpeed, frame.seat, frame.computer_speed),
  };
  const data = { turn_id: frame.turn_id, misses: frame.misses, computer_speed: frame.computer_speed };
  return noticed(next, { seq: frame.seq ?? 0, kind: "autoplayed", seat: frame.seat, data });
}

/** @param {TableState} state @param {AnyFrame} frame @returns {TableState} */
function clockExtended(state, frame) {
  const turn =
    state.turn && frame.turn_id === state.turn.turnId
      ? { ...state.turn, deadlineMs: frame.turn_deadline_ms }
      : state.turn;
  const next = { ...deadlineSet(state, frame), turn };
  return noticed(next, {
    seq: frame.seq ?? 0,
    kind: "clock_extended",
    seat: turn?.seat ?? 0,
    data: { outage_ms: frame.outage_ms },
  });
}

// A turn's deadline stands in its own TurnStarted; this one is for the waits between.
const WAITS = ["seeds", "reservation", "refill", "start", "closing", "next_hand"];

/** @param {TableState} state @param {AnyFrame} frame @returns {TableState} */
function deadlineSet(state, frame) {
  return { ...state, nextDeadlineMs: WAITS.includes(frame.kind) ? frame.due_ms : null };
}

/** @param {TableState} state @param {AnyFrame} frame @returns {TableState} */
function gameEnded(state, frame) {
  return {
    ...state,
    phase: "ended",
    turn: null,
    winner: frame.winner,
    endReason: frame.reason,
    scores: frame.scores,
    results: frame.seats,
    nextDeadlineMs: null,
    settled: frame.stake_coins === 0,
  };
}

/** @param {TableState} state @param {AnyFrame} frame @returns {TableState} */
function tableCancelled(state, frame) {
  return {
    ...state,
    ...NO_HAND,
    phase: "ended",
    winner: null,
    endReason: frame.reason || "cancelled",
    results: frame.seats,
    nextDeadlineMs: null,
    settled: frame.stake_coins === 0,
  };
}

/** @type {Record<string, (state: TableState, frame: AnyFrame) => TableState>} */
export const SEAT_FRAMES = {
  table_opened: tableOpened,
  seat_reserved: (state, frame) => ({ ...state, reserved: [...state.reserved, frame.seat] }),
  seat_taken: seatTaken,
  seat_refused: seatRefused,
  seat_released: seatReleased,
  seats_locked: seatsLocked,
  // Who has opened a seed and that the pot is full: the next events say what follows.
  seed_opened: (state) => state,
  stakes_captured: (state) => state,
  seeds_fixed: (state, frame) => ({ ...state, seeds: frame.seeds, seedMissing: frame.seed_missing }),
  game_started: (state, frame) => ({ ...state, phase: "playing", seats: frame.seats, nextDeadlineMs: null }),
  seat_autoplayed: seatAutoplayed,
  seat_ready: (state, frame) => ({ ...state, ready: [...state.ready, frame.seat] }),
  seat_left: seatForfeited,
  deadline_set: deadlineSet,
  clock_extended: clockExtended,
  table_cancelled: tableCancelled,
  game_over: gameEnded,
  game_settled: (state) => ({ ...state, settled: true }),
};
