// One team's hand, scored for the worked examples: the same arithmetic as the score sheet's.

/** @param {number} points */
export const minus = (points) => `−${points}`;

/**
 * @param {import("./presets.js").RuleValues} rules @param {{bid: number | "nil" | "blind_nil", took: number}[]} partners
 * @returns {{sum: string, points: string}}
 */
export function score(rules, partners) {
  /** @type {number[]} */
  const parts = [];
  let contract = 0;
  let helping = 0;
  let bags = 0;
  for (const { bid, took } of partners) {
    if (typeof bid === "number") {
      contract += bid;
      helping += took;
      continue;
    }
    const value = bid === "nil" ? rules.nil : rules.blindNil;
    parts.push(took === 0 ? value : -value);
    if (rules.failedNil === "help") helping += took;
    else bags += took;
  }
  if (helping >= contract) {
    parts.unshift(10 * contract);
    bags += helping - contract;
  } else {
    parts.unshift(-rules.missed * contract);
  }
  if (bags > 0) parts.push(bags);
  const total = parts.reduce((sum, part) => sum + part, 0);
  return { sum: parts.map(signedPart).join(" "), points: total < 0 ? minus(-total) : String(total) };
}

/** @param {number} part @param {number} at */
function signedPart(part, at) {
  if (part < 0) return at === 0 ? minus(-part) : `− ${-part}`;
  return at === 0 ? String(part) : `+ ${part}`;
}
