// A finished game step by step: the same reducer, and the hands dealt again from the revealed secrets.
import { deal } from "../fair/deal.js";
import { reduce, startOf } from "./reduce.js";

/** @typedef {import("./types.js").AnyFrame} AnyFrame */
/** @typedef {import("./types.js").TableState} TableState */

/** What a viewer stops at. */
const STOPS = new Set([
  "hand_dealt",
  "bid_made",
  "cards_passed",
  "card_played",
  "hand_scored",
  "seat_left",
  "game_over",
  "table_cancelled",
  "game_settled",
]);

/** Positions in `events` to stop at. @param {readonly AnyFrame[]} events @returns {number[]} */
export function stopsOf(events) {
  return events.flatMap((event, at) => {
    if (!STOPS.has(event.type)) return [];
    // A trick is shown with its winner: the stop is after the events that belong to its last card.
    let end = at;
    while (["spades_broken", "trick_taken", "deal_revealed", "cards_seen"].includes(events[end + 1]?.type ?? ""))
      end += 1;
    return [end];
  });
}

/** The table as it stood after the event at `at`, seen from a seat. @param {string} gameId
 * @param {readonly AnyFrame[]} events @param {number} at @param {number} seat @returns {TableState} */
export function tableAt(gameId, events, at, seat) {
  const state = events.slice(0, at + 1).reduce(reduce, startOf(gameId, ""));
  return { ...state, seat, hand: state.handPhase === "none" ? [] : (handsAt(gameId, events, at)[seat] ?? []) };
}

/** All four hands after the event at `at`; empty for a hand whose secret is not out.
 * @param {string} gameId @param {readonly AnyFrame[]} events @param {number} at @returns {string[][]} */
export function handsAt(gameId, events, at) {
  const dealtAt = events.slice(0, at + 1).findLastIndex((event) => event.type === "hand_dealt");
  const dealt = events[dealtAt];
  const revealed = dealt && events.find((event) => event.type === "deal_revealed" && event.hand_no === dealt.hand_no);
  const seeds = events.find((event) => event.type === "seeds_fixed")?.seeds;
  if (!dealt || !revealed || !seeds) return [[], [], [], []];
  const { hands } = deal({
    secret: revealed.secret,
    gameId,
    handNo: dealt.hand_no,
    dealer: revealed.dealer,
    deckId: revealed.deck_id,
    seeds,
  });
  let passes = 0;
  for (const event of events.slice(dealtAt + 1, at + 1)) {
    if (event.type === "card_played") hands[event.seat] = without(hands[event.seat], [event.card]);
    if (event.type !== "cards_passed") continue;
    // The first pass of a swap is the bidder's, the second its partner's.
    const swap = revealed.swaps[Math.floor(passes / 2)];
    const cards = passes % 2 === 0 ? swap.passed : swap.returned;
    passes += 1;
    hands[event.from_seat] = without(hands[event.from_seat], cards);
    hands[event.to_seat] = [...(hands[event.to_seat] ?? []), ...cards];
  }
  return hands;
}

/** @param {string[] | undefined} hand @param {readonly string[]} cards */
const without = (hand, cards) => (hand ?? []).filter((card) => !cards.includes(card));

/** Both teams' scores after each hand, from 0. @param {readonly AnyFrame[]} events @returns {[number, number][]} */
export function scoreLine(events) {
  /** @type {[number, number][]} */
  const start = [[0, 0]];
  return start.concat(
    events
      .filter((event) => event.type === "hand_scored")
      .map((event) => /** @type {[number, number]} */ ([event.teams[0].score, event.teams[1].score])),
  );
}
