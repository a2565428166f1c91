"""Data that live elsewhere go through the same algorithm: the same bits, and no block comes to the parent."""

import inspect
import pickle

import numpy as np
import process_rows
import pytest
import scipy.sparse as sp
from process_rows import ProcessRows

from ramodo import REPEN, Conformal
from ramodo.data.blocks import Block
from support.examples import with_outliers

QUICK = {"n_components": 5, "n_epochs": 3, "n_subsamples": 10, "random_state": 0}


def _parts(X):
    return [X[:50], X[50:61], X[61:]]


@pytest.fixture(scope="module", params=["sparse", "dense"])
def both(request):
    """The same rows in memory and in three processes."""
    X, _ = with_outliers()
    X = X if request.param == "sparse" else X.toarray()
    elsewhere = ProcessRows(_parts(X))
    yield X, elsewhere
    elsewhere.close()


def test_an_engine_is_short():
    assert len(inspect.getsource(ProcessRows).splitlines()) < 60


@pytest.mark.parametrize("options", [{}, {"normalize": "l2"}, {"n_estimators": 2}], ids=str)
def test_same_bits_in_processes(both, options):
    X, elsewhere = both
    here, there = REPEN(**QUICK, **options).fit(X), REPEN(**QUICK, **options).fit(elsewhere)
    for name in ("outlier_scores_", "initial_scores_", "loss_curve_", "row_norms_", "row_lengths_"):
        assert getattr(there, name).tobytes() == getattr(here, name).tobytes(), name
    assert there.fingerprint_ == here.fingerprint_
    assert there.outlier_score(elsewhere).tobytes() == here.outlier_score(X).tobytes()
    assert there.transform(elsewhere).tobytes() == here.transform(X).tobytes()
    assert there.explain(elsewhere).to_dict() == here.explain(X).to_dict()
    assert there.diagnose().to_dict() == here.diagnose().to_dict()


def test_labels_in_processes(both):
    X, elsewhere = both
    labels = np.zeros(X.shape[0], dtype=int)
    labels[-3:], labels[:4] = 1, -1
    known = {"labels": labels, "labeled_outliers": with_outliers(1)[0][-4:]}
    here, there = REPEN(**QUICK).fit(X, **known), REPEN(**QUICK).fit(elsewhere, **known)
    assert there.outlier_scores_.tobytes() == here.outlier_scores_.tobytes()
    assert there.explain(elsewhere).to_dict() == here.explain(X).to_dict()


def test_held_out_rows_in_processes(both):
    X, elsewhere = both
    options = {**QUICK, "cutoff": Conformal(0.3)}
    here, there = REPEN(**options).fit(X), REPEN(**options).fit(elsewhere)
    assert there.p_values(elsewhere).tobytes() == here.p_values(X).tobytes()


def test_the_same_report_in_processes(both, tmp_path):
    X, elsewhere = both
    detector = REPEN(**QUICK).fit(X)
    pages = [
        detector.report(rows, tmp_path / name).read_bytes() for rows, name in ((X, "a.html"), (elsewhere, "b.html"))
    ]
    assert pages[0] == pages[1]


def test_no_block_comes_back_but_what_is_taken(both, monkeypatch):
    """Results of `map` are numbers about rows, never the rows."""
    X, elsewhere = both
    found = []
    asked = ProcessRows.map

    def watched(self, function, show=None):
        pickle.dumps(function)
        results = asked(self, function, show)
        found.extend(results)
        return results

    monkeypatch.setattr(ProcessRows, "map", watched)
    detector = REPEN(**QUICK).fit(elsewhere)
    detector.outlier_score(elsewhere)
    detector.explain(elsewhere)
    detector.diagnose(elsewhere, labels=[0] * (X.shape[0] - 1) + [1])
    assert found
    assert not any(_is_block(part, X.shape[1]) for result in found for part in _all(result))


def _is_block(part, n_features):
    return isinstance(part, Block | sp.sparray) or getattr(part, "shape", ())[1:] == (n_features,)


def _all(result):
    yield result
    if isinstance(result, tuple | list):
        for part in result:
            yield from _all(part)
    elif hasattr(result, "__dict__"):
        for part in vars(result).values():
            yield from _all(part)


def test_workers_hold_their_blocks():
    assert process_rows._HELD == {}  # nothing is held in the parent
