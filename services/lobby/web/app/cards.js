// A card is two characters, rank and suit ("TD"); the jokers are "LJ" and "BJ" and count as spades.

export const SUITS = ["C", "D", "H", "S"];
const RANKS = "23456789TJQKA";

/** @typedef {"C" | "D" | "H" | "S"} Suit */

/** @param {string} card */
export const isJoker = (card) => card === "LJ" || card === "BJ";

/** @param {string} card @returns {Suit} jokers are spades in full */
export const suitOf = (card) => (isJoker(card) ? "S" : /** @type {Suit} */ (card[1]));

/** Greater beats smaller within a suit. @param {string} card */
export function rankOf(card) {
  if (card === "LJ") return 13;
  if (card === "BJ") return 14;
  return RANKS.indexOf(card[0] ?? "");
}

/** Clubs, diamonds, hearts, spades, each low to high: how records list cards. @param {readonly string[]} cards */
export function inDeckOrder(cards) {
  return [...cards].sort((a, b) => SUITS.indexOf(suitOf(a)) - SUITS.indexOf(suitOf(b)) || rankOf(a) - rankOf(b));
}

// Black and red in turn, spades last at the right hand: neighbours never share a colour.
const HAND_SUITS = ["D", "C", "H", "S"];

/** How a hand is held: by suit, high to low. @param {readonly string[]} cards */
export function inHandOrder(cards) {
  return [...cards].sort(
    (a, b) => HAND_SUITS.indexOf(suitOf(a)) - HAND_SUITS.indexOf(suitOf(b)) || rankOf(b) - rankOf(a),
  );
}

/** @type {Record<string, string>} */
export const SUIT_WORDS = { C: "clubs", D: "diamonds", H: "hearts", S: "spades" };
/** @type {Record<string, string>} */
export const SUIT_SIGNS = { C: "♣", D: "♦", H: "♥", S: "♠" };
/** @type {Record<string, string>} */
const RANK_WORDS = { A: "ace", K: "king", Q: "queen", J: "jack", T: "10" };

/** "queen of hearts", "Big Joker". @param {string} card */
export function cardWords(card) {
  if (card === "LJ") return "Little Joker";
  if (card === "BJ") return "Big Joker";
  const rank = card[0] ?? "";
  return `${RANK_WORDS[rank] ?? rank} of ${SUIT_WORDS[card[1] ?? ""]}`;
}

/** The index printed on a card: "10", "Q". @param {string} card */
export function rankSign(card) {
  const rank = card[0] ?? "";
  return rank === "T" ? "10" : rank;
}

/** "Q♥" for tight places. @param {string} card */
export function cardSign(card) {
  if (card === "LJ") return "Little Joker";
  if (card === "BJ") return "Big Joker";
  return `${rankSign(card)}${SUIT_SIGNS[card[1] ?? ""]}`;
}

/** The seat that wins a full or running trick. @param {readonly string[]} cards in playing order
 * @param {number} leader */
export function trickWinner(cards, leader) {
  const led = suitOf(/** @type {string} */ (cards[0]));
  const spades = cards.filter((card) => suitOf(card) === "S");
  const rivals = spades.length > 0 ? spades : cards.filter((card) => suitOf(card) === led);
  const best = rivals.reduce((high, card) => (rankOf(card) > rankOf(high) ? card : high));
  return (leader + cards.indexOf(best)) % 4;
}
