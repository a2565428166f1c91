"""What happened when in a log: lines that stop, times with many lines, and bursts."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from ramodo.explain.over_time import over_time, silences
from ramodo.formats import read

START = datetime(2026, 3, 2, 1, tzinfo=UTC)


def read_log(tmp_path, events):
    """A syslog of (seconds, host and message)."""
    lines = [f"{START + timedelta(seconds=at):%b %d %H:%M:%S} {said}" for at, said in sorted(events)]
    (tmp_path / "x.log").write_text("\n".join(lines) + "\n")
    return read(str(tmp_path / "x.log"))


def heartbeats(host, silent=range(0), until=14_400):
    rng = np.random.default_rng(0)
    return [
        (at + int(rng.integers(3)), f"{host} monitor[{rng.integers(900, 999)}]: heartbeat ok seq={at // 30}")
        for at in range(0, until, 30)
        if at not in silent
    ]


def said_of(table):
    found = over_time(table, np.zeros(table.X.shape[0]), 1.0)
    return None if found is None else list(found.said)


def test_a_heartbeat_that_stops_is_named_with_its_host_and_times(tmp_path):
    events = [
        one for host in range(8) for one in heartbeats(f"db-{host}", range(7800, 9600) if host == 7 else range(0))
    ]
    said = said_of(read_log(tmp_path, events))
    assert said == [
        "No line like “db-7 monitor[0]: heartbeat ok seq=0” between 03:09 and 03:40; usually one every 30 seconds."
    ]


def test_so_is_one_that_never_comes_back(tmp_path):
    events = [*heartbeats("db-1"), *heartbeats("db-2", until=9000)]
    assert [one.split(" between ")[0] for one in said_of(read_log(tmp_path, events))] == [
        "No line like “db-2 monitor[0]: heartbeat ok seq=0”"
    ]


def test_what_comes_at_random_cannot_stop(tmp_path):
    at = np.sort(np.random.default_rng(1).integers(0, 14_400, 400)).tolist()
    assert said_of(read_log(tmp_path, [(one, "web app[7]: order taken") for one in at])) == []


def test_what_is_silent_for_longer_than_regular_has_no_rhythm_to_break():
    times = np.array([*range(0, 60, 2), 10_000.0])
    assert silences(["a"] * len(times), times) == []


def test_many_lines_at_once_are_named(tmp_path):
    events = [*heartbeats("db-1"), *[(5000 + n % 60, f"web-2 app[7]: refused by 10.0.0.{n % 9}") for n in range(400)]]
    (surge,) = said_of(read_log(tmp_path, events))
    assert surge.startswith("40")
    assert "times as many as usual, 400 of them like “web-0 app[0]: refused by 0.0.0.0”." in surge


@pytest.mark.parametrize("lines", [["a b", "c d", "e f"], [f"2026-03-02 09:14:05 INFO {word}" for word in "abc"]])
def test_lines_without_times_or_all_at_once_say_nothing(tmp_path, lines):
    (tmp_path / "x.log").write_text("\n".join(lines) + "\n")
    assert not said_of(read(str(tmp_path / "x.log")))
