// What a player likes, kept in this browser.
import { createStore } from "./store.js";

/**
 * @typedef {object} Prefs
 * @property {boolean} hints
 * @property {boolean} fourColours
 * @property {boolean} sound
 * @property {boolean} titleMark the tab's title says when it is one's turn
 * @property {boolean} tapTwice a card is tapped, then tapped again to play
 * @property {boolean} shortcuts single-key shortcuts
 * @property {"auto" | "light" | "dark"} theme
 */

const KEY = "spades.prefs";

/** @type {Prefs} */
const DEFAULTS = { hints: true, fourColours: false, sound: true, titleMark: true, tapTwice: false, shortcuts: true, theme: "auto" };

/** @returns {Prefs} */
function load() {
  try {
    return { ...DEFAULTS, ...JSON.parse(localStorage.getItem(KEY) ?? "{}") };
  } catch {
    return DEFAULTS;
  }
}

export const prefs = createStore(load());

/** @param {Partial<Prefs>} change */
export function prefer(change) {
  prefs.set({ ...prefs.get(), ...change });
  try {
    localStorage.setItem(KEY, JSON.stringify(prefs.get()));
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
}

/** Puts what styles depend on at the root. */
export function showPrefs() {
  const { fourColours, theme } = prefs.get();
  document.documentElement.dataset.deck = fourColours ? "four" : "two";
  document.documentElement.dataset.theme = theme;
}
