"""`ramodo evaluate`: scikit-learn's measures, with intervals around them."""

import json

import anndata
import numpy as np
import pandas as pd
import pytest
from made_files import AS_REPEN
from sklearn.metrics import average_precision_score, roc_auc_score

from ramodo import load
from ramodo.insight import agreement

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
    assert f"0 of {len(truth)} rows have the label 1; allowed: some of them" in done.err
    assert "Labels found: -7, 3; say which means outlier with --outlier" in done.err


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
        assert f"0 of 90 rows have the label {outlier}; allowed: some of them" in done.err
        assert "Labels found: normal, tumour; say which means outlier with --outlier" in done.err
    done = run("evaluate", files.visits_model, files.visits, "--outlier", "tumour")
    assert done.code == 3
    assert "Labels found: 0, 1;" in done.err


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
        assert f"the labels are text, as normal; allowed in {suffix}: numbers" in done.err
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
    assert "access.log holds no labels" in done.err
    assert done.out == ""
