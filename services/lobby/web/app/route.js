// Where in the page one is: the part of the address behind #, so that any path serves the same file.
import { createStore } from "./store.js";

const here = () => location.hash.replace(/^#/, "").split("?")[0] || "/";

export const route = createStore(here());

export function followHash() {
  window.addEventListener("hashchange", () => {
    route.set(here());
    window.scrollTo(0, 0);
  });
}

/** @param {string} path */
export function goTo(path) {
  location.hash = path;
}

let parting = "";

/** Home, where it is said why. @param {string} words */
export function goHome(words) {
  parting = words;
  goTo("/");
}

/** What is to be said at home, once. */
export function partingWords() {
  const words = parting;
  parting = "";
  return words;
}

/** What one came to a table for ("play": sit down and start at once), and where it is served best.
 * @type {Map<string, {intent: string, partition: number}>} */
const known = new Map();

/** @param {{table_id: string, partition: number}} table @param {string} intent */
export const setIntent = (table, intent) => void known.set(table.table_id, { intent, partition: table.partition });

/** @param {string} tableId */
export const intentOf = (tableId) => known.get(tableId)?.intent ?? "";

/** @param {string} tableId @returns {number | undefined} */
export const partitionOf = (tableId) => known.get(tableId)?.partition;
