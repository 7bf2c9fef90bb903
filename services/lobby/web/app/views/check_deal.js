// Check the deal: this browser deals a finished hand again and shows each step with what it compared.
import { useEffect, useState } from "preact/hooks";
import { html } from "../html.js";
import { proofOf } from "../fair/proof.js";
import { BOT } from "../table/reduce_seats.js";
import { placeOf, revealedHands, seatName } from "../table/selectors.js";

/** @typedef {import("../table/types.js").TableState} TableState */
/** @typedef {import("../fair/check.js").CheckStep} CheckStep */

/** @param {{state: TableState}} props */
export function CheckDeal({ state }) {
  const hands = revealedHands(state);
  const [picked, setPicked] = useState(/** @type {number | null} */ (null));
  const handNo = picked ?? hands.at(-1) ?? null;
  return html`<div class="check">
    <p>
      Each hand’s fingerprint was shown before a card was dealt, and every player’s browser gave a seed to the deal.
      When a hand is over its secret is revealed: here your own browser deals the hand again and compares.
    </p>
    ${
      handNo === null
        ? html`<p><b>No secret is out yet.</b> The first hand can be checked as soon as it is over.</p>
            <${Commitments} state=${state} />`
        : html`<label>
              Hand
              <select value=${handNo} onChange=${(/** @type {any} */ event) => setPicked(Number(event.target.value))}>
                ${hands.map((hand) => html`<option key=${hand} value=${hand}>${hand}</option>`)}
              </select>
            </label>
            <${HandCheck} state=${state} handNo=${handNo} key=${handNo} />`
    }
  </div>`;
}

/** What was fixed already. @param {{state: TableState}} props */
function Commitments({ state }) {
  return html`<dl class="check-steps">
    <dt>Anchor of this game’s chain, published before anybody sat down</dt>
    <dd><code>${state.anchor}</code></dd>
    ${
      state.fingerprint
        ? html`<dt>Fingerprint of hand ${state.handNo}</dt>
            <dd><code>${state.fingerprint}</code></dd>`
        : null
    }
  </dl>`;
}

/** @param {{state: TableState, handNo: number}} props */
function HandCheck({ state, handNo }) {
  const [steps, setSteps] = useState(/** @type {CheckStep[] | null} */ (null));
  const proof = proofOf(state.tableId, state.facts, handNo, state.seat);
  useEffect(() => {
    if (!proof) return;
    void import("../fair/check.js").then(({ checkDeal }) => setSteps(checkDeal(proof)));
  }, [handNo, proof !== null]);
  if (!proof) return html`<p role="status">Fetching this hand’s events…</p>`;
  if (!steps) return html`<p role="status">Dealing again…</p>`;
  const failed = steps.filter((step) => !step.ok);
  return html`<div>
    <p
      class=${`check-result ${failed.length === 0 ? "is-ok" : "is-bad"}`}
      role="status"
      data-check=${failed.length === 0 ? "ok" : "bad"}
    >
      ${
        failed.length === 0
          ? `✓ All ${steps.length} steps agree: this is the deal that was fixed before you saw a card.`
          : `✗ ${failed.length === 1 ? "One step differs" : `${failed.length} steps differ`}: ${failed.map((step) => stepTitle(state, proof, step.name)).join("; ")}.`
      }
    </p>
    <ol class="check-steps">
      ${steps.map((step) => html`<${Step} key=${step.name} title=${stepTitle(state, proof, step.name)} step=${step} />`)}
    </ol>
    <p class="button-row">
      <a
        class="quiet button"
        data-action="proof"
        download=${`spades-${proof.game_id}-hand-${handNo}.json`}
        href=${fileOf(proof)}
        >Download the proof</a
      >
      <${Standalone} />
    </p>
    <p class="hint">
      The stand-alone checker is one file that deals the proof again without a network and without us. Said openly: a
      player in league with the server could withhold a seed, which would show above as a missing seed.
      ${" "}<a href="#/statistics">All revealed deals, counted</a>
    </p>
  </div>`;
}

/** @param {{title: string, step: CheckStep}} props */
function Step({ title, step }) {
  return html`<li class=${step.ok ? "is-ok" : "is-bad"} data-step=${step.name}>
    <p class="step-title">
      <span aria-hidden="true">${step.ok ? "✓" : "✗"}</span> ${title}
      <span class="sr-only">${step.ok ? "agrees" : "differs"}</span>
    </p>
    ${
      step.ok
        ? html`<code>${step.shown}</code>`
        : html`<span class="step-label">Published or seen</span><code>${step.shown}</code>
            <span class="step-label">Computed here</span><code>${step.computed}</code>`
    }
  </li>`;
}

/** The checker as a file of its own, made when it is asked for. */
function Standalone() {
  const [page, setPage] = useState("");
  useEffect(() => {
    void import("../fair/standalone.js")
      .then(({ standalonePage }) => standalonePage())
      .then(setPage, () => undefined);
  }, []);
  if (!page) return null;
  return html`<a
    class="quiet button"
    data-action="verify"
    download="verify.html"
    href=${`data:text/html;charset=utf-8,${encodeURIComponent(page)}`}
  >
    Download the checker
  </a>`;
}

/** @param {import("../fair/check.js").Proof} proof */
const fileOf = (proof) => `data:application/json,${encodeURIComponent(JSON.stringify(proof, null, 1))}`;

/** @type {Record<string, string>} */
const TITLES = {
  fingerprint: "The secret hashes to the fingerprint shown before the deal",
  anchor: "The chain from the secret ends at the anchor published before anybody sat down",
  first_dealer: "The first dealer is the one drawn",
  format: "The published values are well formed",
};

/** @type {[string, (name: string) => string][]} */
const SEAT_TITLES = [
  ["own_seed", () => "Your own seed, kept in this browser, went into the deal"],
  ["own_hand", () => "The hand you were shown is the hand dealt to your seat"],
  ["seed", (name) => `The seed of ${name} is the one promised before the game`],
  ["swap_given", (name) => `The cards ${name} passed were in that hand`],
  ["swap_returned", (name) => `The cards ${name} passed back were in that hand`],
  ["played", (name) => `The cards ${name} played are the cards dealt, swap included`],
];

/** @param {TableState} state @param {import("../fair/check.js").Proof} proof @param {string} name of a step */
function stepTitle(state, proof, name) {
  const plain = TITLES[name];
  if (plain) return plain;
  const seat = Number(name.at(-1));
  const title = SEAT_TITLES.find(([prefix]) => name.startsWith(prefix));
  if (name !== `seed_${seat}`) return title ? title[1](seatName(state, seat)) : name;
  // Seeds are those of who sat there at the start, whoever plays the seat on.
  const account = seatsAtStart(state)[seat];
  const first = nameOf(state, account);
  if (account === BOT)
    return `${PLACE_WORDS[placeOf(state, seat)]} began as a computer player, which brings no seed: all zeros`;
  if (proof.seed_missing[seat]) return `The seed of ${first} came too late: it is all zeros`;
  if (!proof.seed_commits[seat]) return `${first} promised no seed: it is all zeros`;
  return title ? title[1](first) : name;
}

/** @type {Record<string, string>} */
const PLACE_WORDS = { south: "South", west: "West", north: "North", east: "East" };

/** @param {TableState} state @param {string | undefined} account */
const nameOf = (state, account) => (account === state.me ? "your own seat" : (state.names[account ?? ""] ?? "a player"));

/** The accounts at the four seats when they were locked. @param {TableState} state @returns {string[]} */
function seatsAtStart(state) {
  const locked = state.facts.find((fact) => fact.type === "seats_locked");
  return (locked?.seats ?? state.seats).map((/** @type {any} */ holder) => holder?.account_id ?? BOT);
}
