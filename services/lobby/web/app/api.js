// The gateway's REST, one function a request. A refusal rises as ApiError with the problem's slug.
import { commandId } from "./fair/seed.js";

export class ApiError extends Error {
  /** @param {number} status @param {string} code @param {string} detail @param {Record<string, any>} body */
  constructor(status, code, detail, body = {}) {
    super(detail || code);
    this.status = status;
    this.code = code;
    this.body = body;
  }
}

/**
 * @typedef {object} Me
 * @property {string} account_id
 * @property {string} name
 * @property {boolean} guest
 *
 * @typedef {object} TableSummary
 * @property {string} table_id
 * @property {import("./table/types.js").TableKind} kind
 * @property {import("./table/types.js").Ruleset} ruleset
 * @property {number} stake_coins
 * @property {number} fee_coins
 * @property {number | null} clock_ms
 * @property {boolean} bots_welcome
 * @property {string} host
 * @property {string} phase
 * @property {(import("./table/types.js").SeatHolder | null)[]} seats
 * @property {Record<string, string>} names
 * @property {number} [partition]
 * @property {number[]} [scores]
 * @property {number | null} [winner]
 * @property {string | null} [end_reason]
 */

/**
 * @param {string} method @param {string} path @param {unknown} [body] @param {Record<string, string>} [headers]
 * @returns {Promise<any>}
 */
async function call(method, path, body, headers = {}) {
  /** @type {RequestInit} */
  const init = { method, credentials: "same-origin", headers: { accept: "application/json", ...headers } };
  if (body !== undefined) {
    init.headers = { ...init.headers, "content-type": "application/json" };
    init.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(`/v1${path}`, init);
  } catch {
    throw new ApiError(0, "offline", "The server cannot be reached.");
  }
  const text = await response.text();
  const data = text ? parsed(text) : null;
  if (response.ok) return data;
  throw new ApiError(response.status, data?.code ?? `http_${response.status}`, data?.detail ?? "", data ?? {});
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** A page of a list, whatever its envelope is called. @param {any} data @param {string} name @returns {any[]} */
const rows = (data, name) => (Array.isArray(data) ? data : (data?.[name] ?? data?.items ?? []));

/** @returns {Promise<Me | null>} null: nobody is signed in */
export async function whoAmI() {
  try {
    return await call("GET", "/me");
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}

/** @param {string} [name] @returns {Promise<Me>} */
export const beGuest = (name) => call("POST", "/sessions", { guest: true, ...(name ? { name } : {}) });
/** @param {string} name @param {string} password @returns {Promise<Me>} */
export const signIn = (name, password) => call("POST", "/sessions", { name, password });
/** A guest becomes this account in place. @param {string} name @param {string} password @returns {Promise<Me>} */
export const signUp = (name, password) => call("POST", "/accounts", { name, password });
export const signOut = () => call("DELETE", "/sessions/current");

/** @returns {Promise<{available_coins: number, held_coins: number}>} */
export const wallet = () => call("GET", "/wallet");
/** @returns {Promise<any[]>} */
export const walletEntries = async () => rows(await call("GET", "/wallet/entries"), "entries");
export const topUp = () => call("POST", "/wallet/top-up", {}, { "idempotency-key": commandId() });

/** @returns {Promise<TableSummary[]>} */
export const tables = async () => rows(await call("GET", "/tables"), "tables");
/** @param {string} id @returns {Promise<TableSummary>} */
export const table = (id) => call("GET", `/tables/${encodeURIComponent(id)}`);

/**
 * @typedef {object} NewTable
 * @property {import("./table/types.js").TableKind} kind
 * @property {{name: string, options: Record<string, number | boolean | null>}} ruleset
 * @property {number} [stake_coins]
 * @property {number | null} [clock_ms]
 * @property {boolean} [bots_welcome]
 */

/** @param {NewTable} wanted @param {string} key one a wish: the same key never opens a second table
 * @returns {Promise<TableSummary>} */
export const openTable = (wanted, key) =>
  call("POST", "/tables", { stake_coins: 0, bots_welcome: false, ...wanted }, { "idempotency-key": key });

/** @returns {Promise<TableSummary[]>} */
export const myGames = async () => rows(await call("GET", "/me/games"), "games");
/** @param {string} id @returns {Promise<TableSummary>} */
export const game = (id) => call("GET", `/games/${encodeURIComponent(id)}`);

const EVENTS_PAGES_MAX = 50;

/** All public events after a version, in order. @param {string} id @param {number} after
 * @returns {Promise<import("./table/types.js").AnyFrame[]>} */
export async function gameEvents(id, after) {
  /** @type {import("./table/types.js").AnyFrame[]} */
  const events = [];
  let from = after;
  for (let page = 0; page < EVENTS_PAGES_MAX; page += 1) {
    const data = await call("GET", `/games/${encodeURIComponent(id)}/events?after=${from}`);
    const more = rows(data, "events").filter((event) => event.seq > from);
    if (more.length === 0) break;
    events.push(...more);
    from = more.at(-1).seq;
    if (data.next_after === undefined && data.next_cursor === undefined && data.more === undefined) break;
  }
  return events;
}

/** @returns {Promise<string>} a one-use ticket */
export const wsTicket = async () => (await call("POST", "/ws-tickets", {})).ticket;
