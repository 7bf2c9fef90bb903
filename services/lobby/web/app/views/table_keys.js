// Keys at the table: numbers bid, T V P R tell, ? opens the menu. Cards move by the hand's own arrows.
import { useLayoutEffect, useRef } from "preact/hooks";
import { announce } from "../announce.js";
import { prefs } from "../prefs.js";
import { bidsWords, turnWords } from "../table/say.js";
import { isOwnTurn } from "../table/selectors.js";

const SECOND_DIGIT_MS = 1_000;

/** The keys that open a page of the menu, or turn to it. @type {Record<string, string>} */
const PAGES = { "?": "keys", p: "sheet", r: "trick" };

/**
 * @param {{session: import("../table/session.js").TableSession, state: import("../table/types.js").TableState,
 *   moves: any, openMenu: (page: string) => void, open: "table" | "menu" | "dialog"}} props
 *   `open`: what takes the keys just now
 */
export function useTableKeys({ session, state, moves, openMenu, open }) {
  const digit = useRef({ value: 0, at: 0 });
  // Before the next event, not after the next frame: a key pressed in between would find the page of before.
  useLayoutEffect(() => {
    /** @param {KeyboardEvent} event */
    const onKey = (event) => {
      if (open === "dialog" || event.ctrlKey || event.metaKey || event.altKey || !prefs.get().shortcuts) return;
      const target = /** @type {HTMLElement} */ (event.target);
      if (/^(SELECT|TEXTAREA)$/.test(target.tagName)) return;
      if (target instanceof HTMLInputElement && !/^(checkbox|radio)$/.test(target.type)) return;
      if (turned(event.key) || (open === "table" && pressed(event, target))) event.preventDefault();
    };

    /** @param {string} key */
    function turned(key) {
      const page = PAGES[key.toLowerCase()];
      if (page) openMenu(page);
      return page !== undefined;
    }

    /** @param {KeyboardEvent} event @param {HTMLElement} target @returns {boolean} whether the key meant something */
    function pressed({ key, timeStamp }, target) {
      if (/^[0-9]$/.test(key) && state.handPhase === "auction" && isOwnTurn(state))
        return number(Number(key), timeStamp);
      switch (key.toLowerCase()) {
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

    /** @param {number} pressedDigit @param {number} at when it was pressed, however late the page hears of it */
    function number(pressedDigit, at) {
      const before = digit.current;
      const two = before.value * 10 + pressedDigit;
      const joined = before.value === 1 && at - before.at < SECOND_DIGIT_MS && two <= 13 ? two : pressedDigit;
      digit.current = { value: joined, at };
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
