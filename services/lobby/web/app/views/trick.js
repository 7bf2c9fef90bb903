// The trick in the middle: each card in front of its seat.
import { cardWords } from "../cards.js";
import { html } from "../html.js";
import { placeOf, who, winningSeat } from "../table/selectors.js";
import { CardFace } from "./card.js";

/** @typedef {import("../table/types.js").TableState} TableState */

/** @param {{state: TableState}} props */
export function TrickArea({ state }) {
  const trick = state.trick;
  const cards = trick?.cards ?? [];
  const winner = winningSeat(state);
  const taken = trick !== null && trick.winner !== null;
  const sweep = taken && winner !== null ? ` is-taken to-${placeOf(state, winner)}` : "";
  return html`<ol
    class=${`trick${sweep}`}
    aria-label=${cards.length === 0 ? "No card in the middle" : "Cards in the middle, in the order played"}
    key=${state.handNo * 100 + state.tricksPlayed - (taken ? 1 : 0)}
  >
    ${cards.map((card, place) => {
      const seat = ((trick?.leader ?? 0) + place) % 4;
      return html`<li
        key=${card}
        class=${`trick-card at-${placeOf(state, seat)}${seat === winner ? " is-winning" : ""}`}
        data-card=${card}
        data-seat=${seat}
      >
        <${CardFace} card=${card} />
        <span class="sr-only">${who(state, seat)}: ${cardWords(card)}${seat === winner ? ", winning" : ""}</span>
      </li>`;
    })}
  </ol>`;
}

/** A finished trick, laid out by seat. @param {{state: TableState, trick: import("../table/types.js").Trick}} props */
export function TrickRow({ state, trick }) {
  return html`<ol class="trick-row">
    ${trick.cards.map((card, place) => {
      const seat = (trick.leader + place) % 4;
      return html`<li key=${card} class=${seat === trick.winner ? "is-winning" : ""}>
        <${CardFace} card=${card} />
        <span>${who(state, seat)}${seat === trick.winner ? " ★" : ""}</span>
        <span class="sr-only">${cardWords(card)}${seat === trick.winner ? ", takes the trick" : ""}</span>
      </li>`;
    })}
  </ol>`;
}
