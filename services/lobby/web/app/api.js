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
 * @typedef {object} SeatSummary
 * @property {number} seat
 * @property {string | null} account_id
 * @property {string | null} name
 * @property {boolean} computer
 * @property {boolean} free
 *
 * @typedef {object} TableSummary
 * @property {string} table_id
 * @property {number} partition
 * @property {import("./table/types.js").TableKind} kind
 * @property {import("./table/types.js").Ruleset} ruleset
 * @property {number} stake_coins
 * @property {number} leaving_price_coins
 * @property {number | null} clock_ms
 * @property {boolean} bots_welcome
 * @property {{account_id: string, name: string | null}} host
 * @property {string} phase
 * @property {SeatSummary[]} seats
 *
 * @typedef {TableSummary & {scores: [number, number], winner: number | null, end_reason: string | null,
 *   payouts: {account_id: string, net_coins: number}[], leavers: string[]}} GameSummary
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
  throw new ApiError(
    response.status,
    data?.code ?? `http_${response.status}`,
    data?.message ?? data?.detail ?? "",
    data ?? {},
  );
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

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
/** A guest becomes this account in place. @param {string} name @param {string} password
 * @returns {Promise<Me & {recovery_code?: string}>} */
export const signUp = (name, password) => call("POST", "/accounts", { name, password });
/** A new password for who has lost the old one. @param {string} name @param {string} recovery_code @param {string} new_password
 * @returns {Promise<Me & {recovery_code: string}>} */
export const recover = (name, recovery_code, new_password) =>
  call("POST", "/recoveries", { name, recovery_code, new_password });
/** @param {string} password @param {string} new_password */
export const changePassword = (password, new_password) => call("PUT", "/me/password", { password, new_password });
/** @param {string} password @returns {Promise<{recovery_code: string}>} */
export const newRecoveryCode = (password) => call("POST", "/me/recovery-code", { password });
export const signOutEverywhere = () => call("DELETE", "/sessions");
/** @param {string} password */
export const deleteAccount = (password) => call("DELETE", "/me", { password });
/** @typedef {{token_id: string, label: string, scope: "read" | "bot" | "play"}} PersonalToken */
/** @returns {Promise<PersonalToken[]>} */
export const personalTokens = async () => (await call("GET", "/me/tokens")).tokens;
/** @param {string} label @param {string} scope @returns {Promise<PersonalToken & {token: string}>} */
export const makeToken = (label, scope) => call("POST", "/me/tokens", { label, scope });
/** @param {string} id */
export const revokeToken = (id) => call("DELETE", `/me/tokens/${encodeURIComponent(id)}`);
export const signOut = () => call("DELETE", "/sessions/current");

/** @returns {Promise<{available_coins: number, held_coins: number, open?: boolean}>} */
export const wallet = () => call("GET", "/wallet");
/** @returns {Promise<any[]>} */
export const walletEntries = async () => (await call("GET", "/wallet/entries")).entries;
export const topUp = () => call("POST", "/wallet/top-up", {}, { "idempotency-key": commandId() });

/** @returns {Promise<TableSummary[]>} */
export const tables = async () => (await call("GET", "/tables")).tables;
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

/** The table at which those of an ended game meet again. @param {string} id @returns {Promise<TableSummary>} */
export const rematch = (id) => call("POST", `/tables/${encodeURIComponent(id)}/rematch`);

/** The code of a private table. @param {string} id @returns {Promise<{table_id: string, code: string}>} */
export const inviteTo = (id) => call("POST", `/tables/${encodeURIComponent(id)}/invites`);
/** Enter a private table by its code. @param {string} code @returns {Promise<TableSummary>} */
export const redeemInvite = (code) => call("POST", "/invites", { code });

/**
 * @typedef {object} QueuePlace
 * @property {"idle" | "waiting" | "matched" | "seated" | "refused"} state
 * @property {string} [ruleset]
 * @property {number} [stake_coins]
 * @property {number} [waited_ms]
 * @property {number} [waiting] how many wait for the same game, oneself with them
 * @property {boolean} [bots_offered]
 * @property {boolean} [bots_accepted]
 * @property {string | null} [table_id]
 * @property {string | null} [refusal]
 */

/** @returns {Promise<QueuePlace>} */
export const queuePlace = () => call("GET", "/queue");
/** @param {{ruleset: string, stake_coins: number, bots_accepted: boolean, seed_commit: string}} wish
 * @returns {Promise<QueuePlace>} */
export const enterQueue = (wish) => call("POST", "/queue", wish);
export const leaveQueue = () => call("DELETE", "/queue");

/** @returns {Promise<GameSummary[]>} */
export const myGames = async () => (await call("GET", "/me/games")).games;
/** @param {string} id @returns {Promise<GameSummary>} */
export const game = (id) => call("GET", `/games/${encodeURIComponent(id)}`);

// A game has at most 64 hands of about 80 events; a page has up to 200.
const EVENTS_PAGES_MAX = 60;

/** All public events after a version, in order. @param {string} id @param {number} after
 * @returns {Promise<import("./table/types.js").AnyFrame[]>} */
export async function gameEvents(id, after) {
  /** @type {import("./table/types.js").AnyFrame[]} */
  const events = [];
  let from = after;
  for (let page = 0; page < EVENTS_PAGES_MAX; page += 1) {
    const data = await call("GET", `/games/${encodeURIComponent(id)}/events?after=${from}`);
    events.push(...data.events);
    if (data.next === null) break;
    from = data.next;
  }
  return events;
}

/**
 * @typedef {{chi_square: number, degrees: number, p: number}} DealTest
 * @typedef {{value: number, expected: number, measured: number[]}} MeasuredValue measured by seat
 * @typedef {{name: string, values: MeasuredValue[], tests: (DealTest | null)[]}} Measure
 * @typedef {{deals: number, decks: {deck_id: number, deals: number, measures: Measure[]}[]}} DealStatistics
 */

/** @returns {Promise<DealStatistics>} */
export const dealStatistics = () => call("GET", "/statistics/deals");

/** @returns {Promise<string>} a one-use ticket */
export const wsTicket = async () => (await call("POST", "/ws-tickets", {})).ticket;
