// What a frame means, in words for the live region.
import { cardWords } from "../cards.js";
import { bidWords, ownTeam, partnerOf, who } from "./selectors.js";

/** @typedef {import("./types.js").TableState} TableState */
/** @typedef {import("./types.js").AnyFrame} AnyFrame */

/** @type {Record<string, (state: TableState, frame: AnyFrame) => string>} */
const SAID = {
  seat_taken: (state, frame) =>
    frame.replaces
      ? `A computer player takes over from ${nameOf(state, frame.replaces)}.`
      : `${who(state, frame.holder.seat)} took a seat.`,
  hand_dealt: (state, frame) => {
    const down = state.seat !== null && frame.face_down.includes(state.seat);
    return `Hand ${frame.hand_no} is dealt.${down ? " Your cards are face down." : ""}`;
  },
  bid_made: (state, frame) => `${who(state, frame.seat)} bid ${bidWords(frame.bid)}.`,
  cards_passed: (state, frame) => `${who(state, frame.from_seat)} passed ${frame.count} cards.`,
  card_played: (state, frame) => `${who(state, frame.seat)}: ${cardWords(frame.card)}.`,
  spades_broken: () => "Spades are broken.",
  trick_taken: (state, frame) =>
    `${who(state, frame.winner)} ${frame.winner === state.seat ? "take" : "takes"} trick ${frame.trick_no}.`,
  turn_started: (state, frame) => (frame.seat === state.seat ? (TURNS[frame.kind] ?? "") : ""),
  hand_scored: (state, frame) => {
    const own = ownTeam(state);
    const [us, them] = [frame.teams[own], frame.teams[1 - own]];
    return `Hand ${frame.hand_no} scored: we ${us.delta}, now ${us.score}; they ${them.delta}, now ${them.score}.`;
  },
  seat_autoplayed: (state, frame) => `Time ran out: the table played for ${who(state, frame.seat).toLowerCase()}.`,
  player_disconnected: (state, frame) => (frame.seat === state.seat ? "" : goneWords(state, frame.seat)),
  player_returned: (state, frame) => (frame.seat === state.seat ? "" : backWords(state, frame.seat)),
  said: (state, frame) => (frame.account_id === state.me ? "" : `${who(state, frame.seat)} says: ${frame.text}`),
  game_over: (state) => endWords(state),
  table_cancelled: () => "The game was cancelled; everybody gets their coins back.",
};

/** @type {Record<string, string>} */
const TURNS = {
  bid: "Your bid.",
  pass: "Choose two cards to pass.",
  play: "Your turn.",
};

/** @param {TableState} state after the frame @param {AnyFrame} frame @returns {string} empty: nothing to say */
export const said = (state, frame) => SAID[frame.type]?.(state, frame) ?? "";

/** @param {TableState} state @param {string} account */
const nameOf = (state, account) => (account === state.me ? "you" : (state.names[account] ?? "a player"));

/** "Your partner Rosa" @param {TableState} state @param {number} seat */
function whose(state, seat) {
  if (state.seat === null) return who(state, seat);
  return `Your ${seat === partnerOf(state.seat) ? "partner" : "opponent"} ${who(state, seat)}`;
}

/** @param {TableState} state @param {number} seat */
export const goneWords = (state, seat) => `${whose(state, seat)} has lost the connection. The seat is kept for them.`;
/** @param {TableState} state @param {number} seat */
export const backWords = (state, seat) => `${whose(state, seat)} is back.`;

/** From here nobody can tell one's own lost line, which costs time, from a server that is away, which costs none.
 * @param {TableState} state */
export function lostWords(state) {
  const words = "Connection lost, trying again…";
  if (state.seat === null) return words;
  if (state.clockMs === null) return `${words} Your seat is kept.`;
  return `${words} Your seat is kept. The clock goes on, but gives back any time that the server is away.`;
}

/** @type {Record<string, string>} */
const REASONS = {
  target: "The target was reached.",
  floor: "A team fell to the floor and lost straight away.",
  hand_limit: "The game reached its last hand.",
  draw: "The scores are level at the last hand.",
  abandoned: "Everybody left.",
  unpaid: "The stake was not paid, so no game began.",
};

/** @param {TableState} state @returns {string} */
export function reasonWords(state) {
  return REASONS[state.endReason ?? ""] ?? "The game was called off by the server; everybody gets their coins back.";
}

/** "You won, 512 to 430." @param {TableState} state @returns {string} */
export function endWords(state) {
  const own = ownTeam(state);
  const score = `${state.scores[own]} to ${state.scores[1 - own]}`.replaceAll("-", "−");
  if (state.winner === null) return `The game ended without a winner, ${score}.`;
  if (state.seat === null) return `${state.winner === 0 ? "South and North" : "West and East"} won, ${score}.`;
  return state.winner === own ? `You won, ${score}!` : `You lost, ${score}.`;
}

/** Whose turn and how much time, for the T key. @param {TableState} state @param {number | null} leftMs */
export function turnWords(state, leftMs) {
  if (!state.turn) return "Nobody’s turn just now.";
  const time = leftMs === null ? "No clock." : `${Math.ceil(leftMs / 1000)} seconds left.`;
  const whose = state.turn.seat === state.seat ? "Your turn" : `${who(state, state.turn.seat)}’s turn`;
  return `${whose}. ${time}`;
}

/** All bids, for the V key. @param {TableState} state */
export function bidsWords(state) {
  const bids = state.bids.flatMap((bid, seat) =>
    bid === null ? [] : [`${who(state, seat)} ${bidWords(bid)}, took ${state.taken[seat]}`],
  );
  return bids.length === 0 ? "No bids yet." : `${bids.join("; ")}.`;
}
