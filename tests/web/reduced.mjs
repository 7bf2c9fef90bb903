// Compares the page's reducer with snapshots: a game folded event by event must be the game as told at once.
//
//   node tests/web/reduced.mjs GAME.json      {"views": [{"me", "frames", "snapshots"}]}; exit 1 on a difference
import { readFileSync } from "node:fs";
import { reduce, startOf } from "../../services/lobby/web/app/table/reduce.js";
import { NO_HAND } from "../../services/lobby/web/app/table/start.js";

/** What only the stream tells, or what a snapshot measures anew. */
const NOT_COMPARED = new Set([
  ...["facts", "factsFromStart", "notices", "misses", "computerSpeed", "payouts", "results", "nextDeadlineMs"],
  ...["botsWelcome", "names", "reserved"],
]);

/** Between hands a snapshot tells of no hand; the page goes on showing the last one. */
const OF_A_HAND = new Set([...Object.keys(NO_HAND), "dealer", "fingerprint"]);

const ordered = (value) =>
  Array.isArray(value) && value.every((one) => typeof one === "string") ? [...value].sort() : value;

function comparable(state) {
  const shown = {};
  for (const [key, value] of Object.entries(state)) {
    if (NOT_COMPARED.has(key) || (state.phase !== "playing" && OF_A_HAND.has(key))) continue;
    // Cards arrive in the order they came to the hand; a snapshot sorts them.
    shown[key] = ["hand", "newCards", "passed", "legalCards"].includes(key) && value ? ordered(value) : value;
    if (key === "turn" && value) shown[key] = { ...value, limitMs: null };
  }
  return shown;
}

let compared = 0;
const differences = [];
const { table_id, views } = JSON.parse(readFileSync(process.argv[2], "utf8"));
for (const { me, frames, snapshots } of views) {
  // From the first snapshot on: a test may start a game at scores that no event tells.
  let state = reduce(startOf(table_id, me), Object.values(snapshots)[0]);
  for (const frame of frames) {
    state = reduce(state, frame);
    const snapshot = snapshots[String(frame.seq)];
    if (!snapshot) continue;
    const told = comparable(reduce(startOf(table_id, me), snapshot));
    const folded = comparable(state);
    compared += 1;
    for (const key of Object.keys(told)) {
      const [a, b] = [JSON.stringify(folded[key]), JSON.stringify(told[key])];
      if (a !== b) differences.push(`${me} after ${frame.seq} ${frame.type}: ${key} folded ${a} told ${b}`);
    }
  }
}
for (const line of differences.slice(0, 20)) console.log(line);
console.log(`${compared} states compared, ${differences.length} differences`);
process.exit(differences.length === 0 && compared > 0 ? 0 : 1);
