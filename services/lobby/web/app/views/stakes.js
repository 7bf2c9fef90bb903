// The stakes that are offered, what leaving costs, and whether one's coins reach.

export const STAKES = [10, 20, 50, 100, 200, 500, 1000];

/** The leaving fee: a tenth of the stake, rounded up to a whole coin. @param {number} stake */
export const feeOf = (stake) => Math.floor((stake + 9) / 10);

/**
 * The refusal of a stake that one's coins do not reach, as the wallet would say it; null: they do, or nobody knows.
 * @param {number} stake @param {{available_coins: number} | null} balance
 */
export function shortOf(stake, balance) {
  const needed_coins = stake + feeOf(stake);
  if (balance === null || balance.available_coins >= needed_coins) return null;
  return { code: "insufficient_balance", needed_coins, available_coins: balance.available_coins };
}
