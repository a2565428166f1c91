"""Views of a row added up as evidence: what a score is worth, in each view and together."""

import json

import numpy as np
import pytest
from test_terms import _all_reasons, _block, _original

from ramodo.kernels import Phi
from ramodo.model.combining import Normalized
from ramodo.model.evidence import TAIL, Curve, Evidence
from ramodo.model.file.terms import describe, read
from ramodo.model.saved import ModelFileError
from ramodo.model.terms import Model
from ramodo.model.ties import Tied


@pytest.fixture(params=[False, True], ids=["sparse", "dense"])
def rows(request, data):
    return _block(data[0], request.param)


def curve_of(scores):
    return Curve.of(Tied.of(np.asarray(scores), size=1.0))


def evidence_of(rows, weights=(1.0, 0.5, 1.0)):
    """Few and many references, and rows of length 1."""
    views = (
        _original(rows),
        _original(rows, Phi(3), seed=1, n_subsamples=1, size=30),
        Normalized(_original(rows), "l2"),
    )
    curves = tuple(curve_of(view.score(rows, 1)) for view in views)
    return Evidence(("few", "many", "unit"), views, curves, weights, (0.5, 0.25, -0.5))


# ---- curves ----------------------------------------------------------------------------------------------------------


def test_evidence_is_minus_the_logarithm_of_the_share_that_score_as_high():
    scores = np.arange(1.0, 101.0)
    curve = curve_of(np.random.default_rng(0).permutation(scores))
    counted = scores[: round((1 - TAIL) * 100)]
    np.testing.assert_allclose(curve(counted), -np.log((101 - counted) / 100), atol=1e-12)
    assert curve(np.array([1.0, 0.5, 0.0])).tolist() == [0, 0, 0]


def test_the_tail_goes_on_by_the_mean_excess():
    curve = curve_of(np.arange(1.0, 101.0))
    start, excess = 96.0, 2.0  # of 96 to 100
    np.testing.assert_allclose(
        curve(np.array([100.0, 200.0])), -np.log(0.05) + (np.array([100.0, 200.0]) - start) / excess, rtol=1e-4
    )


def test_scores_that_follow_an_exponential_law_are_their_own_evidence():
    scores = np.random.default_rng(0).exponential(size=20_000)
    wanted = np.array([0.5, 1, 2, 4, 8, 16])
    np.testing.assert_allclose(curve_of(scores)(wanted), wanted, rtol=0.08)


@pytest.mark.parametrize("scores", [[2.0] * 9, [0.0] * 9, [0.0, 0.0, 1.0], [0.0] * 50 + [1.0] * 50], ids=str)
def test_scores_that_are_alike(scores):
    curve = curve_of(scores)
    found = curve(np.array([0.0, *scores, 5.0, 6.0]))
    assert np.isfinite(found).all()
    assert (np.diff(found[-2:]) > 0).all()  # beyond all of them, further is more
    assert found.min() == 0


def test_many_rows_leave_few_knots_and_hardly_another_curve():
    scores = np.random.default_rng(1).normal(10, 1, 50_000)
    curve = curve_of(scores)
    assert len(curve.scores) <= 512
    some = np.quantile(scores, [0.1, 0.3, 0.5, 0.7, 0.9])
    np.testing.assert_allclose(curve(some), -np.log([0.9, 0.7, 0.5, 0.3, 0.1]), rtol=5e-3)


# ---- terms -----------------------------------------------------------------------------------------------------------


def test_one_certain_view_is_not_outvoted(rows):
    """A mean of ranks would put the row that one view is certain of below rows that are a little high in all."""
    term = evidence_of(rows, (1.0, 1.0, 1.0))
    tails = [curve.scores[-1] + 20 / curve.slope for curve in term.curves]
    middles = [float(np.interp(-np.log(0.1), curve.values, curve.scores)) for curve in term.curves]
    certain = [np.array([tails[0], middles[0]]), *[np.array([0.0, middle]) for middle in middles[1:]]]
    found = term.of(certain)
    assert found[0] > 20 > found[1]


def test_it_is_the_weighted_sum_of_its_views(rows):
    term = evidence_of(rows)
    parts = term.breakdown(rows, 1)
    assert list(parts) == ["few", "many", "unit"]
    assert (sum(parts.values()) == term.score(rows, 1)).all()
    assert (parts["many"] == 0.5 * term.curves[1](term.views[1].score(rows, 1))).all()
    model = Model((term, _original(rows)), (2.0, 3.0))
    whole = model.breakdown(rows, 1)
    np.testing.assert_allclose(sum(whole.values()), model.score_block(rows, 1))
    assert (whole["few"] == 2 * parts["few"]).all()


def test_a_normalised_term_names_its_views(rows):
    found = Normalized(evidence_of(rows), "max").breakdown(rows, 1)
    assert next(iter(found)) == "few"


@pytest.mark.parametrize("how", [None, "l2"])
def test_contributions_sum_to_the_score(rows, how):
    term = evidence_of(rows)
    model = Model((term if how is None else Normalized(term, how),), (1.5,))
    contributions, scores, explained = _all_reasons(model, rows)
    np.testing.assert_allclose(contributions.sum(axis=1), scores, atol=1e-9)
    assert max(abs(row.rest) for row in explained) < 1e-9
    assert scores.std() > 0.1


def test_features_share_the_evidence_of_a_view_as_they_share_its_score(rows):
    term = evidence_of(rows, (1.0, 0.0, 0.0))
    whole, scores, _ = _all_reasons(Model((term,)), rows)
    plain, distances, _ = _all_reasons(Model((term.views[0],)), rows)
    np.testing.assert_allclose(whole, plain * (scores / distances)[:, None], atol=1e-9)


# ---- files -----------------------------------------------------------------------------------------------------------


def saved(rows):
    return describe(Model((evidence_of(rows),)))


def test_it_is_read_as_it_was_written(rows):
    text, tensors = saved(rows)
    again = read(text, dict(tensors), rows.n_features, rows.n_rows)
    assert (again.score_block(rows, 1) == evidence_of(rows).score(rows, 1)).all()
    assert again.terms[0].agreement == (0.5, 0.25, -0.5)
    assert again.names() == ("evidence of 3 views (few; many; unit)",)


def _facts(**changed):
    return lambda text, tensors: (
        json.dumps({"weights": [1.0], "terms": [{**json.loads(text)["terms"][0], **changed}]}),
        tensors,
    )


def _curve(name, change):
    def changed(text, tensors):
        key = f"term.0.curve.1.{name}"
        return text, {**tensors, key: change(tensors[key])}

    return changed


@pytest.mark.parametrize(
    "damage",
    [
        _facts(names=["few", "many"]),
        _facts(names=["few", "few", "many"]),
        _facts(names=["few", "many", "a\nb"]),
        _facts(names=["few", "many", "x" * 1000]),
        _facts(names=["few", "many", 3]),
        _facts(weights=[1.0, -1.0, 1.0]),
        _facts(weights=[1.0, 1.0]),
        _facts(slopes=[1.0, -1.0, 1.0]),
        _facts(agreement=[0.0, 0.0, 2.0]),
        _facts(agreement=[]),
        _facts(terms=[]),
        _facts(more=1),
        _curve("scores", lambda a: a[::-1].copy()),
        _curve("values", lambda a: a[::-1].copy()),
        _curve("values", lambda a: a + 1),
        _curve("values", lambda a: a[:-1]),
        _curve("scores", lambda a: a[:0]),
        _curve("scores", lambda a: a.astype(np.float32)),
        _curve("scores", lambda a: np.full_like(a, np.nan)),
    ],
)
def test_what_no_fit_leaves_is_refused(data, damage):
    rows = _block(data[0])
    text, tensors = damage(*saved(rows))
    with pytest.raises(ModelFileError):
        read(text, dict(tensors), rows.n_features, rows.n_rows)
