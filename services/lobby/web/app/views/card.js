// A playing card, drawn by ourselves: jumbo index, suit shapes and crowns as paths.
import { isJoker, rankSign, suitOf } from "../cards.js";
import { html } from "../html.js";

/** Each suit in a box of 100 by 100. @type {Record<string, string>} */
const SUIT_PATHS = {
  S: "M50 5C43 26 10 38 10 62c0 15 11 22 21 22 8 0 13-4 16-9-1 9-5 15-11 20h28c-6-5-10-11-11-20 3 5 8 9 16 9 10 0 21-7 21-22C90 38 57 26 50 5z",
  H: "M50 92C38 76 8 58 8 33 8 18 19 8 31 8c9 0 16 5 19 13C53 13 60 8 69 8c12 0 23 10 23 25 0 25-30 43-42 59z",
  D: "M50 4C58 22 72 38 86 50 72 62 58 78 50 96 42 78 28 62 14 50 28 38 42 22 50 4z",
  C: "M50 6c13 0 22 9 22 21 0 6-3 11-7 15 3-2 7-3 11-3 12 0 20 9 20 20s-9 21-21 21c-9 0-16-5-20-12 1 11 4 20 11 27H34c7-7 10-16 11-27-4 7-11 12-20 12C13 80 4 70 4 59s8-20 20-20c4 0 8 1 11 3-4-4-7-9-7-15C28 15 37 6 50 6z",
};

/** Headgear of the court, in a box of 100 by 60. @type {Record<string, string>} */
const CROWNS = {
  K: "M8 56V18l20 18L50 4l22 32 20-18v38z",
  Q: "M10 56 4 20l20 16 12-28 14 26L64 8l12 28 20-16-6 36z",
  J: "M14 56c-4-30 14-48 40-48 22 0 34 12 34 26-10-8-20-8-28-2l6 24z",
};

/** One suit's sign in the colour of the text around it. @param {{suit: string}} props */
export function SuitSign({ suit }) {
  return html`<svg class=${`suit-sign suit-${suit}`} viewBox="0 0 100 100" aria-hidden="true">
    <path d=${SUIT_PATHS[suit]} />
  </svg>`;
}

/** The face of a card; decoration, its name stands on the button or list item around it. @param {{card: string}} props */
export function CardFace({ card }) {
  return html`<svg
    class=${`card-face suit-${suitOf(card)}`}
    viewBox="0 0 100 140"
    aria-hidden="true"
    focusable="false"
  >
    <rect class="card-paper" x="0.75" y="0.75" width="98.5" height="138.5" rx="9" />
    ${isJoker(card) ? jokerFace(card) : suitFace(card)}
  </svg>`;
}

/** @param {string} card */
function suitFace(card) {
  const suit = suitOf(card);
  const rank = rankSign(card);
  const crown = CROWNS[rank];
  return html`
    <text
      class="card-index"
      x="5"
      y="36"
      textLength=${rank === "10" ? 38 : undefined}
      lengthAdjust="spacingAndGlyphs"
    >
      ${rank}
    </text>
    <path class="card-pip" d=${SUIT_PATHS[suit]} transform="translate(6 43) scale(0.25)" />
    ${
      crown
        ? html`<g>
            <rect class="card-court" x="39" y="50" width="53" height="82" rx="6" />
            <path class="card-pip" d=${crown} transform="translate(47 58) scale(0.37)" />
            <path class="card-pip" d=${SUIT_PATHS[suit]} transform="translate(45.5 86) scale(0.4)" />
          </g>`
        : html`<path
            class="card-pip"
            d=${SUIT_PATHS[suit]}
            transform=${rank === "A" ? "translate(30 58) scale(0.66)" : "translate(42 74) scale(0.52)"}
          />`
    }
  `;
}

/** @param {string} card */
function jokerFace(card) {
  const big = card === "BJ";
  return html`<g class=${big ? "joker-big" : "joker-little"}>
    <text class="card-index" x="5" y="35">${big ? "B" : "L"}</text>
    <path class="card-pip" d=${SUIT_PATHS.S} transform="translate(6 43) scale(0.25)" />
    <path class="joker-hat" d="M30 104c-2-26 2-44 14-52 2 12 10 18 18 30 6-12 10-20 22-26 8 14 4 34-2 48z" />
    <circle class="joker-bell" cx="43" cy="50" r="5" />
    <circle class="joker-bell" cx="85" cy="54" r="5" />
    <text class="joker-word" x="58" y="124" text-anchor="middle">${big ? "BIG" : "LITTLE"}</text>
  </g>`;
}

/** A card lying face down. */
export function CardBack() {
  return html`<svg class="card-face card-back" viewBox="0 0 100 140" aria-hidden="true" focusable="false">
    <rect class="card-paper" x="0.75" y="0.75" width="98.5" height="138.5" rx="9" />
    <rect class="back-field" x="7" y="7" width="86" height="126" rx="5" />
    <path class="back-lines" d="M7 40 40 7M7 73 73 7M7 106 93 20M14 133 93 54M47 133 93 87M80 133l13-13" />
    <path class="back-lines" d="M93 40 60 7M93 73 27 7M93 106 7 20M86 133 7 54M53 133 7 87M20 133 7 120" />
    <circle class="back-badge" cx="50" cy="70" r="22" />
    <path class="back-spade" d=${SUIT_PATHS.S} transform="translate(36 55) scale(0.28)" />
  </svg>`;
}
