// The fair deal, `spades-deal/1`: a hand's cards from its secret and the players' seeds, byte for byte.
// Pure JavaScript hashing: a page reached by a LAN address has no crypto.subtle.
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";

export const FORMAT = "spades-deal/1";
export const NO_SEED = "00".repeat(32);

/**
 * @typedef {object} DealInputs
 * @property {string} secret the hand's link of the chain, hex
 * @property {string} gameId
 * @property {number} handNo
 * @property {number} dealer
 * @property {number} deckId 0 standard, 1 with jokers
 * @property {readonly string[]} seeds four, hex
 *
 * @typedef {object} DealTrace every step of one deal, for showing and for comparing
 * @property {string} dealKey
 * @property {string} block0 the first 32 bytes of the stream
 * @property {string[]} afterShuffle1
 * @property {number} cut1At
 * @property {string[]} afterShuffle2
 * @property {[number, number, "BCA" | "CAB"]} cut2
 * @property {string[]} finalDeck
 * @property {number} bytesUsed
 * @property {number} bytesRejected
 * @property {string[][]} hands by seat, in the order dealt
 */

const RANKS = "23456789TJQKA";
const SUITS = "CDHS";

/** @param {string} tag */
const tagged = (tag) => utf8ToBytes(`${tag}\0`);

/** @param {number} value @param {number} size in bytes */
function bigEndian(value, size) {
  const bytes = new Uint8Array(size);
  for (let at = size - 1, rest = value; at >= 0; at -= 1, rest = Math.floor(rest / 256)) bytes[at] = rest % 256;
  return bytes;
}

/** The link before `secret` in its chain. @param {string} secret hex */
export function chainStep(secret) {
  return bytesToHex(sha256(concatBytes(tagged("spades-chain/1"), hexToBytes(secret))));
}

/** What a browser sends with its join command for a seed it opens later. @param {string} seed hex */
export function seedCommit(seed) {
  return bytesToHex(sha256(concatBytes(tagged("spades-cseed/1"), hexToBytes(seed))));
}

/** @param {DealInputs} inputs @returns {Uint8Array} */
export function dealKey({ secret, gameId, handNo, dealer, deckId, seeds }) {
  const name = utf8ToBytes(gameId);
  const message = concatBytes(
    tagged(FORMAT),
    bigEndian(name.length, 2),
    name,
    bigEndian(handNo, 4),
    bigEndian(dealer, 1),
    bigEndian(deckId, 1),
    ...seeds.map((seed) => hexToBytes(seed)),
  );
  return hmac(sha256, hexToBytes(secret), message);
}

/** The bytes of one deal key, each used once and in order; it counts what it threw away. */
export class DealStream {
  /** @param {Uint8Array} key */
  constructor(key) {
    this.key = key;
    this.block = 0;
    this.at = 0;
    this.bytes = hmac(sha256, key, bigEndian(0, 4));
    this.used = 0;
    this.rejected = 0;
  }

  /** @returns {number} */
  next() {
    if (this.at === this.bytes.length) {
      this.block += 1;
      this.at = 0;
      this.bytes = hmac(sha256, this.key, bigEndian(this.block, 4));
    }
    this.used += 1;
    return /** @type {number} */ (this.bytes[this.at++]);
  }

  /** A number below n, each as likely: bytes of the uneven rest are thrown away. @param {number} n 2 to 256 */
  draw(n) {
    const limit = 256 - (256 % n);
    for (;;) {
      const byte = this.next();
      if (byte < limit) return byte % n;
      this.rejected += 1;
    }
  }
}

/** @param {number} deckId @returns {string[]} */
export function freshDeck(deckId) {
  const deck = [...SUITS].flatMap((suit) => [...RANKS].map((rank) => rank + suit));
  if (deckId === 0) return deck;
  return [...deck.filter((card) => card !== "2C" && card !== "2D"), "LJ", "BJ"];
}

/** @param {readonly string[]} deck @param {DealStream} stream @returns {string[]} */
function shuffled(deck, stream) {
  const cards = [...deck];
  for (let i = 51; i >= 1; i -= 1) {
    const j = stream.draw(i + 1);
    const held = /** @type {string} */ (cards[i]);
    cards[i] = /** @type {string} */ (cards[j]);
    cards[j] = held;
  }
  return cards;
}

/** Shuffle, cut, shuffle, restack thirds, shuffle, deal. @param {DealInputs} inputs @returns {DealTrace} */
export function deal(inputs) {
  const key = dealKey(inputs);
  const stream = new DealStream(key);
  const block0 = bytesToHex(stream.bytes);
  const afterShuffle1 = shuffled(freshDeck(inputs.deckId), stream);
  const cut1At = 20 + stream.draw(13);
  const afterShuffle2 = shuffled([...afterShuffle1.slice(cut1At), ...afterShuffle1.slice(0, cut1At)], stream);
  const first = 14 + stream.draw(7);
  const second = 32 + stream.draw(7);
  const [a, b, c] = [afterShuffle2.slice(0, first), afterShuffle2.slice(first, second), afterShuffle2.slice(second)];
  // Of the six orders only these two leave no third where it was.
  const order = stream.draw(2) === 0 ? "BCA" : "CAB";
  const finalDeck = shuffled(order === "BCA" ? [...b, ...c, ...a] : [...c, ...a, ...b], stream);
  /** @type {string[][]} */
  const hands = [[], [], [], []];
  finalDeck.forEach((card, i) => hands[(inputs.dealer + 1 + i) % 4]?.push(card));
  return {
    dealKey: bytesToHex(key),
    block0,
    afterShuffle1,
    cut1At,
    afterShuffle2,
    cut2: [first, second, order],
    finalDeck,
    bytesUsed: stream.used,
    bytesRejected: stream.rejected,
    hands,
  };
}

/** Who deals hand 1, drawn from that hand's own secret. @param {DealInputs} inputs of hand 1 */
export function firstDealer(inputs) {
  return new DealStream(dealKey({ ...inputs, handNo: 0, dealer: 0 })).draw(4);
}
