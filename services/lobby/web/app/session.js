// Who is here, and what they have: watched by every page.
import * as api from "./api.js";
import { createStore } from "./store.js";

/** undefined: not known yet; null: nobody is signed in. @type {import("./store.js").Store<api.Me | null | undefined>} */
export const me = createStore(/** @type {api.Me | null | undefined} */ (undefined));

/** @type {import("./store.js").Store<{available_coins: number, held_coins: number} | null>} */
export const balance = createStore(/** @type {{available_coins: number, held_coins: number} | null} */ (null));

const HERE_BEFORE = "spades.here-before";

/** The session itself is a cookie no script can read; this only says whether asking makes sense. @param {boolean} here */
function remember(here) {
  try {
    if (here) localStorage.setItem(HERE_BEFORE, "yes");
    else localStorage.removeItem(HERE_BEFORE);
  } catch {
    // Without storage the page asks each time.
  }
}

/** @returns {boolean} */
function neverHere() {
  try {
    return localStorage.getItem(HERE_BEFORE) === null;
  } catch {
    return false;
  }
}

/** @returns {Promise<void>} */
export async function findOut() {
  const known = neverHere() ? null : await api.whoAmI();
  remember(known !== null);
  me.set(known);
  await refreshBalance();
}

/** Somebody to play as: a guest where nobody is signed in. @returns {Promise<api.Me>} */
export async function someone() {
  const known = me.get();
  if (known) return known;
  const guest = await api.beGuest();
  remember(true);
  me.set(guest);
  return guest;
}

export async function refreshBalance() {
  const known = me.get();
  if (!known || known.guest) return balance.set(null);
  try {
    const coins = await api.wallet();
    // A new account's wallet opens a moment later; whoever shows it asks again.
    balance.set(coins.open === false ? null : coins);
  } catch {
    // What was known stays; whoever shows it asks again.
  }
  return undefined;
}

/** @param {api.Me | null} who */
export async function becomes(who) {
  remember(who !== null);
  balance.set(null);
  me.set(who);
  await refreshBalance();
}
