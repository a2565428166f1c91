"""Terms of a score: each scores rows, is explained exactly, is written and read, and can be sent to other processes."""

import dataclasses
import json
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from ramodo import RAMODO, REPEN, AverageNN, Conformal, Consensus, KthNN, Sp
from ramodo.data.validation import open_block
from ramodo.explain.contributions import Explainer
from ramodo.kernels import Phi
from ramodo.model.by_fold import ByFold
from ramodo.model.combining import Mean, Normalized, Sum
from ramodo.model.evidence import Curve, Evidence
from ramodo.model.file.terms import KINDS, describe, read
from ramodo.model.original import OriginalDistance
from ramodo.model.references import Origin
from ramodo.model.saved import ModelFileError
from ramodo.model.terms import Model
from ramodo.model.ties import Tied

pytestmark = pytest.mark.slow

N_FEATURES = 40

either = pytest.mark.parametrize("dense", [False, True], ids=["sparse", "dense"])
any_how = pytest.mark.parametrize("how", [None, "l2", "max"])
any_phi = pytest.mark.parametrize("phi", [Phi(), Phi(3), Phi(3, average=True)], ids=str)
any_dtype = pytest.mark.parametrize("dtype", ["float32", "float64"])


def _block(X, dense=False):
    return open_block(X.toarray() if dense else X)


NEAREST = Phi()


def _original(rows, phi=NEAREST, seed=0, n_subsamples=5, size=8):
    numbers = np.random.default_rng(seed).choice(rows.n_rows, n_subsamples * size)
    return OriginalDistance(Origin.of(rows.take(numbers), numbers), size, phi)


def _all_reasons(model, rows):
    """What every feature adds to every row."""
    scores = model.score_block(rows, 1)
    explained = Explainer(model, scores, rows.n_features).explain(rows, scores, str, rows.n_features, 1)
    contributions = np.zeros((rows.n_rows, rows.n_features))
    for row in explained:
        for reason in (*row.reasons, *row.lacks.strongest):
            contributions[row.row, reason.column] += reason.contribution
    return contributions, scores, explained


# ---- the distance in the original features ---------------------------------------------------------------------------


@either
@any_how
@any_dtype
@pytest.mark.parametrize("scorer", [Sp(5), KthNN(3, 5), AverageNN(3, 5)], ids=lambda scorer: type(scorer).__name__)
def test_it_scores_as_the_scorers_do(data, scorer, dense, how, dtype):
    """The same references, to the bit."""
    rows = _block(data[0].astype(dtype), dense)
    drawn = scorer.draw(np.arange(120), np.random.default_rng(0))
    seen = rows.normalized(how)
    expected = scorer.against(seen.take(drawn.ravel()), 8, 1)(seen)
    term = OriginalDistance(Origin.of(rows.take(drawn.ravel()), drawn.ravel()), 8, scorer.phi)
    found = (term if how is None else Normalized(term, how)).score(rows, 1)
    assert np.array_equal(found, expected)
    assert found.std() > 0.01


@any_how
def test_rows_of_the_other_kind_score_alike(data, how):
    """References of sparse data, dense rows; and the other way round."""
    sparse, dense = _block(data[0]), _block(data[0], dense=True)
    of_sparse, of_dense = _original(sparse), _original(dense)
    if how is not None:
        of_sparse, of_dense = Normalized(of_sparse, how), Normalized(of_dense, how)
    expected = of_sparse.score(sparse, 1)
    for term, rows in ((of_sparse, dense), (of_dense, sparse), (of_dense, dense)):
        np.testing.assert_allclose(term.score(rows, 1), expected, rtol=1e-12)


@either
@any_how
@any_phi
@any_dtype
def test_contributions_sum_to_its_score(data, dense, how, phi, dtype):
    rows = _block(data[0].astype(dtype), dense)
    term = _original(rows, phi)
    model = Model((term if how is None else Normalized(term, how),))
    contributions, scores, explained = _all_reasons(model, rows)
    np.testing.assert_allclose(contributions.sum(axis=1), scores, atol=1e-9)
    assert max(abs(row.rest) for row in explained) < 1e-9


@either
@any_how
@any_phi
def test_contributions_are_squares_over_distances(dense, how, phi):
    """(x_j - s_j)² / d, over the references that count, one after the other."""
    rng = np.random.default_rng(1)
    given = rng.random((12, 6)) * (rng.random((12, 6)) < 0.7)
    rows = _block(sp.csr_array(given), dense)
    term = _original(rows, phi, n_subsamples=2, size=4)
    model = Model((term if how is None else Normalized(term, how),), (2.5,))
    sizes = {None: lambda x: 1.0, "l2": np.linalg.norm, "max": lambda x: np.abs(x).max()}
    seen = np.array([x / (sizes[how](x) or 1.0) for x in given])
    expected = np.zeros((12, 6))
    for i, x in enumerate(seen):
        for subsample in term.references.numbers.reshape(2, 4):
            near = sorted(subsample, key=lambda number: np.linalg.norm(x - seen[number]))
            counted = near[: phi.k] if phi.average else near[phi.k - 1 : phi.k]
            for s in seen[counted]:
                d = np.linalg.norm(x - s)
                if d > 0:
                    expected[i] += 2.5 * (x - s) ** 2 / d / len(counted) / 2
    contributions, scores, _ = _all_reasons(model, rows)
    np.testing.assert_allclose(contributions, expected, atol=1e-12)
    np.testing.assert_allclose(scores, expected.sum(axis=1), rtol=1e-12)


@either
def test_drivers_are_the_means_of_contributions(data, dense):
    rows = _block(data[0], dense)
    contributions, _, explained = _all_reasons(Model((_original(rows),)), rows)
    assert len(explained.drivers) > 5
    for driver in explained.drivers:
        assert driver.contribution == pytest.approx(contributions[:, int(driver.feature)].mean(), abs=1e-9)


@either
def test_distances_of_which_few_digits_are_left(dense):
    """Rows far from zero and close to each other: the squares of their lengths say nothing of their distances."""
    rng = np.random.default_rng(0)
    rows = _block(sp.csr_array(1e6 + 1e-3 * rng.random((60, 5))), dense)
    part = Model((_original(rows),)).parts()[0]
    view = part.view(rows)
    own, references = (sp.csr_array(each.to_matrix()).toarray() for each in (rows, part.references))
    exact = np.linalg.norm(own[:, None] - references[None], axis=2)
    assert exact.max() < 1e-2
    np.testing.assert_allclose(view.distances, exact.reshape(60, 5, 8).min(axis=2), rtol=1e-12)


def test_a_row_that_is_its_own_reference_adds_nothing(data):
    rows = _block(data[0])
    term = OriginalDistance(Origin.of(rows.take(np.array([7])), np.array([7])), 1, Phi())
    contributions, scores, _ = _all_reasons(Model((term,)), rows.take(np.array([7, 8])))
    assert scores[0] == 0
    assert not contributions[0].any()
    assert contributions[1].sum() == pytest.approx(scores[1])


# ---- sums ------------------------------------------------------------------------------------------------------------


def _models(data, dense):
    """Sums of all kinds of terms, by what is special about them."""
    X = data[0].toarray() if dense else data[0]
    rows = _block(data[0], dense)
    quick = {"n_epochs": 2, "n_subsamples": 5, "random_state": 0}
    learned, direction = REPEN(6, **quick).fit(X, labels=data[1]).model_.terms
    several = REPEN(3, n_estimators=2, normalize="max", **quick).fit(X).model_.terms[0].term
    one, other = _original(rows), _original(rows, Phi(2, average=True), seed=1)
    return {
        "sum": Model((learned, one, direction), (0.5, 0.75, 1.25)),
        "direction first": Model((direction, learned, one), (1.25, 0.5, 0.75)),
        "direction between": Model((one, direction, learned), (0.75, 1.25, 0.5)),
        "two of a kind": Model((learned, one, other), (1.0, 1.0, 3.0)),
        "mean": Model((learned, Mean((one, other, learned), (0.5, 2.0, 1.5)), direction), (1.0, 2.0, 0.25)),
        "normalised": Model(
            (learned, Normalized(one, "l2"), Normalized(Mean((other, several), (1.0, 2.0)), "max"), direction),
            (1.0, 2.0, 0.5, 0.25),
        ),
        "normalised direction": Model((learned, Normalized(Mean((one, direction), (0.3, 3.0)), "max")), (1.0, 1.0)),
        "normalised twice": Model(
            (learned, Normalized(Mean((Normalized(one, "l2"), other), (1.0, 1.0)), "max")), (1.0, 1.0)
        ),
        "evidence": Model((_evidence(rows, one, learned, Normalized(other, "l2")), direction), (1.0, 2.0)),
        "normalised evidence": Model((learned, Normalized(_evidence(rows, one, other, several), "max")), (1.0, 1.0)),
        "by fold": Model((ByFold((Sum((learned, direction), (0.5, 0.0)), one), (2.0, 0.5), (3, 4)), other), (1.0, 0.5)),
        "evidence by fold": Consensus(6, cutoff=Conformal(), normalize="max", random_state=0).fit(X).model_,
    }


def _evidence(rows, *views):
    curves = tuple(Curve.of(Tied.of(view.score(rows, 1), 1.0)) for view in views)
    return Evidence(("first", "second", "third"), views, curves, (1.0, 0.5, 2.0), (0.0, 0.5, 1.0))


@pytest.fixture(scope="module")
def models(data):
    return {dense: _models(data, dense) for dense in (False, True)}


SUMS = [
    "sum",
    "direction first",
    "direction between",
    "two of a kind",
    "mean",
    "normalised",
    "normalised direction",
    "normalised twice",
    "evidence",
    "normalised evidence",
    "by fold",
    "evidence by fold",
]
any_sum = pytest.mark.parametrize("name", SUMS)


def test_all_sums_are_tried(models):
    assert list(models[False]) == SUMS
    kinds = {term.kind for model in models[False].values() for top in model.terms for term, _ in top.all()}
    assert kinds == set(KINDS)


@either
@any_sum
def test_a_sum_is_the_sum_of_its_terms(models, data, name, dense):
    model, rows = models[dense][name], _block(data[0], dense)
    expected = sum(weight * term.score(rows, 1) for term, weight in zip(model.terms, model.weights, strict=True))
    np.testing.assert_allclose(model.score_block(rows, 1), expected, rtol=1e-12)


@either
@any_sum
def test_a_sum_is_explained_exactly(models, data, name, dense):
    """As exactly as the kernels' single precision lets a learned distance be."""
    rows = _block(data[0], dense)
    contributions, scores, explained = _all_reasons(models[dense][name], rows)
    learned = sum(weight for weight in models[dense][name].weights)
    np.testing.assert_allclose(contributions.sum(axis=1), scores, atol=1e-5 * learned)
    assert all(row.nearest for row in explained)


@either
def test_contributions_of_a_sum_are_the_sum_of_contributions(models, data, dense):
    """Each term's own, whatever the others are and wherever it stands."""
    rows = _block(data[0], dense)
    learned, original, direction = models[dense]["sum"].terms
    alone = [_all_reasons(Model((term,)), rows)[0] for term in (learned, original)]
    with_direction = _all_reasons(Model((learned, direction), (1.0, 1.0)), rows)[0]
    expected = 0.5 * alone[0] + 0.75 * alone[1] + 1.25 * (with_direction - alone[0])
    for name in ("sum", "direction first", "direction between"):
        np.testing.assert_allclose(_all_reasons(models[dense][name], rows)[0], expected, atol=1e-9)


# ---- files and processes ---------------------------------------------------------------------------------------------


def _same(one, two):
    """Equal, down to every array and its type."""
    if dataclasses.is_dataclass(one):
        compared = [field.name for field in dataclasses.fields(one) if field.compare]
        return type(one) is type(two) and all(_same(getattr(one, name), getattr(two, name)) for name in compared)
    if type(one) is tuple:
        return len(one) == len(two) and all(map(_same, one, two))
    if isinstance(one, np.ndarray):
        return one.dtype == two.dtype and np.array_equal(one, two)
    return one == two


@either
@any_sum
def test_a_sum_is_the_same_once_written_and_read(models, data, name, dense):
    model, rows = models[dense][name], _block(data[0], dense)
    text, tensors = describe(model)
    json.loads(text, parse_constant=pytest.fail)
    back = read(text, tensors, N_FEATURES, 120)
    assert tensors == {}
    assert _same(back, model)
    assert describe(back)[0] == text
    assert np.array_equal(back.score_block(rows, 1), model.score_block(rows, 1))
    assert np.array_equal(_all_reasons(back, rows)[0], _all_reasons(model, rows)[0])


@either
@any_sum
def test_a_sum_is_the_same_in_another_process(models, data, name, dense):
    model, rows = models[dense][name], _block(data[0], dense)
    before = model.score_block(rows, 1)  # its kernels are made now, and cannot be pickled
    for term in (top for each in model.terms for top, _ in each.all()):
        assert _same(pickle.loads(pickle.dumps(term)), term)
    back = pickle.loads(pickle.dumps(model))
    assert np.array_equal(back.score_block(rows, 1), before)


@either
@any_sum
def test_threads_do_not_change_a_bit(models, data, name, dense):
    model, rows = models[dense][name], _block(data[0], dense)
    assert np.array_equal(model.score_block(rows, 1), model.score_block(rows, 3))
    alone = np.concatenate([model.score_block(rows.part(i, i + 1), 1) for i in range(0, 120, 7)])
    assert np.array_equal(alone, model.score_block(rows, 1)[::7])


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"size": 7}, "not subsamples of 7 rows"),
        ({"size": 0}, "term.0.size is 0"),
        ({"size": 8.0}, "term.0.size is 8.0"),
        ({"size": 2**31 + 1}, "term.0.size is 2147483649"),
        ({"k": 0}, "term.0.k is 0"),
        ({"k": 9}, "term.0.k is 9"),
        ({"k": True}, "term.0.k is True"),
        ({"average": 1}, "term.0.average is 1"),
        ({"average": None}, "term.0.average is None"),
        ({"extra": 1}, "term.0 has unknown entries: 'extra'"),
        ({"terms": [{"kind": "label direction"}]}, "term.0.0.columns is missing"),
    ],
    ids=str,
)
def test_numbers_of_an_original_distance(data, facts, message):
    text, tensors = describe(Model((_original(_block(data[0])),)))
    tree = json.loads(text)
    tree["terms"][0] |= facts
    with pytest.raises(ModelFileError, match=message):
        read(json.dumps(tree), tensors, N_FEATURES, 120)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("numbers", lambda a: a[:-1]),
        ("numbers", lambda a: a + 120),
        ("numbers", lambda a: a - 120),
        ("numbers", lambda a: None),
        ("indptr", lambda a: a[:-1]),
        ("indptr", lambda a: None),
        ("indices", lambda a: a + 40),
        ("indices", lambda a: None),
        ("data", lambda a: a * np.nan),
        ("data", lambda a: a.astype(np.int64)),
        ("data", lambda a: None),
    ],
)
def test_arrays_of_an_original_distance(data, name, change):
    text, tensors = describe(Model((_original(_block(data[0])),)))
    tensors[f"term.0.origin.{name}"] = change(tensors[f"term.0.origin.{name}"])
    kept = {name: array for name, array in tensors.items() if array is not None}
    with pytest.raises(ValueError, match=r"term\.0|origin|references"):
        read(text, kept, N_FEATURES, 120)


def test_an_original_distance_to_nothing(data):
    text, tensors = describe(Model((_original(_block(data[0])),)))
    for name in ("numbers", "indices", "data"):
        tensors[f"term.0.origin.{name}"] = tensors[f"term.0.origin.{name}"][:0]
    tensors["term.0.origin.indptr"] = np.zeros(1, dtype=np.int64)
    with pytest.raises(ValueError, match=r"0 sample\(s\)|not subsamples"):
        read(text, tensors, N_FEATURES, 120)


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"units": [1.0]}, "folds must have one unit and one number of rows for each"),
        ({"units": [1.0, 0.0]}, r"term\.0\.units is"),
        ({"units": [1.0, -1.0]}, r"term\.0\.units is"),
        ({"units": None}, r"term\.0\.units is"),
        ({"n_calibration": [1]}, "folds must have one unit"),
        ({"n_calibration": [1, -1]}, r"term\.0\.n_calibration is"),
        ({"n_calibration": [1, 1.0]}, r"term\.0\.n_calibration is"),
        ({"n_calibration": [True, 1]}, r"term\.0\.n_calibration is"),
        ({"n_calibration": [1, 10**30]}, r"term\.0\.n_calibration is"),
        ({"n_calibration": "12"}, r"term\.0\.n_calibration is"),
        ({"extra": 1}, r"term\.0 has unknown entries: 'extra'"),
        ({"terms": []}, "folds must have one unit"),
    ],
    ids=str,
)
def test_numbers_of_folds(models, facts, message):
    text, tensors = describe(models[False]["by fold"])
    tree = json.loads(text)
    tree["terms"][0] |= facts
    with pytest.raises(ModelFileError, match=message):
        read(json.dumps(tree), tensors, N_FEATURES, 120)


@pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0], [1.0, float("nan")], None])
def test_weights_of_a_sum_within(models, weights):
    text, tensors = describe(models[False]["by fold"])
    tree = json.loads(text)
    tree["terms"][0]["terms"][0]["weights"] = weights
    with pytest.raises(ModelFileError, match=r"a sum has not one weight|term\.0\.0\.weights is"):
        read(json.dumps(tree), tensors, N_FEATURES, 120)


@either
def test_a_row_is_scored_and_explained_by_the_model_of_its_fold(models, data, dense):
    (term, _), rows = models[dense]["by fold"].terms, _block(data[0], dense)
    folds = rows.folds(2)
    expected = np.choose(
        folds, [model.score(rows, 1) / unit for model, unit in zip(term.models, term.units, strict=True)]
    )
    assert np.array_equal(term.score(rows, 1), expected)
    first, *_, last = term.parts(1.0, None)
    for fold, part in ((0, first), (1, last)):
        view = part.view(rows)
        assert not view.p[folds != fold].any()
        assert not view.q[folds != fold].any()
        assert all(bool(part.nearest(view, i)) == (folds[i] == fold) for i in range(rows.n_rows))
    total = sum(term.breakdown(rows, 1).values())
    np.testing.assert_allclose(total, expected, rtol=1e-9)


# ---- words, and rows that representations see ------------------------------------------------------------------------


def test_terms_in_words(models):
    assert models[False]["sum"].names() == ("learned distance", "original distance", "label direction")
    assert models[False]["mean"].names()[1] == "mean of 2 original distances and 1 learned distance"
    normalised = models[False]["normalised"].names()
    assert normalised[1] == "original distance, of rows whose length is 1"
    expected = (
        "mean of 1 original distance and 1 mean of 2 learned distances, of rows whose largest absolute value is 1"
    )
    assert normalised[2] == expected


def test_each_representation_sees_rows_as_its_place_says(models, data):
    model, rows = models[False]["normalised"], _block(data[0])
    first, *others = model.learned
    seen = [first.representation.transform(rows, 1)]
    seen += [term.representation.transform(rows.normalized("max"), 1) for term in others]
    assert len(others) == 2
    assert np.array_equal(model.transform_block(rows, 1), np.hstack(seen))
    assert model.normalize is None


@any_how
def test_the_model_says_how_its_rows_are_normalised(data, how):
    assert RAMODO(n_epochs=1, normalize=how, random_state=0).fit(data[0]).model_.normalize == how
