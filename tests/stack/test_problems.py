"""What a person can put right is told in words that say how, with exit code 1."""

import json
import os
import socket
import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest
from typer.testing import CliRunner

from spades_local import record
from spades_local.cli import app
from spades_local.credentials import Passwords, ensure_seal_key
from spades_local.environment import number
from spades_local.jars import ensure_jars
from spades_local.places import Places, find_places, make_state_folder, told_when_full
from spades_local.ports import next_free
from spades_local.problems import DiskFull, JarsUnavailable, WrongSetting
from spades_local.record import Record, Running
from spades_local.stack import PARTITION_COUNTS, stop


def places_in(folder: Path) -> Places:
    return find_places({"SPADES_STATE_DIR": str(folder / "s"), "SPADES_CACHE_DIR": str(folder)})


def quiet(*_: str) -> None:
    """Nobody reads this one's lines."""


def test_a_page_port_that_was_asked_for_and_is_taken_is_an_error(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        env = {**os.environ, "SPADES_STATE_DIR": str(tmp_path), "SPADES_LOBBY_PORT": port}
        done = subprocess.run(
            [sys.executable, "-m", "spades_local", "up"],
            env=env,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 1
    assert f"Port {port} is taken" in done.stderr
    assert "SPADES_LOBBY_PORT" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_usual_page_port_taken_moves_to_the_next() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert port < next_free(port) < port + 50


@pytest.mark.parametrize("address", ["postgresql://nobody@127.0.0.1:1/none", "rubbish"])
def test_a_reset_that_cannot_reach_a_server_wipes_nothing(tmp_path: Path, address: str) -> None:
    places = places_in(tmp_path)
    make_state_folder(places)
    ensure_seal_key(places.seal_key)
    given = {"SPADES_STATE_DIR": str(places.state), "SPADES_DATABASE_URL": address, "SPADES_KAFKA_BOOTSTRAP": ""}
    told = CliRunner().invoke(app, ["reset"], env=given)
    assert told.exit_code == 1
    assert "SPADES_DATABASE_URL does not let us in" in told.stderr
    assert places.seal_key.exists()


def test_an_address_that_is_none_is_not_a_taken_port() -> None:
    with pytest.raises(WrongSetting, match="SPADES_LOBBY_HOST"):
        next_free(8080, "no such host")


@pytest.mark.parametrize("text", ["eight", "-1", "0", "1025", "2.0"])
def test_a_number_that_cannot_be_is_told_by_its_name(text: str) -> None:
    with pytest.raises(WrongSetting, match=f"SPADES_PARTITIONS is '{text}'"):
        number("SPADES_PARTITIONS", PARTITION_COUNTS, 8, {"SPADES_PARTITIONS": text})


def test_a_state_folder_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("not a folder")
    with pytest.raises(WrongSetting, match="SPADES_STATE_DIR"):
        make_state_folder(places_in(tmp_path))
    assert not record.is_held(places_in(tmp_path))


def test_a_disk_without_room_is_told_before_anything_is_half_written(tmp_path: Path) -> None:
    with pytest.raises(DiskFull, match="SPADES_STATE_DIR"):
        make_state_folder(places_in(tmp_path), free_bytes_min=10**18)


def test_a_disk_that_fills_up_is_told_by_the_folder() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no device that is always full")
    with pytest.raises(DiskFull, match="full"), told_when_full(Path("/dev/full")):
        Path("/dev/full").write_text("a hand")


def two_jars(work: Path) -> list[Path]:
    """Stands for the resolver."""
    jars = [work / "kafka.jar", work / "log4j.jar"]
    for jar in jars:
        jar.write_bytes(b"classes of " + jar.name.encode())
    return jars


def no_jars(_: Path) -> list[Path]:
    """Stands for a resolver that must not be asked."""
    raise AssertionError("the jars are there already")


def test_jars_that_are_there_and_intact_are_not_fetched_again(tmp_path: Path) -> None:
    first = ensure_jars(tmp_path, quiet, two_jars)
    assert ensure_jars(tmp_path, quiet, no_jars) == first
    assert [jar.read_bytes() for jar in first] == [b"classes of kafka.jar", b"classes of log4j.jar"]


def test_two_who_start_at_once_fetch_the_jars_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as starts:
        second: list[Future[tuple[Path, ...]]] = []

        def one_more_starts(folder: Path) -> list[Path]:
            second.append(starts.submit(ensure_jars, tmp_path, quiet, no_jars))
            return two_jars(folder)

        first = starts.submit(ensure_jars, tmp_path, quiet, one_more_starts)
        assert first.result(20) == second[0].result(20)


@pytest.mark.parametrize("damage", ["cut short", "other bytes", "deleted", "no list", "list cut", "old list"])
def test_damaged_jars_are_told_and_fetched_again(tmp_path: Path, damage: str) -> None:
    jar = ensure_jars(tmp_path, quiet, two_jars)[0]
    jars_list = jar.with_name("jars.json")
    match damage:
        case "cut short":
            jar.write_bytes(jar.read_bytes()[:5])
        case "other bytes":
            jar.write_bytes(b"Classes of kafka.jar")
        case "deleted":
            jar.unlink()
        case "no list":
            jars_list.unlink()
        case "list cut":
            jars_list.write_text(jars_list.read_text()[:20])
        case "old list":
            jars_list.write_text(json.dumps({jar.name: "0" * 64}))
    said: list[str] = []
    ensure_jars(tmp_path, said.append, two_jars)
    assert len(said) == 1
    assert jar.read_bytes() == b"classes of kafka.jar"
    assert list(tmp_path.glob("resolving-*")) == []


def test_a_cache_folder_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("not a folder")
    with pytest.raises(JarsUnavailable, match="SPADES_CACHE_DIR"):
        ensure_jars(tmp_path / "cache" / "below", quiet)


def test_stop_kills_no_stranger_who_got_a_recorded_process_id(tmp_path: Path) -> None:
    places = places_in(tmp_path)
    make_state_folder(places)
    stranger = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        argv = psutil.Process(stranger.pid).cmdline()
        for remembered in (
            Running(pid=stranger.pid, started_s=time.time(), argv=["postgres", "-D", "/x"]),
            Running(pid=stranger.pid, started_s=time.time() - 3600, argv=argv),
        ):
            record.save(places.record, Record(children={"postgres": remembered}))
            assert stop(places, quiet) is False
            assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_an_unreadable_state_file_stops_nothing_from_starting(tmp_path: Path) -> None:
    for garbage in ("", "{", "[]", '{"supervisor": 3}', json.dumps({"children": {"a": 1}})):
        (tmp_path / "state.json").write_text(garbage)
        assert record.load(tmp_path / "state.json") == Record()


def test_secrets_are_made_once_and_read_by_their_owner_alone(tmp_path: Path) -> None:
    path, key = tmp_path / "secrets.json", tmp_path / "key.json"
    first = Passwords(path).of("spades_table", "spades_wallet")
    assert Passwords(path).of("spades_table", "spades_wallet") == first
    assert len(set(first.values())) == 2
    ensure_seal_key(key)
    made = json.loads(key.read_text())
    ensure_seal_key(key)
    assert json.loads(key.read_text()) == made
    assert len(bytes.fromhex(made["keys"][made["current"]])) == 32
    assert [oct(file.stat().st_mode & 0o777) for file in (path, key)] == ["0o600", "0o600"]
