"""The command: what it prints, where, and with which exit code."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from spades_events import CE_TYPES, TableKind, codec, frame_name
from spades_replay import line_of
from spades_replay.cli import app
from tests.replay.played import World, leave, open_table, play_on


@pytest.fixture(scope="module")
def world() -> World:
    played = World(seed=5)
    played.open_accounts("north", "east")
    open_table(played, "t", ["north", "east"], kind=TableKind.ONLINE, stake_coins=100)
    play_on(played, "t", turns=70)
    leave(played, "t", "east", 110)
    play_on(played, "t")
    open_table(played, "club", ["north"], ruleset="club")
    play_on(played, "club")
    return played


@pytest.fixture(scope="module")
def folder(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("records")
    for topic in ("table.events", "wallet.events"):
        lines = [line_of(record) for record in world.records if record.topic == topic]
        (path / f"{topic}.ndjson").write_bytes(b"\n".join(lines) + b"\n")
    return path


def spades(*arguments: str, stdin: bytes | None = None) -> Result:
    nothing_here = {"SPADES_KAFKA_BOOTSTRAP": "", "SPADES_REPLAY_SOURCE": "", "SPADES_STATE_DIR": "/nowhere/at/all"}
    return CliRunner().invoke(app, ["replay", *arguments], input=stdin, env=nothing_here)


def test_a_folder_verifies(folder: Path) -> None:
    result = spades("verify", "--all", "--source", str(folder))
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("2 games (2 finished)")
    assert "1 of 1 coin games settled, 2 accounts" in result.stdout
    assert result.stdout.rstrip().endswith("all in order")
    assert result.stderr == ""


def test_the_output_is_the_same_every_time(folder: Path) -> None:
    first, second = (spades("verify", "--all", "--source", str(folder)).stdout for _ in range(2))
    assert first == second


def test_standard_input_verifies(folder: Path) -> None:
    everything = b"".join(file.read_bytes() for file in sorted(folder.glob("*.ndjson")))
    result = spades("verify", "--all", "--source", "-", stdin=everything)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("game", ["club", "t"], ids=["without coins", "with coins"])
def test_one_game_verifies(folder: Path, game: str) -> None:
    result = spades("verify", "--game", game, "--source", str(folder))
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("1 games (1 finished)")


def test_a_bad_hand_is_named_and_exits_with_1(folder: Path, tmp_path: Path) -> None:
    lines = (folder / "table.events.ndjson").read_bytes().replace(b'"trick_no":5', b'"trick_no":6', 1)
    (tmp_path / "bad.ndjson").write_bytes(lines)
    result = spades("verify", "--all", "--source", str(tmp_path))
    assert result.exit_code == 1
    fault, summary = result.stdout.splitlines()
    assert fault.startswith("t hand 1 (event ")
    assert fault.endswith("trick 6 after 4 tricks")
    assert summary.endswith("1 FAULTS")


def test_a_line_that_is_no_event_exits_with_1(tmp_path: Path) -> None:
    (tmp_path / "bad.ndjson").write_bytes(b'{"hello": 1}\n')
    result = spades("verify", "--all", "--source", str(tmp_path))
    assert result.exit_code == 1
    assert "line 1 is no public event" in result.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("verify",),
        ("verify", "--all"),
        ("verify", "--all", "--game", "t", "--source", "."),
        ("verify", "--all", "--source", "/nowhere/at/all"),
        ("verify", "--all", "--source", "kafka://localhost:port"),
        ("verify", "--all", "--source", "postgresql://nobody:secret@?x=1"),
        ("game", "t", "--to", "trick=7", "--source", "."),
        ("game", "t", "--to", "hand=0", "--source", "."),
        ("game", "t", "--to", "hand=1,trick=14", "--source", "."),
        ("game", "t", "--as", "4", "--source", "."),
        ("dance",),
    ],
    ids=" ".join,
)
def test_wrong_usage_exits_with_2_and_says_so_on_standard_error(arguments: tuple[str, ...]) -> None:
    result = spades(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr


def test_a_folder_without_records_is_wrong_usage(tmp_path: Path) -> None:
    assert spades("verify", "--all", "--source", str(tmp_path)).exit_code == 2


def test_a_game_is_shown_as_a_trick_was_taken(folder: Path) -> None:
    result = spades("game", "t", "--to", "hand=2,trick=7", "--json", "--source", str(folder))
    assert result.exit_code == 0, result.output
    shown = json.loads(result.stdout)
    assert (shown["hand_no"], len(shown["tricks"]), sum(shown["taken"])) == (2, 7, 7)
    assert [len(hand) for hand in shown["hands"]] == [6, 6, 6, 6]
    seen = {card for trick in shown["tricks"] for card in trick["cards"]}
    assert len(seen | {card for hand in shown["hands"] for card in hand}) == 52


def test_a_game_is_shown_as_one_seat_saw_it(folder: Path) -> None:
    result = spades("game", "t", "--to", "hand=2,trick=7", "--as", "1", "--json", "--source", str(folder))
    shown = json.loads(result.stdout)
    assert "hands" not in shown
    assert (shown["seat"], len(shown["hand"])) == (1, 6)


def test_trick_0_is_the_moment_before_the_first_lead(folder: Path) -> None:
    shown = json.loads(spades("game", "t", "--to", "hand=1,trick=0", "--json", "--source", str(folder)).stdout)
    assert None not in shown["bids"]
    assert shown["tricks"] == []
    assert [len(hand) for hand in shown["hands"]] == [13, 13, 13, 13]


def test_a_hands_end_shows_what_was_bid_and_taken_in_it(folder: Path) -> None:
    shown = json.loads(spades("game", "t", "--to", "hand=1", "--json", "--source", str(folder)).stdout)
    assert (shown["hand_no"], shown["phase"], len(shown["tricks"]), sum(shown["taken"])) == (1, "hand_over", 13, 13)
    assert None not in shown["bids"]
    assert shown["scores"] != [0, 0]
    seen = spades("game", "t", "--to", "hand=1", "--as", "1", "--source", str(folder))
    assert seen.stdout.startswith("hand 1, hand_over, ")
    assert "trick 13: " in seen.stdout


def frames_of(world: World, table_id: str) -> list[dict[str, Any]]:
    """As `GET /v1/games/{id}/events` gives them."""
    names = {CE_TYPES[kind]: frame_name(kind) for kind in codec.TABLE_EVENTS}
    return [
        {"type": names[record.type], "seq": record.version, **json.loads(record.body), "at_ms": record.time_ms}
        for record in world.records
        if record.topic == "table.events" and record.stream == table_id
    ]


@pytest.mark.parametrize("form", ["lines", "page", "download", "standard input"])
def test_what_the_gateway_gives_of_a_game_verifies(world: World, tmp_path: Path, form: str) -> None:
    frames = frames_of(world, "t")
    lines = b"".join(json.dumps(frame, separators=(",", ":")).encode() + b"\n" for frame in frames)
    # The page's download is named by its game; what was fetched is not.
    file = tmp_path / ("spades-t.json" if form == "download" else "events.json")
    match form:
        case "lines" | "standard input":
            file.write_bytes(lines)
        case "page":
            file.write_text(json.dumps({"events": frames, "next": None}))
        case _:
            file.write_text(json.dumps(frames))
    source, piped = ("-", lines) if form == "standard input" else (str(file), None)
    which = ("--all",) if form == "download" else ("--game", "t")
    told = spades("verify", *which, "--source", source, stdin=piped)
    assert told.exit_code == 0, told.output
    assert told.stdout.startswith("1 games (1 finished)")
    shown = spades("game", "t", "--to", "hand=1", "--source", source, stdin=piped)
    assert shown.stdout.startswith("hand 1, hand_over, ")


def test_a_lie_in_what_the_gateway_gives_is_found(world: World, tmp_path: Path) -> None:
    frames = frames_of(world, "t")
    scored = next(frame for frame in frames if frame["type"] == "hand_scored")
    scored["teams"][0]["score"] += 1
    (tmp_path / "events.ndjson").write_text("".join(json.dumps(frame) + "\n" for frame in frames))
    told = spades("verify", "--game", "t", "--source", str(tmp_path / "events.ndjson"))
    assert told.exit_code == 1
    assert "1 FAULTS" in told.stdout


def test_events_that_name_no_game_need_its_id(world: World, tmp_path: Path) -> None:
    (tmp_path / "events.json").write_text(json.dumps(frames_of(world, "t")))
    told = spades("verify", "--all", "--source", str(tmp_path / "events.json"))
    assert (told.exit_code, told.stderr) == (2, "these events do not name their game: say --game ID\n")


@pytest.mark.parametrize(
    "line", ['[{"type":"x"}]', "[3]", '{"type":"no_such","seq":1}', '{"events":7}', '{"type":"a","seq":']
)
def test_what_only_looks_like_events_of_the_gateway_is_a_fault(tmp_path: Path, line: str) -> None:
    (tmp_path / "bad.json").write_text(line)
    told = spades("verify", "--game", "t", "--source", str(tmp_path / "bad.json"))
    assert (told.exit_code, "line 1 is no public event" in told.stdout) == (1, True)


def test_a_finished_game_is_shown_in_words(folder: Path) -> None:
    result = spades("game", "club", "--source", str(folder))
    assert result.exit_code == 0, result.output
    assert "won by team" in result.stdout or "won by nobody" in result.stdout


def test_a_hand_that_was_never_played_is_wrong_usage(folder: Path) -> None:
    assert spades("game", "t", "--to", "hand=60", "--source", str(folder)).exit_code == 2
    assert spades("game", "unknown", "--source", str(folder)).exit_code == 2


def test_a_game_that_is_not_there_is_not_called_in_order(folder: Path) -> None:
    for of in ("unknown", "north"):
        result = spades("verify", "--game", of, "--source", str(folder))
        assert (result.exit_code, result.stdout, result.stderr) == (2, "", "no such game here\n")
