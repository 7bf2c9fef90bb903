// Who one is and what one has: guest, sign in, sign up, balance and its history.
import { useState } from "preact/hooks";
import * as api from "../api.js";
import { entryWords } from "../entries.js";
import { html } from "../html.js";
import { balance as balanceStore, becomes, refreshBalance } from "../session.js";
import { useStore } from "../store.js";
import { problemWords } from "../table/refusals.js";
import { signed } from "./corner.js";
import { Dialog } from "./dialog.js";
import { LazyPart } from "./lazy.js";

const TOP_UP_BELOW_COINS = 100;

/** @param {{me: api.Me | null}} props */
export function Account({ me }) {
  const balance = useStore(balanceStore);
  const [open, setOpen] = useState(/** @type {"history" | "settings" | null} */ (null));
  const [code, setCode] = useState("");
  const close = () => setOpen(null);
  const [problem, setProblem] = useState("");
  const topUp = async () => {
    try {
      await api.topUp();
      await refreshBalance();
    } catch (error) {
      setProblem(problemWords(error));
    }
  };
  return html`<section class="card-box account" aria-labelledby="account-title">
    <h2 id="account-title">${me ? me.name : "Not signed in"}</h2>
    ${
      me && !me.guest
        ? html`<p class="balance" data-coins=${balance?.available_coins ?? ""}>
              <b>${balance ? balance.available_coins.toLocaleString("en") : "…"}</b> play coins
              ${balance?.held_coins ? html`<small> · ${balance.held_coins} held at a table</small>` : null}
            </p>
            <p class="hint">No cash value, no cashing out.</p>
            <div class="button-row">
              <button type="button" class="quiet" onClick=${() => setOpen("history")}>History</button>
              <button type="button" class="quiet" data-action="account" onClick=${() => setOpen("settings")}>
                Account
              </button>
              ${
                balance && balance.available_coins < TOP_UP_BELOW_COINS
                  ? html`<button type="button" class="gold" data-action="top-up" onClick=${topUp}>
                      Daily top-up
                    </button>`
                  : null
              }
              <button type="button" class="quiet" onClick=${async () => (await api.signOut(), await becomes(null))}>
                Sign out
              </button>
            </div>`
        : html`<p class="hint">
              ${me ? "You play as a guest. Sign up to keep your games and play for coins." : "Play as a guest, or:"}
            </p>
            <${SignForm} guest=${me !== null} onCode=${setCode} />`
    }
    ${problem ? html`<p class="problem" role="alert">${problem}</p>` : null}
    ${open === "history" ? html`<${History} onClose=${close} />` : null}
    ${open === "settings" && me ? html`<${LazyPart} load=${settings} name="AccountSettings" me=${me} coins=${balance?.available_coins ?? null} onClose=${close} />` : null}
    ${
      code
        ? html`<${Dialog} title="Your recovery code" onClose=${() => setCode("")}>
            <p>If you ever lose your password, this code sets a new one. There is no other way back in.</p>
            <${LazyPart} load=${settings} name="RecoveryCode" code=${code} />
            <button type="button" class="gold" data-action="noted" onClick=${() => setCode("")}>I have written it down</button>
          <//>`
        : null
    }
  </section>`;
}

const settings = () => import("./account_settings.js");

/** @type {Record<"in" | "up" | "lost", {title: string, others: ["in" | "up" | "lost", string][]}>} */
const MODES = {
  in: {
    title: "Sign in",
    others: [
      ["up", "I am new here"],
      ["lost", "Lost password"],
    ],
  },
  up: { title: "Sign up", others: [["in", "I have an account"]] },
  lost: { title: "Set a new password", others: [["in", "Back"]] },
};

/** @param {{guest: boolean, onCode: (code: string) => void}} props */
function SignForm({ guest, onCode }) {
  const [mode, setMode] = useState(/** @type {"in" | "up" | "lost"} */ (guest ? "up" : "in"));
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  /** @param {SubmitEvent} event */
  const submit = async (event) => {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.target));
    const [name, password, code] = ["name", "password", "code"].map((field) => String(form.get(field) ?? ""));
    setBusy(true);
    try {
      const entered = await entering(mode, (name ?? "").trim(), password ?? "", code ?? "");
      if (entered.recovery_code) onCode(entered.recovery_code);
      await becomes(entered);
    } catch (error) {
      setProblem(problemWords(error));
    }
    setBusy(false);
  };
  const { title, others } = MODES[mode];
  const fresh = mode !== "in";
  return html`<form class="sign" onSubmit=${submit} aria-label=${title}>
    <label>Name <input name="name" required minlength="2" maxlength="24" autocomplete="username" /></label>
    ${mode === "lost" ? html`<label>Recovery code <input name="code" required maxlength="80" autocomplete="off" /></label>` : null}
    <label
      >${mode === "lost" ? "New password" : "Password"}
      <input
        name="password"
        type="password"
        required
        minlength=${fresh ? 8 : 1}
        maxlength="128"
        autocomplete=${fresh ? "new-password" : "current-password"}
      />
    </label>
    ${problem ? html`<p class="problem" role="alert">${problem}</p>` : null}
    <div class="button-row">
      <button type="submit" class="quiet is-strong" disabled=${busy}>${title}</button>
      ${others.map(
        ([other, label]) =>
          html`<button type="button" class="link" key=${other} onClick=${() => (setMode(other), setProblem(""))}>
            ${label}
          </button>`,
      )}
    </div>
  </form>`;
}

/** @param {"in" | "up" | "lost"} mode @param {string} name @param {string} password @param {string} code
 * @returns {Promise<api.Me & {recovery_code?: string}>} */
function entering(mode, name, password, code) {
  if (mode === "lost") return api.recover(name, code, password);
  return mode === "up" ? api.signUp(name, password) : api.signIn(name, password);
}

/** @param {{onClose: () => void}} props */
function History({ onClose }) {
  const [entries, setEntries] = useState(/** @type {any[] | null} */ (null));
  const [problem, setProblem] = useState("");
  if (entries === null && !problem) {
    api.walletEntries().then(setEntries, (error) => setProblem(problemWords(error)));
  }
  return html`<${Dialog} title="Your coins" onClose=${onClose}>
    ${problem ? html`<p class="problem" role="alert">${problem}</p>` : null}
    ${entries === null ? null : entries.length === 0 ? html`<p>Nothing yet.</p>` : html`<${Entries} entries=${entries} />`}
    <p class="hint">Play coins have no cash value and cannot be cashed out.</p>
  <//>`;
}

/** @param {{entries: any[]}} props */
function Entries({ entries }) {
  return html`<table class="entries">
    <thead>
      <tr>
        <th scope="col">When</th>
        <th scope="col">What</th>
        <th scope="col">Coins</th>
        <th scope="col">Balance</th>
      </tr>
    </thead>
    <tbody>
      ${entries.map(
        (entry) =>
          html`<tr key=${entry.entry_no}>
            <td>${new Date(entry.at_ms).toLocaleString()}</td>
            <td>${entryWords(entry)}</td>
            <td>${entry.change_coins > 0 ? "+" : ""}${signed(entry.change_coins)}</td>
            <td>${entry.available_coins}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}
