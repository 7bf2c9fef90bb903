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

/** What one came to a table for ("play": sit down and start at once). @type {Map<string, string>} */
const intents = new Map();

/** @param {string} tableId @param {string} intent */
export const setIntent = (tableId, intent) => void intents.set(tableId, intent);

/** @param {string} tableId */
export const intentOf = (tableId) => intents.get(tableId) ?? "";
