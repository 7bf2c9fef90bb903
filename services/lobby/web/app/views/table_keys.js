// Keys at the table: numbers bid, T V P R tell, ? opens the menu. Cards move by the hand's own arrows.
import { useEffect, useRef } from "preact/hooks";
import { announce } from "../announce.js";
import { prefs } from "../prefs.js";
import { bidsWords, turnWords } from "../table/say.js";
import { isOwnTurn } from "../table/selectors.js";

const SECOND_DIGIT_MS = 1_000;

/**
 * @param {{session: import("../table/session.js").TableSession, state: import("../table/types.js").TableState,
 *   moves: any, openMenu: (page: string) => void, menuOpen: boolean}} props
 */
export function useTableKeys({ session, state, moves, openMenu, menuOpen }) {
  const digit = useRef({ value: 0, at: 0 });
  useEffect(() => {
    /** @param {KeyboardEvent} event */
    const onKey = (event) => {
      if (menuOpen || event.ctrlKey || event.metaKey || event.altKey || !prefs.get().shortcuts) return;
      const target = /** @type {HTMLElement} */ (event.target);
      if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
      if (pressed(event.key, target)) event.preventDefault();
    };

    /** @param {string} key @param {HTMLElement} target @returns {boolean} whether the key meant something */
    function pressed(key, target) {
      if (/^[0-9]$/.test(key) && state.handPhase === "auction" && isOwnTurn(state)) return number(Number(key));
      switch (key.toLowerCase()) {
        case "?":
          openMenu("keys");
          return true;
        case "p":
          openMenu("sheet");
          return true;
        case "r":
          openMenu("trick");
          return true;
        case "t":
          announce(turnWords(state, state.turn?.deadlineMs ? session.clock.leftMs(state.turn.deadlineMs) : null));
          return true;
        case "v":
          announce(bidsWords(state));
          return true;
        case "enter":
          return confirm(target);
        default:
          return false;
      }
    }

    /** @param {number} pressedDigit */
    function number(pressedDigit) {
      const { value, at } = digit.current;
      const two = value * 10 + pressedDigit;
      const joined = value === 1 && Date.now() - at < SECOND_DIGIT_MS && two <= 13 ? two : pressedDigit;
      digit.current = { value: joined, at: Date.now() };
      if (state.faceDown[state.seat ?? 0]) return false;
      moves.pickBid(joined === 0 ? "nil" : joined);
      announce(joined === 0 ? "Nil. Enter bids it." : `${joined}. Enter bids it.`);
      return true;
    }

    /** Enter confirms a picked bid unless it means the button in focus. @param {HTMLElement} target */
    function confirm(target) {
      const own = target.dataset.bid !== undefined || target.dataset.card !== undefined;
      const onOther = target.tagName === "A" || (target.tagName === "BUTTON" && !own);
      if (onOther || state.handPhase !== "auction" || moves.picked === null) return false;
      moves.confirmBid();
      return true;
    }

    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  });
}
