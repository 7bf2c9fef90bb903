// The score sheet: every line names its rule, every column adds up.
import { html } from "../html.js";
import { valuesOf } from "../rules/presets.js";
import { lineWords } from "../rules/words.js";
import { bidWords, ownTeam, scoredHands, seatName, who } from "../table/selectors.js";
import { signed } from "./corner.js";

/** @typedef {import("../table/types.js").TableState} TableState */
/** @typedef {import("../table/types.js").AnyFrame} AnyFrame */

/** @param {{state: TableState}} props */
export function ScoreSheet({ state }) {
  const hands = scoredHands(state);
  if (hands.length === 0) return html`<p>No hand is finished yet.</p>`;
  const ended = state.handNo > (hands.at(-1)?.hand_no ?? 0);
  return html`<div>
    ${state.factsFromStart ? null : html`<p class="hint">Earlier hands are being fetched…</p>`}
    ${[...hands].reverse().map((scored) => html`<${HandSheet} state=${state} scored=${scored} key=${scored.hand_no} />`)}
    ${ended ? html`<p class="hint">Hand ${state.handNo} is being played.</p>` : null}
  </div>`;
}

/** One hand, both teams. @param {{state: TableState, scored: AnyFrame, heading?: "h2" | "h3"}} props */
export function HandSheet({ state, scored, heading = "h3" }) {
  const own = ownTeam(state);
  return html`<section class="hand-sheet" aria-label=${`Hand ${scored.hand_no}`}>
    <${heading}>Hand ${scored.hand_no}<//>
    <div class="sheet-teams">
      ${[own, 1 - own].map((team) => html`<${TeamSheet} key=${team} state=${state} scored=${scored} team=${team} />`)}
    </div>
  </section>`;
}

/** @param {{state: TableState, scored: AnyFrame, team: number}} props */
function TeamSheet({ state, scored, team }) {
  const sheet = scored.teams[team];
  const rules = valuesOf(state.ruleset);
  const seats = state.seat === team + 2 ? [team + 2, team] : [team, team + 2];
  return html`<table class=${`sheet team-${team}`}>
    <caption>
      ${seats.map((seat) => `${who(state, seat)} (${bidWords(scored.bids[seat])} · ${scored.tricks[seat]})`).join(" & ")}
    </caption>
    <tbody>
      ${sheet.lines.map(
        (/** @type {AnyFrame} */ line, /** @type {number} */ i) =>
          html`<tr key=${i}>
            <th scope="row">${lineWords(line, rules, seatName(state, line.seat ?? team))}</th>
            <td>${plus(line.points)}</td>
          </tr>`,
      )}
      ${
        sheet.lines.length === 0
          ? html`<tr>
              <th scope="row">Nothing won, nothing lost</th>
              <td>0</td>
            </tr>`
          : null
      }
      <tr class="sheet-sum">
        <th scope="row">This hand</th>
        <td>${plus(sheet.delta)}</td>
      </tr>
      <tr class="sheet-score">
        <th scope="row">Score (${sheet.bags === 1 ? "1 bag" : `${sheet.bags} bags`})</th>
        <td>${signed(sheet.score)}</td>
      </tr>
    </tbody>
  </table>`;
}

/** @param {number} points */
const plus = (points) => (points > 0 ? `+${points}` : signed(points));
