// The bid pad: tap a number or Nil, then the gold button.
import { BID_ADVICE } from "../rules/words.js";
import { valuesOf } from "../rules/presets.js";
import { html } from "../html.js";
import { bidWords, contractOf, isOwnTurn, ownTeam, partnerOf, seatName, who } from "../table/selectors.js";

/** @typedef {import("../table/types.js").TableState} TableState */
/** @typedef {import("../table/types.js").Bid} Bid */

/**
 * @param {{state: TableState, picked: Bid | null, onPick: (bid: Bid) => void, onBid: () => void, onLook: () => void,
 *   busy: boolean, hints: boolean}} props
 */
export function BidPad(props) {
  const { state } = props;
  const own = state.seat;
  if (own === null || state.handPhase !== "auction" || state.bids[own] !== null)
    return html`<${AuctionWait} state=${state} />`;
  if (state.faceDown[own]) return html`<${FaceDownChoice} ...${props} />`;
  const mine = isOwnTurn(state);
  // At computer speed a bid tapped ahead is sent the moment the turn comes.
  if (!mine && !state.computerSpeed[own]) return html`<${AuctionWait} state=${state} />`;
  const zero = valuesOf(state.ruleset).zero;
  /** @type {Bid[]} */
  const bids = ["nil", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13];
  return html`<div class="panel bid-pad" role="group" aria-label="Your bid">
    <p class="panel-lead">${mine ? "Your bid" : "Your bid, ahead of your turn"}${partnerWords(state)}</p>
    <div class="bid-numbers">
      ${bids.map(
        (bid) =>
          html`<button
            type="button"
            key=${bid}
            class=${`bid-number${bid === "nil" ? " is-nil" : ""}${props.picked === bid ? " is-picked" : ""}`}
            aria-pressed=${String(props.picked === bid)}
            data-bid=${bid}
            onClick=${() => props.onPick(bid)}
          >
            ${bid === "nil" ? (zero ? html`0<small>Nil</small>` : "Nil") : bid}
          </button>`,
      )}
    </div>
    <button
      type="button"
      class="gold"
      data-action="bid"
      disabled=${props.busy || props.picked === null}
      onClick=${props.onBid}
    >
      ${props.picked === null ? "Choose your bid" : `Bid ${bidWords(props.picked)}`}
    </button>
    ${props.hints ? html`<p class="hint">${BID_ADVICE}</p>` : null}
  </div>`;
}

/** @param {any} props as BidPad's */
function FaceDownChoice({ state, picked, onPick, onBid, onLook, busy, hints }) {
  const mine = isOwnTurn(state);
  const values = valuesOf(state.ruleset);
  return html`<div class="panel bid-pad" role="group" aria-label="Your cards are face down">
    <p class="panel-lead">
      Your team is 100 or more behind: bid <b>Blind Nil</b> without looking, for ${values.blindNil} points, or see
      your cards first.
    </p>
    <div class="button-row">
      <button type="button" class="quiet" data-action="look" disabled=${busy} onClick=${onLook}>See my cards</button>
      <button
        type="button"
        class=${`quiet${picked === "blind_nil" ? " is-picked" : ""}`}
        data-bid="blind_nil"
        aria-pressed=${String(picked === "blind_nil")}
        aria-disabled=${mine ? undefined : "true"}
        onClick=${() => mine && onPick("blind_nil")}
      >
        Blind Nil
      </button>
    </div>
    ${
      mine && picked === "blind_nil"
        ? html`<button type="button" class="gold" data-action="bid" disabled=${busy} onClick=${onBid}>
            Bid Blind Nil
          </button>`
        : null
    }
    ${mine ? null : html`<p class="hint">${who(state, state.turn?.seat ?? 0)} bids first; you may look at any time.</p>`}
    ${hints && values.swap ? html`<p class="hint">After the bids you pass two cards and get two back.</p>` : null}
  </div>`;
}

/** @param {{state: TableState}} props */
function AuctionWait({ state }) {
  if (!state.turn) return null;
  return html`<p class="panel wait" role="status">Waiting for ${who(state, state.turn.seat)} to bid…</p>`;
}

/** What the partner bid, where it matters for one's own. @param {TableState} state */
function partnerWords(state) {
  const partner = partnerOf(state.seat ?? 0);
  const bid = state.bids[partner];
  if (bid === null || bid === undefined) return "";
  const name = seatName(state, partner);
  return ` · ${name} bid ${bidWords(bid)}${contractOf(state, ownTeam(state)) ? "" : ": cover them"}`;
}
