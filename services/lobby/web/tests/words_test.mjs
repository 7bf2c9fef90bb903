import assert from "node:assert/strict";
import { test } from "node:test";
import { entryWords } from "../app/entries.js";
import { checkDeal } from "../app/fair/check.js";
import { lostWords } from "../app/table/say.js";
import { startOf } from "../app/table/start.js";
import { shortOf } from "../app/views/stakes.js";

test("a row of the history says how the game went, whatever came back with it", () => {
  assert.equal(entryWords({ type: "settlement", net_coins: 100 }), "You won 100: paid out with stake and deposit");
  assert.equal(entryWords({ type: "settlement", net_coins: -100 }), "You lost 100: the deposit comes back");
  assert.equal(entryWords({ type: "settlement", net_coins: 0 }), "Stake and deposit given back");
  assert.equal(entryWords({ type: "fee_taken", net_coins: -110 }), "You left: 110 lost, the stake and the fee");
});

test("a row that is not known is still words", () => {
  assert.equal(entryWords({ type: "account_closed" }), "account closed");
  assert.match(entryWords({ type: "fee_taken" }), /stake and fee are lost/);
});

test("a stake is out of reach with less than stake and deposit, and nobody knows without a balance", () => {
  assert.equal(shortOf(100, { available_coins: 110 }), null);
  assert.equal(shortOf(100, null), null);
  assert.deepEqual(shortOf(100, { available_coins: 109 }), {
    code: "insufficient_balance",
    needed_coins: 110,
    available_coins: 109,
  });
});

test("a lost line tells of the clock only where there is one, and of the seat only who has one", () => {
  const watching = startOf("t", "me");
  assert.doesNotMatch(lostWords(watching), /seat|clock/);
  assert.match(lostWords({ ...watching, seat: 0 }), /seat is kept/);
  assert.doesNotMatch(lostWords({ ...watching, seat: 0 }), /clock/);
  assert.match(lostWords({ ...watching, seat: 0, clockMs: 30_000 }), /gives back any time that the server is away/);
});

test("a proof that lacks a part is a step that is not ok, never an exception", () => {
  for (const proof of [{}, { seeds: [], secret: "ab" }]) {
    const steps = checkDeal(proof);
    assert.deepEqual([steps.length, steps[0].name, steps[0].ok], [1, "format", false]);
  }
});
