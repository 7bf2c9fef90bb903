// Table talk: preset phrases during a hand, free text between hands; who bothers can be muted and reported.
import { useState } from "preact/hooks";
import { html } from "../html.js";
import { useStore } from "../store.js";
import { PHRASES, REMATCH } from "../table/phrases.js";
import { refusalWords } from "../table/refusals.js";
import { placeOf, seatName, who } from "../table/selectors.js";
import { Dialog } from "./dialog.js";
import { useFresh } from "./toasts.js";

/** @typedef {import("../table/types.js").TableState} TableState */
/** @typedef {import("../table/session.js").TableSession} TableSession */

const TEXT_LENGTH_MAX = 200;

/** Whether one may speak: those who sit there with other people. @param {TableState} state */
export function mayTalk(state) {
  const people = state.seats.filter((holder) => holder && holder.account_id !== "bot");
  return state.seat !== null && people.length > 1;
}

/** What was said last, beside the one who said it. @param {{state: TableState, session: TableSession}} props */
export function Bubble({ state, session }) {
  const muted = useStore(session.muted);
  const last = state.talk.at(-1);
  const line = useFresh(last && !muted.has(last.account) ? last : null, state.seat === null);
  if (!line) return null;
  // The live region has said it already.
  return html`<p class=${`bubble at-${placeOf(state, line.seat)}`} aria-hidden="true" data-said=${line.no} key=${line.no}>
    ${line.text}
  </p>`;
}

/** @param {{state: TableState, session: TableSession, onClose: () => void}} props */
export function Talk({ state, session, onClose }) {
  const [problem, setProblem] = useState("");
  const [about, setAbout] = useState(/** @type {string | null} */ (null));
  const inHand = state.phase === "playing";
  /** @param {{phrase: string} | {text: string}} words */
  const say = async (words) => {
    const answer = await session.say(words);
    if (answer.type === "ack") return onClose();
    return setProblem(refusalWords(answer));
  };
  return html`<${Dialog} title="Table talk" onClose=${onClose}>
    <div class="phrases" role="group" aria-label="Say">
      ${PHRASES.filter(([phrase]) => phrase !== REMATCH).map(
        ([phrase, words]) =>
          html`<button type="button" class="quiet" key=${phrase} data-phrase=${phrase} onClick=${() => say({ phrase })}>
            ${words}
          </button>`,
      )}
    </div>
    ${
      inHand
        ? html`<p class="hint">During a hand only these: nothing of cards, bids or play. Between hands you may write.</p>`
        : html`<${Write} say=${say} />`
    }
    ${problem ? html`<p class="problem" role="alert">${problem}</p>` : null}
    <${Lines} state=${state} session=${session} onReport=${setAbout} />
    ${about === null ? null : html`<${Report} state=${state} session=${session} account=${about} key=${about} />`}
  <//>`;
}

/** @param {{say: (words: {text: string}) => void}} props */
function Write({ say }) {
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    const text = String(new FormData(/** @type {HTMLFormElement} */ (event.target)).get("text")).trim();
    if (text) say({ text });
  };
  return html`<form class="form-row write" onSubmit=${submit}>
    <label>Write to the table <input name="text" maxlength=${TEXT_LENGTH_MAX} autocomplete="off" /></label>
    <button type="submit" class="quiet is-strong">Say</button>
  </form>`;
}

/** The last lines, and who else sits here. @param {{state: TableState, session: TableSession, onReport: (account: string) => void}} props */
function Lines({ state, session, onReport }) {
  const muted = useStore(session.muted);
  const shown = state.talk.filter((line) => !muted.has(line.account));
  const others = state.seats.flatMap((holder, seat) =>
    holder && holder.account_id !== "bot" && seat !== state.seat ? [{ seat, account: holder.account_id }] : [],
  );
  return html`<div class="talk-log">
    ${
      shown.length === 0
        ? html`<p class="hint">Nothing was said yet.</p>`
        : html`<ol>
            ${shown.map((line) => html`<li key=${line.no}><b>${who(state, line.seat)}:</b> ${line.text}</li>`)}
          </ol>`
    }
    <ul class="talk-people">
      ${others.map(
        ({ seat, account }) =>
          html`<li key=${account}>
            <span>${seatName(state, seat)}${muted.has(account) ? " (muted)" : ""}</span>
            <button
              type="button"
              class="quiet"
              aria-pressed=${String(muted.has(account))}
              data-action="mute"
              onClick=${() => void session.mute(account, !muted.has(account))}
            >
              ${muted.has(account) ? "Hear again" : "Mute"}
            </button>
            <button type="button" class="quiet" data-action="report" onClick=${() => onReport(account)}>Report</button>
          </li>`,
      )}
    </ul>
  </div>`;
}

const REASONS = ["Insults or threats", "Tells of cards while a hand is on", "Plays to lose", "Something else"];

/** @param {{state: TableState, session: TableSession, account: string}} props */
function Report({ state, session, account }) {
  const [done, setDone] = useState("");
  const name = state.names[account] ?? "this player";
  /** @param {SubmitEvent} event */
  const submit = async (event) => {
    event.preventDefault();
    const reason = String(new FormData(/** @type {HTMLFormElement} */ (event.target)).get("reason"));
    const answer = await session.report(account, reason);
    setDone(
      answer.type === "ack"
        ? `Reported. What ${name} said last goes with it; somebody will look at it.`
        : refusalWords(answer),
    );
  };
  if (done) return html`<p role="status" data-reported>${done}</p>`;
  return html`<form class="report" onSubmit=${submit} aria-label=${`Report ${name}`}>
    <label>Why do you report ${name}? <select name="reason">${REASONS.map((words) => html`<option key=${words}>${words}</option>`)}</select></label>
    <button type="submit" class="danger">Report ${name}</button>
  </form>`;
}
