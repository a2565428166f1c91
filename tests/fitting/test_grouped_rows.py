"""Rows of one group count once in how rare features are, and one of them is compared with."""

import numpy as np
import pytest
import scipy.sparse as sp

from ramodo import Consensus
from ramodo.data.validation import open_rows
from ramodo.fitting import grouped_rows
from ramodo.fitting.grouped_rows import frequencies_of_groups
from ramodo.options import OptionError


@pytest.mark.parametrize("at_once", [1, 7, 4096])
def test_each_feature_is_counted_once_in_each_group(monkeypatch, at_once):
    monkeypatch.setattr(grouped_rows, "_AT_ONCE", at_once)
    rng = np.random.default_rng(0)
    X = (rng.random((60, 30)) < 0.2) * rng.normal(size=(60, 30))
    groups, numbers = rng.integers(0, 12, 60), np.sort(rng.choice(60, 45, replace=False))
    found = frequencies_of_groups(open_rows(sp.csr_array(X)), numbers, groups, 1)
    there = np.array([(X[numbers][groups[numbers] == group] != 0).any(0) for group in np.unique(groups[numbers])])
    expected = there.sum(0)
    assert found.columns.tolist() == np.flatnonzero(expected).tolist()
    assert found.counts.tolist() == expected[expected > 0].tolist()
    assert found.n_rows == len(there)


def test_a_group_does_not_make_itself_usual():
    rng = np.random.default_rng(0)
    X = sp.lil_array((rng.random((400, 300)) < 0.05) * 1.0)
    X[:160, 250:] = (rng.random((160, 50)) < 0.12) * 1.0
    X[160:, 250:] = 0
    X, groups = sp.csr_array(X), np.maximum(np.arange(400) - 159, 0)
    alone = Consensus(random_state=0).fit(X).outlier_scores_
    grouped = Consensus(random_state=0).fit(X, groups=groups).outlier_scores_

    def auc(scores):
        return np.mean(scores[:160, None] > scores[None, 160:])

    assert auc(grouped) > 0.99
    assert auc(alone) < 0.95


def test_groups_need_an_entry_for_each_row():
    with pytest.raises(OptionError, match="groups must have one entry for each of the 5 rows, got shape"):
        Consensus().fit(np.eye(5), groups=[1, 2])
