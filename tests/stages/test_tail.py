"""How often a score as high comes by chance, told from the bulk of the scores."""

import numpy as np
import pytest

from ramodo.fitting.curves import curve_by_law
from ramodo.model.ties import Tied
from ramodo.stages.conformal import Conformal
from ramodo.stages.tail import tails_of

LAWS = {
    "exponential": lambda rng, n: rng.exponential(2.0, n),
    "normal": lambda rng, n: 50 + rng.normal(size=n),
    "gamma": lambda rng, n: rng.gamma(4.0, size=n),
    "uniform": lambda rng, n: rng.random(n),
    "power": lambda rng, n: rng.pareto(4.0, n),
}


@pytest.mark.parametrize("law", LAWS)
def test_p_values_are_no_smaller_than_they_should_be(law):
    """Of a thousand further rows as many as the p-value says reach a score, or fewer; a fifth is for chance."""
    rng = np.random.default_rng(0)
    (tail,) = tails_of([LAWS[law](rng, 4000)])
    new = LAWS[law](rng, 200_000)
    for share in (0.3, 0.05, 0.01, 0.001):
        assert (tail.p_values(new) <= share).mean() <= 1.2 * share


def test_up_to_the_end_of_the_bulk_shares_are_counted():
    scores = np.random.default_rng(0).exponential(size=501)
    (tail,) = tails_of([scores])
    assert tail.share == pytest.approx(0.1, abs=0.003)
    below = scores[scores < tail.start]
    np.testing.assert_allclose(tail.p_values(below), [(scores >= score).mean() for score in below])
    beyond = np.sort(tail.p_values(np.linspace(tail.start, 40, 50)))
    assert beyond[-1] == pytest.approx(tail.share)
    assert (np.diff(beyond) > 0).all()


def test_an_exponential_law_is_found():
    (tail,) = tails_of([np.random.default_rng(0).exponential(2.0, 200_000)], errors=0.0)
    assert tail.rate == pytest.approx(0.5, rel=0.03)
    assert tail.shape < 0.03
    assert tail.p_values(np.array([20.0]))[0] == pytest.approx(np.exp(-10), rel=0.5)


def test_a_few_outliers_hardly_change_it():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=4000)
    tails = [tails_of([np.concatenate([scores, np.full(n, 1e6)])])[0] for n in (0, 80)]
    before, after = (tail.p_values(np.array([6.0]))[0] for tail in tails)
    assert before < after < 10 * before


def test_the_unit_and_place_of_scores_do_not_matter():
    scores = np.random.default_rng(0).gamma(2.0, size=1000)
    (one,), (other,) = tails_of([scores]), tails_of([1000 * scores - 7])
    np.testing.assert_allclose(other.p_values(1000 * scores - 7), one.p_values(scores), rtol=1e-9)


@pytest.mark.parametrize("scores", [np.ones(50), np.r_[np.zeros(95), np.arange(1, 6)], np.ones(1), np.arange(3.0)])
def test_where_the_bulk_says_nothing_no_row_is_unlikely(scores):
    (tail,) = tails_of([scores])
    assert tail.p_values(np.array([1e9]))[0] > 0.04
    assert Conformal(0.1).cutoff_of_folds([scores, scores]) > scores.max()
    assert np.isfinite(tail.highest)


def test_one_threshold_for_two_folds():
    """The expected number of ordinary rows at or above it is at most the rate times the rows there."""
    rng = np.random.default_rng(0)
    folds = [np.r_[rng.normal(size=1000), np.full(30, 20.0)], np.r_[1.3 * rng.normal(size=1000), np.full(10, 25.0)]]
    threshold = Conformal(0.1).cutoff_of_folds(folds)
    flagged = sum((fold >= threshold).sum() for fold in folds)
    expected = sum(
        len(fold) * tail.p_values(np.array([threshold]))[0] for fold, tail in zip(folds, tails_of(folds), strict=True)
    )
    assert flagged >= 40
    assert expected <= 0.1 * flagged


@pytest.mark.parametrize("law", LAWS)
def test_evidence_is_that_of_the_law(law):
    scores = LAWS[law](np.random.default_rng(0), 2000)
    curve, (tail,) = curve_by_law(Tied.of(scores, 1.0)), tails_of([scores], errors=0.0)
    given = np.linspace(scores.min(), scores.max() + np.ptp(scores), 200)
    np.testing.assert_allclose(curve(given), -np.log(tail.p_values(given)), atol=0.06)
    assert (np.diff(curve(given)) >= 0).all()


def test_evidence_of_few_values_is_counted():
    """A rare step is as unlikely as it is rare."""
    curve = curve_by_law(Tied.of(np.r_[np.zeros(60), np.ones(37), 2.0, 2.0, 2.0], 1.0))
    np.testing.assert_allclose(curve(np.array([0.0, 1.0])), [0.0, -np.log(0.4)])
    assert curve(np.array([2.0]))[0] < 3
