// The replay viewer: any finished game, step by step, from any seat or with all hands open.
import { useEffect, useMemo, useState } from "preact/hooks";
import * as api from "../api.js";
import { cardWords, inHandOrder } from "../cards.js";
import { html } from "../html.js";
import { said } from "../table/say.js";
import { handsAt, scoreLine, stopsOf, tableAt } from "../table/replay.js";
import { seatAt, seatName } from "../table/selectors.js";
import { ServerClock } from "../table/clock.js";
import { CardFace } from "./card.js";
import { CheckDeal } from "./check_deal.js";
import { CornerBox } from "./corner.js";
import { Dialog } from "./dialog.js";
import { SeatBadge } from "./seat.js";
import { HandSheet } from "./sheet.js";
import { TrickArea } from "./trick.js";

/** @typedef {import("../table/types.js").AnyFrame} AnyFrame */

const CLOCK = new ServerClock();

/** @param {{tableId: string, me: api.Me}} props */
export function ReplayPage({ tableId, me }) {
  const [events, setEvents] = useState(/** @type {AnyFrame[] | null} */ (null));
  const [names, setNames] = useState(/** @type {Record<string, string>} */ ({}));
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    api.gameEvents(tableId, 0).then(setEvents, () => setFailed(true));
    // Names only decorate: without them the seats are still told apart.
    api.game(tableId).then(
      (game) => setNames(namesOf(game)),
      () => undefined,
    );
  }, [tableId]);
  if (failed)
    return html`<main class="page">
      <h1>No such game</h1>
      <p><a href="#/">Home</a></p>
    </main>`;
  if (!events) return html`<main class="page"><p role="status">Fetching the game…</p></main>`;
  return html`<${Replay} tableId=${tableId} events=${events} names=${names} me=${me} />`;
}

/** @param {api.GameSummary} game */
const namesOf = (game) => Object.fromEntries(game.seats.map((seat) => [seat.account_id, seat.name ?? "Player"]));

/** What the address asks for: `?at=57&seat=2&open=1`. */
function asked() {
  const query = new URLSearchParams(location.hash.split("?")[1] ?? "");
  return { at: Number(query.get("at") ?? 0), seat: query.get("seat"), open: query.get("open") === "1" };
}

/** @param {{tableId: string, events: AnyFrame[], names: Record<string, string>, me: api.Me}} props */
function Replay({ tableId, events, names, me }) {
  const stops = useMemo(() => stopsOf(events), [events]);
  const start = useMemo(asked, [tableId]);
  const own = events.find((event) => event.type === "seat_taken" && event.holder.account_id === me.account_id)?.holder
    .seat;
  const [step, setStep] = useState(() =>
    Math.max(
      0,
      stops.findIndex((at) => (events[at]?.seq ?? 0) >= start.at),
    ),
  );
  const [seat, setSeat] = useState(start.seat === null ? (own ?? 0) : Number(start.seat) % 4);
  const [open, setOpen] = useState(start.open);
  const [checking, setChecking] = useState(false);
  const at = stops[Math.min(step, stops.length - 1)] ?? 0;
  const event = /** @type {AnyFrame} */ (events[at]);
  const table = tableAt(tableId, events, at, seat);
  const state = { ...table, names: { ...names, ...table.names } };
  /** @param {number} to */
  const go = (to) => setStep(Math.max(0, Math.min(stops.length - 1, to)));
  /** @param {number} by */
  const goHand = (by) => {
    const dealt = stops.flatMap((stop, i) => (events[stop]?.type === "hand_dealt" ? [i] : []));
    const to = by > 0 ? dealt.find((i) => i > step) : dealt.filter((i) => i < step).at(-1);
    go(to ?? (by > 0 ? stops.length - 1 : 0));
  };
  useEffect(() => {
    const link = `#/replay/${tableId}?at=${event.seq}&seat=${seat}${open ? "&open=1" : ""}`;
    history.replaceState(null, "", link);
  }, [event.seq, seat, open]);
  useReplayKeys({
    back: () => go(step - 1),
    on: () => go(step + 1),
    handBack: () => goHand(-1),
    handOn: () => goHand(1),
  });
  const scored = events.slice(0, at + 1).findLast((fact) => fact.type === "hand_scored");
  const between = state.phase === "between_hands" || state.phase === "ended";
  return html`<div class="replay" data-seq=${event.seq}>
    <header class="table-bar">
      <span class="bar-title"
        ><h1>Replay</h1>
        <small>step ${step + 1} of ${stops.length} · hand ${state.handNo}</small></span
      >
      <span class="bar-buttons">
        <button type="button" class="icon-button" onClick=${() => setChecking(true)}>Check</button>
        <a class="icon-button" href=${fileOf(events)} download=${`spades-${tableId}.json`}>Download</a>
        <a class="icon-button" href="#/">Home</a>
      </span>
    </header>
    <main class="felt" aria-label="Table">
      <${CornerBox} state=${state} />
      ${["north", "west", "east", "south"].map((place) => {
        const at = seatAt(state, /** @type {any} */ (place));
        return html`<${SeatBadge} key=${place} state=${state} seat=${at} clock=${CLOCK} />`;
      })}
      <div class="middle">
        ${between && scored ? html`<div class="panel"><${HandSheet} state=${state} scored=${scored} heading="h2" /></div>` : html`<${TrickArea} state=${state} />`}
      </div>
    </main>
    <section class="replay-controls" aria-label="Steps">
      <p class="replay-said" role="status">${said(state, event) || "…"}</p>
      <div class="button-row">
        <button type="button" class="quiet" aria-label="Hand back" onClick=${() => goHand(-1)}>«</button>
        <button type="button" class="quiet" aria-label="Step back" data-action="back" onClick=${() => go(step - 1)}>
          ‹
        </button>
        <button type="button" class="gold" aria-label="Step on" data-action="on" onClick=${() => go(step + 1)}>
          ›
        </button>
        <button type="button" class="quiet" aria-label="Hand on" onClick=${() => goHand(1)}>»</button>
        <label
          >Seen by
          <select value=${seat} onChange=${(/** @type {any} */ change) => setSeat(Number(change.target.value))}>
            ${[0, 1, 2, 3].map((one) => html`<option key=${one} value=${one}>${seatName(state, one)}</option>`)}
          </select>
        </label>
        <label class="switch"
          ><input
            type="checkbox"
            checked=${open}
            onChange=${(/** @type {any} */ change) => setOpen(change.target.checked)}
          /><span>All hands open</span></label
        >
      </div>
      <${Hands} state=${state} hands=${handsAt(tableId, events, at)} open=${open} />
      <${ScoreGraph}
        points=${scoreLine(events)}
        own=${seat % 2}
        at=${state.phase === "playing" ? state.handNo - 1 : state.handNo}
      />
    </section>
    ${checking ? html`<${Dialog} title="Check the deal" onClose=${() => setChecking(false)} wide><${CheckDeal} state=${{ ...state, facts: events, seat: own ?? null }} /><//>` : null}
  </div>`;
}

/** @param {AnyFrame[]} events */
const fileOf = (events) => `data:application/json,${encodeURIComponent(JSON.stringify(events))}`;

/** @param {{back: () => void, on: () => void, handBack: () => void, handOn: () => void}} moves */
function useReplayKeys(moves) {
  useEffect(() => {
    /** @param {KeyboardEvent} event */
    const onKey = (event) => {
      const target = /** @type {HTMLElement} */ (event.target);
      if (/^(INPUT|SELECT)$/.test(target.tagName) || document.querySelector("dialog[open]")) return;
      const move = { ArrowLeft: moves.back, ArrowRight: moves.on, PageUp: moves.handBack, PageDown: moves.handOn }[
        event.key
      ];
      if (!move) return;
      event.preventDefault();
      move();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  });
}

/** @param {{state: import("../table/types.js").TableState, hands: string[][], open: boolean}} props */
function Hands({ state, hands, open }) {
  const shown = open ? [0, 1, 2, 3] : [state.seat ?? 0];
  return html`<div class="replay-hands">
    ${shown.map(
      (seat) =>
        html`<div key=${seat} data-hand=${seat}>
          <h2>${seatName(state, seat)}</h2>
          <ul class="card-row">
            ${inHandOrder(hands[seat] ?? []).map((card) => html`<li key=${card} class="small-card"><${CardFace} card=${card} /><span class="sr-only">${cardWords(card)}</span></li>`)}
          </ul>
        </div>`,
    )}
  </div>`;
}

const [WIDE, HIGH] = [300, 110];

/** Both teams' scores hand by hand. @param {{points: [number, number][], own: number, at: number}} props */
function ScoreGraph({ points, own, at }) {
  if (points.length < 2) return null;
  const all = points.flat();
  const [low, high] = [Math.min(0, ...all), Math.max(100, ...all)];
  /** @param {number} i */
  const x = (i) => 8 + (i / (points.length - 1)) * (WIDE - 16);
  /** @param {number} score */
  const y = (score) => HIGH - 8 - ((score - low) / (high - low)) * (HIGH - 16);
  /** @param {number} team */
  const line = (team) => points.map((pair, i) => `${x(i).toFixed(1)},${y(pair[team] ?? 0).toFixed(1)}`).join(" ");
  const words = points
    .map((pair, i) => `after hand ${i}: ${pair[own]} to ${pair[1 - own]}`)
    .slice(1)
    .join("; ");
  return html`<figure class="score-graph">
    <svg viewBox=${`0 0 ${WIDE} ${HIGH}`} role="img" aria-label=${`Scores ${words}`}>
      <line class="graph-zero" x1="8" x2=${WIDE - 8} y1=${y(0)} y2=${y(0)} />
      <line
        class="graph-now"
        x1=${x(Math.min(at, points.length - 1))}
        x2=${x(Math.min(at, points.length - 1))}
        y1="4"
        y2=${HIGH - 4}
      />
      <polyline class="graph-own" points=${line(own)} />
      <polyline class="graph-other" points=${line(1 - own)} />
    </svg>
    <figcaption><span class="graph-own-key">━ their side</span> <span>┅ the others</span></figcaption>
  </figure>`;
}
