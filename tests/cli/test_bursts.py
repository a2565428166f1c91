"""A scan is one entry of the list, high, and stands for all of its lines."""

import json

import numpy as np
import pytest

from support.burst_log import SCANNER, burst_log


@pytest.fixture(scope="module")
def scanned(tmp_path_factory):
    lines, scan = burst_log()
    path = tmp_path_factory.mktemp("bursts") / "access.log"
    path.write_text("\n".join(lines) + "\n")
    return path, scan


def test_a_scan_is_one_of_the_first_entries(ok, scanned):
    path, scan = scanned
    top = json.loads(ok("detect", path, "--json", "-q"))["top"]
    numbers = {str(number) for number in scan}
    entries = [one for one in top[:5] if one["id"] in numbers]
    assert len(entries) == 1
    assert numbers <= {entries[0]["id"], *entries[0]["like"]}
    burst = entries[0]["burst"]
    assert (burst["n"], burst["client"], burst["seconds"]) == (60, SCANNER, 59.0)


def test_the_lines_of_a_scan_do_not_hide_each_other(ok, scanned):
    path, scan = scanned
    found = ok("detect", path, "-o", "-", "-q").splitlines()[1:]
    scores = np.array([float(line.split(",")[1]) for line in found])
    others = np.delete(scores, scan)
    assert np.mean(scores[scan][:, None] > others) > 0.95


def test_the_table_names_the_burst(ok, scanned):
    shown = ok("detect", scanned[0], "--top", 5)
    assert f"60 lines of {SCANNER} within 59 seconds: " in shown


def test_all_shows_each_line_by_itself(ok, scanned):
    top = json.loads(ok("detect", scanned[0], "--json", "-q", "--all"))["top"]
    assert [one["like"] for one in top] == [[]] * 10
    assert not any("burst" in one for one in top)
