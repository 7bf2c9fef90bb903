// Short messages over the table: refusals, what the clock did, who came and went, the lost line.
import { useEffect, useState } from "preact/hooks";
import { cardSign } from "../cards.js";
import { html } from "../html.js";
import { useStore } from "../store.js";
import { refusalWords } from "../table/refusals.js";
import { backWords, goneWords, lostWords } from "../table/say.js";
import { bidWords, who } from "../table/selectors.js";

/** @typedef {import("../table/types.js").TableState} TableState */

const SHOWN_MS = 6_000;
/** A line that comes back this fast was never worth a word. */
const LOST_SHOWN_AFTER_MS = 800;

/**
 * @param {{session: import("../table/session.js").TableSession, state: TableState,
 *   status: import("../table/connection.js").Status, explained: {words: string, at: number}}} props
 */
export function Toasts({ session, state, status, explained }) {
  const refusal = useStore(session.refusal);
  const notice = useFresh(state.notices.at(-1) ?? null, state.phase === "loading");
  const spoken = useFresh(explained.at ? explained : null, false);
  const refused = useFresh(refusal, false);
  const lost = useLost(state, status);
  return html`<div class="toasts">
    ${
      status === "elsewhere"
        ? html`<p class="toast is-lost" role="status">
            You play this seat in another window or on another device; here you only watch.
            <button type="button" class="quiet" onClick=${() => session.playHere()}>Play here</button>
          </p>`
        : null
    }
    ${lost ? html`<p class="toast is-lost" role="status">${lost}</p>` : null}
    ${notice ? html`<p class="toast" role="status" data-notice=${notice.kind}>${noticeWords(state, notice)}</p>` : null}
    ${spoken ? html`<p class="toast is-refusal" role="alert" key=${spoken.at}>${spoken.words}</p>` : null}
    ${refused && refused.code !== "stale_turn" ? html`<p class="toast is-refusal" role="alert">${refusalWords(refused)}</p>` : null}
  </div>`;
}

/** A value for as long as it is fresh. @template T @param {T | null} value @param {boolean} muted @returns {T | null} */
export function useFresh(value, muted) {
  const [stale, setStale] = useState(/** @type {T | null} */ (null));
  useEffect(() => {
    if (value === null) return undefined;
    const timer = setTimeout(() => setStale(value), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return muted || value === stale ? null : value;
}

/** @param {TableState} state @param {import("../table/connection.js").Status} status */
function useLost(state, status) {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    setShown(false);
    if (status !== "lost") return undefined;
    const timer = setTimeout(() => setShown(true), LOST_SHOWN_AFTER_MS);
    return () => clearTimeout(timer);
  }, [status]);
  if (status === "signed_out") return "You are signed out. Your seat stays yours: sign in again on the home page.";
  return shown ? lostWords(state) : "";
}

/** @param {TableState} state @param {import("../table/types.js").Notice} notice */
function noticeWords(state, { kind, seat, data }) {
  switch (kind) {
    case "autoplayed":
      return autoplayWords(state, seat, data);
    case "bot_took_seat":
      return `A computer player takes the seat of ${state.names[data.replaces] ?? "the player who left"}.`;
    case "seat_left":
      return `${data.account_id === state.me ? "You" : (state.names[data.account_id] ?? "A player")} left the game${data.fee_coins ? ` and paid ${data.stake_coins + data.fee_coins} coins` : ""}.`;
    case "gone":
      return goneWords(state, seat);
    case "back":
      return backWords(state, seat);
    case "clock_extended":
      return `The table was away for ${Math.ceil(data.outage_ms / 1000)} s; the clock got that time back.`;
    case "seat_refused":
      return refusalWords(data);
    default:
      return "";
  }
}

/** @param {TableState} state @param {number} seat @param {Record<string, any>} data */
function autoplayWords(state, seat, data) {
  const move = state.facts.find(
    (fact) => fact.turn_id === data.turn_id && (fact.type === "card_played" || fact.type === "bid_made"),
  );
  const what = !move
    ? "made a move"
    : move.type === "card_played"
      ? `played ${cardSign(move.card)}`
      : `bid ${bidWords(move.bid)}`;
  const whom = seat === state.seat ? "you" : who(state, seat);
  const next = data.computer_speed
    ? " The rest of this hand goes at computer speed; one move of your own brings the full clock back."
    : ` (${data.misses} of 3 in a row.)`;
  return `Time ran out: the table ${what} for ${whom}.${seat === state.seat ? next : ""}`;
}
