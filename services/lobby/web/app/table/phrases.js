// All that can be said during a hand, by its name; the gateway has the same list.

/** @type {[string, string][]} */
export const PHRASES = [
  ["hello", "Hello!"],
  ["good_luck", "Good luck!"],
  ["one_moment", "One moment, please."],
  ["back", "I am back."],
  ["thanks", "Thank you."],
  ["you_are_welcome", "You are welcome."],
  ["sorry", "Sorry."],
  ["no_problem", "No problem."],
  ["good_game", "Good game."],
  ["rematch", "Another game?"],
  ["goodbye", "Goodbye."],
];

/** Said by the button of a rematch, so that the others know where one went. */
export const REMATCH = "rematch";
