// One socket to one table that mends itself: resumes at the last seq, repeats what was not answered.
import { wsTicket } from "../api.js";
import { commandId } from "../fair/seed.js";
import { ServerClock } from "./clock.js";

const PING_EVERY_MS = 10_000;
/** An unanswered ping this old means a dead line; a hidden tab's timers sleep, so plain silence means nothing. */
const PONG_MAX_MS = 15_000;
/** The same when the tab or the network has just come back. */
const PONG_BACK_MAX_MS = 4_000;
const RETRY_FIRST_MS = 250;
const RETRY_MAX_MS = 4_000;
/** A connection that lived this long was good: try again at once. */
const HEALTHY_MS = 2_000;
const AGAIN_MS = 1_000;
const FIRST_PINGS_MS = [0, 400, 1200];
/** Frames of a person to the people at the table: the gateway's own, not the table's. */
const BESIDE_THE_TABLE = ["say", "mute", "report"];
/** What an error says of a command that may still have its effect: the same id again is the same effect. */
const ASKED_AGAIN = ["outcome_unknown", "rate_limited", "unavailable", "table_silent"];

/**
 * @typedef {import("./types.js").AnyFrame} AnyFrame
 * @typedef {"connecting" | "open" | "lost" | "elsewhere" | "signed_out" | "not_found"} Status
 *
 * @typedef {object} Wiring
 * @property {string} tableId
 * @property {number} [partition] advisory: which pod serves this table best
 * @property {() => number} lastSeq 0 before the first snapshot
 * @property {(frame: AnyFrame) => void} onFrame
 * @property {(status: Status) => void} onStatus
 */

export class Connection {
  /** @param {Wiring} wiring */
  constructor(wiring) {
    this.wiring = wiring;
    this.clock = new ServerClock();
    /** Commands without an answer yet, by id. @type {Map<string, {frame: AnyFrame, settle: (answer: AnyFrame) => void}>} */
    this.pending = new Map();
    /** @type {WebSocket | null} */
    this.socket = null;
    this.closed = false;
    this.attempts = 0;
    /** When the first ping without an answer went out; 0: none did. */
    this.pingedMs = 0;
    this.welcomedMs = 0;
    this.ready = false;
    /** @type {Set<ReturnType<typeof setTimeout>>} */
    this.timers = new Set();
    this.wake = () => this.hurry();
    window.addEventListener("online", this.wake);
    document.addEventListener("visibilitychange", this.wake);
    this.heartbeat = setInterval(() => this.beat(), PING_EVERY_MS);
    void this.open();
  }

  /** Send a command; resolves with its `ack` or `command_rejected`, after a reconnect too.
   * @param {string} type @param {Record<string, unknown>} body @returns {Promise<AnyFrame>} */
  send(type, body) {
    const table = BESIDE_THE_TABLE.includes(type) ? {} : { table_id: this.wiring.tableId };
    const frame = { type, id: commandId(), ...table, ...body };
    return new Promise((settle) => {
      this.pending.set(frame.id, { frame, settle });
      // Before the welcome it waits: the resume sends what is pending.
      if (this.ready) this.write(frame);
    });
  }

  resync() {
    this.write({ type: "resync", id: commandId() });
  }

  close() {
    this.closed = true;
    window.removeEventListener("online", this.wake);
    document.removeEventListener("visibilitychange", this.wake);
    clearInterval(this.heartbeat);
    for (const timer of this.timers) clearTimeout(timer);
    this.socket?.close(1000);
  }

  async open() {
    this.wiring.onStatus(this.attempts === 0 ? "connecting" : "lost");
    let ticket;
    try {
      ticket = await wsTicket();
    } catch (error) {
      if (/** @type {any} */ (error).status === 401) return this.wiring.onStatus("signed_out");
      return this.retry();
    }
    if (this.closed) return undefined;
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const part = this.wiring.partition === undefined ? "" : `?partition=${this.wiring.partition}`;
    const socket = new WebSocket(`${scheme}://${location.host}/v1/ws${part}`, "spades.v1");
    this.socket = socket;
    this.pingedMs = 0;
    socket.onopen = () => socket.send(JSON.stringify({ type: "hello", ticket }));
    socket.onmessage = (message) => this.hear(socket, JSON.parse(message.data));
    socket.onclose = () => this.lost(socket);
    return undefined;
  }

  /** @param {WebSocket} socket @param {AnyFrame} frame */
  hear(socket, frame) {
    if (socket !== this.socket) return;
    this.pingedMs = 0;
    switch (frame.type) {
      case "welcome":
        this.welcomed(frame);
        break;
      case "pong":
        this.clock.measured(frame.client_ms, Date.now(), frame.server_ms);
        break;
      case "ack":
      case "command_rejected":
        this.answered(frame);
        break;
      case "server_draining":
        // Another pod takes over: nobody at the table should notice.
        socket.close(1000);
        break;
      case "error":
        this.erred(socket, frame);
        break;
      default:
        this.wiring.onFrame(frame);
    }
  }

  /** @param {WebSocket} socket @param {AnyFrame} frame */
  erred(socket, frame) {
    const waiting = frame.id === undefined ? undefined : this.pending.get(frame.id);
    if (waiting && !ASKED_AGAIN.includes(frame.code)) {
      this.answered({ ...frame, type: "command_rejected" });
    } else if (waiting) {
      this.later(() => this.ready && this.pending.has(frame.id) && this.write(waiting.frame), AGAIN_MS);
    } else if (frame.code === "ticket_refused" || frame.code === "hello_first") {
      socket.close(1000);
    } else if (frame.code === "session_ended") {
      this.closed = true;
      this.wiring.onStatus("signed_out");
    } else if (frame.code === "unavailable") {
      // A frame was lost on the way in, nobody says which: look again, and say again what is unanswered.
      this.later(() => this.resume(), AGAIN_MS);
    } else if (frame.code === "not_found") {
      this.wiring.onStatus("not_found");
    } else {
      this.wiring.onFrame(frame);
    }
  }

  /** Go on where we were; a command sent twice under one id is one effect. */
  resume() {
    this.watch();
    for (const { frame } of this.pending.values()) this.write(frame);
  }

  watch() {
    const lastSeq = this.wiring.lastSeq();
    const resume = lastSeq > 0 ? { last_seq: lastSeq } : {};
    this.write({ type: "watch", id: commandId(), table_id: this.wiring.tableId, ...resume });
  }

  /** @param {AnyFrame} frame */
  welcomed(frame) {
    this.welcomedMs = Date.now();
    this.ready = true;
    this.clock.guessed(frame.server_ms);
    this.resume();
    this.wiring.onFrame(frame);
    this.wiring.onStatus("open");
    for (const afterMs of FIRST_PINGS_MS) this.later(() => this.ping(), afterMs);
  }

  /** @param {AnyFrame} frame */
  answered(frame) {
    const waiting = this.pending.get(frame.id);
    this.pending.delete(frame.id);
    waiting?.settle(frame);
  }

  /** @param {WebSocket} socket */
  lost(socket) {
    if (socket !== this.socket || this.closed) return;
    this.socket = null;
    this.retry();
  }

  retry() {
    if (this.closed) return;
    if (this.ready && Date.now() - this.welcomedMs > HEALTHY_MS) this.attempts = 0;
    this.ready = false;
    const backoff = Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** this.attempts);
    // At once after a healthy connection, then spread out: a thousand pages must not come back in step.
    const afterMs = this.attempts === 0 ? 0 : backoff * (0.5 + Math.random() / 2);
    this.attempts += 1;
    this.wiring.onStatus("lost");
    this.later(() => void this.open(), afterMs);
  }

  beat() {
    if (this.isDead(PONG_MAX_MS)) this.giveUp();
    else this.ping();
  }

  /** @param {number} afterMs */
  isDead(afterMs) {
    return this.pingedMs > 0 && Date.now() - this.pingedMs >= afterMs;
  }

  /** A socket that no longer answers closes much later by itself. */
  giveUp() {
    const silent = this.socket;
    if (!silent) return;
    this.socket = null;
    silent.close();
    this.retry();
  }

  ping() {
    if (!this.ready) return;
    if (this.pingedMs === 0) this.pingedMs = Date.now();
    this.write({ type: "ping", client_ms: Date.now() });
  }

  /** The network or the tab came back: find out soon whether the socket still lives. */
  hurry() {
    if (document.visibilityState !== "visible" || !this.ready) return;
    this.pingedMs = Date.now();
    this.ping();
    this.later(() => this.isDead(PONG_BACK_MAX_MS) && this.giveUp(), PONG_BACK_MAX_MS);
  }

  /** @param {AnyFrame} frame */
  write(frame) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(frame));
  }

  /** @param {() => void} call @param {number} afterMs */
  later(call, afterMs) {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      if (!this.closed) call();
    }, afterMs);
    this.timers.add(timer);
  }
}
