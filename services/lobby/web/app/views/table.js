// The table page: the session, what the player has picked, keys, and the layout around the middle.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { rematch } from "../api.js";
import { html } from "../html.js";
import { goHome, goTo, intentOf, partitionOf, setIntent } from "../route.js";
import { prefs } from "../prefs.js";
import { useStore } from "../store.js";
import { REMATCH } from "../table/phrases.js";
import { cardRefusal, refusalWords } from "../table/refusals.js";
import { isOwnTurn, seatAt, tipFor, whyNot } from "../table/selectors.js";
import { TableSession } from "../table/session.js";
import { useTableEffects } from "./table_effects.js";
import { useTableKeys } from "./table_keys.js";
import { BidPad } from "./bidding.js";
import { CornerBox } from "./corner.js";
import { Hand } from "./hand.js";
import { LeaveDialog } from "./leave.js";
import { Menu } from "./menu.js";
import { GameEnd, HandEnd, Seating, Starting, SwapPanel } from "./panels.js";
import { SeatBadge } from "./seat.js";
import { TableBar } from "./table_bar.js";
import { Bubble, mayTalk, Talk } from "./talk.js";
import { Toasts } from "./toasts.js";
import { TrickArea } from "./trick.js";

/** @typedef {import("../table/types.js").TableState} TableState */
/** @typedef {import("../table/types.js").Bid} Bid */

/** @param {{tableId: string, me: import("../api.js").Me}} props */
export function TablePage({ tableId, me }) {
  const session = useMemo(
    () => new TableSession(tableId, me.account_id, partitionOf(tableId)),
    [tableId, me.account_id],
  );
  useEffect(() => () => session.close(), [session]);
  const state = useStore(session.state);
  const status = useStore(session.status);
  const busy = useStore(session.busy);
  const [menu, setMenu] = useState(/** @type {string | null} */ (null));
  const [dialog, setDialog] = useState(/** @type {"leave" | "talk" | null} */ (null));
  const closeDialog = () => setDialog(null);
  const moves = useMoves(session, state);
  useAutoStart(session, state, status);
  useUnpaid(state);
  useTableEffects(session);
  useTableKeys({ session, state, moves, openMenu: setMenu, open: dialog ? "dialog" : menu ? "menu" : "table" });

  if (status === "not_found") return html`<${NoTable} />`;
  const again = () =>
    void playAgain(state, session).catch((error) =>
      session.refusal.set({ type: "error", ...error.body, code: error.code }),
    );
  return html`<div class=${`table-page phase-${state.phase}`} data-phase=${state.phase} data-seq=${state.seq}>
    <${TableBar}
      state=${state}
      session=${session}
      onMenu=${() => setMenu("rules")}
      onTalk=${() => setDialog("talk")}
      onLeave=${() => setDialog("leave")}
    />
    <main class="felt" aria-label="Table">
      <${CornerBox} state=${state} />
      ${["north", "west", "east"].map((place) => {
        const seat = seatAt(state, /** @type {any} */ (place));
        return html`<${SeatBadge} key=${seat} state=${state} seat=${seat} clock=${session.clock} />`;
      })}
      <div class="middle">
        <${Middle} state=${state} session=${session} busy=${busy} moves=${moves} onAgain=${again} onMenu=${setMenu} />
      </div>
      <${SeatBadge} state=${state} seat=${seatAt(state, "south")} clock=${session.clock} />
      <${Bubble} state=${state} session=${session} />
    </main>
    <section class="own" aria-label="Your hand">
      <${Hand} state=${state} chosen=${moves.chosen} onCard=${moves.tapCard} />
    </section>
    <${Toasts} session=${session} state=${state} status=${status} explained=${moves.explained} />
    ${menu === null ? null : html`<${Menu} state=${state} page=${menu} onPage=${setMenu} onClose=${() => setMenu(null)} />`}
    ${dialog === "leave" ? html`<${LeaveDialog} state=${state} session=${session} onClose=${closeDialog} />` : null}
    ${dialog === "talk" ? html`<${Talk} state=${state} session=${session} onClose=${closeDialog} />` : null}
  </div>`;
}

/** The same game once more: all who ask come to one new table. @param {TableState} state @param {TableSession} session */
async function playAgain(state, session) {
  const table = await rematchOnceOver(state.tableId);
  // The others see it beside one's seat, and can come too; without a line they go on waiting at the same address.
  if (mayTalk(state)) void session.say({ phrase: REMATCH });
  setIntent(table, mayTalk(state) ? "sit" : "play");
  goTo(`/table/${table.table_id}`);
}

const OVER_AGAIN_MS = 300;
const OVER_TRIES_MAX = 50;

/** The gateway may hear of a game's end a moment later than its table's watchers. @param {string} tableId */
async function rematchOnceOver(tableId) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await rematch(tableId);
    } catch (error) {
      if (/** @type {any} */ (error).code !== "wrong_phase" || tries === OVER_TRIES_MAX) throw error;
    }
    await new Promise((go) => setTimeout(go, OVER_AGAIN_MS));
  }
}

/** What stands in the middle. @param {any} props */
function Middle({ state, session, busy, moves, onAgain, onMenu }) {
  switch (state.phase) {
    case "loading":
      return html`<p class="panel wait" role="status">Coming to the table…</p>`;
    case "seating":
      return html`<${Seating} state=${state} session=${session} busy=${busy} />`;
    case "starting":
      return html`<${Starting} state=${state} />`;
    case "between_hands":
      return html`<${HandEnd} state=${state} session=${session} busy=${busy} />`;
    case "ended":
      return html`<${GameEnd} state=${state} onAgain=${onAgain} onMenu=${onMenu} busy=${busy} />`;
    default:
      return html`<${HandMiddle} state=${state} busy=${busy} moves=${moves} />`;
  }
}

/** @param {{state: TableState, busy: boolean, moves: ReturnType<typeof useMoves>}} props */
function HandMiddle({ state, busy, moves }) {
  const { hints } = useStore(prefs);
  if (state.handPhase === "auction") {
    return html`<${BidPad}
      state=${state}
      picked=${moves.picked}
      busy=${busy}
      hints=${hints}
      onPick=${moves.pickBid}
      onBid=${moves.confirmBid}
      onLook=${moves.look}
    />`;
  }
  if (state.handPhase === "swap") {
    return html`<${SwapPanel} state=${state} chosen=${moves.chosen} busy=${busy} onPass=${moves.confirmPass} />`;
  }
  if (!state.trick && hints && state.seat !== null) return html`<${Tip} state=${state} />`;
  return html`<${TrickArea} state=${state} />`;
}

/** A word before the first lead, where there is something to say. @param {{state: TableState}} props */
function Tip({ state }) {
  const tip = tipFor(state);
  if (!tip) return html`<${TrickArea} state=${state} />`;
  return html`<p class="panel wait tip">${tip}</p>`;
}

function NoTable() {
  return html`<main class="page">
    <h1>No such table</h1>
    <p><a href="#/">Home</a></p>
  </main>`;
}

/**
 * What the player has picked and not yet sent, and how it is sent.
 * @param {TableSession} session @param {TableState} state
 */
function useMoves(session, state) {
  const [picked, setPicked] = useState(/** @type {Bid | null} */ (null));
  const [chosen, setChosen] = useState(/** @type {string[]} */ ([]));
  const [explained, setExplained] = useState({ words: "", at: 0 });
  const sent = useRef("");
  const turn = isOwnTurn(state) ? state.turn : null;

  /** @param {string} type @param {Record<string, unknown>} body */
  const send = (type, body) => {
    // One move a turn: a double tap finds its turn spent.
    if (!turn || sent.current === turn.turnId) return;
    sent.current = turn.turnId;
    setExplained({ words: "", at: 0 });
    void session.send(type, { turn_id: turn.turnId, ...body }).then((answer) => {
      if (answer.type === "command_rejected") sent.current = "";
    });
  };
  const confirmBid = () => {
    if (turn?.kind === "bid" && picked !== null) send("bid", { bid: picked });
  };
  const confirmPass = () => {
    if (turn?.kind === "pass" && chosen.length === 2) send("pass_cards", { cards: chosen });
  };
  /** @param {string} card */
  const playCard = (card) => {
    const refused = whyNot(state, card);
    if (refused)
      setExplained({ words: cardRefusal(/** @type {any} */ (refused), state.trick?.cards[0]), at: Date.now() });
    else send("play_card", { card });
  };
  /** @param {string} card */
  const tapCard = (card) => {
    if (turn?.kind === "pass") setChosen(toggled(chosen, card));
    else if (turn?.kind === "play" && (!prefs.get().tapTwice || chosen.includes(card) || whyNot(state, card)))
      playCard(card);
    else if (turn?.kind === "play") setChosen([card]);
    // At computer speed a card tapped ahead is played the moment the turn comes.
    else if (state.seat !== null && state.computerSpeed[state.seat]) setChosen([card]);
    else setExplained({ words: waitWords(state), at: Date.now() });
  };
  useTappedAhead({ state, turn, picked, chosen, confirmBid, playCard });
  useEffect(() => {
    setPicked(null);
  }, [state.handNo]);
  useEffect(() => {
    setChosen([]);
  }, [state.handPhase, state.hand?.length]);
  return {
    picked,
    chosen,
    explained,
    pickBid: setPicked,
    confirmBid,
    confirmPass,
    tapCard,
    look: () => void session.send("look_at_cards", { hand_no: state.handNo }),
  };
}

/** Sends what was picked ahead of one's turn, at computer speed only. @param {any} ahead */
function useTappedAhead({ state, turn, picked, chosen, confirmBid, playCard }) {
  const wasAhead = useRef(false);
  const slow = state.seat !== null && state.computerSpeed[state.seat];
  useEffect(() => {
    if (!turn) {
      wasAhead.current = slow && (picked !== null || chosen.length === 1);
      return;
    }
    if (!wasAhead.current) return;
    wasAhead.current = false;
    if (turn.kind === "bid" && picked !== null) confirmBid();
    if (turn.kind === "play" && chosen.length === 1 && !whyNot(state, chosen[0])) playCard(chosen[0]);
  }, [turn?.turnId, slow, picked, chosen]);
}

/** @param {string[]} chosen @param {string} card */
function toggled(chosen, card) {
  if (chosen.includes(card)) return chosen.filter((other) => other !== card);
  return [...chosen, card].slice(-2);
}

/** @param {TableState} state */
function waitWords(state) {
  if (state.handPhase === "auction") return "The bids come first; cards are played after the fourth.";
  if (state.handPhase === "swap") return "The swap comes first.";
  return refusalWords({ code: "not_your_turn" });
}

/** What one came for: "play" sits down and starts without another tap, "sit" leaves the start to the host.
 * @param {TableSession} session @param {TableState} state @param {string} status */
function useAutoStart(session, state, status) {
  const done = useRef({ seat: false, start: false });
  useEffect(() => {
    const intent = intentOf(state.tableId);
    if (status !== "open" || state.phase !== "seating" || !intent) return;
    if (state.seat === null && state.reserved.length === 0 && !done.current.seat) {
      done.current.seat = true;
      void session.takeSeat(null);
    }
    const alone = state.kind === "practice" && state.host === state.me && intent === "play";
    if (state.seat !== null && alone && !done.current.start) {
      done.current.start = true;
      void session.send("start");
    }
  }, [status, state.phase, state.seat, state.tableId, state.reserved.length]);
}

/** A table that one opened to play at and cannot pay for is left: nothing can come of it here.
 * @param {TableState} state */
function useUnpaid(state) {
  const refused = state.notices.findLast((notice) => notice.kind === "seat_refused");
  useEffect(() => {
    if (refused && UNPAID.includes(refused.data.code) && state.host === state.me && intentOf(state.tableId))
      goHome(refusalWords(refused.data));
  }, [refused]);
}

/** What the wallet refuses for good; an answer that was only late may come on the next try. */
const UNPAID = ["insufficient_balance", "seated_elsewhere", "account_required", "stake_too_high"];
