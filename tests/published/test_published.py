"""AUC on real data with the paper's settings: not below what the method is known to reach (sections 6.3 and 6.5).

Labels are used the paper's way, in training alone. With one seed, since these are the largest sets; the others are in
test_published_experiments.py with ten.
"""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from ramodo import REPEN
from ramodo.paper.datasets import data_folder, load_prepared

pytestmark = pytest.mark.skipif(
    data_folder() is None, reason="no folder of prepared sets; name one in the environment variable RAMODO_DATA"
)

N_LABELED = 80


def _auc(name, n_labeled=0):
    data = load_prepared(name)
    extra = None
    if n_labeled:
        extra = data.pool[np.random.default_rng(0).choice(data.pool.shape[0], n_labeled, replace=False)]
    detector = REPEN(labeled_fraction=0.5, labels_in_score=False, random_state=0, n_jobs=-1)
    return roc_auc_score(data.y, detector.fit(data.X, labeled_outliers=extra).outlier_scores_)


@pytest.mark.parametrize(("name", "least"), [("URL_iscx", 0.89), ("News20", 0.60)])
def test_unlabeled(name, least):
    assert _auc(name) >= least


@pytest.mark.parametrize(("name", "least"), [("News20", 0.74), ("URL_iscx", 0.98)])
def test_with_labeled_outliers_from_the_pool(name, least):
    assert _auc(name, N_LABELED) >= least
