// One page a rule set, in our own words: what is needed, how it is played and scored, where books disagree.
import { cardWords } from "../cards.js";
import { html } from "../html.js";
import { disagreements, questions, workedHands } from "../rules/examples.js";
import { OPTION_WORDS, presetOf, PRESETS } from "../rules/presets.js";
import { BID_ADVICE, rulesInWords, TIPS } from "../rules/words.js";
import { CardFace } from "./card.js";

/** @param {{tableId: string}} props `tableId` is the rule set's name, or empty */
export function RulesPage({ tableId }) {
  const preset = presetOf(tableId || "deniro");
  const { values } = preset;
  const ruleset = { name: preset.name, options: {} };
  return html`<main class="page rules">
    <p><a href="#/">Home</a></p>
    <nav class="tabs" aria-label="Rule sets">
      ${PRESETS.map(
        ({ name, title }) =>
          html`<a
            key=${name}
            class=${`chip${name === preset.name ? " is-current" : ""}`}
            aria-current=${name === preset.name ? "page" : undefined}
            href=${`#/rules/${name}`}
            >${title}</a
          >`,
      )}
    </nav>
    <h1>${preset.title}: the rules</h1>
    <p>${preset.blurb}</p>
    <ul>
      <li><b>Players:</b> four, in two fixed partnerships across the table. Ages 10 and up.</li>
      <li>
        <b>Needed:</b>${" "}
        ${values.jokers ? "a pack of 52 and two jokers; 2♣ and 2♦ are put aside" : "one pack of 52 cards"}.
      </li>
      <li><b>Partners don’t talk</b> or signal about their cards.</li>
    </ul>
    <${Pictures} jokers=${values.jokers} />
    ${rulesInWords(ruleset).map(
      ({ title, lines }) =>
        html`<section key=${title}>
          <h2>${title}</h2>
          <ul>
            ${lines.map((line) => html`<li key=${line}>${line}</li>`)}
          </ul>
          ${title === "Bidding" ? html`<p><b>How to bid.</b> ${BID_ADVICE}</p>` : null}
          ${title === "Scoring" ? html`<${Worked} values=${values} />` : null}
        </section>`,
    )}
    <${Choices} preset=${preset} />
    <section>
      <h2>Four tips</h2>
      <ul>
        ${TIPS.map((tip) => html`<li key=${tip}>${tip}</li>`)}
      </ul>
    </section>
    <section>
      <h2>Where rule books disagree</h2>
      <ul>
        ${disagreements(values).map((line) => html`<li key=${line}>${line}</li>`)}
      </ul>
    </section>
    <section>
      <h2>Common questions</h2>
      <dl>
        ${questions(values).map(
          ({ question, answer }) =>
            html`<dt key=${question}><b>${question}</b></dt>
              <dd>${answer}</dd>`,
        )}
      </dl>
    </section>
    <${Shuffle} />
    <section>
      <h2>Sources</h2>
      <p>
        The rule sets follow the published pages of three houses that play Spades: one whose coin tables bid from 0,
        one that sets out the rule book’s game in plain words (after Bicycle’s and Pagat’s descriptions), and one club
        with Blind Nil and the swap. The words here are our own.
      </p>
    </section>
  </main>`;
}

/** @param {{jokers: boolean}} props */
function Pictures({ jokers }) {
  const ranking = jokers ? ["BJ", "LJ", "AS", "KS", "QS", "JS", "TS"] : ["AS", "KS", "QS", "JS", "TS", "9S", "8S"];
  const trick = ["KH", "AH", "2S", "TH"];
  return html`<div class="pictures">
    <figure>
      <div class="card-row">
        ${ranking.map((card) => html`<${Small} key=${card} card=${card} />`)}<span
          >… ${jokers ? "down to 2" : "7 … 2"}</span
        >
      </div>
      <figcaption>From high to low, the same in every suit${jokers ? "; the jokers are spades" : ""}.</figcaption>
    </figure>
    <figure>
      <div class="card-row">
        ${trick.map((card) => html`<${Small} key=${card} card=${card} winner=${card === "2S"} />`)}
      </div>
      <figcaption>Hearts were led; the 2 of spades beats them all and takes the trick.</figcaption>
    </figure>
  </div>`;
}

/** @param {{card: string, winner?: boolean}} props */
function Small({ card, winner }) {
  return html`<span
    class=${`small-card${winner ? " is-winning" : ""}`}
    role="img"
    aria-label=${`${cardWords(card)}${winner ? ", takes the trick" : ""}`}
  >
    <${CardFace} card=${card} />
  </span>`;
}

/** @param {{values: import("../rules/presets.js").RuleValues}} props */
function Worked({ values }) {
  return html`<table class="entries">
    <caption class="sr-only">
      Worked hands
    </caption>
    <thead>
      <tr>
        <th scope="col">A hand</th>
        <th scope="col">Sum</th>
        <th scope="col">Points</th>
      </tr>
    </thead>
    <tbody>
      ${workedHands(values).map(
        ({ hand, sum, points }) =>
          html`<tr key=${hand}>
            <td>${hand}</td>
            <td>${sum}</td>
            <td><b>${points}</b></td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

/** @param {{preset: import("../rules/presets.js").Preset}} props */
function Choices({ preset }) {
  const menu = Object.entries(preset.menu);
  return html`<section>
    <h2>What the host may choose</h2>
    ${
      menu.length === 0
        ? html`<p>Nothing: this rule set is always played as it stands.</p>`
        : html`<ul>
            ${menu.map(
              ([option, values]) =>
                html`<li key=${option}>
                  ${OPTION_WORDS[option]}:${" "}
                  ${values.map((value) => (value === true ? "yes" : value === false ? "no" : value)).join(", ")}${option === "target" && values.includes(250) ? " (250 with a Nil of 50)" : ""}
                </li>`,
            )}
          </ul>`
    }
  </section>`;
}

function Shuffle() {
  return html`<section>
    <h2>How the deck is shuffled</h2>
    <p>
      Every hand starts with a fresh deck. It is shuffled, cut near the middle, shuffled, cut in rough thirds that are
      restacked so that none stays where it was, and shuffled again, with cryptographic randomness. A deal is never
      adjusted to help or to hurt anyone.
    </p>
    <p>
      The fingerprint of each hand is shown before a card is dealt, and your own browser puts a seed into the deal.
      When the hand is over its secret is revealed: <b>Check the deal</b> in the table’s ? menu deals it again in your
      browser and compares.
    </p>
  </section>`;
}
