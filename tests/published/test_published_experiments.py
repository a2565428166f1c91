"""What the experiments must show on real data, computed by the experiments' own cells."""

import numpy as np
import pytest

from ramodo.paper.datasets import data_folder
from ramodo.paper.experiments.cells import repen
from ramodo.paper.experiments.measures import Resources, auc, load, one_subsample_at_a_time
from ramodo.paper.experiments.statistics import p_value

pytestmark = pytest.mark.skipif(
    data_folder() is None, reason="no folder of prepared sets; name one in the environment variable RAMODO_DATA"
)

RESOURCES = Resources(n_threads=2, bytes=6e9)


def runs(name, n, **options):
    """AUC of Sp and of REPEN, a row for each."""
    found = [auc(repen(name, seed, **options), RESOURCES) for seed in range(n)]
    return np.array([[run["sp"] for run in found], [run["auc"] for run in found]])


def test_r8_is_the_papers():
    sp, learned = runs("R8", 10)
    assert sp.mean() == pytest.approx(0.858, abs=0.005)
    assert learned.mean() >= 0.90
    assert p_value(learned, sp) < 0.05


def test_advertisements_gain_a_tenth():
    sp, learned = runs("AD_dedup", 10)
    assert sp.mean() == pytest.approx(0.694, abs=0.005)
    assert learned.mean() >= 0.79
    assert p_value(learned, sp) < 0.05


def test_lung_cancer_does_not_lose():
    sp, learned = runs("LC", 10)
    assert learned.mean() > sp.mean()
    assert learned.mean() >= 0.885


@pytest.mark.parametrize("name", ["R8", "AD_dedup"])
def test_the_number_of_columns_matters_little(name):
    means = [runs(name, 2, n_components=M)[1].mean() for M in (10, 20, 50, 100)]
    assert np.ptp(means) < 0.03, np.round(means, 3)


@pytest.mark.parametrize("name", ["R8", "LC"])
def test_the_papers_way_gives_the_same_scores(name, monkeypatch):
    """Times are compared between ways that do the same: on the same references."""
    from ramodo import Sp

    X = load(name).X
    drawn = []
    monkeypatch.setattr(Sp, "draw", lambda self, eligible, rng: drawn.append(_draw(self, eligible, rng)) or drawn[-1])
    detector = Sp(random_state=0).fit(X)
    np.testing.assert_allclose(one_subsample_at_a_time(X, list(drawn[0])), detector.outlier_scores_, rtol=1e-4)


def _draw(sp, eligible, rng):
    return np.stack([rng.choice(eligible, sp.subsample_size, replace=False) for _ in range(sp.n_subsamples)])
