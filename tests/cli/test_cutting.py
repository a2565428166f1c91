"""`ramodo score` with another cut-off than the model's."""

import csv

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from ramodo import load
from support.examples import with_outliers
from support.made_files import write_svmlight


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cutting")
    X, y = with_outliers()
    write_svmlight(folder / "mail.svm", X, y)
    return folder


@pytest.fixture
def model(ok, folder):
    if not (folder / "m.ramodo").exists():
        ok("fit", folder / "mail.svm", "-m", folder / "m.ramodo", "--method", "repen", "--fdr", "0.1", "-q")
    return folder / "m.ramodo"


@pytest.fixture
def flagged(run, folder, model, tmp_path):
    def command(*arguments):
        done = run("score", model, folder / "mail.svm", "-o", tmp_path / "s.csv", *arguments)
        assert done.code == 0, done.err
        with open(tmp_path / "s.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        return [row["flag"] == "1" for row in rows], [float(row["score"]) for row in rows], done.err

    return command


def test_a_share_of_the_training_rows(flagged):
    flags, _, said = flagged("--share", "0.05")
    assert sum(flags) == round(0.05 * len(flags))
    assert "the share 0.05 of the training rows reaches it; of other rows, any share can" in said


def test_the_highest_of_these_rows(flagged):
    flags, scores, said = flagged("--top", "7")
    assert np.flatnonzero(flags).tolist() == sorted(np.argsort(scores)[-7:].tolist())
    assert "the 7 highest of these rows reach it" in said


def test_a_score(flagged):
    flags, scores, _ = flagged()
    middle = sorted(scores)[50]
    flags, scores, said = flagged("--cutoff", repr(middle))
    assert flags == [score >= middle for score in scores]
    assert "of the training rows reach it; nothing else is known" in said


def test_a_false_discovery_rate_flags_the_discoveries(run, folder, model, tmp_path):
    X, y = with_outliers()
    new = sp.csr_array(sp.vstack([X[:50], 30 * X[50:70]]))
    write_svmlight(tmp_path / "new.svm", new, y[:70])
    done = run("score", model, tmp_path / "new.svm", "--fdr", "0.4", "-q")
    flags = [line.split(",")[3] == "1" for line in done.out.splitlines()[1:]]
    assert (
        flags
        == load(model).discoveries(load_svmlight_file(tmp_path / "new.svm", n_features=X.shape[1])[0], fdr=0.4).tolist()
    )
    assert 20 <= sum(flags) < 40
    said = run("score", model, tmp_path / "new.svm", "--fdr", "0.4").err
    assert "an expected share of at most 0.4 is flagged by chance" in said


def test_flagged_rows_alone(run, folder, model):
    assert run("score", model, folder / "mail.svm", "--top", "3", "--flagged").out.count("\n") == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--share", "0.1", "--top", "3"], "--share and --top cannot be combined; give one of them."),
        (["--cutoff", "nan"], "--cutoff must be a finite number, got nan."),
        (["--fdr", "2"], "fdr must be"),
    ],
)
def test_what_is_refused(run, folder, model, arguments, message):
    done = run("score", model, folder / "mail.svm", *arguments)
    assert done.code == 2
    assert message in done.err


def test_a_rate_needs_a_model_that_was_fitted_for_one(run, ok, folder, tmp_path):
    ok("fit", folder / "mail.svm", "-m", tmp_path / "plain.ramodo", "--method", "repen", "-q")
    done = run("score", tmp_path / "plain.ramodo", folder / "mail.svm", "--fdr", "0.1")
    assert (done.code, "fit the model with --fdr, too" in done.err) == (2, True)


def test_a_stream_has_no_highest_rows(run, folder, model):
    done = run("score", model, "-", "--top", "3", stdin=(folder / "mail.svm").read_bytes())
    assert (done.code, "a stream has no end; use --share or --cutoff" in done.err) == (2, True)
