// Deals each vector of the given files again and prints a row a step, with what differs.
//
//   node services/lobby/web/tests/deal_check.mjs FILE...      exit 1 on any difference, 2 on what cannot be checked
//
// A FILE is a case file with vectors, or a proof as the page offers it for download: the gateway's own `/proof` lacks
// the seeds' commitments and the cards played, which stand in the game's events.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { chainStep, deal, FORMAT, NO_SEED, seedCommit } from "../app/fair/deal.js";
import { checkDeal } from "../app/fair/check.js";

/** @returns {{name: string, expected: string, got: string}[]} every compared value of one vector */
export function rowsOf(vector) {
  const { inputs, trace } = vector;
  let link = inputs.chain_root;
  const chain = [link];
  for (let i = 0; i < inputs.chain_length; i += 1) chain.unshift((link = chainStep(link)));
  const secret = chain[inputs.hand_no];
  const got = deal({
    secret,
    gameId: inputs.game_id,
    handNo: inputs.hand_no,
    dealer: inputs.dealer_seat,
    deckId: inputs.deck_id,
    seeds: inputs.client_seeds,
  });
  const row = (name, expected, value) => ({ name, expected: String(expected), got: String(value) });
  return [
    row("anchor", vector.anchor, chain[0]),
    row("fingerprint", vector.fingerprint, chain[inputs.hand_no - 1]),
    row("secret", vector.secret, secret),
    ...inputs.client_seeds.map((seed, seat) =>
      row(`seed commit ${seat}`, vector.seed_commits[seat], commitOf(vector, seat, seed)),
    ),
    row("deal key", vector.deal_key, got.dealKey),
    row("stream block 0", vector.drbg_block_0, got.block0),
    row("after shuffle 1", trace.after_shuffle_1, got.afterShuffle1.join(" ")),
    row("first cut at", trace.cut_1_at, got.cut1At),
    row("after shuffle 2", trace.after_shuffle_2, got.afterShuffle2.join(" ")),
    row("thirds", trace.cut_2.join(" "), got.cut2.join(" ")),
    row("final deck", trace.final_deck, got.finalDeck.join(" ")),
    row("bytes used", trace.bytes_used, got.bytesUsed),
    row("bytes rejected", trace.bytes_rejected, got.bytesRejected),
    ...vector.hands.map((hand, seat) => row(`hand ${seat}`, hand, got.hands[seat].join(" "))),
    ...stepsOf(vector, got.hands, chain),
  ];
}

/** A seat without a commitment has none to compare. */
function commitOf(vector, seat, seed) {
  return vector.seed_commits[seat] === null && seed === NO_SEED ? null : seedCommit(seed);
}

/** The page's own check of the same hand, played out in the order dealt. */
function stepsOf({ inputs, anchor, fingerprint, secret, seed_commits }, hands) {
  const proof = {
    game_id: inputs.game_id,
    hand_no: inputs.hand_no,
    dealer: inputs.dealer_seat,
    deck_id: inputs.deck_id,
    anchor,
    fingerprint,
    secret,
    seeds: inputs.client_seeds,
    seed_commits,
    seed_missing: seed_commits.map((commit) => commit === null),
    swaps: [],
    played: hands,
  };
  // The first dealer is drawn, and a vector may name another: that step is the game's, not the deal's.
  const steps = checkDeal(proof).filter((step) => step.name !== "first_dealer");
  return steps.map((step) => ({ name: `check ${step.name}`, expected: step.shown, got: step.computed }));
}

/** Titles with the rows below them. */
function tablesOf(file) {
  const data = read(file);
  if (data.secret && !data.seed_commits) throw new Unchecked(`${file}: ${NO_COMMITS}`);
  if (data.secret) return [[`hand ${data.hand_no} of ${data.game_id}`, rowsOfProof(data)]];
  if (data.format !== FORMAT) throw new Unchecked(`${file}: neither a proof nor a case file of ${FORMAT}`);
  return data.vectors.map((vector) => [vector.name, rowsOf(vector)]);
}

/** A file that holds nothing to check. */
class Unchecked extends Error {}

const NO_COMMITS =
  "this proof has no seed_commits, so it does not show whose seeds went into the deal. " +
  "Take the one of the page: Replay or the table's menu, Check the deal, Download the proof.";

function read(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")) ?? {};
  } catch (error) {
    throw new Unchecked(`${file}: ${error instanceof SyntaxError ? "no JSON" : error.message}`);
  }
}

const rowsOfProof = (proof) =>
  checkDeal(proof).map((step) => ({ name: step.name, expected: step.shown, got: step.computed }));

function main(files) {
  let differences = 0;
  for (const file of files) {
    for (const [title, rows] of tablesOf(file)) {
      console.log(`${file}: ${title}`);
      for (const { name, expected, got } of rows) {
        const same = expected === got;
        differences += same ? 0 : 1;
        console.log(
          `  ${same ? "same  " : "DIFFER"} ${name.padEnd(22)} ${same ? got.slice(0, 72) : `expected ${expected}`}`,
        );
        if (!same) console.log(`  ${" ".repeat(29)} got      ${got}`);
      }
    }
  }
  console.log(differences === 0 ? "all the same" : `${differences} differences`);
  return differences === 0 ? 0 : 1;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const files = process.argv.slice(2);
  if (files.length === 0) {
    console.error("usage: node services/lobby/web/tests/deal_check.mjs FILE...");
    process.exit(2);
  }
  try {
    process.exit(main(files));
  } catch (error) {
    if (!(error instanceof Unchecked)) throw error;
    console.error(error.message);
    process.exit(2);
  }
}
