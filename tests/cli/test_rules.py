"""`--rules`: rows that a user knows to be fine are not flagged, and the output says by which rule."""

import csv
import io
from datetime import date

import pytest

from ramodo.cli.rules import Rules
from ramodo.formats import FormatError
from support.made_files import write_visits

RULES = """
[[rule]]
name = "our bots"
column = "country"
equals = "XX"
who = "Ana"
reason = "they are ours"

[[rule]]
name = "quick"
column = "seconds"
range = [0, 0.1]

[[rule]]
name = "old"
column = "country"
pattern = "."
until = 2020-01-31
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rules")
    write_visits(folder / "visits.csv")
    (folder / "known.toml").write_text(RULES)
    return folder


@pytest.fixture
def model(ok, folder):
    if not (folder / "m.ramodo").exists():
        ok("fit", folder / "visits.csv", "-m", folder / "m.ramodo", "--share", "0.2", "--id", "visit", "-q")
    return folder / "m.ramodo"


def _rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def _expected(row):
    return "our bots" if row["country"] == "XX" else "quick" if float(row["seconds"]) <= 0.1 else ""


def test_known_rows_are_muted_and_not_deleted(run, ok, folder, model):
    plain = _rows(ok("score", model, folder / "visits.csv"))
    given = _rows((folder / "visits.csv").read_text())
    found = _rows(ok("score", model, folder / "visits.csv", "--rules", folder / "known.toml"))
    assert [row["score"] for row in found] == [row["score"] for row in plain]
    assert [row["muted"] for row in found] == [_expected(row) for row in given]
    for before, after in zip(plain, found, strict=True):
        assert after["flag"] == ("0" if after["muted"] else before["flag"])
    assert sum(row["flag"] != after["flag"] for row, after in zip(plain, found, strict=True)) >= 4


def test_they_are_counted_and_left_out_of_flagged_rows(run, folder, model, tmp_path):
    arguments = ["score", model, folder / "visits.csv", "--rules", folder / "known.toml", "--flagged"]
    done = run(*arguments, "-o", tmp_path / "s.csv")
    found = _rows((tmp_path / "s.csv").read_text())
    assert {row["muted"] for row in found} == {""}
    assert f"90 rows, {len(found)} flagged" in done.err
    assert "our bots 4" in done.err
    assert "expired: old" in done.err


def test_a_stream_and_a_fit_have_them_too(run, folder, model, tmp_path):
    whole = run("score", model, folder / "visits.csv", "--rules", folder / "known.toml").out
    given = (folder / "visits.csv").read_bytes()
    streamed = run("score", model, "-", "--rules", folder / "known.toml", stdin=given)
    assert streamed.out == whole
    assert "our bots 4" in streamed.err
    done = run(
        "detect", folder / "visits.csv", "--id", "visit", "-o", tmp_path / "d.csv", "--rules", folder / "known.toml"
    )
    assert "our bots 4" in done.err
    assert {row["muted"] for row in _rows((tmp_path / "d.csv").read_text())} == {"", "our bots", "quick"}


def test_lines_are_muted_by_their_text(run, ok, tmp_path):
    lines = [f"GET /page/{i % 20} 200" for i in range(90)] + ["GET /health 200"] * 5
    (tmp_path / "a.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "k.toml").write_text('[[rule]]\nname = "health"\ncolumn = "text"\npattern = "/health"\n')
    ok("fit", tmp_path / "a.txt", "-m", tmp_path / "m.ramodo", "-q")
    found = _rows(ok("score", tmp_path / "m.ramodo", tmp_path / "a.txt", "--rules", tmp_path / "k.toml"))
    assert [row["muted"] for row in found] == [""] * 90 + ["health"] * 5


def test_a_rule_holds_until_its_last_day(tmp_path):
    (tmp_path / "k.toml").write_text(RULES)
    assert len(Rules.read(str(tmp_path / "k.toml"), date(2020, 1, 31)).rules) == 3
    after = Rules.read(str(tmp_path / "k.toml"), date(2020, 2, 1))
    assert (len(after.rules), after.expired) == (2, ("old",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rule = 3", r"must have rules, each after a line \[\[rule\]\]"),
        ("[[rule]]\nname = 'a'", "rule 1 must have column = a text, got None"),
        ("[[rule]]\nname = 'a'\ncolumn = 'c'", "must have one of pattern, range, equals, got none"),
        ("[[rule]]\nname = 'a'\ncolumn = 'c'\npattern = '('", "pattern must be a regular expression, got '\\('"),
        ("[[rule]]\nname = 'a'\ncolumn = 'c'\npattern = 3", "pattern must be a regular expression, got 3"),
        ("[[rule]]\nname = 'a'\ncolumn = 'c'\nrange = [3, 1]", r"range must be two numbers, the lower first"),
        ("[[rule]]\nname = 'a'\ncolumn = 'c'\nequals = 1\nuntil = 'x'", "until must be a day such as 2026-12-31"),
        ("[[rule]]\nname = 'a'\ncolumn = 'c'\nequals = [1]", "equals must be a text, a number, true or false"),
        ("[[rule]]\nname = 'a'\ncolumn = 'c'\nmatch = 1", "got 'match'"),
        ("[[rule", "must be TOML"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path, text, message):
    (tmp_path / "k.toml").write_text(text)
    with pytest.raises(FormatError, match=message):
        Rules.read(str(tmp_path / "k.toml"))


def test_wrong_rules_are_refused_before_any_work(run, folder, model, tmp_path):
    (tmp_path / "k.toml").write_text("[[rule]]\nname = 'a'\ncolumn = 'nowhere'\nequals = 1\n")
    done = run("score", model, folder / "visits.csv", "--rules", tmp_path / "k.toml")
    assert (done.code, done.out, "nowhere" in done.err) == (3, "", True)
    assert run("score", model, folder / "visits.csv", "--rules", tmp_path / "missing.toml").code == 3
    assert run("detect", folder / "visits.csv", "--rules", folder / "known.toml").code == 2
