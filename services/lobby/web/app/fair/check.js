// The check of a revealed deal against what was published and seen, step by named step.
import { chainStep, deal, firstDealer, NO_SEED, seedCommit } from "./deal.js";
import { inDeckOrder } from "../cards.js";

/**
 * @typedef {object} SwapSeen
 * @property {number} bidder
 * @property {readonly string[]} passed by the bidder, to the partner
 * @property {readonly string[]} returned by the partner
 *
 * @typedef {object} Proof all that is published about one finished hand
 * @property {string} game_id
 * @property {number} hand_no
 * @property {number} dealer
 * @property {number} deck_id
 * @property {string} anchor
 * @property {string} fingerprint as shown before the deal
 * @property {string} secret as revealed after the hand
 * @property {readonly string[]} seeds
 * @property {readonly (string | null)[]} seed_commits null: a bot's seat, or none given
 * @property {readonly boolean[]} seed_missing
 * @property {readonly SwapSeen[]} swaps
 * @property {readonly (readonly string[])[]} played by seat, in the order played
 * @property {boolean} [called_off] the hand ended early, so not every card was seen
 * @property {{seat: number, seed: string | null, cards: readonly string[] | null} | null} [own]
 *   what this browser itself kept: its seed and the hand it was shown
 *
 * @typedef {object} CheckStep
 * @property {string} name
 * @property {boolean} ok
 * @property {string} shown what was published or seen
 * @property {string} computed what this browser makes of it
 */

/** @param {string} name @param {string} shown @param {string} computed @returns {CheckStep} */
const same = (name, shown, computed) => ({ name, ok: shown === computed, shown, computed });

/** @param {readonly string[]} cards */
const listed = (cards) => inDeckOrder(cards).join(" ");

/** What a proof lists; the gateway's shorter one leaves some out. @type {(keyof Proof)[]} */
const LISTS = ["seeds", "seed_commits", "seed_missing", "swaps", "played"];

/** @param {string} shown @param {string} computed @returns {CheckStep} */
const unreadable = (shown, computed) => ({ name: "format", ok: false, shown, computed });

const HEX = /^[0-9a-f]{64}$/;

/**
 * Deal the hand again and compare. Every difference is a step that is not ok, never an exception.
 * @param {Proof} proof @returns {CheckStep[]}
 */
export function checkDeal(proof) {
  const lacking = LISTS.find((name) => !Array.isArray(proof[name]));
  if (lacking !== undefined) return [unreadable(`no ${lacking}`, "a proof as this page offers it for download")];
  const broken = [proof.secret, proof.anchor, proof.fingerprint, ...proof.seeds].find((value) => !HEX.test(value));
  if (broken !== undefined || proof.seeds.length !== 4) {
    return [unreadable(String(broken), "64 hexadecimal digits")];
  }
  let link = proof.secret;
  for (let i = 0; i < proof.hand_no; i += 1) link = chainStep(link);
  const steps = [
    same("fingerprint", proof.fingerprint, chainStep(proof.secret)),
    same("anchor", proof.anchor, link),
    ...[0, 1, 2, 3].map((seat) => seedStep(proof, seat)),
  ];
  const inputs = {
    secret: proof.secret,
    gameId: proof.game_id,
    handNo: proof.hand_no,
    dealer: proof.dealer,
    deckId: proof.deck_id,
    seeds: proof.seeds,
  };
  if (proof.hand_no === 1) steps.push(same("first_dealer", String(proof.dealer), String(firstDealer(inputs))));
  const { hands } = deal(inputs);
  const own = proof.own;
  if (own?.seed) steps.push(same(`own_seed_${own.seat}`, own.seed, proof.seeds[own.seat] ?? ""));
  if (own?.cards) steps.push(same(`own_hand_${own.seat}`, listed(own.cards), listed(hands[own.seat] ?? [])));
  return [...steps, ...swapSteps(proof, hands), ...[0, 1, 2, 3].map((seat) => playedStep(proof, hands, seat))];
}

/** @param {Proof} proof @param {number} seat */
function seedStep(proof, seat) {
  const seed = proof.seeds[seat] ?? "";
  const commit = proof.seed_commits[seat] ?? null;
  if (commit === null || proof.seed_missing[seat]) return same(`seed_${seat}`, seed, NO_SEED);
  return same(`seed_${seat}`, commit, seedCommit(seed));
}

/** Checks each half of each swap and moves its cards. @param {Proof} proof @param {string[][]} hands @returns {CheckStep[]} */
function swapSteps(proof, hands) {
  return proof.swaps.flatMap(({ bidder, passed, returned }) => {
    const partner = (bidder + 2) % 4;
    return [
      passStep(hands, bidder, partner, passed, `swap_given_${bidder}`),
      passStep(hands, partner, bidder, returned, `swap_returned_${partner}`),
    ];
  });
}

/**
 * @param {string[][]} hands @param {number} from @param {number} to @param {readonly string[]} cards
 * @param {string} name
 */
function passStep(hands, from, to, cards, name) {
  const held = hands[from] ?? [];
  const step = same(name, listed(cards), listed(cards.filter((card) => held.includes(card))));
  hands[from] = held.filter((card) => !cards.includes(card));
  hands[to] = [...(hands[to] ?? []), ...cards];
  return step;
}

/** @param {Proof} proof @param {string[][]} hands @param {number} seat */
function playedStep(proof, hands, seat) {
  const seen = proof.played[seat] ?? [];
  const held = hands[seat] ?? [];
  // A hand that was called off showed only some of its cards; each must be among those dealt.
  const expected = proof.called_off ? held.filter((card) => seen.includes(card)) : held;
  return same(`played_${seat}`, listed(seen), listed(expected));
}
