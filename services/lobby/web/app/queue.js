// One's place in the queue for an online table: asked for while one waits, on whatever page.
import * as api from "./api.js";
import { adoptSeed, forgetSeed, seedFor } from "./fair/seed.js";
import { goTo, route } from "./route.js";
import { me } from "./session.js";
import { createStore } from "./store.js";

const ASK_EVERY_MS = 1_500;
/** Seats are being taken: the seed has to be opened within seconds of it. */
const ASK_MATCHED_MS = 400;
/** The seed is promised before there is a table to keep it under. */
const SEED_KEY = "queue";

/** @type {import("./store.js").Store<api.QueuePlace>} */
export const place = createStore(/** @type {api.QueuePlace} */ ({ state: "idle" }));

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/** @param {string} ruleset @param {number} stake_coins @param {boolean} bots_accepted */
export async function wait(ruleset, stake_coins, bots_accepted) {
  const { seedCommit } = await import("./fair/deal.js");
  // Another wait is another game: a seed is never used twice.
  if (place.get().state !== "waiting") forgetSeed(SEED_KEY);
  const seed_commit = seedCommit(seedFor(SEED_KEY));
  heard(await api.enterQueue({ ruleset, stake_coins, bots_accepted, seed_commit }), true);
}

export async function stop() {
  clearTimeout(timer);
  await api.leaveQueue();
  place.set({ state: "idle" });
}

/** Where one stands, after a reload too. */
export async function look() {
  try {
    const before = place.get().state;
    heard(await api.queuePlace(), before === "waiting" || before === "matched");
  } catch (error) {
    // A line that is down for a moment costs no place.
    if (/** @type {any} */ (error).status === 401) place.set({ state: "idle" });
    else again();
  }
}

/** @param {api.QueuePlace} found @param {boolean} waited here, so that one is taken along; else it is an old place */
function heard(found, waited) {
  clearTimeout(timer);
  if (found.state === "seated" && found.table_id) {
    adoptSeed(SEED_KEY, found.table_id);
    if (waited) {
      place.set(found);
      arrive(found.table_id);
    } else void offer(found);
    return;
  }
  place.set(found);
  if (found.state === "waiting" || found.state === "matched") again();
}

function again() {
  clearTimeout(timer);
  timer = setTimeout(() => void look(), place.get().state === "matched" ? ASK_MATCHED_MS : ASK_EVERY_MS);
}

/** A seat that was found while the page was away is offered as long as it is one's own. @param {api.QueuePlace} found */
async function offer(found) {
  place.set({ state: "idle" });
  const table = await api.table(found.table_id ?? "").catch(() => null);
  const mine = table?.seats.some((seat) => seat.account_id === me.get()?.account_id);
  if (mine && table?.phase !== "ended") place.set(found);
}

/** To the table, but out of no other game. @param {string} tableId */
function arrive(tableId) {
  if (route.get().startsWith("/table/")) return;
  place.set({ state: "idle" });
  goTo(`/table/${tableId}`);
}
