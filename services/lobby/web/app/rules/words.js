// A table's rules in words: its own ruleset and nothing else.
import { valuesOf } from "./presets.js";

/** @typedef {import("./presets.js").RuleValues} RuleValues */

/** @param {import("../table/types.js").Ruleset} ruleset @returns {{title: string, lines: string[]}[]} */
export function rulesInWords(ruleset) {
  const rules = valuesOf(ruleset);
  return [
    { title: "The deal", lines: dealWords(rules) },
    { title: "Bidding", lines: biddingWords(rules) },
    { title: "Play", lines: playWords(rules) },
    { title: "Scoring", lines: scoringWords(rules) },
    { title: "The end", lines: endWords(rules) },
  ];
}

/** @param {RuleValues} rules */
function dealWords(rules) {
  const deck = rules.jokers
    ? "52 cards: the Big and Little Joker play, 2♣ and 2♦ stay out. Thirteen each."
    : "52 cards, thirteen each.";
  return [deck, "You and the player across are partners. The deal passes clockwise every hand."];
}

/** @param {RuleValues} rules */
function biddingWords(rules) {
  const lines = [
    "One round, from the dealer’s left. Nobody passes, and a bid can’t be changed.",
    rules.zero
      ? "Bid 0 to 13 tricks; 0 is Nil: you promise to take none."
      : "Bid 1 to 13 tricks, or Nil: you promise to take none.",
  ];
  if (rules.blindNil) {
    lines.push(
      "A team 100 or more behind at the deal gets its cards face down. Bid Blind Nil unseen, or look first and bid as usual.",
    );
  }
  if (rules.swap) {
    lines.push(
      "After the bids a Blind Nil bidder passes two cards to the partner, who passes two back. No swap if both bid it.",
    );
  }
  return lines;
}

/** @param {RuleValues} rules */
function playWords(rules) {
  const rank = rules.jokers
    ? "Aces are high. Big Joker, Little Joker, ace of spades: jokers are spades in everything."
    : "Aces are high. Any spade beats any card of another suit.";
  return [
    "The dealer’s left leads. Follow the suit led if you can; otherwise play anything.",
    rank,
    "Spades may be led once one was played on another suit, or from a hand of nothing but spades. Spades on a spade lead break nothing.",
    "The highest spade takes the trick, else the highest card of the suit led. The winner leads.",
  ];
}

/** @param {RuleValues} rules */
function scoringWords(rules) {
  const lines = [
    "Partners’ bids add up to the contract. Made: 10 a trick bid, and 1 for each trick beyond, a bag.",
    rules.missed ? `Missed: −${rules.missed} a trick bid.` : "Missed: nothing is lost and nothing won.",
    "Every tenth bag costs 100.",
    `Nil: ${rules.nil} won or lost. The partner’s bid still counts on its own.`,
    rules.failedNil === "help"
      ? "A failed Nil’s tricks help the partner’s contract."
      : "A failed Nil’s tricks are bags; they never help the contract.",
  ];
  if (rules.blindNil) lines.push(`Blind Nil: ${rules.blindNil} won or lost.`);
  return lines;
}

/** @param {RuleValues} rules */
function endWords(rules) {
  const lines = [`A team at ${rules.target} or more wins; both there: the higher score. A tie plays another hand.`];
  if (rules.floor !== null)
    lines.push(`A team at ${String(rules.floor).replace("-", "−")} or less loses straight away.`);
  lines.push("Bags never carry into another game.");
  return lines;
}

/** Advice for the ? menu and the hints, the same in every rule set. */
export const TIPS = [
  "Bid a little low: being set costs far more than a bag.",
  "Your partner bid Nil? Win tricks over them, high and early.",
  "Against an opponent’s Nil lead low and let them take one.",
  "Near ten bags, every extra trick hurts: duck what you can.",
];

export const BID_ADVICE =
  "Count aces, kings and high spades; add a trick or two for long spades, or for a short suit you can trump.";

/** What a line of the score sheet stands for, naming the rule. @param {import("../table/types.js").AnyFrame} line
 * @param {RuleValues} rules @param {string} name of the seat, where the line has one */
export function lineWords(line, rules, name) {
  const count = line.count ?? 0;
  switch (line.rule) {
    case "contract_made":
      return `Contract of ${count} made: 10 a trick bid`;
    case "contract_missed":
      return rules.missed
        ? `Contract of ${count} missed: −${rules.missed} a trick bid`
        : `Contract of ${count} missed: costs nothing here`;
    case "nil_made":
      return `${name}: Nil made, ${rules.nil}`;
    case "nil_failed":
      return `${name}: Nil failed with ${tricks(count)}, −${rules.nil}`;
    case "blind_nil_made":
      return `${name}: Blind Nil made, ${rules.blindNil}`;
    case "blind_nil_failed":
      return `${name}: Blind Nil failed with ${tricks(count)}, −${rules.blindNil}`;
    case "bags":
      return count === 1 ? "1 bag: 1 point" : `${count} bags: 1 point each`;
    case "bag_penalty":
      return count > 1 ? `${count} times ten bags full: −100 each` : "Ten bags full: −100";
    default:
      return String(line.rule).replaceAll("_", " ");
  }
}

/** @param {number} count */
const tricks = (count) => (count === 1 ? "1 trick" : `${count} tricks`);
