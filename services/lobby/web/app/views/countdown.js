// Time left until an absolute deadline of the server's clock.
import { useEffect, useState } from "preact/hooks";
import { html } from "../html.js";

const TICK_MS = 200;
const TENTHS_BELOW_MS = 10_000;

/** "1:23", and from ten seconds on "9.3". @param {number} leftMs */
export function timeWords(leftMs) {
  const left = Math.max(0, leftMs);
  if (left < TENTHS_BELOW_MS) return (Math.floor(left / 100) / 10).toFixed(1);
  const seconds = Math.ceil(left / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** Milliseconds left, told again several times a second while a deadline runs.
 * @param {number | null} deadlineMs @param {import("../table/clock.js").ServerClock} clock @returns {number | null} */
export function useLeftMs(deadlineMs, clock) {
  const [, tick] = useState(0);
  useEffect(() => {
    if (deadlineMs === null) return undefined;
    const timer = setInterval(() => tick((count) => count + 1), TICK_MS);
    return () => clearInterval(timer);
  }, [deadlineMs]);
  return deadlineMs === null ? null : Math.max(0, clock.leftMs(deadlineMs));
}

/** @param {{deadlineMs: number, clock: import("../table/clock.js").ServerClock, label?: string}} props */
export function Countdown({ deadlineMs, clock, label }) {
  const left = useLeftMs(deadlineMs, clock) ?? 0;
  return html`<span class=${`countdown${left < TENTHS_BELOW_MS ? " is-short" : ""}`} role="timer" aria-live="off">
    ${label ? html`<span class="countdown-label">${label} </span>` : null}<b>${timeWords(left)}</b>
  </span>`;
}

/** A bar that shrinks with the time left; only its transform changes.
 * @param {{deadlineMs: number, limitMs: number, clock: import("../table/clock.js").ServerClock}} props */
export function TimeBar({ deadlineMs, limitMs, clock }) {
  const left = useLeftMs(deadlineMs, clock) ?? 0;
  const share = Math.max(0, Math.min(1, left / Math.max(1, limitMs)));
  return html`<span class=${`time-bar${left < TENTHS_BELOW_MS ? " is-short" : ""}`} aria-hidden="true">
    <span style=${{ transform: `scaleX(${share.toFixed(3)})` }}></span>
  </span>`;
}
