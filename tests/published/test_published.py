"""AUC on real data with the paper's settings: not below what the method is known to reach (sections 6.3 and 6.5).

Labels are used the paper's way, in training alone.
"""

import functools

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from ramodo import REPEN
from ramodo.datasets import data_folder, load_prepared

pytestmark = pytest.mark.skipif(
    data_folder() is None, reason="no folder of prepared sets; name one in the environment variable RAMODO_DATA"
)

load = functools.cache(load_prepared)

N_LABELED = 80


def _auc(name, seed, *, dense=False, n_labeled=0):
    data = load(name)
    X = data.X.toarray() if dense else data.X
    extra = None
    if n_labeled:
        extra = data.pool[np.random.default_rng(seed).choice(data.pool.shape[0], n_labeled, replace=False)]
    detector = REPEN(labeled_fraction=0.5, labels_in_score=False, random_state=seed, n_jobs=-1)
    return roc_auc_score(data.y, detector.fit(X, labeled_outliers=extra).outlier_scores_)


@pytest.mark.parametrize(
    ("name", "least", "n_seeds", "dense"),
    [
        ("R8", 0.895, 5, False),
        ("AD_dedup", 0.79, 5, False),
        ("LC", 0.885, 10, True),
        ("URL_iscx", 0.89, 3, False),
        ("News20", 0.60, 3, False),
    ],
)
def test_unlabeled(name, least, n_seeds, dense):
    found = [_auc(name, seed, dense=dense) for seed in range(n_seeds)]
    assert np.mean(found) >= least, np.round(found, 3)


@pytest.mark.parametrize(("name", "least"), [("News20", 0.74), ("URL_iscx", 0.98)])
def test_with_labeled_outliers_from_the_pool(name, least):
    found = [_auc(name, seed, n_labeled=N_LABELED) for seed in range(2)]
    assert np.mean(found) >= least, np.round(found, 3)
