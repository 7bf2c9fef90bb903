// One seat at the table: who sits there, what they bid and took, whether it is their turn.
import { html } from "../html.js";
import { bidLine, isBot, placeOf, seatName, teamOf } from "../table/selectors.js";
import { TimeBar } from "./countdown.js";

/** @typedef {import("../table/types.js").TableState} TableState */

/** @param {{state: TableState, seat: number, clock: import("../table/clock.js").ServerClock}} props */
export function SeatBadge({ state, seat, clock }) {
  const holder = state.seats[seat];
  const turn = state.turn?.seat === seat ? state.turn : null;
  const own = seat === state.seat;
  const name = own ? `${seatName(state, seat)} (you)` : seatName(state, seat);
  const away = state.away.includes(seat);
  const classes = ["seat", `is-${placeOf(state, seat)}`, turn ? "is-turn" : "", holder ? "" : "is-empty"];
  return html`<section class=${classes.join(" ")} data-seat=${seat} aria-label=${name}>
    <span class=${`avatar team-${teamOf(seat)}`} aria-hidden="true">${avatar(state, seat)}</span>
    <span class="seat-text">
      <span class="seat-name" title=${name}>${name}</span>
      <span class="seat-line">
        <span class="seat-bid">${bidLine(state, seat) || waitingLine(state, seat)}</span>
        ${turn ? html`<span class="turn-mark">${own ? "Your turn" : TURN_WORDS[turn.kind]}</span>` : null}
      </span>
      <span class="seat-room" aria-hidden="true"></span>
      ${away ? html`<span class="seat-flag">connection lost</span>` : null}
      ${state.computerSpeed[seat] ? html`<span class="seat-flag">computer speed</span>` : null}
    </span>
    ${state.dealer === seat && state.handPhase !== "none" ? html`<span class="dealer" title="Dealer">D<span class="sr-only">ealer</span></span>` : null}
    ${
      turn?.deadlineMs && turn.limitMs
        ? html`<${TimeBar} deadlineMs=${turn.deadlineMs} limitMs=${state.clockMs ?? turn.limitMs} clock=${clock} />`
        : null
    }
  </section>`;
}

/** @type {Record<string, string>} */
const TURN_WORDS = { bid: "Bidding", pass: "Choosing", play: "Playing" };

/** @param {TableState} state @param {number} seat */
function avatar(state, seat) {
  if (!state.seats[seat]) return "";
  if (isBot(state, seat)) return "⚙";
  return (seatName(state, seat)[0] ?? "?").toUpperCase();
}

/** @param {TableState} state @param {number} seat */
function waitingLine(state, seat) {
  if (!state.seats[seat]) return state.reserved.includes(seat) ? "Being paid" : "";
  if (state.phase === "between_hands") return state.ready.includes(seat) ? "Ready" : "";
  if (state.handPhase === "auction" && state.turn?.seat !== seat)
    return state.faceDown[seat] ? "Cards face down" : "No bid yet";
  return "";
}
