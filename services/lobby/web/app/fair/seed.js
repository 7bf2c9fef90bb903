// This browser's own random bytes: its seed for a game's deals, kept for a reload, and command ids.
import { bytesToHex } from "../hex.js";

/** @param {number} size @returns {string} hex */
function randomHex(size) {
  // getRandomValues works without a secure context; randomUUID and subtle do not.
  return bytesToHex(crypto.getRandomValues(new Uint8Array(size)));
}

/** An id for one command: the same id twice is one effect. */
export const commandId = () => randomHex(16);

/** @param {string} tableId */
const seedKey = (tableId) => `spades.seed.${tableId}`;

/** @param {string} tableId @returns {string | null} */
export const keptSeed = (tableId) => read(seedKey(tableId));

/**
 * The seed for this table, drawn and kept at the first call: it is sent only after it is safe here.
 * @param {string} tableId @returns {string} hex
 */
export function seedFor(tableId) {
  const kept = keptSeed(tableId);
  if (kept) return kept;
  const drawn = randomHex(32);
  forgetOld();
  write(seedKey(tableId), drawn);
  return drawn;
}

/** @param {string} tableId @param {number} handNo */
const handKey = (tableId, handNo) => `spades.hand.${tableId}.${handNo}`;

/** Keep one's own thirteen cards as they were shown, for the check after a reload. @param {string} tableId
 * @param {number} handNo @param {readonly string[]} cards */
export function keepHand(tableId, handNo, cards) {
  if (read(handKey(tableId, handNo)) === null) write(handKey(tableId, handNo), cards.join(" "));
}

/** @param {string} tableId @param {number} handNo @returns {string[] | null} */
export function keptHand(tableId, handNo) {
  return read(handKey(tableId, handNo))?.split(" ") ?? null;
}

const KEPT_MAX = 300;

/** Old tables' notes go once there are many: a full store would refuse the next seed. */
function forgetOld() {
  try {
    const keys = Object.keys(localStorage).filter((key) => /^spades\.(seed|hand)\./.test(key));
    if (keys.length > KEPT_MAX) for (const key of keys) localStorage.removeItem(key);
  } catch {
    // No storage at all (a private window may refuse it): seeds then live in `memory`.
  }
}

/** Stands in where the browser gives no storage. @type {Map<string, string>} */
const memory = new Map();

/** @param {string} key */
function read(key) {
  try {
    return localStorage.getItem(key) ?? memory.get(key) ?? null;
  } catch {
    return memory.get(key) ?? null;
  }
}

/** @param {string} key @param {string} value */
function write(key, value) {
  memory.set(key, value);
  try {
    localStorage.setItem(key, value);
  } catch {
    // Kept in memory: it lasts until the page is closed.
  }
}
