// Deal statistics for everybody: what was dealt beside what a fair deal gives.
import { useEffect, useState } from "preact/hooks";
import { dealStatistics } from "../api.js";
import { html } from "../html.js";

/** @typedef {import("../api.js").Measure} Measure */

const SEATS = ["Seat 1", "Seat 2", "Seat 3", "Seat 4"];
/** Below it a test is worth a look. Thirteen tests a deck: by chance one in about eighty decks goes below. */
const ODD_BELOW = 0.001;

/** @type {Record<string, {title: string, words: string, value: (value: number) => string}>} */
const MEASURES = {
  spades: { title: "Spades in a hand", words: "How many of a hand’s thirteen cards are spades.", value: String },
  longest_suit: {
    title: "The longest suit",
    words: "How many cards a hand’s longest suit has: even hands and wild ones.",
    value: String,
  },
  aces: { title: "Aces in a hand", words: "High cards are where a stacked deck would show first.", value: String },
  ace_of_spades: {
    title: "Who got the ace of spades",
    words: "Each seat should get it once in four deals.",
    value: (value) => SEATS[value] ?? "",
  },
};

export function StatisticsPage() {
  const [told, setTold] = useState(/** @type {import("../api.js").DealStatistics | null} */ (null));
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    dealStatistics().then(setTold, () => setFailed(true));
  }, []);
  return html`<main class="page rules statistics">
    <p><a href="#/">Home</a></p>
    <h1>Are the deals fair?</h1>
    <p>
      Every hand whose secret was revealed is dealt again and counted here: all tables, nothing left out. Beside each
      number stands what a fair shuffle gives on average. Small differences are chance; the test below each table says
      how often a fair deal would be as far off, or further.
    </p>
    <p class="hint">You need not trust these counts: <b>Check the deal</b> at your own table needs nobody’s word.</p>
    ${failed ? html`<p role="alert" class="problem">The counts cannot be fetched just now.</p>` : null}
    ${told === null ? (failed ? null : html`<p role="status">Counting…</p>`) : html`<${Decks} told=${told} />`}
  </main>`;
}

/** @param {{told: import("../api.js").DealStatistics}} props */
function Decks({ told }) {
  if (told.deals === 0) return html`<p data-deals="0">No hand is finished yet.</p>`;
  return html`<div data-deals=${told.deals}>
    ${told.decks.map(
      (deck) =>
        html`<section key=${deck.deck_id}>
          <h2>${deck.deck_id === 1 ? "With two jokers" : "52 cards"}: ${count(deck.deals)} deals</h2>
          <${Verdict} measures=${deck.measures} />
          ${deck.measures.map((measure) => html`<${MeasureTable} key=${measure.name} measure=${measure} />`)}
        </section>`,
    )}
  </div>`;
}

/** @param {{measures: Measure[]}} props */
function Verdict({ measures }) {
  const tests = measures.flatMap((measure) => measure.tests).filter((test) => test !== null);
  if (tests.length === 0) return html`<p>Too few deals for a test: come back after a hundred.</p>`;
  const odd = tests.filter((test) => test.p < ODD_BELOW).length;
  return html`<p class=${`check-result ${odd ? "is-bad" : "is-ok"}`} data-odd=${odd}>
    ${
      odd === 0
        ? `✓ ${tests.length} tests, none out of the ordinary.`
        : `✗ ${odd} of ${tests.length} tests would be this far off in fewer than 1 of 1,000 fair samples.`
    }
  </p>`;
}

/** @param {{measure: Measure}} props */
function MeasureTable({ measure }) {
  const { title, words, value: named } = MEASURES[measure.name] ?? { title: measure.name, words: "", value: String };
  const bySeat = measure.tests.length > 1;
  const most = Math.max(1, ...measure.values.flatMap((row) => [row.expected, ...row.measured]));
  return html`<div class="measure">
    <h3>${title}</h3>
    <p class="hint">${words}</p>
    <div class="wide" tabindex="0" role="group" aria-label=${title}>
      <table>
        <thead>
          <tr>
            <td></td>
            <th scope="col">Fair</th>
            ${(bySeat ? SEATS : ["Dealt"]).map((seat) => html`<th scope="col" key=${seat}>${seat}</th>`)}
            <td class="bars"></td>
          </tr>
        </thead>
        <tbody>
          ${measure.values
            .filter((row) => row.expected >= 0.05 || row.measured.some((hands) => hands > 0))
            .map(
              (row) =>
                html`<tr key=${row.value}>
                  <th scope="row">${named(row.value)}</th>
                  <td>${count(row.expected)}</td>
                  ${row.measured.map((hands, seat) => html`<td key=${seat}>${count(hands)}</td>`)}
                  <td class="bars" aria-hidden="true"><${Bars} row=${row} most=${most} /></td>
                </tr>`,
            )}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row" colspan="2">Fair samples this far off</th>
            ${measure.tests.map((test, seat) => html`<td key=${seat} title=${testWords(test)}>${chance(test)}</td>`)}
            <td class="bars"></td>
          </tr>
        </tfoot>
      </table>
    </div>
  </div>`;
}

/** The seats' counts as bars, the fair number as a mark across them. @param {{row: import("../api.js").MeasuredValue, most: number}} props */
function Bars({ row, most }) {
  return html`<span class="bar-box">
    ${row.measured.map((hands, seat) => html`<span key=${seat} class="bar" style=${{ transform: `scaleX(${hands / most})` }}></span>`)}
    <span class="bar-fair" style=${{ left: `${(100 * row.expected) / most}%` }}></span>
  </span>`;
}

/** @param {number} hands */
const count = (hands) =>
  hands.toLocaleString("en", { maximumFractionDigits: Number.isInteger(hands) || hands >= 100 ? 0 : 1 });

/** @param {import("../api.js").DealTest | null} test */
function chance(test) {
  if (test === null) return "–";
  if (test.p < ODD_BELOW) return "under 0.1 %";
  return `${(100 * test.p).toLocaleString("en", { maximumFractionDigits: test.p < 0.1 ? 1 : 0 })} %`;
}

/** @param {import("../api.js").DealTest | null} test */
function testWords(test) {
  if (test === null) return "Too few deals yet";
  return `Chi-square ${test.chi_square.toFixed(2)} at ${test.degrees} degrees of freedom`;
}
