"""A cut-off above what chance gives: noise is not flagged, and rows that stand out are."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from ramodo import REPEN, AboveChance, Consensus, load
from ramodo.fitting import above_chance
from ramodo.fitting.above_chance import _dividing
from ramodo.fitting.curves import counted_curve
from ramodo.insight.cutoffs import flags_of_noise, guarantee_of, says_little
from ramodo.model.ties import Tied
from ramodo.options import OptionError
from ramodo.stages.tail import Gamma

N_ROWS = 400


def gaussian(rng):
    return rng.normal(size=(N_ROWS, 8))


def uniform(rng):
    return sp.random(N_ROWS, 1000, 0.02, format="csr", random_state=rng)


def one_hot(rng):
    parts = [np.eye(n)[rng.integers(0, n, N_ROWS)] for n in (3, 5, 8, 12, 20, 30, 4, 9)]
    return sp.csr_array(np.hstack(parts))


def poisson(rng):
    return sp.csr_array(rng.poisson(0.05, (N_ROWS, 1000)).astype(float))


NOISE = [gaussian, uniform, one_hot, poisson]


def planted(noise, rng, count):
    """Rows of noise, the last `count` of which have features that ordinary rows lack."""
    X = noise(rng)
    own = np.zeros((N_ROWS, 60 if sp.issparse(X) else 2))
    for row in range(N_ROWS - count, N_ROWS):
        own[row, rng.choice(own.shape[1], own.shape[1] // 2, replace=False)] = 1.0 if sp.issparse(X) else 9.0
    return sp.csr_array(sp.hstack([X, sp.csr_array(own)])) if sp.issparse(X) else np.hstack([X, own])


@pytest.mark.slow
@pytest.mark.parametrize("noise", NOISE)
def test_noise_is_not_flagged(noise):
    flags = [(Consensus(random_state=s).fit_predict(noise(np.random.default_rng(s))) == -1).sum() for s in range(3)]
    assert sum(flags) <= 1


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "count"), [*product(NOISE, (1, 4)), (one_hot, 12), (poisson, 12)])
def test_planted_rows_are_flagged_and_few_others(noise, count):
    X = planted(noise, np.random.default_rng(count), count)
    flagged = Consensus(random_state=0).fit_predict(X) == -1
    assert flagged[-count:].mean() >= 0.75
    assert flagged[:-count].sum() <= 2


@pytest.mark.slow
def test_it_is_the_default_of_consensus_and_survives_a_model_file(tmp_path):
    X = planted(one_hot, np.random.default_rng(0), 4)
    detector = Consensus(random_state=0).fit(X)
    same = Consensus(cutoff=AboveChance(0.1), random_state=0).fit(X)
    assert detector.threshold_ == same.threshold_ == Consensus(cutoff="chance", random_state=0).fit(X).threshold_
    same.save(tmp_path / "model.ramodo")
    loaded = load(tmp_path / "model.ramodo")
    assert loaded.threshold_ == detector.threshold_
    assert loaded.cutoff.fdr == 0.1
    assert (loaded.predict(X) == detector.predict(X)).all()
    assert "stand out more than chance explains" in guarantee_of(loaded).text
    assert flags_of_noise(loaded, N_ROWS) == 0
    assert not says_little(loaded, int((loaded.predict(X) == -1).sum()), N_ROWS)


@pytest.mark.slow
def test_the_order_of_rows_and_the_number_of_threads_do_not_matter():
    X = planted(uniform, np.random.default_rng(0), 4)
    one, other = (Consensus(random_state=0, n_jobs=n).fit(X).threshold_ for n in (1, 2))
    assert one == other


@pytest.mark.slow
def test_known_outliers_do_not_hide_the_others():
    X = planted(one_hot, np.random.default_rng(0), 12)
    labels = np.zeros(N_ROWS, dtype=int)
    labels[-4:] = 1
    detector = Consensus(random_state=0).fit(X, labels=labels)
    flagged = detector.predict(X) == -1
    assert flagged[-12:].mean() >= 0.75
    assert flagged[:-12].sum() <= 2
    later = Consensus(random_state=0).fit(X).with_labels(X, labels)
    assert (later.predict(X) == -1)[-12:].mean() >= 0.75


@pytest.mark.slow
def test_a_given_alpha_chooses_cantelli_s():
    X = uniform(np.random.default_rng(0))
    given, named = Consensus(alpha=2.0, random_state=0).fit(X), Consensus(alpha=2.0, cutoff="cantelli", random_state=0)
    assert given.threshold_ == named.fit(X).threshold_
    assert given.false_positive_bound_ == pytest.approx(0.2)


@pytest.mark.parametrize("cutoff", ["chance", AboveChance()])
def test_a_detector_without_such_views_is_refused(cutoff):
    with pytest.raises(OptionError, match=r"^the cut-off 'chance' \(AboveChance\) needs views .* only Consensus has\."):
        REPEN(cutoff=cutoff).fit(np.zeros((10, 3)))


def test_scores_alone_are_refused():
    with pytest.raises(OptionError, match="needs views"):
        AboveChance().cutoff(np.arange(10.0))


def test_without_a_discovery_it_says_so():
    said = AboveChance().guarantee(is_training=True, finds_nothing=True)
    assert said.text == "above all training rows, since no row stands out more than chance explains"


def test_the_threshold_divides_best():
    scores = np.array([9.0, 8.0, 7.0, 6.0, 5.0])
    found = np.array([True, False, True, True, False])
    assert _dividing(scores, found) == 6.0
    assert _dividing(scores, found[::-1]) == 7.0
    assert _dividing(scores, np.zeros(5, dtype=bool)) > 9.0
    assert _dividing(np.array([9.0, 9.0]), np.array([True, False])) > 9.0  # equal scores are on the same side


@pytest.mark.parametrize("shape", [0.8, 3.0, 20.0])
def test_a_gamma_law_is_found(shape):
    scores = np.random.default_rng(0).gamma(shape, 2.0, 20_000)
    law = Gamma.of(scores, 0.0)
    assert law.shape == pytest.approx(shape, rel=0.06)
    assert law.scale == pytest.approx(2.0, rel=0.06)
    assert law.p_values(np.quantile(scores, [0.5, 0.999])) == pytest.approx([0.5, 0.001], rel=0.25)


def test_the_law_falls_off_no_faster_than_the_heaviest_summand():
    scores = np.random.default_rng(0).gamma(20.0, 0.5, 20_000)
    law = Gamma.of(scores, 2.0)
    assert law.scale == 2.0
    assert law.p_values(np.quantile(scores, [0.9])) == pytest.approx([0.1], rel=0.02)


def test_nothing_is_unlikely_where_the_bulk_does_not_vary():
    assert Gamma.of(np.r_[np.zeros(90), np.arange(10)], 1.0).p_values(np.array([1e9])).tolist() == [1.0]
    assert Gamma.of(np.full(100, 3.0), 1.0).p_values(np.array([1e9])).tolist() == [1.0]


def test_counted_evidence_ends_with_the_share_of_the_highest():
    curve = counted_curve(Tied.of(np.r_[np.zeros(90), np.full(9, 1.0), 1000.0], 1.0))
    assert curve(np.array([0.0, 1.0, 1000.0, 1e9])) == pytest.approx([0.0, np.log(10), np.log(100), np.log(100)])


def test_copies_may_count_once():
    """However often ordinary rows are repeated, the law and the rule are those of distinct rows."""
    X = planted(uniform, np.random.default_rng(0), 12)
    repeated = sp.vstack([X, *[X[:40]] * 30], format="csr")
    fitted = Consensus(copies="root", cutoff=AboveChance(0.2, copies_once=True), random_state=0).fit(repeated)
    scores, flagged = fitted.outlier_scores_, fitted.outlier_scores_ >= fitted.threshold_

    def threshold(rows, scores):
        unlabeled = np.zeros(len(scores), np.int8)
        look = above_chance.look_again(fitted.model_, fitted.rows_of(rows), 1)
        return above_chance.threshold(AboveChance(0.2), fitted.model_, look, scores, unlabeled)

    lowest = min(threshold(X, scores[:N_ROWS]), threshold(repeated, scores))
    assert ((scores >= lowest) == flagged).all()
    assert flagged[N_ROWS - 12 : N_ROWS].sum() > 8
