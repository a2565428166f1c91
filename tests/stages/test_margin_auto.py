"""The margin in the unit of the data: training does not depend on whether X is in metres or in millimetres."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import spearmanr

from ramodo import RAMODO, REPEN, KthNN, Layers, RankingHinge
from ramodo.kernels import Phi
from ramodo.options import OptionError
from ramodo.stages.ranking_loss import RELATIVE
from support.examples import with_outliers

QUICK = {"margin": "auto", "n_epochs": 5, "random_state": 0}


def both(is_sparse):
    X = with_outliers()[0].astype(np.float64)
    return sp.csr_array(X) if is_sparse else X.toarray()


@pytest.mark.parametrize("is_sparse", [True, False])
@pytest.mark.parametrize("options", [{}, {"n_estimators": 2}, {"normalize": "max"}])
def test_a_power_of_two_changes_no_bit_of_the_ranking(is_sparse, options):
    X = both(is_sparse)
    plain, large = (REPEN(**QUICK, **options).fit(X * unit) for unit in (1, 1024))
    factor = 1 if options else 1024
    assert (large.outlier_scores_ == factor * plain.outlier_scores_).all()
    assert (large.candidate_outliers_ == plain.candidate_outliers_).all()


@pytest.mark.parametrize("is_sparse", [True, False])
@pytest.mark.parametrize("unit", [1e-6, 1000])
def test_any_unit_gives_the_same_ranking_up_to_rounding(is_sparse, unit):
    X = both(is_sparse)
    plain, other = (REPEN(**QUICK).fit(X * u).outlier_scores_ for u in (1, unit))
    assert spearmanr(plain, other).statistic > 0.9999
    np.testing.assert_allclose(other, unit * plain, rtol=1e-2)


def test_a_fixed_margin_depends_on_the_unit():
    X = both(True)
    plain, other = (REPEN(random_state=0, n_epochs=5).fit(X * u).outlier_scores_ for u in (1, 1e-3))
    assert spearmanr(plain, other).statistic < 0.9999


def test_several_layers_other_distances_and_losses_in_python():
    X = both(True)
    for scorer, layers in ((None, Layers((8, 4))), (KthNN(2, 10, 4), None)):
        plain, large = (
            RAMODO(scorer, representation=layers, loss=RankingHinge("auto"), n_epochs=3, random_state=0).fit(X * unit)
            for unit in (1, 1024)
        )
        assert spearmanr(plain.outlier_scores_, large.outlier_scores_).statistic > 0.999


def test_rows_that_are_all_equal_have_a_unit_too():
    X = np.ones((20, 5))
    with pytest.warns(UserWarning, match="same initial score"):
        assert np.isfinite(REPEN(**QUICK).fit(X).outlier_scores_).all()


def test_the_loss_in_a_unit():
    loss = RankingHinge("auto").for_phi(Phi(), 1)
    assert loss.is_relative
    assert loss.in_unit(0.5).margin == RELATIVE / 2
    assert not loss.in_unit(0.5).is_relative
    with pytest.raises(OptionError, match=r"margin must be .*, got 'none'"):
        REPEN(margin="none").fit(np.eye(5))


def test_it_is_saved(tmp_path):
    from ramodo import load

    X = both(True)
    fitted = REPEN(**QUICK).fit(X)
    again = load(fitted.save(tmp_path / "model.ramodo"))
    assert again.margin == "auto"
    assert (again.outlier_score(X) == fitted.outlier_scores_).all()
