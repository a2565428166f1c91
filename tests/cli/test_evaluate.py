"""`ramodo evaluate`: scikit-learn's measures, with intervals around them."""

import json

import anndata
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from ramodo import load
from ramodo.insight import agreement
from support.made_files import AS_REPEN

MEASURES = ("AUC-ROC", "average precision", "precision at n")


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    """For speed: scikit-learn takes a millisecond for each."""
    monkeypatch.setattr(agreement, "_DRAWS", 60)


@pytest.fixture
def noisy(files, tmp_path):
    """Rows of mail.svm with labels that scores agree with only in part; and these labels."""
    lines = files.mail.read_text().splitlines()
    truth = (np.random.default_rng(0).random(120) < 0.1) | (np.arange(120) >= 114)
    text = "".join(f"{int(y)}{line[line.index(' ') :]}\n" for y, line in zip(truth, lines, strict=True))
    (tmp_path / "noisy.svm").write_text(text)
    return tmp_path / "noisy.svm", truth


def precision_at_n(truth, scores):
    return truth[np.argsort(-scores, kind="stable")[: truth.sum()]].mean()


def test_measures_are_those_of_scikit_learn(ok, files, noisy):
    path, truth = noisy
    scores = load(files.mail_model).outlier_scores_
    facts = json.loads(ok("evaluate", files.mail_model, path, "--json"))
    assert facts["rows"] == 120
    assert facts["outliers"] == truth.sum()
    for name, function in zip(MEASURES, (roc_auc_score, average_precision_score, precision_at_n), strict=True):
        value, low, high = facts[name]
        assert value == pytest.approx(function(truth, scores), abs=1e-15)
        assert 0 <= low <= value <= high <= 1
        assert low < high


def test_intervals_come_from_the_seed(ok, files, noisy):
    first, again, other = (ok("evaluate", files.mail_model, noisy[0], "--seed", seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_intervals_narrow_with_more_rows(ok, files, noisy, tmp_path):
    (tmp_path / "more.svm").write_text(noisy[0].read_text() * 16)
    one, more = (json.loads(ok("evaluate", files.mail_model, p, "--json")) for p in (noisy[0], tmp_path / "more.svm"))
    for name in MEASURES:
        assert more[name][2] - more[name][1] < 0.5 * (one[name][2] - one[name][1])
    assert more["AUC-ROC"][0] == pytest.approx(one["AUC-ROC"][0])


def test_a_person_reads_the_same(run, files, noisy):
    facts = json.loads(run("evaluate", files.mail_model, noisy[0], "--json").out)
    done = run("evaluate", files.mail_model, noisy[0])
    assert done.err == ""
    for name in MEASURES:
        value, low, high = facts[name]
        assert any(
            line.split("  ")[0] == name and f"{value:.4f}  (95 %: {low:.4f} to {high:.4f})" in line
            for line in done.out.splitlines()
        )


def test_perfect_scores_have_an_interval_of_1(ok, files, tmp_path):
    scores = load(files.mail_model).outlier_scores_
    highest = scores >= np.sort(scores)[-10]
    lines = files.mail.read_text().splitlines()
    (tmp_path / "best.svm").write_text(
        "".join(f"{int(y)}{line[line.index(' ') :]}\n" for y, line in zip(highest, lines, strict=True))
    )
    facts = json.loads(ok("evaluate", files.mail_model, tmp_path / "best.svm", "--json"))
    for name in MEASURES:
        assert facts[name] == pytest.approx([1, 1, 1])


def test_the_label_that_means_outlier(ok, run, files, noisy, tmp_path):
    path, truth = noisy
    changed = tmp_path / "changed.svm"
    changed.write_text(
        "".join(("-7" if line[0] == "1" else "3") + line[1:] for line in path.read_text().splitlines(keepends=True))
    )
    assert ok("evaluate", files.mail_model, changed, "--outlier", -7) == ok("evaluate", files.mail_model, path)
    done = run("evaluate", files.mail_model, changed)
    assert done.code == 3
    n = int(truth.sum())
    assert "must have outliers and other rows, but no row has the label 1, configured as outlier." in done.err
    assert f"-7 ({n} rows), 3 ({len(truth) - n} rows): say which of them means outlier with --outlier" in done.err


def test_labels_of_a_table(ok, run, files, tmp_path):
    """The column that the model remembers, or another."""
    lines = files.visits.read_text().splitlines()
    header, *rows = [line.split(",") for line in lines]
    renamed = tmp_path / "renamed.csv"
    renamed.write_text("\n".join(",".join(row) for row in [[*header[:-1], "checked"], *rows]))
    expected = ok("evaluate", files.visits_model, files.visits)
    assert "outliers           4" in expected
    assert ok("evaluate", files.visits_model, renamed, "--label", "checked") == expected
    done = run("evaluate", files.visits_model, renamed)
    assert done.code == 3
    assert "renamed.csv holds no labels; name their column with --label" in done.err
    done = run("evaluate", files.visits_model, files.visits, "--label", "nope")
    assert done.code == 3
    assert "has no column 'nope'" in done.err


@pytest.fixture
def words(files, tmp_path):
    """visits.csv with words for labels."""
    header, *lines = files.visits.read_text().splitlines()
    said = {"0": "normal", "1": "tumour"}
    path = tmp_path / "words.csv"
    path.write_text("\n".join([header, *[line[:-1] + said[line[-1]] for line in lines]]) + "\n")
    return path


def test_labels_that_are_words(ok, run, files, words, tmp_path):
    """They are no features, and one of them means outlier."""
    expected = ok("evaluate", files.visits_model, files.visits)
    assert ok("evaluate", files.visits_model, words, "--outlier", "tumour") == expected
    how = ["--id", "visit", "--label", "truth", "--normalize", "max"]
    assert ok("detect", words, *how, "-o", "-", "-q") == ok("detect", files.visits, *how, "-o", "-", "-q")
    ok("fit", words, *how, *AS_REPEN, "-m", tmp_path / "model")
    assert ok("score", tmp_path / "model", words) == ok("score", files.visits_model, files.visits)
    for outlier in ("1", "tumor", "Tumour"):
        done = run("evaluate", tmp_path / "model", words, "--outlier", outlier)
        assert done.code == 3
        assert f"no row has the label {outlier}, configured as outlier" in done.err
        assert "Its labels are normal (86 rows), tumour (4 rows): say which of them means" in done.err
    done = run("evaluate", files.visits_model, files.visits, "--outlier", "tumour")
    assert done.code == 3
    assert "Its labels are 0 (86 rows), 1 (4 rows):" in done.err


def test_words_as_labels_in_other_files(ok, run, files, words, tmp_path):
    how = ["--id", "visit", "--label", "truth"]
    ok("convert", words, tmp_path / "words.npz", *how)
    ok("fit", files.visits, *how, "--scale", "none", "-m", tmp_path / "model")  # dates as they are converted
    expected = ok("evaluate", tmp_path / "model", files.visits)
    assert ok("evaluate", tmp_path / "model", tmp_path / "words.npz", "--outlier", "tumour") == expected
    assert "normal: 86, tumour: 4" in ok("info", tmp_path / "words.npz")
    for suffix in (".svm", ".rows"):
        done = run("convert", words, tmp_path / f"words{suffix}", *how)
        assert done.code == 3
        assert f"labels in {suffix} must be numbers, got text such as normal." in done.err
        assert not (tmp_path / f"words{suffix}").exists()


def test_labels_of_cells(ok, tmp_path):
    """Columns of `obs` in an h5ad file."""
    X = np.random.default_rng(0).random((30, 5)).astype(np.float32)
    X[27:] += 5
    cells = pd.DataFrame(
        {"truth": [0] * 27 + [1] * 3, "kind": ["t"] * 27 + ["b"] * 3}, index=[f"c{i}" for i in range(30)]
    )
    anndata.AnnData(X, obs=cells).write_h5ad(tmp_path / "g.h5ad")
    ok("fit", tmp_path / "g.h5ad", "-m", tmp_path / "model")
    found = ok("evaluate", tmp_path / "model", tmp_path / "g.h5ad", "--label", "truth")
    assert "outliers           3" in found
    assert ok("evaluate", tmp_path / "model", tmp_path / "g.h5ad", "--label", "kind", "--outlier", "b") == found


def test_data_without_labels(run, files):
    done = run("evaluate", files.log_model, files.log)
    assert done.code == 3
    assert "access.txt holds no labels" in done.err
    assert done.out == ""


# ---- a table of labels -----------------------------------------------------------------------------------------------


@pytest.fixture
def labels(tmp_path):
    """Writes a table of labels."""

    def write(text, name="labels.csv"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def test_labels_in_a_table_of_their_own(ok, files, noisy, labels):
    """By row number where rows have no ids; in any order; the labels of the file itself do not matter."""
    path, truth = noisy
    expected = ok("evaluate", files.mail_model, path)
    lines = [f"{row},{int(y)}" for row, y in enumerate(truth)]
    given = labels("\n".join(["id,label", *lines[::-1]]) + "\n")
    assert ok("evaluate", files.mail_model, files.mail, "--labels", given) == expected
    alone = labels("odd\n" + "".join(f"{int(y)}\n" for y in truth), "alone.csv")
    assert ok("evaluate", files.mail_model, files.mail, "--labels", alone) == expected
    words = labels("id,said\n" + "".join(f"{i},{'bad' if y else 'fine'}\n" for i, y in enumerate(truth)), "w.csv")
    named = ["--labels", words, "--label", "said", "--outlier", "bad"]
    assert ok("evaluate", files.mail_model, files.mail, *named) == expected


def test_labels_by_the_ids_of_the_data(ok, files, labels):
    lines = files.visits.read_text().splitlines()[1:]
    given = labels("visit,label\n" + "".join(f"{line.split(',')[0]},{line[-1]}\n" for line in lines))
    expected = ok("evaluate", files.visits_model, files.visits)
    assert ok("evaluate", files.visits_model, files.visits, "--labels", given) == expected


def test_what_does_not_match_is_said(run, files, labels):
    given = labels("id,label\n89,1\n88,1\n3,0\n4,0\nx7,1\nx8,0\n")
    done = run("evaluate", files.log_model, files.log, "--labels", given)
    assert done.code == 0, done.err
    assert "2 of the 6 labels in " in done.err
    assert "such as 'x7'" in done.err
    assert "86 of the 90 rows of " in done.err
    assert "rows               4" in done.out
    facts = json.loads(run("evaluate", files.log_model, files.log, "--labels", given, "--json", "-q").out)
    assert (facts["rows"], facts["labels of no row"], facts["rows without a label"]) == (4, 2, 86)
    assert facts["AUC-ROC"][0] == 1.0


def test_labels_that_fit_nothing(run, files, labels):
    def complaint(text, *more):
        done = run("evaluate", files.log_model, files.log, "--labels", labels(text), *more)
        assert done.code == 3
        return done.err

    assert "no row of" in complaint("id,label\na,1\nb,0\n")
    assert "labels.csv has no column 'id' to match labels with rows; it has key, label" in complaint(
        "key,label\n1,1\n2,0\n"
    )
    assert "has no column 'label'; it has id, truth" in complaint("id,truth\n1,1\n2,0\n")
    assert "one label for each of the 90 rows, got 2." in complaint("label\n1\n0\n")
    assert "must have each id once, got '1' twice" in complaint("id,label\n1,1\n1,0\n")
