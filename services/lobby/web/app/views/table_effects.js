// What a table does beside its picture: speaks to the live region, sounds, the tab's title.
import { useEffect } from "preact/hooks";
import { announce, hush } from "../announce.js";
import { prefs } from "../prefs.js";
import { playTurnSound } from "../sound.js";
import { said } from "../table/say.js";
import { isOwnTurn } from "../table/selectors.js";

/** @param {import("../table/session.js").TableSession} session */
export function useTableEffects(session) {
  useEffect(() => {
    const stop = session.listen((before, after, frame) => {
      // A repeated event is no news; what comes without a number, presence and talk, always is.
      const isNews = frame.seq === undefined || after.seq !== before.seq;
      const heard = frame.type === "said" && session.muted.get().has(frame.account_id);
      const words = isNews && !heard ? said(after, frame) : "";
      if (words) announce(words);
      const mine = isOwnTurn(after);
      if (mine && !isOwnTurn(before) && prefs.get().sound && before.phase !== "loading") playTurnSound();
      document.title = mine && prefs.get().titleMark ? "● Your turn · Spades" : "Spades";
    });
    return () => {
      stop();
      hush();
      document.title = "Spades";
    };
  }, [session]);
}
