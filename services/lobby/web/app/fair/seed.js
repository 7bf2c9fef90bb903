// This browser's own notes: its seed for a game's deals and the hands it was shown, kept for a reload and the check.
import { bytesToHex } from "../hex.js";

/**
 * @typedef {object} Note of one table
 * @property {number} atMs when the seed was drawn
 * @property {string | null} seed hex
 * @property {Record<string, string>} hands by hand number, cards with spaces
 */

const KEY = "spades.notes";
/** Tables remembered; a game is checked soon after it, if ever. */
const TABLES_MAX = 100;

/** @param {number} size @returns {string} hex */
function randomHex(size) {
  // getRandomValues works without a secure context; randomUUID and subtle do not.
  return bytesToHex(crypto.getRandomValues(new Uint8Array(size)));
}

/** An id for one command: the same id twice is one effect. */
export const commandId = () => randomHex(16);

/** @param {string} tableId @returns {string | null} */
export const keptSeed = (tableId) => notes()[tableId]?.seed ?? null;

/**
 * The seed for this table, drawn and kept at the first call: it is sent only after it is safe here.
 * @param {string} tableId @returns {string} hex
 */
export function seedFor(tableId) {
  const kept = keptSeed(tableId);
  if (kept) return kept;
  const seed = randomHex(32);
  note(tableId, { seed });
  return seed;
}

/** A seed that was promised before its table was known is this table's from now on.
 * @param {string} from @param {string} tableId */
export function adoptSeed(from, tableId) {
  const seed = keptSeed(from);
  if (!seed || keptSeed(tableId)) return;
  note(tableId, { seed });
}

/** @param {string} tableId */
export const forgetSeed = (tableId) => note(tableId, { seed: null });

/** Keep one's own thirteen cards as they were first shown.
 * @param {string} tableId @param {number} handNo @param {readonly string[]} cards */
export function keepHand(tableId, handNo, cards) {
  const hands = notes()[tableId]?.hands ?? {};
  if (!hands[handNo]) note(tableId, { hands: { ...hands, [handNo]: cards.join(" ") } });
}

/** @param {string} tableId @param {number} handNo @returns {string[] | null} */
export const keptHand = (tableId, handNo) => notes()[tableId]?.hands[handNo]?.split(" ") ?? null;

/** @param {string} tableId @param {Partial<Note>} change */
function note(tableId, change) {
  const all = notes();
  all[tableId] = { ...(all[tableId] ?? { atMs: Date.now(), seed: null, hands: {} }), ...change };
  const newest = Object.entries(all).sort(([, a], [, b]) => b.atMs - a.atMs);
  write(Object.fromEntries(newest.slice(0, TABLES_MAX)));
}

/** Stands in where the browser gives no storage: it lasts until the page is closed. @type {Record<string, Note>} */
let memory = {};

/** @returns {Record<string, Note>} */
function notes() {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "null") ?? memory;
  } catch {
    return memory;
  }
}

/** @param {Record<string, Note>} all */
function write(all) {
  memory = all;
  try {
    localStorage.setItem(KEY, JSON.stringify(all));
  } catch {
    // Kept in memory.
  }
}
