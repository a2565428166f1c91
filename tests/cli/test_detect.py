"""`ramodo detect` and `ramodo fit`: what a detector finds, in files and on standard output, or an error alone."""

import csv
import io
import json
import os
import re

import numpy as np
import pyarrow.parquet
import pytest

from ramodo import REPEN, Consensus, load
from ramodo.cli import detect, main
from ramodo.formats import Schema, read
from ramodo.model.file import saving as model_file
from ramodo.stages.conformal import Conformal
from support.made_files import AS_REPEN


def fitted(X, y=None, **options):
    return Consensus(**{"random_state": 0, **options}).fit(X, labels=y)


def fitted_repen(X, y=None, **options):
    return REPEN(**{"n_epochs": 2, "random_state": 0, **options}).fit(X, labels=y)


METHODS = pytest.mark.parametrize(("method", "expected"), [((), fitted), (AS_REPEN, fitted_repen)], ids=["", "repen"])
"""Flags, and the detector that they stand for: by default, and REPEN."""


def rows_of(text):
    """id, score, percentile and flag of each line of a CSV text."""
    header, *lines = csv.reader(io.StringIO(text))
    assert header == ["id", "score", "percentile", "flag"]
    return [(id, float(score), float(percentile), int(flag)) for id, score, percentile, flag in lines]


def scores_in(text):
    return [score for _, score, _, _ in rows_of(text)]


# ---- what is found ---------------------------------------------------------------------------------------------------


@METHODS
def test_the_scores_are_those_of_the_detector(ok, files, data, method, expected):
    detector = expected(data[0])
    found = rows_of(ok("detect", files.mail, "-o", "-", *method))
    assert [id for id, *_ in found] == [str(i) for i in range(120)]
    assert [score for _, score, _, _ in found] == detector.outlier_scores_.tolist()
    lower = [round(100 * float(np.mean(detector.outlier_scores_ < score)), 3) for score in detector.outlier_scores_]
    assert [share for _, _, share, _ in found] == lower
    assert [flag for *_, flag in found] == (detector.outlier_scores_ >= detector.threshold_).astype(int).tolist()


OPTIONS = {
    "components": (["--components", 5], {"n_components": 5}),
    "seed": (["--seed", 7], {"random_state": 7}),
    "normalize l2": (["--normalize", "l2"], {"normalize": "l2"}),
    "normalize max": (["--normalize", "max"], {"normalize": "max"}),
    "normalize none": (["--normalize", "none"], {}),
    "share": (["--share", 0.1], {"cutoff": 0.1}),
    "fdr": (["--fdr", 0.2], {"cutoff": Conformal(0.2)}),
    "one thread": (["--threads", 1], {}),
    "three threads": (["--threads", 3], {}),
}


@pytest.mark.parametrize(("arguments", "options"), OPTIONS.values(), ids=OPTIONS.keys())
@METHODS
def test_options_are_those_of_the_detector(ok, files, data, method, expected, arguments, options):
    found = rows_of(ok("detect", files.mail, "-o", "-", *method, *arguments))
    detector = expected(data[0], **options)
    assert [score for _, score, _, _ in found] == detector.outlier_scores_.tolist()
    assert [flag for *_, flag in found] == (detector.outlier_scores_ >= detector.threshold_).astype(int).tolist()


def test_several_models(ok, files, data):
    found = scores_in(ok("detect", files.mail, "-o", "-", *AS_REPEN, "--models", 2))
    assert found == fitted_repen(data[0], n_estimators=2).outlier_scores_.tolist()


def test_a_share_flags_that_share(ok, files):
    assert sum(flag for *_, flag in rows_of(ok("detect", files.mail, "-o", "-", "--share", 0.1))) == 12
    assert json.loads(ok("detect", files.mail, "--json", "--share", 0.05))["flagged"] == 6


def test_text_is_brought_to_length_1_for_repen_alone(ok, files, tmp_path):
    def normalize(path, *arguments):
        ok("fit", path, "-m", tmp_path / "model", *arguments)
        return load(tmp_path / "model").normalize

    for path, expected in ((files.log, "l2"), (files.mail, None), (files.visits, None)):
        assert normalize(path, *AS_REPEN) == expected
        assert normalize(path) is None
    assert normalize(files.log, *AS_REPEN, "--normalize", "none") is None
    others = [flag for name in ("visit", "seconds", "bot", "day", "truth") for flag in ("--ignore", name)]
    assert normalize(files.visits, *AS_REPEN, "--text", "country", *others) == "l2"
    assert normalize(files.visits, *AS_REPEN, "--text", "country") is None
    assert normalize(files.log, "--normalize", "l2") == "l2"


# ---- files -----------------------------------------------------------------------------------------------------------


def from_file(path):
    if path.suffix == ".csv":
        return rows_of(path.read_text())
    if path.suffix == ".jsonl":
        values = [json.loads(line) for line in path.read_text().splitlines()]
        return [(row["id"], row["score"], row["percentile"], row["flag"]) for row in values]
    if path.suffix == ".parquet":
        table = pyarrow.parquet.read_table(path)
        assert table.column_names == ["id", "score", "percentile", "flag"]
        return list(zip(*[column.to_pylist() for column in table.columns], strict=True))
    with np.load(path, allow_pickle=False) as file:
        return list(zip(*[file[name].tolist() for name in ("id", "score", "percentile", "flag")], strict=True))


@pytest.mark.parametrize("source", ["mail", "visits"])
def test_all_kinds_of_files_hold_the_same(ok, files, tmp_path, source):
    arguments = [getattr(files, source), *(["--id", "visit"] if source == "visits" else [])]
    expected = rows_of(ok("detect", *arguments, "-o", "-"))
    for suffix in (".csv", ".jsonl", ".parquet", ".npz", ".CSV"):
        ok("detect", *arguments, "-o", tmp_path / f"scores{suffix}")
        found = (
            from_file(tmp_path / f"scores{suffix}")
            if suffix.islower()
            else rows_of((tmp_path / "scores.CSV").read_text())
        )
        assert found == expected
    assert len(expected) == (120 if source == "mail" else 90)
    assert expected[7][0] == ("7" if source == "mail" else "v007")


def test_a_file_takes_the_place_of_another_and_a_link_stays_one(ok, files, tmp_path):
    (tmp_path / "old.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "old.csv")
    ok("detect", files.mail, "-o", tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert len(rows_of((tmp_path / "old.csv").read_text())) == 120
    assert sorted(os.listdir(tmp_path)) == ["link.csv", "old.csv"]


def test_ids_with_commas_and_quotes(ok, tmp_path):
    names = ["plain", "a, b", 'say "so"', "two\nlines", "é=1", ":warning:", "[bold]", "007"]
    lines = ["id,x,y"] + ['"' + name.replace('"', '""') + f'",{i},{i * i % 5}' for i, name in enumerate(names)]
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n")
    found = rows_of(ok("detect", tmp_path / "data.csv", "--id", "id", "-o", "-"))
    assert [id for id, *_ in found] == names
    shown = ok("detect", tmp_path / "data.csv", "--id", "id", "--all")
    assert all(name in shown for name in names if "\n" not in name)


def test_a_model_is_written_that_scores_the_same(ok, files, data, tmp_path):
    expected = scores_in(ok("detect", files.mail, "-m", tmp_path / "model", "-o", "-"))
    assert load(tmp_path / "model").outlier_score(data[0]).tolist() == expected
    ok("fit", files.mail, "-m", tmp_path / "other")
    assert load(tmp_path / "other").outlier_scores_.tolist() == expected


# ---- what is printed -------------------------------------------------------------------------------------------------


def test_the_summary_is_on_standard_output_and_nothing_on_the_other(run, files, tmp_path):
    done = run("detect", files.mail, "-o", tmp_path / "s.csv", "-m", tmp_path / "model", "--top", 3)
    assert done.code == 0
    assert done.err == ""
    for expected in (
        "rows",
        "120",
        "features",
        "40",
        "cut-off",
        "flagged",
        str(tmp_path / "s.csv"),
        str(tmp_path / "model"),
    ):
        assert expected in done.out
    *_, others, next_step = shown = re.split(r"reasons *\n", done.out)[1].splitlines()
    assert (len(shown), others[:6], next_step[:6]) == (5, "The fi", "Next, ")


def test_the_highest_rows_are_shown_in_order(ok, files, data):
    order = np.argsort(-fitted(data[0]).outlier_scores_)
    lines = re.split(r"reasons *\n", ok("detect", files.mail, "--top", 5, "--all"))[1].splitlines()[:5]
    assert [line.split()[0] for line in lines] == [str(row) for row in order[:5]]
    assert "percentile" not in ok("detect", files.mail, "--top", 0)
    shown = ok("detect", files.log, "--top", 2)
    assert "DROP TABLE users; SELECT" in shown
    assert "e-0" not in shown  # what adds next to nothing is no reason


def test_flagged_rows_are_told_from_others(ok, files, data):
    detector = fitted(data[0])
    scores = np.sort(detector.outlier_scores_)[::-1]
    n = int((scores >= detector.threshold_).sum()) + 2
    lines = re.split(r"reasons *\n", ok("detect", files.mail, "--top", n, "--all"))[1].splitlines()
    assert [line.split()[3] for line in lines[:n]] == ["yes"] * (n - 2) + ["no"] * 2
    assert lines[n] == f"The first {n - 2} are flagged; the others are the highest below the cut-off."
    facts = json.loads(ok("detect", files.mail, "--top", n, "--all", "--json"))
    assert [row["flagged"] for row in facts["top"]] == [True] * (n - 2) + [False] * 2


def test_flags_that_noise_would_give_are_called_that(ok, tmp_path):
    """Few flags too, unless a number of them was asked for, as in the report."""
    lines = [f"{a:.4f},{b:.4f},{c:.4f}" for a, b, c in np.random.default_rng(0).random((300, 3))]
    (tmp_path / "noise.csv").write_text("\n".join(["a,b,c", *lines]) + "\n")
    by_alpha = ok("detect", tmp_path / "noise.csv", "--alpha", 1.7320508075688772)
    assert "rows without any outlier would give about 20" in by_alpha
    assert "flagged    0 rows, 0.00%\n" in ok("detect", tmp_path / "noise.csv")
    assert "without any outlier" not in ok("detect", tmp_path / "noise.csv", "--share", 0.05)


def test_scores_on_standard_output_leave_the_summary_to_the_other(run, files):
    done = run("detect", files.mail, "-o", "-")
    assert len(rows_of(done.out)) == 120
    assert "cut-off" in done.err
    quiet = run("detect", files.mail, "-o", "-", "--quiet")
    assert quiet.out == done.out
    assert quiet.err == ""
    both = run("detect", files.mail, "-o", "-", "--json")
    assert both.out == done.out
    assert json.loads(both.err)["rows"] == 120


@pytest.mark.parametrize("quiet", ["-q", "--quiet"])
def test_quiet_prints_nothing(run, files, tmp_path, quiet):
    for arguments in (["detect", files.mail, "-o", tmp_path / "s.csv"], ["fit", files.mail, "-m", tmp_path / "model"]):
        done = run(*arguments, quiet)
        assert (done.code, done.out, done.err) == (0, "", "")
    assert sorted(os.listdir(tmp_path)) == ["model", "s.csv"]


def test_the_summary_as_json(ok, files, data, tmp_path):
    detector = fitted(data[0])
    facts = json.loads(
        ok("detect", files.mail, "--json", "--all", "--top", 4, "-o", tmp_path / "s.csv", "-q"),
        parse_constant=pytest.fail,
    )
    assert facts["rows"] == 120
    assert facts["features"] == 40
    assert facts["non-zeros"] == data[0].nnz
    assert facts["cut-off"] == detector.threshold_
    assert facts["flagged"] == int((detector.outlier_scores_ >= detector.threshold_).sum())
    assert facts["scores"] == str(tmp_path / "s.csv")
    assert set(facts["seconds"]) >= {"read", "training", "scoring"}
    order = np.argsort(-detector.outlier_scores_)[:4]
    assert [row["id"] for row in facts["top"]] == [str(r) for r in order]
    assert [row["score"] for row in facts["top"]] == detector.outlier_scores_[order].tolist()
    assert json.loads(ok("fit", files.mail, "--json", "-m", tmp_path / "model"))["model"] == str(tmp_path / "model")


def test_json_has_an_entry_for_each_kind(ok, files):
    top = json.loads(ok("detect", files.mail, "--json", "--top", 4, "-q"))["top"]
    every = json.loads(ok("detect", files.mail, "--json", "--all", "--top", 4, "-q"))["top"]
    assert top[0]["id"] == every[0]["id"]
    assert {row["id"] for row in every} <= {id for row in top for id in (row["id"], *row["like"])}


def test_json_counts_the_rows_of_each_kind(ok, files):
    facts = json.loads(ok("detect", files.mail, "--json", "--top", 120, "--share", 0.05, "-q"))
    assert [one["kind"]["rows"] for one in facts["top"]] == [1 + len(one["like"]) for one in facts["top"]]
    assert sum(one["kind"]["flagged"] for one in facts["top"]) == facts["flagged"] == 6


def test_the_last_line_is_the_command_to_label_rows_read_and_fitted_alike(ok, files):
    said = ok("detect", files.mail, "--top", 2, "--one-based", "--share=0.05", "--seed", 1).splitlines()
    assert said[-1] == f"Next, label ten of these rows: ramodo triage {files.mail} --one-based --share=0.05 --seed 1"
    assert json.loads(ok("detect", files.mail, "--json", "-q"))["next"] == f"ramodo triage {files.mail}"


def test_rows_with_labels_need_no_such_command(ok, files, tmp_path):
    (tmp_path / "known.csv").write_text("id,label\n3,1\n")
    assert "triage" not in ok("detect", files.mail, "--top", 2, "--labels", tmp_path / "known.csv")


def test_warnings_go_to_standard_error(run, tmp_path):
    (tmp_path / "same.svm").write_text("1 1:1\n" * 30)
    done = run("detect", tmp_path / "same.svm", "-o", "-")
    assert done.code == 0
    assert "warning: " in done.err
    assert "warning: " not in done.out
    assert run("detect", tmp_path / "same.svm", "-o", "-", "-q").err == ""


# ---- labels ----------------------------------------------------------------------------------------------------------


@METHODS
def test_known_labels_change_the_ranking_as_in_the_detector(ok, files, data, tmp_path, method, expected):
    (tmp_path / "known.csv").write_text("id,label\n115,1\n118,1\n3,-1\n9,0\n")
    y = np.zeros(120, dtype=int)
    y[[115, 118]], y[3] = 1, -1
    found = scores_in(ok("detect", files.mail, "-o", "-", *method, "--labels", tmp_path / "known.csv"))
    assert found == expected(data[0], y).outlier_scores_.tolist()
    assert found != expected(data[0]).outlier_scores_.tolist()


def test_known_labels_go_by_the_ids_of_the_data(ok, tmp_path, files):
    pyarrow.parquet.write_table(pyarrow.table({"label": [1, 1], "id": ["v087", "v089"]}), tmp_path / "known.parquet")
    read_as = ["--id", "visit", "--label", "truth", "--normalize", "max"]
    found = scores_in(ok("detect", files.visits, "-o", "-", *read_as, "--labels", tmp_path / "known.parquet"))
    y = np.zeros(90, dtype=int)
    y[[87, 89]] = 1
    X = read(str(files.visits), schema=Schema(id="visit", label="truth", scale="auto")).X
    assert found == fitted(X, y, normalize="max").outlier_scores_.tolist()


def test_ids_of_digits_are_the_same_in_both_files(ok, run, tmp_path):
    lines = "".join(f"{i:03d},{i % 7},{i % 5}\n" for i in range(30))
    (tmp_path / "data.csv").write_text("id,a,b\n" + lines + "x01,9,9\n")
    (tmp_path / "known.csv").write_text("id,label\n007,1\n")
    ok("detect", tmp_path / "data.csv", "--id", "id", "--labels", tmp_path / "known.csv")
    (tmp_path / "known.csv").write_text("id,label\n7,1\n")
    done = run("detect", tmp_path / "data.csv", "--id", "id", "--labels", tmp_path / "known.csv")
    assert done.code == 3
    assert "no row of the data has the id '7'" in done.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,label\n500,1\n", "no row of the data has the id '500'"),
        ("id,label\n5,2\n", "the label of '5' must be 1 (outlier), -1 (inlier) or 0 (unknown), got 2."),
        ("id,label\n5,x\n6,1\n", "labels must be 1 (outlier), -1 (inlier) or 0 (unknown), got 1, x."),
        ("id,label\n5,1\n5,-1\n", "must have each id once, got '5' twice"),
        ("row,label\n5,1\n", "has no column 'id'"),
        ("id,truth\n5,1\n", "has no column 'label'"),
    ],
)
def test_labels_that_are_wrong(run, files, tmp_path, text, message):
    (tmp_path / "known.csv").write_text(text)
    done = run("detect", files.mail, "-o", tmp_path / "s.csv", "--labels", tmp_path / "known.csv")
    assert done.code == 3
    assert done.out == ""
    assert message in done.err
    assert "known.csv" in done.err
    assert not (tmp_path / "s.csv").exists()


def test_labels_in_the_data_are_never_trained_on(ok, files, tmp_path):
    """Those of an svmlight file, and the column --label."""
    changed = tmp_path / "changed.svm"
    changed.write_text(
        "".join("7" + line[line.index(" ") :] for line in files.mail.read_text().splitlines(keepends=True))
    )
    assert ok("detect", files.mail, "-o", "-") == ok("detect", changed, "-o", "-")
    other = tmp_path / "other.csv"
    other.write_text(
        "\n".join(line[:-1] + "0" if line[-1] == "1" else line for line in files.visits.read_text().splitlines())
    )
    assert other.read_text() != files.visits.read_text()
    same = [ok("detect", path, "-o", "-", "--label", "truth", "--id", "visit") for path in (files.visits, other)]
    assert same[0] == same[1]


# ---- errors ----------------------------------------------------------------------------------------------------------

USAGE = {
    "no data": ["detect"],
    "an unknown option": ["detect", "{mail}", "--nope"],
    "an unknown command": ["nope"],
    "no number": ["detect", "{mail}", "--epochs", "x"],
    "a model without a path": ["fit", "{mail}"],
    "too many bits": ["detect", "{log}", "--bits", 41],
    "too few bits": ["detect", "{log}", "--bits", 7],
    "no epochs": ["detect", "{mail}", "--epochs", 0],
    "no components": ["detect", "{mail}", "--components", 0],
    "no models": ["detect", "{mail}", "--models", 0],
    "no threads": ["detect", "{mail}", "--threads", 0],
    "a share too large": ["detect", "{mail}", "--share", 2],
    "a rate too large": ["detect", "{mail}", "--fdr", 1.5],
    "share and rate": ["detect", "{mail}", "--share", 0.1, "--fdr", 0.1],
    "an unknown way to normalise": ["detect", "{mail}", "--normalize", "l3"],
    "an unknown way with what is missing": ["detect", "{visits}", "--missing", "median"],
    "an unknown format": ["detect", "{mail}", "--format", "excel"],
    "n-grams backwards": ["detect", "{log}", "--words", "3-1"],
    "n-grams of text": ["detect", "{log}", "--words", "many"],
    "n-grams too long": ["detect", "{log}", "--characters", "3-17"],
    "n-grams from 0": ["detect", "{log}", "--characters", "0-3"],
    "a negative seed": ["detect", "{mail}", "--seed", -1],
}


@pytest.mark.parametrize("arguments", USAGE.values(), ids=USAGE.keys())
def test_bad_usage(run, files, arguments):
    names = {"mail": files.mail, "visits": files.visits, "log": files.log}
    done = run(*[str(argument).format(**names) for argument in arguments])
    assert done.code == 2
    assert done.out == ""
    assert done.err != ""
    assert "Traceback" not in done.err


BAD = {
    "a missing file": ("none.svm", None, "none.svm: there is no such file; check its name"),
    "an unknown suffix": ("data.doc", "1 1:2\n", "says nothing about its format"),
    "a bad line": ("data.svm", "1 1:2\n1 1:x\n", "data.svm, line 2, column 5"),
    "no rows": ("data.svm", "", "has no rows"),
    "too few rows": ("data.svm", "1 1:2\n1 2:3\n", "must have at least 3 rows, got 2"),
    "a missing value": ("data.csv", "a,b\n1,2\n3,\n", "row 1, column 'b': the value is missing"),
    "not an array": ("data.npy", "x", "data.npy is not a matrix"),
    "a value too large": ("data.svm", "1 1:1e31\n1 1:2\n1 1:3\n", "1e+31"),
}


@pytest.mark.parametrize(("name", "content", "message"), BAD.values(), ids=BAD.keys())
def test_bad_data_leave_no_file(run, tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_text(content)
    before = os.listdir(tmp_path)
    done = run("detect", tmp_path / name, "-o", tmp_path / "scores.csv", "-m", tmp_path / "model")
    assert done.code == 3
    assert done.out == ""
    assert done.err.startswith("ramodo: ")
    assert message in done.err
    assert "Traceback" not in done.err
    assert os.listdir(tmp_path) == before


@pytest.mark.parametrize(
    ("option", "path", "message"),
    [
        ("-o", "scores.txt", "must end in .csv, .jsonl, .parquet, .npz, got .txt."),
        ("-o", "scores", "got no suffix."),
        ("-o", "scores.csv.gz", "got .gz."),
        ("-o", "nowhere/scores.csv", "Create it first."),
        ("-o", "folder.csv", "must be a file, got a folder."),
        ("-o", "pipe.csv", "must be a file, got a pipe or a device."),
        ("-m", "nowhere/model", "Create it first."),
        ("-m", "folder.csv", "must be a file, got a folder."),
        ("-m", "pipe.csv", "must be a file, got a pipe or a device."),
    ],
)
def test_what_cannot_be_written_is_refused_before_any_work(run, tmp_path, option, path, message):
    """Before the data are read, even: they are not there."""
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")
    done = run("detect", tmp_path / "none.svm", option, tmp_path / path)
    assert done.code == 2
    assert message in done.err
    assert sorted(os.listdir(tmp_path)) == ["folder.csv", "pipe.csv"]


def test_a_model_that_cannot_be_written_leaves_no_file(run, files, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    (tmp_path / "model").write_text("old")
    monkeypatch.setattr(model_file, "save_file", full)
    done = run("fit", files.mail, "-m", tmp_path / "model")
    assert done.code == 3
    assert done.err == f"ramodo: {tmp_path / 'model'} could not be written: No space left on device.\n"
    assert (tmp_path / "model").read_text() == "old"
    assert os.listdir(tmp_path) == ["model"]


def test_errors_of_the_program_itself_show_where_they_are(monkeypatch, files):
    """What is not about the user's data is not passed off as if it were."""

    def broken(*_, **__):
        raise ValueError("a slip of ours")

    monkeypatch.setattr(detect, "fit", broken)
    monkeypatch.setattr("sys.argv", ["ramodo", "detect", str(files.mail)])
    with pytest.raises(ValueError, match="a slip of ours"):
        main()


def test_an_error_after_a_table_was_read_ends_in_order(start, files, tmp_path):
    """Threads of the table's reader that need Python for their last act would abort an interpreter that has ended."""
    (tmp_path / "labels.csv").write_text("id,label\n5,2\n")
    for _ in range(2):
        process = start("detect", files.log, "--labels", tmp_path / "labels.csv", "-q")
        _, err = process.communicate()
        assert process.returncode == 3, err
        assert b"got 2" in err


def test_rows_of_a_kind_are_one_line_unless_all_are_asked_for(ok, tmp_path):
    lines = [f"GET /page/{i % 7}/index.html 200" for i in range(90)] + ["POST /wget+evil.sh 500"] * 3
    (tmp_path / "access.log").write_text("\n".join(lines) + "\n")
    command = ("detect", tmp_path / "access.log", "--top", 3, "--share", 0.04)
    found = ok(*command)
    assert "like it" in found
    assert found.count("wget") < ok(*command, "--all").count("wget")
