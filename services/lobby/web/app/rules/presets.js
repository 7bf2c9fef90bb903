// The five rule sets as the page explains and offers them. A test compares the menus with the rules library's.

/**
 * @typedef {object} RuleValues every number that differs between rule sets
 * @property {number} target
 * @property {number | null} floor
 * @property {number} nil
 * @property {number} blindNil 0: there is none
 * @property {number} swap cards each way; 0: none
 * @property {number} missed lost per trick bid when the contract is missed
 * @property {"help" | "bags"} failedNil
 * @property {boolean} jokers
 * @property {boolean} zero the number pad writes Nil as 0
 *
 * @typedef {object} Preset
 * @property {string} name
 * @property {string} title
 * @property {string} blurb
 * @property {Record<string, (number | boolean)[]>} menu option to the values on offer, the default first
 * @property {RuleValues} values
 */

/** @type {RuleValues} */
const CLASSIC = {
  target: 500,
  floor: null,
  nil: 100,
  blindNil: 0,
  swap: 0,
  missed: 10,
  failedNil: "help",
  jokers: false,
  zero: false,
};

/** @type {Preset[]} */
export const PRESETS = [
  {
    name: "deniro",
    title: "DeNiro",
    blurb: "Bids from 0 to 13, no Blind Nil. A failed Nil’s tricks are bags.",
    menu: {},
    values: { ...CLASSIC, failedNil: "bags", zero: true },
  },
  {
    name: "classic",
    title: "Classic",
    blurb: "The rule book’s game, with its choices: a shorter game, an older Nil, Blind Nil.",
    menu: { nil: [100, 50], blind_nil: [false, true], swap: [false, true], target: [500, 200, 250] },
    values: CLASSIC,
  },
  {
    name: "bicycle",
    title: "Bicycle",
    blurb: "A missed contract costs nothing; otherwise as Classic.",
    menu: { nil: [100, 50], blind_nil: [false, true], swap: [false, true], target: [500, 200, 250] },
    values: { ...CLASSIC, missed: 0 },
  },
  {
    name: "club",
    title: "Club",
    blurb: "Blind Nil when 100 behind, two cards swapped; −200 loses straight away.",
    menu: { target: [500, 300] },
    values: { ...CLASSIC, failedNil: "bags", blindNil: 200, swap: 2, floor: -200 },
  },
  {
    name: "jokers",
    title: "Jokers",
    blurb: "Big and Little Joker above the ace of spades; 2♣ and 2♦ stay out.",
    menu: { blind_nil: [false, true], swap: [false, true], target: [500, 200] },
    values: { ...CLASSIC, missed: 0, jokers: true },
  },
];

/** @param {string} name @returns {Preset} */
export const presetOf = (name) =>
  PRESETS.find((preset) => preset.name === name) ?? /** @type {Preset} */ (PRESETS[0]);

/** The rules of one table: its preset with the host's choices. @param {import("../table/types.js").Ruleset} ruleset
 * @returns {RuleValues} */
export function valuesOf({ name, options }) {
  const { values } = presetOf(name);
  const nil = Number(options.nil ?? values.nil);
  return {
    ...values,
    nil,
    target: Number(options.target ?? values.target),
    blindNil: options.blind_nil ? 2 * nil : values.blindNil,
    swap: options.swap ? 2 : values.swap,
  };
}

/** Choices that go together: 250 with a Nil of 50, a swap with Blind Nil. Returns those that do.
 * @param {string} name @param {Record<string, number | boolean | null>} options */
export function settled(name, options) {
  const { menu } = presetOf(name);
  /** @type {Record<string, number | boolean | null>} */
  const chosen = {};
  for (const [option, value] of Object.entries(options)) {
    if (menu[option]?.includes(/** @type {number | boolean} */ (value))) chosen[option] = value;
  }
  if (chosen.target === 250 && chosen.nil !== 50) delete chosen.target;
  if (chosen.swap && !chosen.blind_nil) delete chosen.swap;
  return chosen;
}

/** @type {Record<string, string>} */
export const OPTION_WORDS = {
  target: "Play to",
  nil: "Nil is worth",
  blind_nil: "Blind Nil",
  swap: "Swap two cards",
};

/** "Club to 300". @param {import("../table/types.js").Ruleset} ruleset */
export function rulesetTitle(ruleset) {
  const values = valuesOf(ruleset);
  return `${presetOf(ruleset.name).title} to ${values.target}`;
}
