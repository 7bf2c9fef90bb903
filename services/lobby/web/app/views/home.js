// Home: play now, coin tables, tables of others, one's account and games.
import { useEffect, useState } from "preact/hooks";
import * as api from "../api.js";
import { commandId } from "../fair/seed.js";
import { html } from "../html.js";
import { goTo, partingWords, setIntent } from "../route.js";
import { PRESETS, rulesetTitle } from "../rules/presets.js";
import { balance as balanceStore, me as meStore, refreshBalance, someone } from "../session.js";
import { useStore } from "../store.js";
import { problemWords, refusalWords } from "../table/refusals.js";
import { Account } from "./account.js";
import { CardFace, SuitSign } from "./card.js";
import { Dialog } from "./dialog.js";
import { Settings } from "./menu.js";
import { OnlineQueue } from "./queue.js";
import { RulesetPicker } from "./ruleset_picker.js";
import { feeOf, shortOf, STAKES } from "./stakes.js";
import { MyGames, OpenTables } from "./table_lists.js";

/** @typedef {import("../table/types.js").Ruleset} Ruleset */

/** @param {{me: api.Me | null}} props */
export function HomePage({ me }) {
  const [ruleset, setRuleset] = useState(/** @type {Ruleset} */ ({ name: "deniro", options: {} }));
  const [problem, setProblem] = useState(partingWords);
  const [busy, setBusy] = useState(false);
  const [settings, setSettings] = useState(false);
  useBalance(me);

  /** Open a table and go there. @param {api.NewTable} wanted @param {string} intent */
  const open = async (wanted, intent) => {
    setBusy(true);
    setProblem("");
    try {
      if (wanted.stake_coins && (!meStore.get() || meStore.get()?.guest)) throw { code: "account_required" };
      await someone();
      // What was known may be old, and a table whose stake cannot be paid is better never opened.
      if (wanted.stake_coins) await refreshBalance();
      const short = wanted.stake_coins ? shortOf(wanted.stake_coins, balanceStore.get()) : null;
      if (short) throw { code: short.code, body: short };
      const table = await api.openTable(wanted, commandId());
      setIntent(table, intent);
      goTo(`/table/${table.table_id}`);
    } catch (error) {
      setProblem(problemWords(error));
    }
    setBusy(false);
  };

  return html`<div class="home">
    <header class="home-head">
      <a class="brand" href="#/"><${SuitSign} suit="S" />Spades</a>
      <nav aria-label="Main">
        <a href="#/rules">Rules</a>
        <a href="#/statistics">Fair deals</a>
        <a href="#/testing">Testing guide</a>
        <button type="button" class="link" onClick=${() => setSettings(true)}>Settings</button>
      </nav>
    </header>
    <main class="home-main">
      <div class="home-column">
        <${PlayNow} ruleset=${ruleset} onRuleset=${setRuleset} busy=${busy} open=${open} problem=${problem} />
        <${CoinTables} me=${me} ruleset=${ruleset} busy=${busy} open=${open} />
        ${me ? html`<${MyGames} me=${me} />` : null}
        <${Minute} />
      </div>
      <div class="home-column">
        <${Account} me=${me} />
        <${OnlineQueue} me=${me} ruleset=${ruleset} />
        <${OpenTables} me=${me} />
        <${WithPeople} me=${me} ruleset=${ruleset} busy=${busy} open=${open} />
      </div>
    </main>
    <footer class="home-foot">Play coins have no cash value and cannot be cashed out.</footer>
    ${settings ? html`<${Dialog} title="Settings" onClose=${() => setSettings(false)}><${Settings} /><//>` : null}
  </div>`;
}

const BALANCE_AGAIN_MS = 2_500;

/** The balance while it is looked at: a game just left is paid a moment later. @param {api.Me | null} me */
function useBalance(me) {
  useEffect(() => {
    if (!me || me.guest) return undefined;
    void refreshBalance();
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") void refreshBalance();
    }, BALANCE_AGAIN_MS);
    return () => clearInterval(timer);
  }, [me?.account_id, me?.guest]);
}

/** @param {any} props */
function PlayNow({ ruleset, onRuleset, busy, open, problem }) {
  const [clock, setClock] = useState(false);
  const play = () => open({ kind: "practice", ruleset, clock_ms: clock ? 30_000 : null, bots_welcome: true }, "play");
  return html`<section class="card-box hero" aria-labelledby="play-title">
    <div class="hero-fan" aria-hidden="true">
      ${["TH", "JD", "QC", "KH", "AS"].map((card) => html`<span key=${card}><${CardFace} card=${card} /></span>`)}
    </div>
    <h1 id="play-title">Play Spades</h1>
    <p>Practice against the computer, with any rules. No account, no coins, no waiting.</p>
    <${RulesetPicker} ruleset=${ruleset} onChange=${onRuleset} />
    <label class="switch">
      <input
        type="checkbox"
        name="clock"
        checked=${clock}
        onChange=${(/** @type {any} */ event) => setClock(event.target.checked)}
      />
      <span><b>With a clock</b><small>30 seconds a move</small></span>
    </label>
    <button type="button" class="gold big" data-action="play-now" disabled=${busy} onClick=${play}>Play now</button>
    ${problem ? html`<p class="problem" role="alert">${problem}</p>` : null}
  </section>`;
}

/** @param {any} props */
function CoinTables({ me, ruleset, busy, open }) {
  const locked = !me || me.guest;
  const balance = useStore(balanceStore);
  return html`<section class="card-box" aria-labelledby="coins-title">
    <h2 id="coins-title">Coin tables against the computer</h2>
    <p class="hint">
      Played with ${rulesetTitle(ruleset)}. 90 seconds a move; if time runs out the table plays for you, at no charge.
      Who leaves a running game loses the stake and pays a fee of a tenth. Play coins only: no cash value, no cashing
      out.
    </p>
    ${locked ? html`<p><b>Coin tables need an account.</b> Sign up with a name and a password; you get play coins to start with.</p>` : null}
    <ul class="stakes">
      ${STAKES.map((stake) => {
        const short = shortOf(stake, balance);
        return html`<li key=${stake}>
            <span class="stake"><b>${stake}</b> coins</span>
            <span class="stake-words"
              >Win +${stake}, lose −${stake}. Leaving a running game costs ${stake + feeOf(stake)}.${short ? html` <b id=${`short-${stake}`}>${refusalWords(short)}</b>` : null}</span
            >
            <button
              type="button"
              class="quiet"
              data-stake=${stake}
              aria-label=${`Play for ${stake} coins; leaving costs ${stake + feeOf(stake)}`}
              aria-describedby=${short ? `short-${stake}` : null}
              disabled=${busy || locked || short !== null}
              onClick=${() => open({ kind: "coins", ruleset, stake_coins: stake }, "play")}
            >
              Play
            </button>
          </li>`;
      })}
    </ul>
  </section>`;
}

/** @param {any} props */
function WithPeople({ me, ruleset, busy, open }) {
  const [stake, setStake] = useState(20);
  const [bots, setBots] = useState(true);
  const [seconds, setSeconds] = useState(30);
  const locked = !me || me.guest;
  const clock_ms = seconds * 1000;
  const short = shortOf(stake, useStore(balanceStore));
  return html`<section class="card-box" aria-labelledby="people-title">
    <h2 id="people-title">A table of your own</h2>
    <p class="hint">With the rules chosen above: ${rulesetTitle(ruleset)}.</p>
    <h3>Private table</h3>
    <p>No coins, your clock; send the link to your friends.</p>
    <div class="form-row">
      <label
        >Seconds a move
        <select
          name="seconds"
          value=${seconds}
          onChange=${(/** @type {any} */ event) => setSeconds(Number(event.target.value))}
        >
          ${[15, 30, 45, 60, 90, 120].map((choice) => html`<option key=${choice} value=${choice}>${choice}</option>`)}
        </select>
      </label>
      <button
        type="button"
        class="quiet"
        data-action="open-private"
        disabled=${busy}
        onClick=${() => open({ kind: "private", ruleset, clock_ms, bots_welcome: true }, "")}
      >
        Open a private table
      </button>
    </div>
    <h3>Online table</h3>
    <p>For play coins, seats drawn at random, 30 seconds a move.</p>
    <div class="form-row">
      <label
        >Stake
        <select
          name="stake"
          value=${stake}
          onChange=${(/** @type {any} */ event) => setStake(Number(event.target.value))}
        >
          ${STAKES.map((choice) => html`<option key=${choice} value=${choice}>${choice}</option>`)}
        </select>
      </label>
      <label class="switch"
        ><input
          type="checkbox"
          checked=${bots}
          onChange=${(/** @type {any} */ event) => setBots(event.target.checked)}
        /><span>Computer players may fill up</span></label
      >
      <button
        type="button"
        class="quiet"
        data-action="open-online"
        aria-describedby=${short ? "short-online" : null}
        disabled=${busy || locked || short !== null}
        onClick=${() => open({ kind: "online", ruleset, stake_coins: stake, bots_welcome: bots }, "play")}
      >
        Open an online table
      </button>
    </div>
    ${short ? html`<p class="problem" id="short-online">${refusalWords(short)}</p>` : null}
    <p class="hint">
      Leaving a running game at stake ${stake} costs ${stake + feeOf(stake)}: the stake and a fee of ${feeOf(stake)}.
      No cash value, no cashing out.
    </p>
  </section>`;
}

function Minute() {
  return html`<section class="card-box" aria-labelledby="minute-title">
    <h2 id="minute-title">Spades in a minute</h2>
    <ol class="minute">
      <li>Four players, partners across the table. Thirteen cards each.</li>
      <li>Everybody bids how many tricks they will take. Partners’ bids add up.</li>
      <li>Follow the suit led if you can. Spades beat everything else.</li>
      <li>Spades may be led once one was played on another suit.</li>
      <li>Make your bid: 10 a trick. Extra tricks are bags: 1 point each, and every tenth costs 100.</li>
      <li>Nil promises no trick at all: 100 won or lost. First team to the target wins.</li>
    </ol>
    <p>
      ${PRESETS.map((preset) => html`<a class="chip" key=${preset.name} href=${`#/rules/${preset.name}`}>${preset.title}</a>`)}
    </p>
  </section>`;
}
