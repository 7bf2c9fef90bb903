// Why something was refused, in a player's words.
import { SUIT_WORDS, suitOf } from "../cards.js";

/** @typedef {import("./types.js").AnyFrame} AnyFrame */

/** @type {Record<string, (facts: Record<string, any>) => string>} */
const WORDS = {
  must_follow: (facts) =>
    `You must follow suit: ${SUIT_WORDS[facts.suit_led ?? ""] ?? "that suit"} was led and you hold some.`,
  spades_not_broken: () =>
    "Spades are not broken yet: lead another suit. They break when a spade is played on another suit.",
  not_in_hand: () => "You do not hold that card.",
  look_first: () => "Your cards are face down: bid Blind Nil, or see your cards first.",
  blind_nil_closed: () => "Blind Nil is only for cards that are still face down.",
  bid_refused: () => "These rules do not know that bid.",
  malformed_bid: () => "These rules do not know that bid.",
  bad_swap: () => "Choose exactly two different cards.",
  wrong_pass: () => "Choose exactly two different cards.",
  stale_turn: () => "That turn is over.",
  not_your_turn: () => "It is another player’s turn.",
  wrong_phase: () => "That is not possible just now.",
  seat_taken: () => "Somebody else took that seat.",
  table_full: () => "This table is full.",
  random_seats: () => "Seats at this table are drawn at random.",
  already_seated: () => "You have a seat here already.",
  not_seated: () => "You have no seat here.",
  not_host: () => "Only the host can start.",
  starting: () => "The game is just starting.",
  game_over: () => "This game has ended.",
  insufficient_balance: (facts) =>
    facts.needed_coins
      ? `You need ${facts.needed_coins} coins (stake and leaving deposit) and have ${facts.available_coins ?? 0}.`
      : "You have too few coins for this table.",
  seated_elsewhere: () => "You are at another coin table; finish or leave that game first.",
  account_required: () => "Coin tables need an account: sign in or sign up first.",
  price_changed: (facts) => `Leaving now costs ${facts.price_coins} coins.`,
  seed_mismatch: () => "Your browser’s seed for the deal was not accepted.",
  seed_missing: () => "Your browser’s seed for the deal came too late.",
  option_refused: () => "These rules do not offer that choice.",
  not_found: () => "There is no such table.",
  name_taken: () => "That name is taken.",
  bad_credentials: () => "That name and password do not go together.",
  rate_limited: () => "Too many tries: wait a moment.",
  phrases_only: () => "During a hand only the preset phrases; free talk is for between hands.",
  too_many: () => "You have muted as many people as can be muted.",
  offline: () => "The server cannot be reached.",
};

/** @param {Record<string, any>} facts with `code`, and `message` or `detail` of the server @returns {string} */
export function refusalWords(facts) {
  const words = WORDS[facts.code];
  if (words) return words(facts);
  return facts.message || facts.detail || `Refused: ${String(facts.code).replaceAll("_", " ")}.`;
}

/** What a request's failure means, in a player's words. @param {unknown} error */
export function problemWords(error) {
  const refused = /** @type {any} */ (error);
  return refusalWords({ ...refused.body, code: refused.code, detail: refused.message });
}

/** A card refused before it was sent. @param {"must_follow" | "spades_not_broken"} code @param {string | undefined} led */
export const cardRefusal = (code, led) => refusalWords({ code, suit_led: led ? suitOf(led) : undefined });
