// All that is known of one finished hand, gathered from the table's public events and this browser's own notes.
import { keptHand, keptSeed } from "./seed.js";

/** @typedef {import("../table/types.js").AnyFrame} AnyFrame */

/**
 * @param {string} gameId @param {readonly AnyFrame[]} facts public events in order, from the first on
 * @param {number} handNo @param {number | null} seat one's own
 * @returns {import("./check.js").Proof | null} null while the hand's secret is not out
 */
export function proofOf(gameId, facts, handNo, seat) {
  const at = facts.findIndex((fact) => fact.type === "hand_committed" && fact.hand_no === handNo);
  const revealed = facts.find((fact) => fact.type === "deal_revealed" && fact.hand_no === handNo);
  const opened = facts.find((fact) => fact.type === "table_opened");
  const fixed = facts.find((fact) => fact.type === "seeds_fixed");
  const locked = facts.find((fact) => fact.type === "seats_locked");
  const committed = facts[at];
  if (!committed || !revealed || !opened || !fixed || !locked) return null;
  const hand = facts.slice(at).filter((fact) => (fact.seq ?? 0) < (revealed.seq ?? 0));
  const played = [0, 1, 2, 3].map((of) =>
    hand.filter((fact) => fact.type === "card_played" && fact.seat === of).map((fact) => fact.card),
  );
  return {
    game_id: gameId,
    hand_no: handNo,
    dealer: revealed.dealer,
    deck_id: revealed.deck_id,
    anchor: opened.anchor,
    fingerprint: committed.fingerprint,
    secret: revealed.secret,
    seeds: fixed.seeds,
    seed_commits: locked.seats.map((/** @type {any} */ holder) => holder.seed_commit ?? null),
    seed_missing: fixed.seed_missing,
    swaps: revealed.swaps,
    played,
    called_off: played.some((cards) => cards.length < 13),
    own: seat === null ? null : ownNotes(gameId, hand, handNo, seat, fixed.seed_missing[seat]),
  };
}

/** What this browser kept itself: the server is not asked. @param {string} gameId
 * @param {AnyFrame[]} hand @param {number} handNo @param {number} seat @param {boolean} missing */
function ownNotes(gameId, hand, handNo, seat, missing) {
  const shown = hand.find(
    (fact) => fact.you?.cards?.length === 13 && (fact.type === "hand_dealt" || fact.type === "cards_seen"),
  );
  // A seed that came too late is no part of the deal, and the seeds say so.
  const seed = missing ? null : keptSeed(gameId);
  return { seat, seed, cards: shown?.you.cards ?? keptHand(gameId, handNo) };
}
