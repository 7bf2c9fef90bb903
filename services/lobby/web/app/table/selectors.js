// What the page reads out of the table's state.
import { trickWinner } from "../cards.js";
import { BOT } from "./reduce_seats.js";

/** @typedef {import("./types.js").TableState} TableState */
/** @typedef {import("./types.js").AnyFrame} AnyFrame */
/** @typedef {"south" | "west" | "north" | "east"} Place */

/** @type {Place[]} clockwise from the bottom */
export const PLACES = ["south", "west", "north", "east"];

/** Own seat at the bottom; a watcher sits behind seat 0. @param {TableState} state @param {number} seat @returns {Place} */
export function placeOf(state, seat) {
  return /** @type {Place} */ (PLACES[(seat - (state.seat ?? 0) + 4) % 4]);
}

/** @param {TableState} state @param {Place} place */
export const seatAt = (state, place) => (PLACES.indexOf(place) + (state.seat ?? 0)) % 4;

/** @param {number} seat */
export const teamOf = (seat) => seat % 2;
/** @param {number} seat */
export const partnerOf = (seat) => (seat + 2) % 4;

/** One's own team; a watcher's is the first. @param {TableState} state */
export const ownTeam = (state) => teamOf(state.seat ?? 0);

/** @type {Record<Place, string>} */
const BOT_NAMES = { south: "Bot South", west: "Bot West", north: "Bot North", east: "Bot East" };

/** @param {TableState} state @param {number} seat @returns {string} */
export function seatName(state, seat) {
  const holder = state.seats[seat];
  if (!holder) return "Empty seat";
  if (holder.account_id === BOT) return BOT_NAMES[placeOf(state, seat)];
  return state.names[holder.account_id] ?? "Player";
}

/** "You" for oneself. @param {TableState} state @param {number} seat */
export const who = (state, seat) => (seat === state.seat ? "You" : seatName(state, seat));

/** @param {TableState} state @param {number} seat */
export const isBot = (state, seat) => state.seats[seat]?.account_id === BOT;

/** @param {TableState} state */
export const isOwnTurn = (state) => state.seat !== null && state.turn?.seat === state.seat;

/** @param {import("./types.js").Bid | null | undefined} bid */
export function bidWords(bid) {
  if (bid === null || bid === undefined) return "";
  if (bid === "nil") return "Nil";
  if (bid === "blind_nil") return "Blind Nil";
  return String(bid);
}

/** A seat's line, "Bid 4 · 2". @param {TableState} state @param {number} seat */
export function bidLine(state, seat) {
  const bid = state.bids[seat];
  if (bid === null || bid === undefined) return "";
  return `Bid ${bidWords(bid)} · ${state.taken[seat] ?? 0}`;
}

/** A team's contract as bid so far. @param {TableState} state @param {number} team */
export function contractOf(state, team) {
  const bids = [state.bids[team], state.bids[team + 2]];
  return bids.reduce((/** @type {number} */ sum, bid) => sum + (typeof bid === "number" ? bid : 0), 0);
}

/** @param {TableState} state @param {number} team */
export const takenBy = (state, team) => (state.taken[team] ?? 0) + (state.taken[team + 2] ?? 0);

export const BAGS_WARNED_FROM = 7;

/** "2 more bags cost 100", from 7 bags on. @param {number} bags @returns {string} */
export function bagWarning(bags) {
  if (bags < BAGS_WARNED_FROM) return "";
  const left = 10 - bags;
  return left === 1 ? "1 more bag costs 100" : `${left} more bags cost 100`;
}

/** Who is winning the running trick. @param {TableState} state @returns {number | null} */
export function winningSeat(state) {
  const trick = state.trick;
  if (!trick || trick.cards.length === 0) return null;
  return trick.winner ?? trickWinner(trick.cards, trick.leader);
}

/** The last finished trick that no longer lies in the middle. @param {TableState} state */
export function lastTrickOf(state) {
  return state.trick?.winner !== null && state.trick !== null ? state.trick : state.lastTrick;
}

/** The score sheet so far: one HandScored a hand. @param {TableState} state @returns {AnyFrame[]} */
export const scoredHands = (state) => state.facts.filter((fact) => fact.type === "hand_scored");

/** What the wallet paid, once it has. @param {TableState} state @returns {{account_id: string, net_coins: number}[]} */
export const payoutsOf = (state) => state.facts.find((fact) => fact.type === "game_settled")?.payouts ?? [];

/** Hands whose secret is out. @param {TableState} state @returns {number[]} */
export function revealedHands(state) {
  return state.facts.filter((fact) => fact.type === "deal_revealed").map((fact) => fact.hand_no);
}

/** Why a card may not be played now, in words; empty where it may. @param {TableState} state @param {string} card */
export function whyNot(state, card) {
  if (!isOwnTurn(state) || state.turn?.kind !== "play" || state.legalCards.includes(card)) return null;
  const led = state.trick && state.trick.winner === null ? state.trick.cards[0] : undefined;
  return led === undefined ? "spades_not_broken" : "must_follow";
}

/** The one tip that fits this hand, if any. @param {TableState} state @returns {string} */
export function tipFor(state) {
  const own = state.seat ?? 0;
  /** @param {number} seat */
  const isNil = (seat) => state.bids[seat] === "nil" || state.bids[seat] === "blind_nil";
  if (isNil(own)) return "You bid Nil: play under what lies there, and get rid of high cards early.";
  if (isNil(partnerOf(own))) return "Your partner bid Nil: win tricks over them, high and early.";
  if (isNil((own + 1) % 4) || isNil((own + 3) % 4)) return "An opponent bid Nil: lead low and let them take one.";
  if ((state.bags[ownTeam(state)] ?? 0) >= BAGS_WARNED_FROM)
    return "Your bags are near ten: duck the tricks you don’t need.";
  return "";
}
