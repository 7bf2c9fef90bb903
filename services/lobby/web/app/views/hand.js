// One's own cards. Arrow keys move through them; a refused card stays focusable and explains itself.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { cardWords, inHandOrder } from "../cards.js";
import { html } from "../html.js";
import { isOwnTurn, whyNot } from "../table/selectors.js";
import { CardBack, CardFace } from "./card.js";

/** @typedef {import("../table/types.js").TableState} TableState */

/**
 * @param {{state: TableState, chosen: readonly string[], onCard: (card: string) => void}} props
 *   `chosen`: raised cards, for a swap or a second tap
 */
export function Hand({ state, chosen, onCard }) {
  const cards = state.hand ? inHandOrder(state.hand) : [];
  const [focused, setFocused] = useState(0);
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const at = Math.min(focused, Math.max(0, cards.length - 1));
  // Asked before the page changes: a card that is played takes the focus with it.
  const hadFocus = list.current?.contains(document.activeElement) ?? false;
  useLayoutEffect(() => {
    if (hadFocus && !list.current?.contains(document.activeElement)) focusCard(list.current, at);
  }, [cards.length]);
  if (state.seat === null) return null;
  if (state.hand === null && state.handPhase !== "none") return html`<${FaceDownHand} />`;
  const playing = isOwnTurn(state) && state.turn?.kind === "play";
  return html`<div
    class=${`hand${playing ? " is-own-turn" : ""}${cards.length > 8 ? " is-long" : ""}`}
    role="group"
    aria-label="Your cards"
    ref=${list}
    style=${{ "--cols": Math.ceil(cards.length / 2) }}
    onKeyDown=${(/** @type {KeyboardEvent} */ event) => moveFocus(event, at, cards.length, setFocused)}
  >
    ${cards.map((card, i) => {
      const refused = whyNot(state, card) !== null;
      const isNew = state.newCards.includes(card);
      const raised = chosen.includes(card);
      return html`<button
        type="button"
        key=${card}
        class=${`card${refused ? " is-refused" : ""}${raised ? " is-raised" : ""}${playing && !refused ? " is-legal" : ""}`}
        data-card=${card}
        aria-label=${`${cardWords(card)}${isNew ? ", new" : ""}`}
        aria-disabled=${refused ? "true" : undefined}
        aria-pressed=${state.turn?.kind === "pass" && isOwnTurn(state) ? String(raised) : undefined}
        tabindex=${i === at ? 0 : -1}
        style=${{ "--i": i - (cards.length - 1) / 2 }}
        onFocus=${() => setFocused(i)}
        onClick=${() => onCard(card)}
      >
        <${CardFace} card=${card} />
        ${isNew ? html`<span class="new-mark" aria-hidden="true">New</span>` : null}
      </button>`;
    })}
  </div>`;
}

function FaceDownHand() {
  return html`<div
    class="hand is-long is-face-down"
    role="img"
    aria-label="Your thirteen cards, face down"
    style=${{ "--cols": 7 }}
  >
    ${Array.from({ length: 13 }, (_, i) => html`<span class="card" key=${i} style=${{ "--i": i - 6 }}><${CardBack} /></span>`)}
  </div>`;
}

/** @param {KeyboardEvent} event @param {number} at @param {number} count @param {(at: number) => void} setFocused */
function moveFocus(event, at, count, setFocused) {
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: count - 1 }[event.key];
  if (to === undefined || count === 0) return;
  event.preventDefault();
  const next = (to + count) % count;
  setFocused(next);
  focusCard(/** @type {HTMLElement} */ (event.currentTarget), next);
}

/** @param {HTMLElement | null} list @param {number} at */
const focusCard = (list, at) => list?.querySelectorAll("button")[at]?.focus();
