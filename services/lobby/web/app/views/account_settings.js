// An account's own affairs: password, recovery code, programs, all devices, deletion.
import { useEffect, useState } from "preact/hooks";
import * as api from "../api.js";
import { html } from "../html.js";
import { becomes } from "../session.js";
import { problemWords } from "../table/refusals.js";
import { Dialog } from "./dialog.js";

/** A form that does one thing and says how it went.
 * @param {{label: string, act: (form: FormData) => Promise<string>, button: string, danger?: boolean, children?: any}} props
 *   `act` resolves with what to say */
function OneThing({ label, act, button, danger, children }) {
  const [answer, setAnswer] = useState({ ok: true, words: "" });
  const [busy, setBusy] = useState(false);
  /** @param {SubmitEvent} event */
  const submit = async (event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    setBusy(true);
    try {
      setAnswer({ ok: true, words: await act(new FormData(form)) });
      form.reset();
    } catch (error) {
      setAnswer({ ok: false, words: problemWords(error) });
    }
    setBusy(false);
  };
  return html`<form class="one-thing" onSubmit=${submit} aria-label=${label}>
    <h3>${label}</h3>
    ${children}
    <button type="submit" class=${danger ? "danger" : "quiet is-strong"} disabled=${busy}>${button}</button>
    ${answer.words ? html`<p class=${answer.ok ? "done" : "problem"} role=${answer.ok ? "status" : "alert"}>${answer.words}</p>` : null}
  </form>`;
}

/** @param {{name: string, label: string, fresh?: boolean}} props */
function Password({ name, label, fresh }) {
  return html`<label
    >${label}
    <input
      name=${name}
      type="password"
      required
      minlength=${fresh ? 8 : 1}
      maxlength="128"
      autocomplete=${fresh ? "new-password" : "current-password"}
    />
  </label>`;
}

/** A recovery code, shown once. @param {{code: string}} props */
export function RecoveryCode({ code }) {
  return html`<p class="recovery" data-recovery><code>${code}</code></p>
    <p class="hint">Write it down, not beside your password. It is shown only here, and works once.</p>`;
}

/** @param {{me: api.Me, coins: number | null, onClose: () => void}} props */
export function AccountSettings({ me, coins, onClose }) {
  const [code, setCode] = useState("");
  return html`<${Dialog} title=${`Account of ${me.name}`} onClose=${onClose}>
    <${OneThing}
      label="Change the password"
      button="Change it"
      act=${async (/** @type {FormData} */ form) => {
        await api.changePassword(String(form.get("password")), String(form.get("new_password")));
        return "Changed. Every other device and program is signed out.";
      }}
    >
      <${Password} name="password" label="Password so far" />
      <${Password} name="new_password" label="New password, 8 characters or more" fresh />
    <//>
    <${OneThing}
      label="Recovery code"
      button="Make a new code"
      act=${async (/** @type {FormData} */ form) => {
        setCode((await api.newRecoveryCode(String(form.get("password")))).recovery_code);
        return "This is the new code; the one before is worth nothing any more.";
      }}
    >
      <p class="hint">With it you set a new password when you have lost yours. Nobody else can do that for you.</p>
      ${code ? html`<${RecoveryCode} code=${code} />` : null}
      <${Password} name="password" label="Password" />
    <//>
    <${Tokens} />
    <${OneThing}
      label="All devices"
      button="Sign out everywhere"
      act=${async () => {
        await api.signOutEverywhere();
        await becomes(null);
        return "";
      }}
    >
      <p class="hint">Ends every session of this account, here too, and revokes its tokens.</p>
    <//>
    <${OneThing}
      label="Delete the account"
      button="Delete it for good"
      danger
      act=${async (/** @type {FormData} */ form) => {
        await api.deleteAccount(String(form.get("password")));
        await becomes(null);
        return "";
      }}
    >
      <p>
        Your ${coins === null ? "coins" : html`<b>${coins.toLocaleString("en")} coins</b>`} go back to the house: play
        coins have no cash value and are not paid out. Your name is gone from every game; the games themselves stay, as
        others played in them. This cannot be undone.
      </p>
      <${Password} name="password" label="Password" />
      <label class="switch"
        ><input type="checkbox" name="sure" required /><span>I want to delete ${me.name} and its coins</span></label
      >
    <//>
  <//>`;
}

const SCOPES = { read: "sees", bot: "plays without coins", play: "plays for coins" };

/** Tokens of programs that act for one. */
function Tokens() {
  const [tokens, setTokens] = useState(/** @type {api.PersonalToken[] | null} */ (null));
  const [made, setMade] = useState("");
  const again = () => void api.personalTokens().then(setTokens, () => undefined);
  useEffect(again, []);
  /** @param {string} id */
  const revoke = (id) => void api.revokeToken(id).then(again, again);
  return html`<${OneThing}
    label="Programs"
    button="Make a token"
    act=${async (/** @type {FormData} */ form) => {
      const token = await api.makeToken(String(form.get("label")), String(form.get("scope")));
      setMade(token.token);
      again();
      return "Copy it now: it is shown only here.";
    }}
  >
    <p class="hint">A token lets a program of yours act for you, as far as you allow.</p>
    ${
      tokens && tokens.length > 0
        ? html`<ul class="tables">
            ${tokens.map(
              (token) =>
                html`<li key=${token.token_id}>
                  <span><b>${token.label}</b><small>${SCOPES[token.scope]}</small></span>
                  <button type="button" class="quiet" onClick=${() => revoke(token.token_id)}>Revoke</button>
                </li>`,
            )}
          </ul>`
        : null
    }
    ${made ? html`<p class="recovery"><code>${made}</code></p>` : null}
    <div class="form-row">
      <label>What for <input name="label" required maxlength="40" pattern="[A-Za-z0-9 ._\\-]+" autocomplete="off" /></label>
      <label
        >It may
        <select name="scope">
          <option value="read">see</option>
          <option value="bot">play without coins</option>
          <option value="play">play for coins</option>
        </select>
      </label>
    </div>
  <//>`;
}
