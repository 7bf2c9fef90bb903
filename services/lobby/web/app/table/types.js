// The shapes of frames and of the table's state; see `reduce` for how one becomes the other.

/**
 * @typedef {number | "nil" | "blind_nil"} Bid
 * @typedef {"bid" | "pass" | "play"} TurnKind
 * @typedef {"practice" | "coins" | "online" | "private"} TableKind
 * @typedef {"loading" | "seating" | "starting" | "playing" | "between_hands" | "ended"} Phase
 *
 * @typedef {object} SeatHolder
 * @property {number} seat
 * @property {string} account_id `bot` for a computer seat
 * @property {string | null} [seed_commit]
 *
 * @typedef {object} Ruleset
 * @property {string} name
 * @property {Record<string, number | boolean | null>} options
 *
 * @typedef {object} Turn
 * @property {string} turnId
 * @property {number} seat
 * @property {TurnKind} kind
 * @property {number | null} deadlineMs absolute, by the server's clock
 * @property {number | null} limitMs how long it lasts in all, as far as known
 * @property {boolean} computerSpeed
 *
 * @typedef {object} Trick
 * @property {number} leader
 * @property {string[]} cards in playing order
 * @property {number | null} winner once all four lie
 *
 * @typedef {object} Notice something that happened to a seat and wants saying
 * @property {number} seq
 * @property {"autoplayed" | "bot_took_seat" | "clock_extended" | "seat_refused" | "seat_left" | "gone" | "back"} kind
 * @property {number} seat
 * @property {Record<string, any>} data
 *
 * @typedef {object} Line something that was said at the table
 * @property {number} no counts up
 * @property {number} seat
 * @property {string} account
 * @property {string | null} phrase its name, where it is a preset one
 * @property {string} text
 *
 * @typedef {object} Frame anything the server sends; table events carry `seq`
 * @property {string} type
 * @property {number} [seq]
 *
 * @typedef {Frame & Record<string, any>} AnyFrame
 *
 * @typedef {object} TableState
 * @property {string} tableId
 * @property {string} me own account id
 * @property {number} seq version of the last event folded in; 0 before the first snapshot
 * @property {boolean} gap an event is missing: ask for a snapshot
 * @property {Phase} phase
 * @property {TableKind} kind
 * @property {Ruleset} ruleset
 * @property {number} stakeCoins
 * @property {number} feeCoins
 * @property {number | null} clockMs
 * @property {string} host
 * @property {boolean} botsWelcome
 * @property {string} anchor
 * @property {(SeatHolder | null)[]} seats
 * @property {number[]} reserved seats asked for and not yet paid
 * @property {Record<string, string>} names by account id
 * @property {number | null} seat own seat
 * @property {number[]} away seats whose player has lost the connection
 * @property {string[] | null} seeds
 * @property {boolean[] | null} seedMissing
 * @property {number} handNo
 * @property {number | null} dealer
 * @property {string | null} fingerprint of the running hand
 * @property {"none" | "auction" | "swap" | "play"} handPhase
 * @property {string[] | null} hand own cards; null while face down or a watcher
 * @property {boolean[]} faceDown
 * @property {number[]} cardCounts
 * @property {boolean} blindNilOpen own seat may still bid it
 * @property {(Bid | null)[]} bids
 * @property {number[]} taken
 * @property {Trick | null} trick the running one, or the finished one until the next lead
 * @property {Trick | null} lastTrick the finished one before it
 * @property {number} tricksPlayed
 * @property {boolean} broken
 * @property {number | null} swapBidder
 * @property {string[]} passed own cards given in the swap
 * @property {string[]} newCards received in the swap, until the first lead
 * @property {Turn | null} turn
 * @property {string[]} legalCards own, on own turn
 * @property {Bid[]} legalBids own, on own turn
 * @property {boolean[]} computerSpeed by seat, for the rest of the hand
 * @property {number[]} misses by seat: turns in a row that the clock took
 * @property {number[]} scores
 * @property {number[]} bags
 * @property {number[]} ready
 * @property {number | null} nextDeadlineMs when the running wait ends by itself
 * @property {number | null} winner
 * @property {string | null} endReason
 * @property {{seat: number, account_id: string, leaver?: string | null}[] | null} results
 * @property {boolean} settled
 * @property {Notice[]} notices the newest last, few
 * @property {Line[]} talk what was said, the newest last
 * @property {AnyFrame[]} facts public events in order of seq: score sheet and proofs are read from them
 * @property {boolean} factsFromStart whether `facts` holds every event up to `seq`
 */

export {};
