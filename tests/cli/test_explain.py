"""`ramodo explain`: named reasons that sum to the score, ids, tokens of text; and the reasons that `detect` shows."""

import json

import pytest

from made_files import AS_REPEN
from ramodo import load


def explained(ok, *arguments):
    return json.loads(ok("explain", *arguments, "--json"))


def test_reasons_of_a_row_of_a_table_have_names_and_sum_to_its_score(ok, files):
    row = explained(ok, files.visits_model, files.visits, "--row", "v088", "--top", 4)[0]
    assert (row["id"], row["row"], len(row["reasons"])) == ("v088", 88, 4)
    assert row["score"] == load(files.visits_model).outlier_scores_[88]
    assert sum(reason["contribution"] for reason in row["reasons"]) + row["rest"] == pytest.approx(
        row["score"], abs=1e-9
    )
    names = {reason["feature"] for reason in row["reasons"]}
    assert names & {"country=XX", "seconds"}
    assert names <= set(load(files.visits_model).feature_names_in_)


def test_the_nearest_rows_have_the_ids_of_the_training_data(ok, files, tmp_path):
    """Also where other data are explained."""
    (tmp_path / "new.csv").write_text("visit,country,seconds,bot,day\nx1,NZ,9.5,true,2024-01-03\n")
    row = explained(ok, files.visits_model, tmp_path / "new.csv")[0]
    assert row["id"] == "x1"
    assert len(row["nearest"]) > 0
    assert all(id.startswith("v0") for id in row["nearest"])
    shown = ok("explain", files.visits_model, tmp_path / "new.csv")
    assert f"nearest training rows: {', '.join(row['nearest'])}" in shown


def test_tokens_of_text_have_names_also_those_that_the_row_lacks(ok, files):
    found = explained(ok, files.log_model, files.log, "--row", 89, "--row", 5, "--top", 60)
    assert [row["row"] for row in found] == [89, 5]
    reasons = [reason for row in found for reason in row["reasons"]]
    assert any(reason["value"] == 0 for reason in reasons)
    assert not any(reason["feature"].startswith("feature ") for reason in reasons)
    assert {"drop", "table", "users", "select"} & {reason["feature"] for reason in found[0]["reasons"]}
    assert "DROP TABLE users; SELECT" in ok("explain", files.log_model, files.log, "--row", 89)


def test_tokens_that_a_new_document_lacks_have_names_too(ok, files, tmp_path):
    """The model keeps the names of what its references have."""
    (tmp_path / "new.log").write_text("zzzz qqqq\n")
    reasons = explained(ok, files.log_model, tmp_path / "new.log", "--top", 60)[0]["reasons"]
    lacking = [reason for reason in reasons if reason["value"] == 0]
    assert len(lacking) > 5
    assert not any(reason["feature"].startswith("feature ") for reason in lacking)


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
    assert "has no row 'v999'; its ids are v000, v001, v002" in done.err


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
