"""Times, clients and sessions of log lines, in every spelling, and the lines that are no event."""

from datetime import UTC, datetime

import numpy as np
import pytest

from ramodo.formats.event_lines import clients_of, sessions_of, times_of, windows_of

MARCH = datetime(2026, 3, 2, 9, 14, 5, tzinfo=UTC).timestamp()

SPELLINGS = {
    "web": ('10.0.0.7 - - [02/Mar/2026:09:14:05 +0200] "GET / HTTP/1.1" 200 5', MARCH),
    "iso": ("2026-03-02T09:14:05Z worker lost", MARCH),
    "comma": ("2026-03-02 09:14:05,500 INFO started", MARCH + 0.5),
    "points": ("R02 2026-03-02-09.14.05.250000 R02 RAS", MARCH + 0.25),
    "nginx": ("2026/03/02 09:14:05 [error] 5#5: *1 open() failed", MARCH),
    "apache": ("[Mon Mar 02 09:14:05 2026] [notice] workerEnv.init() ok", MARCH),
    "syslog": ("Mar  2 09:14:05 host sshd[5]: closed", datetime(2000, 3, 2, 9, 14, 5, tzinfo=UTC).timestamp()),
    "digits": ("260302 091405 148 INFO dfs.DataNode: served", MARCH),
    "epoch": (f"{MARCH:.0f} 2026 R02-M1 RAS", MARCH),
}


@pytest.mark.parametrize(("line", "expected"), SPELLINGS.values(), ids=SPELLINGS)
def test_the_time_of_a_line(line, expected):
    assert times_of([line] * 3).tolist() == [expected] * 3


def test_a_line_without_a_time_is_of_the_time_before_it():
    lines = [
        "  at main()",
        "2026-03-02 09:14:05 one",
        "  at run()",
        "2026-03-02 09:14:09 two",
        "2026-99-02 09:14:05 three",
    ]
    assert (times_of(lines) - MARCH).tolist() == [0, 0, 0, 4, 4]


def test_january_comes_after_december():
    first, second, third = times_of(["Dec 31 23:59:59 a", "Jan  1 00:00:01 b", "Jan  1 00:00:03 c"])
    assert (second - first, third - second) == (2, 2)


@pytest.mark.parametrize("lines", [[], ["no time here", "nor here", "2026-03-02 09:14:05 but here"]])
def test_most_lines_need_a_time(lines):
    assert times_of(lines) is None


def test_the_client_of_a_line():
    lines = [
        SPELLINGS["web"][0],
        "host.example - - [02/Mar/2026:09:14:05 +0200] x",
        "Invalid user a from 10.1.2.3 port 5",
    ]
    assert list(clients_of([*lines, "from 2001:db8:0:1::5", "version 1.2.3.4.5"])) == [
        *("10.0.0.7", "host.example", "10.1.2.3", "2001:db8:0:1::5", None)
    ]


def test_a_window_begins_with_the_first_line_after_the_last():
    times = np.array([0.0, 200, 300, 301, 400, 700])
    assert windows_of([0, 0, 0, 0, 1, 0], times, 300).tolist() == [0, 0, 0, 1, 0, 2]
    assert windows_of([0, 0, 0, 0, 1, 0], None, None).tolist() == [0] * 6


def lines_at(seconds, client, text="GET /"):
    return [f"{datetime.fromtimestamp(MARCH + at, UTC):%Y-%m-%d %H:%M:%S} {client} {text}" for at in seconds]


def test_a_session_is_what_one_address_did_within_five_minutes():
    lines = lines_at([0, 10, 20, 400], "10.0.0.7") + lines_at([5, 6], "10.0.0.8") + lines_at([7, 8], "nobody")
    lines += lines_at(range(0, 40_000, 1_000), "10.0.0.9")
    found = sessions_of(lines, times_of(lines))
    assert found.of_line.tolist() == [0, 0, 0, 1, 2, 2, 3, 4, *range(5, 45)]
    assert found.clients == ["10.0.0.7"] * 2 + ["10.0.0.8", "", ""] + ["10.0.0.9"] * 40


def test_a_session_that_makes_more_than_a_tenth_of_a_log_is_no_event():
    lines = lines_at([0] * 6, "10.0.0.7") + lines_at(range(0, 40_000, 1_000), "10.0.0.9")
    found = sessions_of(lines, times_of(lines))
    assert len(set(found.of_line.tolist())) == 46
    assert found.clients[:6] == [""] * 6


def test_lines_of_short_sessions_count_one_by_one():
    lines = (
        lines_at(range(30), "10.0.0.7")
        + lines_at(range(19), "10.0.0.8")
        + lines_at(range(0, 300_000, 1_000), "10.0.0.9")
    )
    groups = sessions_of(lines, times_of(lines)).groups.tolist()
    assert len(set(groups[:30])) == 1
    assert len(set(groups)) == 1 + 19 + 300


def test_sessions_need_times_and_addresses():
    lines = lines_at(range(5), "10.0.0.7")
    assert sessions_of(lines, None) is None
    assert sessions_of(lines_at(range(5), "nobody"), times_of(lines)) is None
