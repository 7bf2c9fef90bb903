// The corner box: spades broken or not, both scores, both teams' bags.
import { html } from "../html.js";
import { bagWarning, contractOf, ownTeam, takenBy } from "../table/selectors.js";
import { SuitSign } from "./card.js";

/** @typedef {import("../table/types.js").TableState} TableState */

/** @param {{state: TableState}} props */
export function CornerBox({ state }) {
  const own = ownTeam(state);
  const teams = state.seat === null ? ["N–S", "E–W"] : ["We", "They"];
  return html`<section class="corner" aria-label="Score">
    <p class=${`broken${state.broken ? " is-broken" : ""}`}>
      <${SuitSign} suit="S" />${state.broken ? "Spades broken" : "Spades not broken"}
    </p>
    <table>
      <thead>
        <tr>
          <td></td>
          <th scope="col">Score</th>
          <th scope="col">Bags</th>
          <th scope="col">Took/bid</th>
        </tr>
      </thead>
      <tbody>
        ${[own, 1 - own].map((team, i) => html`<${TeamRow} state=${state} team=${team} title=${teams[i]} key=${team} />`)}
      </tbody>
    </table>
    ${[own, 1 - own].map((team, i) => {
      const warning = bagWarning(state.bags[team] ?? 0);
      return warning ? html`<p class="bag-warning" key=${team}>⚠ ${teams[i]}: ${warning}</p>` : null;
    })}
  </section>`;
}

/** @param {{state: TableState, team: number, title: string}} props */
function TeamRow({ state, team, title }) {
  // Between hands there is nothing to take, and before its first bid a team has promised nothing.
  const bidding = state.phase === "playing" && [team, team + 2].some((seat) => (state.bids[seat] ?? null) !== null);
  return html`<tr class=${`team-${team}`}>
    <th scope="row">${title}</th>
    <td class="score">${signed(state.scores[team] ?? 0)}</td>
    <td>${state.bags[team]}</td>
    <td>${bidding ? `${takenBy(state, team)}/${contractOf(state, team)}` : "–"}</td>
  </tr>`;
}

/** A true minus sign. @param {number} points */
export const signed = (points) => String(points).replace("-", "−");
