"""Which lines of a log are one entry: copies of a template, flagged or not, and all lines of a burst."""

from datetime import UTC, datetime

import numpy as np
import pytest

from ramodo.explain.alike import Burst, alike, duration
from ramodo.formats import Schema, Table

CLOCK = "2026-03-02 09:{0:02d}:{1:02d}"

AT = datetime(2026, 3, 2, 9, tzinfo=UTC).timestamp()


def entries(lines, flagged, format="text"):
    """The rows of each entry that has more than one, one of them flagged, and what the bursts are."""
    table = Table(np.empty((len(lines), 1)), texts=lines, schema=Schema(format=format))
    found = alike(table, np.isin(np.arange(len(lines)), flagged).astype(float), 0.5)
    together = {}
    for row, number in enumerate(found.of_row.tolist()):
        together.setdefault(number, []).append(row)
    several = [rows for rows in together.values() if len(rows) > 1 and set(rows) & set(flagged)]
    return several, list(found.bursts.values())


def test_flagged_copies_of_a_template_are_one_entry():
    lines = [f"worker {number} lost 10.0.0.{number}" for number in range(6)] + ["worker seven lost"]
    assert entries(lines, [1, 3, 4, 6]) == ([[1, 3, 4]], [])


def test_copies_that_are_not_flagged_are_an_entry_of_their_own():
    lines = ["lost 1", "lost 2", "lost 3", "found 4", "lost 5"]
    table = Table(np.empty((5, 1)), texts=lines, schema=Schema(format="text"))
    a, b, c, found, d = alike(table, np.array([2.0, 2, 1, 1, 1]), 1.5).of_row
    assert a == b != c == d
    assert found not in (a, c)


def test_documents_are_entries_by_themselves():
    assert entries(["one 1", "one 2"], [0, 1], "documents") == ([], [])


def asked(client, n, minute=0):
    return [f"{CLOCK.format(minute, number % 60)} {client} asked for {'abcdefgh'[number % 8]}" for number in range(n)]


def others(n=200):
    return [f"{CLOCK.format(number % 60, 0)} 10.0.{number}.1 asked for something" for number in range(n)]


def test_the_lines_of_a_burst_are_one_entry_flagged_or_not():
    lines = asked("10.0.0.9", 8) + others()
    assert entries(lines, [0, 2, 4, 5]) == ([list(range(8))], [Burst(8, "10.0.0.9", 7.0, AT)])


def test_a_burst_may_be_high_without_being_flagged():
    lines, scores = asked("10.0.0.9", 8) + others(), np.zeros(208)
    scores[[0, 2, 4, 5]], scores[100] = 1, 2
    found = alike(Table(np.empty((208, 1)), texts=lines, schema=Schema(format="text")), scores, 1.5)
    assert list(found.bursts.values()) == [Burst(8, "10.0.0.9", 7.0, AT)]


def test_bursts_of_one_client_are_one_entry():
    lines = asked("10.0.0.9", 6) + asked("10.0.0.9", 6, minute=30) + others()
    assert entries(lines, list(range(12))) == ([list(range(12))], [Burst(12, "10.0.0.9", 1805.0, AT)])


@pytest.mark.parametrize(("n", "flagged"), [(4, [0, 1, 2, 3]), (8, [0, 1, 2])], ids=["few", "ordinary"])
def test_a_few_lines_or_mostly_ordinary_ones_are_no_burst(n, flagged):
    assert entries(asked("10.0.0.9", n) + others(), flagged) == ([], [])


def test_durations_are_in_the_unit_that_people_would_use():
    said = {0: "1 second", 59: "59 seconds", 60: "1 minute", 100: "2 minutes", 7300: "2 hours", 90_000: "1 day"}
    assert {seconds: duration(seconds) for seconds in said} == said
