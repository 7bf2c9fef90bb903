// What stands in the middle of the table when no trick does: seating, swap, end of hand, end of game.
import { useEffect, useState } from "preact/hooks";
import { inviteTo } from "../api.js";
import { html } from "../html.js";
import { REMATCH } from "../table/phrases.js";
import { BOT } from "../table/reduce_seats.js";
import { endWords, reasonWords } from "../table/say.js";
import { isOwnTurn, ownTeam, partnerOf, payoutsOf, placeOf, scoredHands, seatName, who } from "../table/selectors.js";
import { signed } from "./corner.js";
import { Countdown } from "./countdown.js";
import { HandSheet } from "./sheet.js";

/** @typedef {import("../table/types.js").TableState} TableState */
/** @typedef {import("../table/session.js").TableSession} TableSession */

/** Before the game: free seats, the invite, the start. @param {{state: TableState, session: TableSession, busy: boolean}} props */
export function Seating({ state, session, busy }) {
  const seated = state.seat !== null;
  const free = [0, 1, 2, 3].filter((seat) => !state.seats[seat] && !state.reserved.includes(seat));
  const host = state.host === state.me;
  const numbered = state.kind === "practice" || state.kind === "private";
  return html`<div class="panel seating" role="group" aria-label="Before the game">
    <p class="panel-lead">${seated ? seatedWords(state, free.length) : "Take a seat, or watch."}</p>
    ${state.stakeCoins > 0 && !seated ? html`<${Price} stake=${state.stakeCoins} fee=${state.feeCoins} />` : null}
    ${
      !seated && free.length > 0
        ? html`<div class="button-row">
            ${
              numbered
                ? free.map(
                    (seat) =>
                      html`<button
                        type="button"
                        key=${seat}
                        class="quiet"
                        disabled=${busy}
                        data-sit=${seat}
                        onClick=${() => session.takeSeat(seat)}
                      >
                        ${SEAT_WORDS[placeOf(state, seat)]}
                      </button>`,
                  )
                : html`<button
                    type="button"
                    class="gold"
                    disabled=${busy}
                    data-sit="any"
                    onClick=${() => session.takeSeat(null)}
                  >
                    Take a seat
                  </button>`
            }
          </div>`
        : null
    }
    ${state.kind !== "coins" ? html`<${Invite} tableId=${state.tableId} isPrivate=${state.kind === "private"} />` : null}
    <div class="button-row">
      ${
        host && seated && (numbered || state.botsWelcome) && state.kind !== "coins"
          ? html`<button
              type="button"
              class="gold"
              data-action="start"
              disabled=${busy}
              onClick=${() => session.send("start")}
            >
              ${free.length === 0 ? "Start" : "Start with computer players"}
            </button>`
          : null
      }
      ${seated ? html`<button type="button" class="quiet" disabled=${busy} onClick=${() => session.send("release_seat")}>Get up</button>` : null}
    </div>
    ${state.nextDeadlineMs ? html`<${Countdown} deadlineMs=${state.nextDeadlineMs} clock=${session.clock} label="Waiting ends in" />` : null}
  </div>`;
}

/** @type {Record<string, string>} */
const SEAT_WORDS = { south: "Sit South", west: "Sit West", north: "Sit North", east: "Sit East" };

/** @param {TableState} state @param {number} free */
function seatedWords(state, free) {
  if (free === 0) return "All seats are taken.";
  const seats = free === 1 ? "one more player" : `${free} more players`;
  return state.host === state.me ? `Room for ${seats}.` : `Waiting for ${seats}.`;
}

/** The price of leaving, told before joining. @param {{stake: number, fee: number}} props */
export function Price({ stake, fee }) {
  return html`<p class="price">
    Stake <b>${stake}</b> play coins: win and you are ${stake} up, lose and you are ${stake} down. Leaving a running
    game costs the stake and a fee of ${fee}, <b>${stake + fee}</b> in all. No cash value, no cashing out.
  </p>`;
}

/** A private table is entered by its code, any other by its id. @param {{tableId: string, isPrivate: boolean}} props */
function Invite({ tableId, isPrivate }) {
  const [copied, setCopied] = useState(false);
  const [code, setCode] = useState("");
  useEffect(() => {
    // Who may not know the code gets no link to pass on.
    if (isPrivate) inviteTo(tableId).then((invite) => setCode(invite.code), () => setCode(""));
  }, [tableId, isPrivate]);
  if (isPrivate && !code) return null;
  const link = `${location.origin}/#${isPrivate ? `/invite/${code}` : `/table/${tableId}`}`;
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(link);
      setCopied(true);
    } catch {
      // Without a secure context there is no clipboard: the link stands there to be marked.
      setCopied(false);
    }
  };
  return html`<p class="invite">
    <label
      >Invite link <input readonly value=${link} onFocus=${(/** @type {any} */ event) => event.target.select()}
    /></label>
    <button type="button" class="quiet" onClick=${copy}>${copied ? "Copied" : "Copy"}</button>
  </p>`;
}

/** All seats taken, seeds and stakes on their way. @param {{state: TableState}} props */
export function Starting({ state }) {
  return html`<p class="panel wait" role="status">
    ${state.stakeCoins > 0 ? "Stakes go into the pot and seeds are opened…" : "The players’ seeds are opened…"}
  </p>`;
}

/** The Blind Nil swap. @param {{state: TableState, chosen: readonly string[], busy: boolean, onPass: () => void}} props */
export function SwapPanel({ state, chosen, busy, onPass }) {
  const turn = state.turn;
  if (!turn) return null;
  if (!isOwnTurn(state)) {
    return html`<p class="panel wait" role="status">
      ${who(state, turn.seat)} chooses two cards to pass to ${who(state, partnerOf(turn.seat)).replace("You", "you")}…
    </p>`;
  }
  const partner = seatName(state, partnerOf(turn.seat));
  const returning = state.swapBidder !== state.seat;
  return html`<div class="panel" role="group" aria-label="Pass two cards">
    <p class="panel-lead">
      ${returning ? `${partner} passed you two cards, marked New. Pass any two back.` : `Pass two cards to ${partner}; you get two back.`}
    </p>
    <button type="button" class="gold" data-action="pass" disabled=${busy || chosen.length !== 2} onClick=${onPass}>
      ${chosen.length === 2 ? `Pass two cards to ${partner}` : `Choose two cards (${chosen.length} of 2)`}
    </button>
  </div>`;
}

/** The end of a hand: its sheet, and who is ready. @param {{state: TableState, session: TableSession, busy: boolean}} props */
export function HandEnd({ state, session, busy }) {
  const scored = scoredHands(state).at(-1);
  const ready = state.seat !== null && state.ready.includes(state.seat);
  const waiting = [0, 1, 2, 3].filter((seat) => state.seats[seat]?.account_id !== BOT && !state.ready.includes(seat));
  return html`<div class="panel hand-end" role="group" aria-label="End of the hand">
    ${scored ? html`<${HandSheet} state=${state} scored=${scored} heading="h2" />` : html`<p>The hand is over.</p>`}
    <div class="button-row">
      ${
        state.seat !== null && !ready
          ? html`<button
              type="button"
              class="gold"
              data-action="ready"
              disabled=${busy}
              onClick=${() => session.send("ready")}
            >
              Next hand
            </button>`
          : html`<span class="hint"
              >Waiting for ${waiting.map((seat) => who(state, seat)).join(", ") || "the deal"}…</span
            >`
      }
      ${state.nextDeadlineMs ? html`<${Countdown} deadlineMs=${state.nextDeadlineMs} clock=${session.clock} label="Dealt in" />` : null}
    </div>
  </div>`;
}

/**
 * @param {{state: TableState, onAgain: () => void, onMenu: (page: string) => void, busy: boolean}} props
 */
export function GameEnd({ state, onAgain, onMenu, busy }) {
  const scored = scoredHands(state).at(-1);
  const won = state.winner !== null && state.seat !== null && state.winner === ownTeam(state);
  const asked = state.talk.findLast((line) => line.phrase === REMATCH && line.account !== state.me);
  return html`<div class=${`panel game-end${won ? " is-won" : ""}`} role="group" aria-label="End of the game">
    <h2>${endWords(state)}</h2>
    <p>${reasonWords(state)}</p>
    <${Payout} state=${state} />
    ${
      scored
        ? html`<details>
            <summary>The last hand</summary>
            <${HandSheet} state=${state} scored=${scored} />
          </details>`
        : null
    }
    ${asked ? html`<p class="rematch" role="status" data-rematch><b>${who(state, asked.seat)}</b> plays again and waits for you.</p>` : null}
    <div class="button-row">
      ${
        state.seat === null
          ? null
          : html`<button type="button" class="gold" data-action="again" disabled=${busy} onClick=${onAgain}>
              ${asked ? "Play again with them" : "Play again"}
            </button>`
      }
      <button type="button" class="quiet" onClick=${() => onMenu("sheet")}>Score sheet</button>
      <button type="button" class="quiet" onClick=${() => onMenu("check")}>Check the deals</button>
      <a class="quiet button" href="#/">Home</a>
    </div>
  </div>`;
}

/** What one won or lost in coins. @param {{state: TableState}} props */
function Payout({ state }) {
  if (state.stakeCoins === 0) return html`<p class="hint">Practice: no coins at stake.</p>`;
  if (!state.settled) return html`<p role="status">The pot is being paid out…</p>`;
  const net = payoutsOf(state).find((payout) => payout.account_id === state.me)?.net_coins;
  if (net === undefined) return html`<p>The pot is paid out.</p>`;
  const words =
    net > 0 ? `You are ${net} coins up.` : net < 0 ? `You are ${-net} coins down.` : "You got your coins back.";
  return html`<p class="payout" data-net=${net}><b>${net > 0 ? "+" : ""}${signed(net)}</b> ${words}</p>`;
}
