// The stakes that are offered, and what leaving costs.

export const STAKES = [10, 20, 50, 100, 200, 500, 1000];

/** The leaving fee: a tenth of the stake, rounded up to a whole coin. @param {number} stake */
export const feeOf = (stake) => Math.floor((stake + 9) / 10);
