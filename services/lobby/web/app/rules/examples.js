// Worked hands and questions for the rule pages, computed from the rule set's own numbers.
import { minus, score } from "./score.js";

/** @typedef {import("./presets.js").RuleValues} RuleValues */

/** @param {RuleValues} rules @returns {{hand: string, sum: string, points: string}[]} */
export function workedHands(rules) {
  const nilFailed = score(rules, [
    { bid: 4, took: 4 },
    { bid: "nil", took: 1 },
  ]);
  const rows = [
    {
      hand: "Bid 7 together, took 9",
      ...score(rules, [
        { bid: 4, took: 5 },
        { bid: 3, took: 4 },
      ]),
    },
    {
      hand: "Bid 7 together, took 6",
      ...score(rules, [
        { bid: 4, took: 4 },
        { bid: 3, took: 2 },
      ]),
    },
    {
      hand: "Bid 4 and Nil: took 5 and none",
      ...score(rules, [
        { bid: 4, took: 5 },
        { bid: "nil", took: 0 },
      ]),
    },
    { hand: "Bid 4 and Nil: took 4, and the Nil took 1", ...nilFailed },
    {
      hand: "Bid 4 and Nil: took 3, and the Nil took 1",
      ...score(rules, [
        { bid: 4, took: 3 },
        { bid: "nil", took: 1 },
      ]),
    },
  ];
  if (rules.blindNil) {
    rows.push({
      hand: "Bid 5 and Blind Nil: took 5 and none",
      ...score(rules, [
        { bid: 5, took: 5 },
        { bid: "blind_nil", took: 0 },
      ]),
    });
  }
  return rows;
}

/** @param {RuleValues} rules @returns {{question: string, answer: string}[]} */
export function questions(rules) {
  const helps = rules.failedNil === "help";
  return [
    {
      question: "My partner bid Nil. Does my bid change?",
      answer: "No. Your own bid stands alone: you must still take as many tricks as you bid.",
    },
    {
      question: "A Nil bidder takes a trick. What is lost?",
      answer: `${rules.nil} points. The trick itself ${helps ? "helps the partner’s contract, or is a bag beyond it" : "is a bag and does not help the partner’s contract"}.`,
    },
    {
      question: "May I lead a spade before spades are broken?",
      answer: "Only if your hand is nothing but spades. Such a lead does not break them.",
    },
    {
      question: "What breaks spades?",
      answer: "A spade played on a trick of another suit. A spade on a spade lead breaks nothing.",
    },
    {
      question: "Do bags carry into a new game?",
      answer: "No. Each game starts without bags.",
    },
    {
      question: "Why is the last digit of my score my bag count?",
      answer:
        "Every bag is worth a point and everything else is in tens. It holds while the score is not negative, so the count is always shown on its own.",
    },
    {
      question: "Both teams reach the target in one hand. Who wins?",
      answer: "The higher score. If the scores are level, another hand is played.",
    },
    {
      question: "What happens when my time runs out?",
      answer: `The table makes a sensible move for you. It costs nothing and changes no stake; a missed contract still costs ${rules.missed ? minus(rules.missed) + " a trick bid" : "nothing"}.`,
    },
  ];
}

/** Where rule books and houses differ, and what is played here. @param {RuleValues} rules @returns {string[]} */
export function disagreements(rules) {
  return [
    `A missed contract: many books take 10 a trick bid, one takes nothing. Here: ${rules.missed ? "10 a trick bid" : "nothing"}.`,
    `Nil: 100 nowadays, 50 in older books. Here: ${rules.nil}.`,
    `A failed Nil’s tricks: some let them help the partner, some count them as bags only. Here: ${rules.failedNil === "help" ? "they help" : "bags only"}.`,
    `Blind Nil: not everywhere. Here: ${rules.blindNil ? `${rules.blindNil} points, for a team at least 100 behind` : "there is none"}.`,
    `How a game ends: 500, or a shorter 200, 250 or 300. Here: ${rules.target}${rules.floor === null ? ", and nobody loses by a low score" : `, or lost at ${minus(-rules.floor)}`}.`,
    "Breaking spades: many programs say that any spade played breaks them. Here only a spade on another suit does.",
  ];
}
