import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { checkDeal } from "../app/fair/check.js";
import { chainStep, deal, freshDeck, NO_SEED, seedCommit } from "../app/fair/deal.js";
import { proofOf } from "../app/fair/proof.js";
import { rowsOf } from "./deal_check.mjs";

const CASES = fileURLToPath(new URL("../../../../tests/cases/fair_deal.json", import.meta.url));
const SEED = "11".repeat(32);

/** A hand dealt from a made-up chain, played out in the order dealt. */
function honest(changes = {}) {
  const secrets = ["cc".repeat(32)];
  for (let i = 0; i < 3; i += 1) secrets.unshift(chainStep(secrets[0]));
  const seeds = [SEED, NO_SEED, NO_SEED, NO_SEED];
  const { hands } = deal({ secret: secrets[2], gameId: "t", handNo: 2, dealer: 3, deckId: 0, seeds });
  return {
    ...{ game_id: "t", hand_no: 2, dealer: 3, deck_id: 0 },
    ...{ anchor: secrets[0], fingerprint: secrets[1], secret: secrets[2], seeds },
    seed_commits: [seedCommit(SEED), null, null, null],
    seed_missing: [false, false, false, false],
    ...{ swaps: [], played: hands, own: { seat: 0, seed: SEED, cards: hands[0] } },
    ...changes,
  };
}
const failed = (proof) =>
  checkDeal(proof)
    .filter((step) => !step.ok)
    .map((step) => step.name);

test("the case file's vector is reproduced step by step", { skip: !existsSync(CASES) && "no case file here" }, () => {
  for (const vector of JSON.parse(readFileSync(CASES, "utf8")).vectors) {
    for (const { name, expected, got } of rowsOf(vector)) assert.equal(got, expected, name);
  }
});

test("an honest hand passes every step", () => {
  assert.deepEqual(failed(honest()), []);
});

test("another secret breaks the fingerprint, the anchor and the hands", () => {
  assert.deepEqual(failed(honest({ secret: "ab".repeat(32) })).slice(0, 2), ["fingerprint", "anchor"]);
});

test("a seed that does not open its commitment is named", () => {
  assert.ok(failed(honest({ seed_commits: [seedCommit(NO_SEED), null, null, null] })).includes("seed_0"));
});

test("a bot's seat may have no seed of its own", () => {
  assert.ok(failed(honest({ seeds: [SEED, SEED, NO_SEED, NO_SEED] })).includes("seed_1"));
});

test("a missing seed must be zeros", () => {
  assert.deepEqual(failed(honest({ seed_missing: [true, false, false, false] })), ["seed_0"]);
});

test("a card that was not dealt to the seat that played it is found", () => {
  const proof = honest();
  const played = proof.played.map((cards) => [...cards]);
  [played[0][0], played[1][0]] = [played[1][0], played[0][0]];
  assert.deepEqual(failed({ ...proof, played }), ["played_0", "played_1"]);
});

test("a hand other than the one shown is found", () => {
  const proof = honest();
  assert.deepEqual(failed({ ...proof, own: { seat: 0, seed: SEED, cards: proof.played[1] } }), ["own_hand_0"]);
});

test("a swap moves its cards, and a card not held cannot be passed", () => {
  const { played: hands, ...proof } = honest();
  const [passed, returned] = [hands[1].slice(0, 2), hands[3].slice(0, 2)];
  const played = [hands[0], [...hands[1].slice(2), ...returned], hands[2], [...hands[3].slice(2), ...passed]];
  assert.deepEqual(failed({ ...proof, played, swaps: [{ bidder: 1, passed, returned }] }), []);
  assert.ok(
    failed({ ...proof, played, swaps: [{ bidder: 1, passed: returned, returned }] }).includes("swap_given_1"),
  );
});

test("a hand called off shows some of its cards, each of them dealt", () => {
  const proof = honest();
  const played = proof.played.map((cards) => cards.slice(0, 3));
  assert.deepEqual(failed({ ...proof, played, called_off: true }), []);
  assert.ok(failed({ ...proof, played }).includes("played_0"));
});

test("values that are no hex fail as a step, not as an exception", () => {
  assert.deepEqual(failed(honest({ secret: "no" })), ["format"]);
});

test("the jokers' deck has 52 cards without the two deuces", () => {
  const deck = freshDeck(1);
  assert.equal(new Set(deck).size, 52);
  assert.deepEqual([deck.includes("2C"), deck.includes("2D"), deck.at(-1)], [false, false, "BJ"]);
});

test("there is no proof before the secret is out", () => {
  assert.equal(proofOf("t", [{ type: "hand_committed", hand_no: 1, seq: 1 }], 1, null), null);
});
