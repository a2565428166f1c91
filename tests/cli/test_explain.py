"""`ramodo explain`: named reasons that sum to the score, ids, tokens of text; and the reasons that `detect` shows."""

import json

import pytest

from ramodo import load
from support.made_files import AS_REPEN


def explained(ok, *arguments):
    return json.loads(ok("explain", *arguments, "--json"))


def total(row):
    """All that is said of a score, added up."""
    return sum(reason["contribution"] for reason in row["reasons"]) + row["lacks"]["contribution"] + row["rest"]


def test_reasons_of_a_row_of_a_table_have_names_and_sum_to_its_score(ok, files):
    row = explained(ok, files.visits_model, files.visits, "--row", "v088", "--top", 4)[0]
    assert (row["id"], row["row"], len(row["reasons"])) == ("v088", 88, 4)
    assert row["score"] == load(files.visits_model).outlier_scores_[88]
    assert total(row) == pytest.approx(row["score"], abs=1e-9)
    names = {reason["feature"] for reason in row["reasons"]}
    assert names & {"country=XX", "seconds"}
    assert names <= {*load(files.visits_model).feature_names_in_, "day, hour of the day", "day, day of the week"}
    assert not any("sine" in name for name in names)


def test_the_nearest_rows_have_the_ids_of_the_training_data(ok, files, tmp_path):
    """Also where other data are explained."""
    (tmp_path / "new.csv").write_text("visit,country,seconds,bot,day\nx1,NZ,9.5,true,2024-01-03\n")
    row = explained(ok, files.visits_model, tmp_path / "new.csv")[0]
    assert row["id"] == "x1"
    assert len(row["nearest"]) > 0
    assert all(id.startswith("v0") for id in row["nearest"])
    shown = ok("explain", files.visits_model, tmp_path / "new.csv")
    assert f"nearest training rows: {', '.join(row['nearest'])}" in shown


def test_a_document_stands_out_by_runs_of_its_characters(ok, files):
    """Each place of it once, and with what it lacks and the rest they are the score."""
    lines = files.log.read_text().splitlines()
    for row in explained(ok, files.log_model, files.log, "--row", 89, "--row", 5, "--top", 60):
        assert total(row) == pytest.approx(row["score"], abs=1e-9)
        assert abs(row["rest"]) < row["score"]
        taken = set()
        for reason in row["reasons"]:
            for begin, end, _ in reason["spans"]:
                assert lines[row["row"]][begin:end].lower() == reason["feature"][1:-1].lower()
                assert not taken & set(range(begin, end))
                taken |= set(range(begin, end))
            assert sum(span[2] for span in reason["spans"]) == pytest.approx(reason["contribution"])
    row = explained(ok, files.log_model, files.log, "--row", 89)[0]
    assert row["reasons"][0]["feature"] == "'DROP TABLE users; SELECT'"
    shown = ok("explain", files.log_model, files.log, "--row", 89)
    assert "DROP TABLE users; SELECT" in shown
    assert "in at most 1 of 90 rows" in shown


def test_tokens_that_a_document_lacks_have_names(ok, files, tmp_path):
    """The model keeps the names of what its references have."""
    (tmp_path / "new.log").write_text("zzzz qqqq\n")
    row = explained(ok, files.log_model, tmp_path / "new.log", "--top", 60)[0]
    lacking = row["lacks"]["strongest"]
    assert len(lacking) > 5
    assert not any(reason["value"] or reason["feature"].startswith("feature ") for reason in lacking)
    assert row["lacks"]["features"] >= len(lacking)
    assert "lacks what most rows have: " in ok("explain", files.log_model, tmp_path / "new.log")


@pytest.mark.parametrize("first", [0, 1])
def test_features_of_an_svmlight_file_have_the_numbers_that_it_gives_them(ok, tmp_path, first):
    lines = [f"0 {first + i % 3}:1 {first + 3}:{1 + i % 2}" for i in range(30)]
    (tmp_path / "data.svm").write_text("\n".join([*lines, f"0 {first + 7}:9"]) + "\n")
    ok("fit", tmp_path / "data.svm", "-m", tmp_path / "m")
    reason = explained(ok, tmp_path / "m", tmp_path / "data.svm", "--row", 30, "--top", 1)[0]["reasons"][0]
    assert (reason["feature"], reason["column"]) == (f"feature {first + 7}", 7)


def test_the_three_highest_rows_by_default(ok, files):
    scores = load(files.mail_model).outlier_scores_
    assert [row["row"] for row in explained(ok, files.mail_model, files.mail)] == (-scores).argsort()[:3].tolist()


def test_rows_that_are_not_there(run, files):
    done = run("explain", files.visits_model, files.visits, "--row", "v999")
    assert done.code == 3
    assert "such as v000, v001, v002, got 'v999'." in done.err


def test_detect_shows_the_strongest_reasons_of_each_row(ok, files):
    options = [*AS_REPEN, "--id", "visit", "--label", "truth", "--normalize", "max"]
    top = json.loads(ok("detect", files.visits, *options, "--top", 4, "--json"))["top"]
    assert [len(row["reasons"]) for row in top] == [3, 3, 3, 3]
    wanted = [argument for row in top for argument in ("--row", row["id"])]
    known = {row["id"]: row for row in explained(ok, files.visits_model, files.visits, *wanted)}
    for row in top:
        assert row["reasons"] == known[row["id"]]["reasons"][:3]
    shown = ok("detect", files.visits, *options, "--top", 4)
    strongest = top[0]["reasons"][0]
    assert f"{strongest['feature']} ({strongest['contribution']:+.2g})" in shown
