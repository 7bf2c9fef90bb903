// One table being watched or played at: the connection, the folded state and what follows from it.
import { gameEvents } from "../api.js";
import { keepHand, keptSeed, seedFor } from "../fair/seed.js";
import { createStore } from "../store.js";
import { Connection } from "./connection.js";
import { reduce, startOf } from "./reduce.js";

/** @typedef {import("./types.js").TableState} TableState */
/** @typedef {import("./types.js").AnyFrame} AnyFrame */
/** @typedef {import("./connection.js").Status} Status */
/** @typedef {(before: TableState, after: TableState, frame: AnyFrame) => void} Listener */

const HISTORY_AGAIN_MS = 1_500;

export class TableSession {
  /** @param {string} tableId @param {string} me own account id @param {number} [partition] */
  constructor(tableId, me, partition) {
    this.state = createStore(startOf(tableId, me));
    /** @type {import("../store.js").Store<Status>} */
    this.status = createStore(/** @type {Status} */ ("connecting"));
    /** The last refusal, for the page to explain. @type {import("../store.js").Store<AnyFrame | null>} */
    this.refusal = createStore(/** @type {AnyFrame | null} */ (null));
    /** A command is on its way: buttons wait. */
    this.busy = createStore(false);
    /** Whom one does not want to hear, by account id. @type {import("../store.js").Store<ReadonlySet<string>>} */
    this.muted = createStore(/** @type {ReadonlySet<string>} */ (new Set()));
    /** @type {Set<Listener>} */
    this.listeners = new Set();
    this.fetching = false;
    this.seedSent = false;
    this.connection = new Connection({
      tableId,
      ...(partition === undefined ? {} : { partition }),
      lastSeq: () => (this.state.get().gap ? 0 : this.state.get().seq),
      onFrame: (frame) => this.hear(frame),
      onStatus: (status) => this.heardOf(status),
    });
  }

  get clock() {
    return this.connection.clock;
  }

  close() {
    this.connection.close();
  }

  /** @param {Listener} listener @returns {() => void} */
  listen(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** @param {Status} status */
  heardOf(status) {
    // A seed that was on its way when the line broke is sent again; the second one is refused or repeated.
    if (status !== "open") this.seedSent = false;
    this.status.set(status);
    if (status === "open") this.openSeed(this.state.get());
  }

  /** @param {AnyFrame} frame */
  hear(frame) {
    const before = this.state.get();
    const after = reduce(before, frame);
    this.state.set(after);
    if (after.gap && !before.gap) this.connection.resync();
    if (frame.type === "error") this.erred(frame);
    for (const listener of [...this.listeners]) listener(before, after, frame);
    this.openSeed(after);
    keepOwnHand(after, frame);
    if (after.seq > 0 && !after.factsFromStart && !after.gap) void this.fetchHistory();
  }

  /** @param {AnyFrame} frame */
  erred(frame) {
    if (frame.code === "played_elsewhere") this.status.set("elsewhere");
    else if (frame.code !== "table_silent") this.refusal.set(frame);
  }

  /** Play here again, after the seat was played on another connection. */
  playHere() {
    this.connection.watch();
    this.status.set("open");
  }

  /** Open one's own seed as soon as all seats are taken. @param {TableState} state */
  openSeed(state) {
    if (this.seedSent || state.phase !== "starting" || state.seeds !== null || state.seat === null) return;
    const seed = keptSeed(state.tableId);
    if (!seed || !state.seats[state.seat]?.seed_commit) return;
    this.seedSent = true;
    void this.connection.send("open_seed", { seed });
  }

  /** The events that came before a snapshot: the score sheet and the check need them. */
  async fetchHistory() {
    if (this.fetching) return;
    this.fetching = true;
    try {
      const events = await gameEvents(this.state.get().tableId, 0);
      this.state.set(reduce(this.state.get(), { type: "history", events }));
    } catch {
      // Without it the table plays on; the sheet shows what was seen here.
    }
    // The read model may lag behind the snapshot: what it lacks comes with a later try.
    this.connection.later(() => {
      this.fetching = false;
      if (!this.state.get().factsFromStart) void this.fetchHistory();
    }, HISTORY_AGAIN_MS);
  }

  /** Send a command and show its refusal. @param {string} type @param {Record<string, unknown>} [body]
   * @returns {Promise<AnyFrame>} */
  async send(type, body = {}) {
    this.busy.set(true);
    this.refusal.set(null);
    const answer = await this.connection.send(type, body);
    this.busy.set(false);
    if (answer.type === "command_rejected") {
      if (answer.code === "played_elsewhere") this.status.set("elsewhere");
      else this.refusal.set(answer);
      // The turn moved on under our hands: the frames that say so are on their way, or were lost.
      if (answer.code === "stale_turn") this.connection.resync();
    }
    return answer;
  }

  /** Say a preset phrase, or text between hands. @param {{phrase: string} | {text: string}} words */
  say(words) {
    return this.connection.send("say", words);
  }

  /** Tell the operators of somebody here. @param {string} account @param {string} reason */
  report(account, reason) {
    return this.connection.send("report", { account_id: account, reason });
  }

  /** Hear somebody no more, or again. @param {string} account @param {boolean} muted */
  async mute(account, muted) {
    const answer = await this.connection.send("mute", { account_id: account, muted });
    if (answer.type !== "ack") return;
    const rest = [...this.muted.get()].filter((other) => other !== account);
    this.muted.set(new Set(muted ? [...rest, account] : rest));
  }

  /** Take a seat with a seed of this browser's own in the deal. @param {number | null} seat null: any */
  async takeSeat(seat) {
    const { tableId } = this.state.get();
    const { seedCommit } = await import("../fair/deal.js");
    const seed_commit = seedCommit(seedFor(tableId));
    return this.send("take_seat", seat === null ? { seed_commit } : { seat, seed_commit });
  }
}

/** @param {TableState} state @param {AnyFrame} frame */
function keepOwnHand(state, frame) {
  if (state.seat === null || !state.hand) return;
  const dealt = frame.type === "hand_dealt" || (frame.type === "cards_seen" && frame.seat === state.seat);
  if (dealt && state.hand.length === 13) keepHand(state.tableId, state.handNo, state.hand);
}
