// The ? menu: this table's rules, last trick, score sheet, check, settings, keys.
import { html } from "../html.js";
import { prefer, prefs } from "../prefs.js";
import { useStore } from "../store.js";
import { presetOf, rulesetTitle } from "../rules/presets.js";
import { rulesInWords, TIPS } from "../rules/words.js";
import { lastTrickOf } from "../table/selectors.js";
import { Dialog } from "./dialog.js";
import { LazyPart } from "./lazy.js";
import { ScoreSheet } from "./sheet.js";
import { TrickRow } from "./trick.js";

/** @typedef {import("../table/types.js").TableState} TableState */

/** @type {[string, string][]} */
const PAGES = [
  ["rules", "Rules"],
  ["trick", "Last trick"],
  ["sheet", "Score sheet"],
  ["check", "Check the deal"],
  ["settings", "Settings"],
  ["keys", "Keys"],
];

/** @param {{state: TableState, page: string, onPage: (page: string) => void, onClose: () => void}} props */
export function Menu({ state, page, onPage, onClose }) {
  const title = PAGES.find(([name]) => name === page)?.[1] ?? "Help";
  return html`<${Dialog} title=${title} onClose=${onClose} wide>
    <nav class="tabs" aria-label="Help">
      ${PAGES.map(
        ([name, words]) =>
          html`<button
            type="button"
            key=${name}
            aria-current=${name === page ? "page" : undefined}
            class=${name === page ? "is-current" : ""}
            data-page=${name}
            onClick=${() => onPage(name)}
          >
            ${words}
          </button>`,
      )}
    </nav>
    <${MenuPage} state=${state} page=${page} />
  <//>`;
}

/** @param {{state: TableState, page: string}} props */
function MenuPage({ state, page }) {
  switch (page) {
    case "trick":
      return html`<${LastTrick} state=${state} />`;
    case "sheet":
      return html`<${ScoreSheet} state=${state} />`;
    case "check":
      return html`<${LazyPart} load=${() => import("./check_deal.js")} name="CheckDeal" state=${state} />`;
    case "settings":
      return html`<${Settings} />`;
    case "keys":
      return html`<${Keys} />`;
    default:
      return html`<${TableRules} state=${state} />`;
  }
}

/** @param {{state: TableState}} props */
function TableRules({ state }) {
  return html`<div class="rules">
    <p><b>${rulesetTitle(state.ruleset)}</b> · ${presetOf(state.ruleset.name).blurb}</p>
    <p class="hint">${clockWords(state)}</p>
    ${rulesInWords(state.ruleset).map(
      ({ title, lines }) =>
        html`<section key=${title}>
          <h3>${title}</h3>
          <ul>
            ${lines.map((line) => html`<li key=${line}>${line}</li>`)}
          </ul>
        </section>`,
    )}
    <section>
      <h3>Four tips</h3>
      <ul>
        ${TIPS.map((tip) => html`<li key=${tip}>${tip}</li>`)}
      </ul>
    </section>
    <p class="hint">Table ${state.tableId}: name it when you report something.</p>
  </div>`;
}

/** @param {TableState} state */
function clockWords(state) {
  if (state.clockMs === null) return "No clock at this table.";
  return `${Math.round(state.clockMs / 1000)} seconds a move. When time runs out the table plays for you, at no charge; after three in a row your turns go at computer speed for the rest of the hand, until you make a move yourself.`;
}

/** @param {{state: TableState}} props */
function LastTrick({ state }) {
  const trick = lastTrickOf(state);
  if (!trick) return html`<p>No trick is finished in this hand.</p>`;
  return html`<${TrickRow} state=${state} trick=${trick} />`;
}

/** @type {[keyof import("../prefs.js").Prefs, string, string][]} */
const SWITCHES = [
  ["hints", "Hints", "Advice beside the bid pad"],
  ["fourColours", "Four colours", "Clubs green, diamonds blue"],
  ["sound", "Sound", "A soft tone when it is your turn"],
  ["titleMark", "Tab title", "The tab says when it is your turn"],
  ["tapTwice", "Tap twice to play", "The first tap raises a card, the second plays it"],
  ["shortcuts", "Single-key shortcuts", "Numbers bid, T V P R tell"],
];

export function Settings() {
  const chosen = useStore(prefs);
  return html`<div class="settings">
    ${SWITCHES.map(
      ([name, title, words]) =>
        html`<label class="switch" key=${name}>
          <input
            type="checkbox"
            name=${name}
            checked=${chosen[name]}
            onChange=${(/** @type {any} */ event) => prefer({ [name]: event.target.checked })}
          />
          <span><b>${title}</b><small>${words}</small></span>
        </label>`,
    )}
    <fieldset class="choice">
      <legend>Colours of the page</legend>
      ${
        /** @type {const} */ (["auto", "light", "dark"]).map(
          (theme) =>
            html`<label key=${theme}>
              <input
                type="radio"
                name="theme"
                value=${theme}
                checked=${chosen.theme === theme}
                onChange=${() => prefer({ theme })}
              />
              ${theme === "auto" ? "As the device" : theme === "light" ? "Light" : "Dark"}
            </label>`,
        )
      }
    </fieldset>
  </div>`;
}

/** @type {[string, string][]} */
const KEYS = [
  ["← →", "Move through your cards"],
  ["Enter", "Play the card, or confirm the bid"],
  ["1 … 13", "Pick a bid (1 then 2 within a second: 12); 0 picks Nil"],
  ["T", "Whose turn it is, and the time left"],
  ["V", "All bids and tricks"],
  ["P", "Score sheet"],
  ["R", "Last trick"],
  ["?", "This menu"],
  ["Esc", "Close"],
];

function Keys() {
  return html`<table class="keys">
    <tbody>
      ${KEYS.map(
        ([key, words]) =>
          html`<tr key=${key}>
            <th scope="row"><kbd>${key}</kbd></th>
            <td>${words}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}
