"""`ramodo diff`, and what `ramodo score` says of other logs: what is new, and since which line."""

import re

import pytest

from support.burst_log import SCANNER, burst_log


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    for name, n_scan, seed in (("good", 0, 1), ("bad", 40, 0)):
        lines, _ = burst_log(400, n_scan, seed, at=200)
        (folder / f"{name}.log").write_text("\n".join(lines) + "\n")
    return folder


def test_what_is_new_is_named_with_its_first_line(ok, logs):
    said = ok("diff", logs / "good.log", logs / "bad.log")
    assert re.search(r"^first seen at line 201: '.+', in [1-4]0 rows$", said, re.MULTILINE)
    assert f"40 lines of {SCANNER} within 39 seconds" in said


def test_a_report_of_it(ok, logs, tmp_path):
    ok("diff", logs / "good.log", logs / "bad.log", "-o", tmp_path / "bad.html", "--top", 1)
    assert "scanner" in (tmp_path / "bad.html").read_text()


def test_scores_come_with_what_is_new(run, ok, logs, tmp_path):
    ok("fit", logs / "good.log", "-m", tmp_path / "good.ramodo", "-q")
    done = run("score", tmp_path / "good.ramodo", logs / "bad.log", "-o", tmp_path / "scores.csv")
    assert re.search(r"^first seen at line 201: '.+', in [1-4]0 rows$", done.err, re.MULTILINE)
    quiet = run("score", tmp_path / "good.ramodo", logs / "bad.log", "-o", tmp_path / "scores.csv", "-q")
    assert quiet.err == ""


def test_nothing_is_new_in_the_same_log(run, ok, logs, tmp_path):
    ok("fit", logs / "good.log", "-m", tmp_path / "good.ramodo", "-q")
    done = run("score", tmp_path / "good.ramodo", logs / "good.log", "-o", tmp_path / "scores.csv")
    assert "first seen" not in done.err


def test_a_report_that_cannot_be_written_is_refused_first(run, logs):
    done = run("diff", logs / "good.log", logs / "bad.log", "-o", "report.txt")
    assert (done.code, "must end in .html" in done.err) == (2, True), done.err
