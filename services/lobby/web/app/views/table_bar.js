// The bar above the table: where one is, the exact time left, the ways out and into the menu.
import { html } from "../html.js";
import { rulesetTitle } from "../rules/presets.js";
import { isOwnTurn, who } from "../table/selectors.js";
import { mayTalk } from "./talk.js";
import { Countdown } from "./countdown.js";

/** @param {{state: import("../table/types.js").TableState, session: import("../table/session.js").TableSession,
 *   onMenu: () => void, onTalk: () => void, onLeave: () => void}} props */
export function TableBar({ state, session, onMenu, onTalk, onLeave }) {
  const turn = state.turn;
  const own = isOwnTurn(state);
  const playing = state.seat !== null && ["starting", "playing", "between_hands"].includes(state.phase);
  return html`<header class="table-bar">
    <span class="bar-title">
      <h1>${rulesetTitle(state.ruleset)}</h1>
      <small>${placeWords(state)}</small>
    </span>
    <span class="bar-turn" role="status">
      ${turn ? html`<span key=${turn.turnId} class=${own ? "is-own" : ""}>${own ? "Your turn" : `${who(state, turn.seat)}’s turn`}</span>` : null}
      ${turn?.deadlineMs ? html` <${Countdown} deadlineMs=${turn.deadlineMs} clock=${session.clock} />` : null}
    </span>
    <span class="bar-buttons">
      ${mayTalk(state) ? html`<button type="button" class="icon-button" data-action="talk" aria-label="Table talk" onClick=${onTalk}>
            <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
              <path
                d="M4 5h16a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1h-8l-5 4v-4H4a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1z"
                fill="none"
                stroke="currentColor"
                stroke-width="2"
                stroke-linejoin="round"
              />
              <path d="M7.5 9.5h9M7.5 12.8h6" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" />
            </svg>
          </button>` : null}
      <button
        type="button"
        class="icon-button"
        aria-label="Menu: rules, last trick, score sheet, check the deal"
        data-action="menu"
        onClick=${onMenu}
      >
        ?
      </button>
      ${
        playing
          ? html`<button type="button" class="icon-button" data-action="leave" onClick=${onLeave}>Leave</button>`
          : html`<a class="icon-button" href="#/">Home</a>`
      }
    </span>
  </header>`;
}

/** "stake 100 · hand 3" @param {import("../table/types.js").TableState} state */
function placeWords(state) {
  const watching = state.seat === null && state.phase !== "loading" ? ["watching"] : [];
  return [stakeWords(state), ...(state.handNo ? [`hand ${state.handNo}`] : []), ...watching].join(" · ");
}

/** @param {import("../table/types.js").TableState} state */
function stakeWords(state) {
  if (state.stakeCoins > 0) return `stake ${state.stakeCoins}`;
  return state.kind === "private" ? "private" : "practice";
}
