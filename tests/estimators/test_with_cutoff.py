"""Another cut-off without another fit: the threshold that a fit with it would have given, or an error."""

import numpy as np
import pytest

from ramodo import REPEN, Cantelli, Conformal, Consensus, TopK, load
from ramodo.options import OptionError
from support.examples import with_outliers

X = with_outliers()[0]


@pytest.fixture(scope="module")
def repen():
    return REPEN(4, n_epochs=1, random_state=0).fit(X)


@pytest.mark.parametrize("cutoff", [0.05, TopK(7), "cantelli", Cantelli(2.0)], ids=str)
def test_it_is_that_of_a_fit_with_it(repen, cutoff, tmp_path):
    again = REPEN(4, n_epochs=1, random_state=0, cutoff=cutoff).fit(X)
    found = repen.with_cutoff(cutoff)
    assert (found.threshold_, found.offset_) == (again.threshold_, again.offset_)
    np.testing.assert_equal(found.false_positive_bound_, again.false_positive_bound_)
    np.testing.assert_array_equal(found.predict(X), again.predict(X))
    assert load(found.save(tmp_path / "m.ramodo")).threshold_ == again.threshold_


def test_the_detector_itself_stays(repen):
    before = repen.threshold_
    assert repen.with_cutoff(0.5).threshold_ < before
    assert (repen.threshold_, repen.cutoff) == (before, "auto")


@pytest.mark.parametrize("held_out", [None, 0.3])
def test_another_rate_needs_no_fit_where_rows_were_held_out(held_out):
    one, other = (REPEN(4, n_epochs=1, random_state=0, cutoff=Conformal(rate, held_out)) for rate in (0.1, 0.6))
    assert one.fit(X).with_cutoff(Conformal(0.6, held_out)).threshold_ == other.fit(X).threshold_


def test_consensus_takes_a_share_and_refuses_what_needs_its_rows():
    detector = Consensus(random_state=0).fit(X)
    assert (detector.with_cutoff(0.1).predict(X) == -1).sum() == round(0.1 * X.shape[0])
    with pytest.raises(OptionError, match="cutoff='chance' looks at the rows: fit again with it"):
        detector.with_cutoff("chance")


@pytest.mark.parametrize("cutoff", [Conformal(0.1), Conformal(0.1, 0.3)])
def test_a_rate_is_refused_without_rows_that_were_held_out(repen, cutoff):
    with pytest.raises(OptionError, match=r"needs .*: fit again with it"):
        repen.with_cutoff(cutoff)


def test_what_is_no_cut_off_is_refused(repen):
    with pytest.raises(OptionError, match="cutoff must be"):
        repen.with_cutoff(0.7)
