"""The table of bad input: commands and requests that are well formed and must not be obeyed, and what they get."""

from typing import Any, Literal, NamedTuple

NOWHERE = "00000000-0000-4000-8000-000000000000"
STALE = "1:0"

Who = Literal["mover", "other", "watcher"]


class Case(NamedTuple):
    """A command that is well formed and not to be obeyed: who sends it, and what the answer's code is."""

    what: str
    who: Who
    frame: dict[str, Any]
    code: str


def bid(value: object, turn: str = "{turn}") -> dict[str, Any]:
    return {"type": "bid", "turn_id": turn, "bid": value}


def play(card: object, turn: str = "{turn}") -> dict[str, Any]:
    return {"type": "play_card", "turn_id": turn, "card": card}


def swap(*cards: str) -> dict[str, Any]:
    return {"type": "pass_cards", "turn_id": "{turn}", "cards": cards}


# {turn} is the running turn's id, {held} a card of the mover's that may be played, {alien} one of somebody else's,
# {off} one that would have to follow, or a spade that may not be led.
COMMANDS: dict[str, list[Case]] = {
    "lobby": [
        Case("a bid before the game", "mover", bid(3, STALE), "not_started"),
        Case("a card before the game", "mover", play("2C", STALE), "not_started"),
        Case("a seat twice", "mover", {"type": "take_seat"}, "already_seated"),
        Case("a taken seat", "watcher", {"type": "take_seat", "seat": 0}, "table_full"),
        Case("a full table", "watcher", {"type": "take_seat"}, "table_full"),
        Case("a start by a guest of the host", "other", {"type": "start"}, "not_host"),
        Case("a seed before the start", "mover", {"type": "open_seed", "seed": "ab" * 32}, "not_started"),
        Case("ready before the game", "mover", {"type": "ready"}, "not_started"),
        Case("leaving before the game", "mover", {"type": "leave"}, "not_started"),
        Case("a seat that one has not", "watcher", {"type": "release_seat"}, "not_seated"),
        Case("another's game", "mover", {"type": "take_seat", "table_id": NOWHERE}, "not_watching"),
        Case("talk from a watcher", "watcher", {"type": "say", "phrase": "hello"}, "not_seated"),
        Case("an unknown phrase", "mover", {"type": "say", "phrase": "lead clubs"}, "malformed"),
        Case("talk of nothing", "mover", {"type": "say"}, "malformed"),
        Case("a mute of nobody", "mover", {"type": "mute", "account_id": NOWHERE}, "not_found"),
    ],
    "auction": [
        Case("another's turn", "other", bid(3), "not_your_turn"),
        Case("a watcher's bid", "watcher", bid(3), "not_seated"),
        Case("a stale turn", "mover", bid(3, STALE), "stale_turn"),
        Case("a turn to come", "mover", bid(3, "9:999"), "stale_turn"),
        Case("SQL for a turn", "mover", bid(3, "'; DROP TABLE bid; --"), "stale_turn"),
        Case("Blind Nil where it is closed", "mover", bid("blind_nil"), "bid_refused"),
        Case("a card during the auction", "mover", play("{held}"), "wrong_phase"),
        Case("a swap during the auction", "mover", swap("2C", "3C"), "wrong_phase"),
        Case("a look at open cards", "mover", {"type": "look_at_cards", "hand_no": 1}, "wrong_phase"),
        Case("a look at a hand to come", "mover", {"type": "look_at_cards", "hand_no": 9}, "stale_turn"),
        Case("a start of what runs", "mover", {"type": "start"}, "wrong_phase"),
        Case("a seat in a running game", "watcher", {"type": "take_seat"}, "table_full"),
        Case("getting up from a running game", "mover", {"type": "release_seat"}, "wrong_phase"),
        Case("ready in the hand", "mover", {"type": "ready"}, "wrong_phase"),
        Case("a seed too late", "mover", {"type": "open_seed", "seed": "ab" * 32}, "wrong_phase"),
        Case("a wrong price", "mover", {"type": "leave", "confirm_price": 5}, "price_changed"),
        Case("free text in the hand", "mover", {"type": "say", "text": "lead clubs"}, "phrases_only"),
    ],
    "play": [
        Case("another's turn", "other", play("{alien}"), "not_your_turn"),
        Case("a watcher's card", "watcher", play("{held}"), "not_seated"),
        Case("a stale turn", "mover", play("{held}", STALE), "stale_turn"),
        Case("a bid in the play", "mover", bid(3), "wrong_phase"),
        Case("a second bid", "other", bid(3, STALE), "stale_turn"),
        Case("a card not held", "mover", play("{alien}"), "not_in_hand"),
        Case("a card against the rules", "mover", play("{off}"), "must_follow"),
        Case("a joker in a plain deck", "mover", play("BJ"), "not_in_hand"),
        Case("a swap in the play", "mover", swap("2C", "3C"), "wrong_phase"),
        Case("a swap of the same twice", "mover", swap("2C", "2C"), "bad_swap"),
    ],
    "over": [
        Case("a bid after the end", "mover", bid(3, STALE), "game_over"),
        Case("a card after the end", "mover", play("2C", STALE), "game_over"),
        Case("a seat after the end", "watcher", {"type": "take_seat"}, "game_over"),
        Case("leaving twice", "mover", {"type": "leave"}, "game_over"),
        Case("ready after the end", "other", {"type": "ready"}, "game_over"),
        Case("a start after the end", "mover", {"type": "start"}, "game_over"),
    ],
}

BAD_CARDS = ("10H", "1S", "2h", "as", "", "AS ", "A♠", "A", "ASS", "💔", None, 3, ["AS"], True)


class Request(NamedTuple):
    what: str
    method: str
    path: str
    code: str
    body: Any = None
    headers: dict[str, str] = {}  # noqa: RUF012 - never changed


def opening(kind: str, stake_coins: object = 0, **ruleset: dict[str, object]) -> dict[str, object]:
    name, options = next(iter(ruleset.items()), ("deniro", {}))
    return {"kind": kind, "stake_coins": stake_coins, "ruleset": {"name": name, "options": options}}


REQUESTS = [
    Request("a fifth seat", "PUT", "/v1/tables/{table}/seats/4", "not_found"),
    Request("a seat below zero", "PUT", "/v1/tables/{table}/seats/-1", "not_found"),
    Request("a commitment of 31 bytes", "PUT", "/v1/tables/{table}/seats/any", "malformed", {"seed_commit": "ab" * 31}),
    Request("a commitment not hex", "PUT", "/v1/tables/{table}/seats/any", "malformed", {"seed_commit": "zz" * 32}),
    Request("a body of an array", "PUT", "/v1/tables/{table}/seats/any", "malformed", []),
    Request("an unknown table", "PUT", f"/v1/tables/{NOWHERE}/seats/any", "not_found"),
    Request("a NUL in an id", "GET", "/v1/tables/{table}%00", "not_found"),
    Request("a path out of the ids", "GET", "/v1/tables/..%2f..%2fetc%2fpasswd", "not_found"),
    Request("a price below zero", "DELETE", "/v1/tables/{table}/seats/any?confirm_price_coins=-1", "malformed"),
    Request("a price of a half", "DELETE", "/v1/tables/{table}/seats/any?confirm_price_coins=1.5", "malformed"),
    Request("a price of 2^63", "DELETE", f"/v1/tables/{{table}}/seats/any?confirm_price_coins={2**63}", "malformed"),
    Request("an empty key", "POST", "/v1/tables/{table}/start", "malformed", None, {"Idempotency-Key": ""}),
    Request("events behind the end", "GET", "/v1/games/{table}/events?after=9007199254740991", "malformed"),
    Request("events behind 10^30", "GET", f"/v1/games/{{table}}/events?after={10**30}", "malformed"),
    Request("events behind -1", "GET", "/v1/games/{table}/events?after=-1", "malformed"),
    Request("no events at all", "GET", "/v1/games/{table}/events?limit=0", "malformed"),
    Request("too many events", "GET", "/v1/games/{table}/events?limit=1000000000", "malformed"),
    Request("hand 0", "GET", "/v1/games/{table}/hands/0", "not_found"),
    Request("hand 2^63", "GET", f"/v1/games/{{table}}/hands/{2**63}", "not_found"),
    Request("a proof before its time", "GET", "/v1/games/{table}/hands/1/proof", "not_found"),
    Request("a stake at practice", "POST", "/v1/tables", "option_refused", opening("practice", 100)),
    Request("a stake below zero", "POST", "/v1/tables", "malformed", opening("coins", -100)),
    Request("a stake of text", "POST", "/v1/tables", "malformed", opening("coins", "100")),
    Request("a stake of a half", "POST", "/v1/tables", "malformed", opening("coins", 1.5)),
    Request("a stake of 2^63", "POST", "/v1/tables", "malformed", opening("coins", 2**63)),
    Request("an unknown rule set", "POST", "/v1/tables", "option_refused", opening("practice", hearts={})),
    Request("an option out of range", "POST", "/v1/tables", "option_refused", opening("practice", club={"target": 7})),
    Request("a guest in the queue", "POST", "/v1/queue", "account_required", {"ruleset": "deniro", "stake_coins": 50}),
    Request("a wrong code", "POST", "/v1/invites", "not_found", {"code": "AAAAAAAAAAAA"}),
    Request("a code of SQL", "POST", "/v1/invites", "not_found", {"code": "\n' OR 1=1; --"}),
    Request("a code with a NUL", "POST", "/v1/invites", "malformed", {"code": "\0"}),
    Request("a log-in with a NUL", "POST", "/v1/sessions", "malformed", {"name": "a\0b", "password": "correct horse"}),
    Request("a name of HTML", "PATCH", "/v1/me", "name_refused", {"name": "<b>x</b>\n"}),
    Request("a name of SQL", "PATCH", "/v1/me", "name_refused", {"name": "x'; DROP TABLE account;--"}),
    Request("a foreign cursor", "GET", "/v1/me/games?cursor=WyIxOTcwIiwieCJd", "bad_cursor"),
    Request("a page of none", "GET", "/v1/me/games?limit=0", "malformed"),
    Request("another media type", "POST", "/v1/invites", "json_only", {"code": "x"}, {"Content-Type": "text/plain"}),
    Request(
        "a body called squeezed", "POST", "/v1/invites", "not_encoded", {"code": "x"}, {"Content-Encoding": "gzip"}
    ),
]
