// The queue on the page: what one waits for, how long, with how many, and computers after a while.
import { useEffect, useState } from "preact/hooks";
import { announce } from "../announce.js";
import { html } from "../html.js";
import * as queue from "../queue.js";
import { presetOf } from "../rules/presets.js";
import { balance as balanceStore } from "../session.js";
import { useStore } from "../store.js";
import { problemWords, refusalWords } from "../table/refusals.js";
import { feeOf, shortOf, STAKES } from "./stakes.js";

/** @param {{me: import("../api.js").Me | null, ruleset: import("../table/types.js").Ruleset}} props */
export function OnlineQueue({ me, ruleset }) {
  const place = useStore(queue.place);
  const [stake, setStake] = useState(20);
  const [problem, setProblem] = useState("");
  const locked = !me || me.guest;
  useEffect(() => {
    if (!locked) void queue.look();
  }, [me?.account_id, locked]);
  /** @param {Promise<void>} asked */
  const tried = (asked) => {
    setProblem("");
    asked.catch((error) => setProblem(problemWords(error)));
  };
  const waits = place.state === "waiting" || place.state === "matched";
  return html`<section class="card-box online" aria-labelledby="queue-title">
    <h2 id="queue-title">Play online</h2>
    ${waits ? html`<${Waiting} place=${place} tried=${tried} />` : html`<${Enter} ...${{ stake, setStake, ruleset, locked, tried }} />`}
    ${place.state === "refused" ? html`<p class="problem" role="alert">${refusalWords({ code: place.refusal })}</p>` : null}
    ${problem ? html`<p class="problem" role="alert">${problem}</p>` : null}
  </section>`;
}

/** @param {any} props */
function Enter({ stake, setStake, ruleset, locked, tried }) {
  const options = Object.keys(ruleset.options).length > 0;
  const short = shortOf(stake, useStore(balanceStore));
  return html`<p>
      Three others who want the same game: ${presetOf(ruleset.name).title}${options ? " as published" : ""}, for play
      coins, 30 seconds a move.
    </p>
    <div class="form-row">
      <label
        >Stake
        <select
          name="queue-stake"
          value=${stake}
          onChange=${(/** @type {any} */ event) => setStake(Number(event.target.value))}
        >
          ${STAKES.map((choice) => html`<option key=${choice} value=${choice}>${choice}</option>`)}
        </select>
      </label>
      <button
        type="button"
        class="quiet is-strong"
        data-action="queue"
        aria-describedby=${short ? "short-queue" : null}
        disabled=${locked || short !== null}
        onClick=${() => tried(queue.wait(ruleset.name, stake, false))}
      >
        Find a game
      </button>
    </div>
    ${short ? html`<p class="problem" id="short-queue">${refusalWords(short)}</p>` : null}
    <p class="hint">
      ${locked ? html`<b>This needs an account.</b> ` : null}Leaving a running game costs ${stake + feeOf(stake)}: the
      stake and a fee of ${feeOf(stake)}. No cash value, no cashing out.
    </p>`;
}

/** @param {{place: import("../api.js").QueuePlace, tried: (asked: Promise<void>) => void}} props */
function Waiting({ place, tried }) {
  const waitedMs = useWaited(place);
  const offered = place.state === "waiting" && place.bots_offered && !place.bots_accepted;
  const words = waitingWords(place);
  useEffect(() => {
    if (offered) announce("Nobody came yet. You can play with computer players now.");
  }, [offered]);
  return html`<div data-queue=${place.state}>
    <p role="status">
      ${place.state === "matched" ? "A game was found; seats are being taken…" : words}
      <b class="waited" aria-hidden="true"> ${clockWords(waitedMs)}</b>
    </p>
    <p class="hint">${presetOf(place.ruleset ?? "").title}, stake ${place.stake_coins}. You may look around meanwhile.</p>
    <div class="button-row">
      ${
        offered
          ? html`<button
              type="button"
              class="gold"
              data-action="accept-bots"
              onClick=${() => tried(queue.wait(place.ruleset ?? "", place.stake_coins ?? 0, true))}
            >
              Play with computer players
            </button>`
          : null
      }
      <button type="button" class="quiet" data-action="stop-waiting" onClick=${() => tried(queue.stop())}>
        Stop waiting
      </button>
    </div>
  </div>`;
}

/** @param {import("../api.js").QueuePlace} place */
function waitingWords(place) {
  const others = (place.waiting ?? 1) - 1;
  if (place.bots_accepted) return "Computer players sit down with whoever waits…";
  if (others <= 0) return "Waiting for three others…";
  return `Waiting with ${others === 1 ? "one other" : `${others} others`}…`;
}

/** @param {number} ms */
const clockWords = (ms) => `${Math.floor(ms / 60_000)}:${String(Math.floor(ms / 1000) % 60).padStart(2, "0")}`;

/** How long one has waited, counted on between two answers. @param {import("../api.js").QueuePlace} place */
function useWaited(place) {
  const [since, setSince] = useState(Date.now());
  const [, tick] = useState(0);
  useEffect(() => setSince(Date.now() - (place.waited_ms ?? 0)), [place]);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), 500);
    return () => clearInterval(timer);
  }, []);
  return Math.max(0, Date.now() - since);
}

/** A game that was found while one plays at another table. */
export function GameFound() {
  const place = useStore(queue.place);
  if (place.state !== "seated") return null;
  const go = () => queue.place.set({ state: "idle" });
  return html`<p class="found" role="alert">
    Your online game is ready.
    <a class="gold button" href=${`#/table/${place.table_id}`} onClick=${go}>Go to the table</a>
  </p>`;
}
