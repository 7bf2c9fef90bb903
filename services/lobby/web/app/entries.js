// What a row of the history of one's coins means to their owner.

/** @typedef {{type: string, net_coins?: number}} Entry `net_coins`: won or lost, what is held counted in */

/** @type {Record<string, string>} */
const WORDS = {
  account_opened: "Welcome",
  coins_granted: "Top-up",
  hold_placed: "Stake and leaving deposit, held",
  hold_voided: "Given back: the game did not start",
  settlement: "Paid out",
  fee_taken: "You left: stake and fee are lost",
};

/** @param {Entry} entry */
export function entryWords({ type, net_coins: net }) {
  if (net !== undefined && type === "settlement") return settledWords(net);
  if (net !== undefined && type === "fee_taken") return `You left: ${-net} lost, the stake and the fee`;
  return WORDS[type] ?? type.replaceAll("_", " ");
}

/** What was held comes back with it, so the change alone does not tell how a game went. @param {number} net */
function settledWords(net) {
  if (net > 0) return `You won ${net}: paid out with stake and deposit`;
  if (net < 0) return `You lost ${-net}: the deposit comes back`;
  return "Stake and deposit given back";
}
