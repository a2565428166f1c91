"""Reasons add up to scores, and name what was planted."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from ramodo import RAMODO, REPEN, AverageNN, Consensus, KthNN, Layers, Sp, load
from ramodo.data.validation import open_rows
from ramodo.datasets import make_ultrahigh
from ramodo.explain.explanation import Explanation, Strongest
from ramodo.explain.reasons import RowExplanation, Seen
from ramodo.model.representation import SparseLayer
from ramodo.options import OptionError
from support.examples import with_outliers

pytestmark = pytest.mark.slow

QUICK = {"n_epochs": 3, "random_state": 0}
DETECTORS = {
    "REPEN": REPEN(n_components=6, **QUICK),
    "several models, L2": REPEN(n_components=6, n_estimators=3, normalize="l2", **QUICK),
    "k-th neighbour, two leaky layers": RAMODO(KthNN(3), representation=Layers((7, 4), "leaky_relu"), **QUICK),
    "average neighbour, linear, max": RAMODO(
        AverageNN(3), representation=Layers((5,), "linear"), normalize="max", **QUICK
    ),
    "three layers": RAMODO(representation=Layers((8, 6, 4)), **QUICK),
}
every = pytest.mark.parametrize("detector", DETECTORS.values(), ids=DETECTORS)
either = pytest.mark.parametrize("kind", [sp.csr_array, lambda X: X.toarray()], ids=["sparse", "dense"])


def contributions(detector, X):
    """All of them, row by feature."""
    full = np.zeros(X.shape)
    for row in detector.explain(X, top=X.shape[1]):
        for reason in (*row.reasons, *row.lacks.strongest):
            full[row.row, reason.column] = reason.contribution
    return full


def total(row):
    """All that is said of a score, added up."""
    return sum(reason.contribution for reason in row.reasons) + row.lacks.contribution + row.rest


@every
@either
@pytest.mark.parametrize("labels", [False, True], ids=["without labels", "with labels"])
def test_all_contributions_sum_to_the_score(detector, kind, labels):
    X, truth = with_outliers()
    X, y = kind(X), np.where(np.arange(len(truth)) >= 116, 1, 0) if labels else None
    detector = detector.fit(X, labels=y)
    scores = detector.outlier_score(X)
    found = detector.explain(X, top=X.shape[1])
    for row in found:
        assert row.score == scores[row.row]
        assert total(row) == pytest.approx(row.score, abs=1e-9)
        assert sum(reason.contribution for reason in row.lacks.strongest) == pytest.approx(
            row.lacks.contribution, abs=1e-9
        )
        assert len(row.lacks.strongest) == row.lacks.n
        assert all(reason.value for reason in row.reasons)
        assert [r.contribution for r in row.reasons] == sorted((r.contribution for r in row.reasons), reverse=True)
    scale = np.abs(scores).max()
    np.testing.assert_allclose(contributions(detector, X).sum(axis=1), scores, atol=2e-6 * scale)
    few = detector.explain(X, top=2)
    assert all(len(row.reasons) == 2 for row in few)
    assert all(total(row) == pytest.approx(row.score, abs=1e-9) for row in few)
    assert [row.reasons[0] for row in few] == [row.reasons[0] for row in found]


def weights_of(layer):
    """A row for each feature, those that follow from the seed too: what a linear layer makes of unit vectors."""
    linear = SparseLayer(
        columns=layer.columns,
        weights=layer.weights,
        n_features=layer.n_features,
        seed=layer.seed,
        limit=layer.limit,
        slope=1.0,
    )
    return linear.transform(open_rows(sp.eye_array(layer.n_features, format="csr")), 1).astype(np.float64)


@either
def test_a_contribution_is_what_the_formula_says(kind):
    """The definition, spelled out for one layer and nearest neighbours."""
    X = kind(with_outliers()[0])
    detector = REPEN(n_components=6, **QUICK).fit(X)
    model = detector.model_.learned[0]
    W, Z = weights_of(model.representation.first), detector.transform(X).astype(np.float64)
    dense = X if isinstance(X, np.ndarray) else X.toarray()
    subsamples = model.detection.rows.astype(np.float64).reshape(-1, model.detection.size, 6)
    numbers = model.origin.numbers.reshape(-1, model.detection.size)
    expected = np.zeros(dense.shape)
    for i in range(len(dense)):
        for references, rows in zip(subsamples, numbers, strict=True):
            distances = np.linalg.norm(Z[i] - references, axis=1)
            nearest = distances.argmin()
            if distances[nearest] == 0:
                continue
            u, s = (Z[i] - references[nearest]) / distances[nearest], dense[rows[nearest]]
            expected[i] += dense[i] * (W @ (u * (Z[i] > 0))) - s * (W @ (u * (references[nearest] > 0)))
    np.testing.assert_allclose(
        contributions(detector, X), expected / len(subsamples), atol=1e-6 * np.abs(expected).max()
    )


@pytest.mark.parametrize("name", [name for name, detector in DETECTORS.items() if detector.normalize is None])
def test_a_contribution_is_a_slope(name):
    """A tiny change of a value that no reference has moves the score by that change times contribution / value."""
    X = with_outliers()[0].toarray().astype(np.float64)
    detector = DETECTORS[name].fit(X)
    row, step = X[-1:], 1e-3
    for reason in detector.explain(row, top=6)[0].reasons:
        if reason.value == 0 or reason.share > 0:
            continue
        up, down = row.copy(), row.copy()
        up[0, reason.column] += step
        down[0, reason.column] -= step
        slope = (detector.outlier_score(up)[0] - detector.outlier_score(down)[0]) / (2 * step)
        assert slope == pytest.approx(reason.contribution / reason.value, rel=0.02, abs=1e-3)


def test_what_a_row_lacks_counts():
    """Inliers all have feature 0; the outlier is the row without it."""
    rng = np.random.default_rng(0)
    X = (rng.random((200, 30)) < 0.2) * 1.0
    X[:, 0] = 5.0
    X[-3:, 0] = 0.0
    detector = REPEN(random_state=0).fit(X)
    lacks = detector.explain(X[-1:], top=1)[0].lacks
    reason = lacks.usual[0]
    assert lacks.strongest == (reason,)
    assert lacks.in_words().startswith("lacks what most rows have: feature 0")
    assert (reason.column, reason.value) == (0, 0.0)
    assert reason.contribution > 0
    assert reason.share > 0.9
    assert reason.mean == pytest.approx(5.0)


@pytest.fixture(scope="module")
def planted():
    """5,000 rows with a million features; 100 of them have three large values of their own, in columns that differ."""
    X, _ = make_ultrahigh(5000, 1_000_000, outlier_fraction=0.0, random_state=1)
    rng = np.random.default_rng(1)
    rows = rng.choice(5000, 100, replace=False)
    columns = rng.choice(X.shape[1], (100, 3), replace=False)
    values = 4 + rng.random(300).astype(np.float32)
    X = sp.csr_array(X + sp.coo_array((values, (np.repeat(rows, 3), columns.ravel())), shape=X.shape))
    return REPEN(random_state=0).fit(X), X[rows], columns


def test_planted_features_are_the_strongest_reasons(planted):
    """All three among the five strongest, of nearly every row; no label was given."""
    detector, X, columns = planted
    found = detector.explain(X, top=5)
    named = [set(c) <= {r.column for r in row.reasons} for c, row in zip(columns.tolist(), found, strict=True)]
    assert np.mean(named) >= 0.95


# ---- several rows together -------------------------------------------------------------------------------------------


@every
@either
def test_drivers_are_the_mean_contributions_of_all_features(detector, kind):
    X, truth = with_outliers()
    X = kind(X)
    y = np.where(np.arange(len(truth)) >= 118, 1, 0)
    detector = detector.fit(X, labels=y)
    means = contributions(detector, X[80:]).mean(axis=0)
    found = detector.explain(X[80:], top=4)
    strongest = np.argsort(-np.abs(means), kind="stable")[:20]
    assert [driver.column for driver in found.drivers] == strongest.tolist()
    np.testing.assert_allclose([driver.contribution for driver in found.drivers], means[strongest], rtol=1e-7)
    for driver in found.drivers:
        said = [reason for row in found for reason in (*row.reasons, *row.lacks.strongest)]
        assert driver.rows == sum(reason.column == driver.column for reason in said)


def test_a_cause_of_many_features_is_one_group_too():
    """More of them than there are reasons, so that no two rows need have the same ones."""
    rng = np.random.default_rng(0)
    X = rng.lognormal(0.5, 0.3, (200, 1000))
    X[:8, 100:140] *= 8
    found = REPEN(random_state=0).fit(np.log1p(X)).explain(np.log1p(X[:8]), top=3)
    assert [sorted(group.rows) for group in found.groups()] == [list(range(8))]
    assert all(100 <= driver.column < 140 for driver in found.groups()[0].drivers)


def test_what_rows_lack_is_said_of_drivers():
    rng = np.random.default_rng(0)
    X = sp.csr_array((rng.random((200, 30)) < 0.2) * 1.0)
    X = sp.csr_array(sp.hstack([sp.csr_array(np.where(np.arange(200) < 195, 5.0, 0.0)[:, None]), X]))
    found = REPEN(random_state=0).fit(X).explain(X[195:])
    assert (found.drivers[0].column, found.drivers[0].lacking) == (0, 1.0)
    assert found.groups()[0].drivers[0].lacking == 1.0


def test_what_one_row_has_is_not_what_the_others_lack():
    """However many they are: what counts is where the contribution comes from."""

    def lacking(*entries):
        rows = [
            RowExplanation(row=i, score=1.0, percentile=50.0, reasons=(), rest=1.0, nearest=())
            for i in range(len(entries))
        ]
        strongest = [Strongest(np.array([3]), np.array([c]), np.array([v])) for v, c in entries]
        return Explanation(rows, [(3, sum(c for _, c in entries))], strongest, str).drivers[0].lacking

    assert lacking((2.0, 1.5), (0.0, 0.1), (0.0, 0.1)) == pytest.approx(0.2 / 1.7)
    assert lacking((2.0, 0.1), (0.0, 1.5)) == pytest.approx(1.5 / 1.6)
    assert lacking((2.0, -1.0), (0.0, 1.5)) == 1.0  # to have it lowers a score


def test_rows_of_one_cause_are_one_group():
    """Three causes of 8, 6 and 4 rows, and three rows with a cause of their own."""
    rng = np.random.default_rng(0)
    X = (rng.random((400, 200)) < 0.05) * 1.0
    causes = {100: range(0, 8), 110: range(8, 14), 120: range(14, 18), 130: [18], 140: [19], 150: [20]}
    for column, rows in causes.items():
        for row in rows:
            X[row, column : column + 3] += 6
    detector = REPEN(random_state=0).fit(X)
    groups = detector.explain(X[:21], top=5).groups()
    assert [sorted(group.rows) for group in groups] == [list(causes[c]) for c in (100, 110, 120)]
    for group, column in zip(groups, (100, 110, 120), strict=True):
        assert {driver.column for driver in group.drivers[:3]} == {column, column + 1, column + 2}
        assert group.drivers[0].rows == len(group.rows)
        assert all(driver.lacking == 0 for driver in group.drivers[:3])
    assert detector.explain(X[18:21], top=5).groups() == ()
    assert detector.explain(X[:1], top=5).groups() == ()


def test_threads_and_batches_change_nothing(data):
    X = data[0]
    detector = REPEN(**QUICK).fit(X)
    whole = detector.explain(X).to_dict()
    detector.n_jobs = 1
    assert detector.explain(X).to_dict() == whole
    alone = [{**detector.explain(X[[i]])[0].__dict__} for i in range(5)]
    for i, row in enumerate(alone):
        assert [r.contribution for r in row["reasons"]] == [r["contribution"] for r in whole[i]["reasons"]]


def test_names_and_forms(data):
    X = data[0].toarray()
    frame = pd.DataFrame(X, columns=[f"<b>{i}</b>" for i in range(X.shape[1])])
    detector = REPEN(**QUICK).fit(frame)
    found = detector.explain(frame[:3], top=2)
    assert found[0].reasons[0].feature.startswith("<b>")
    assert "<b>" not in found._repr_html_().replace("<b>row", "")
    assert len(found.to_frame()) == 6 + sum(len(row.others()) for row in found)
    assert set(found.to_frame().columns) >= {"row", "feature", "value", "contribution"}
    assert json.loads(json.dumps(found.to_dict()))[1]["row"] == 1
    assert "all other features" in repr(found)
    assert detector.explain(frame[:1], names=lambda j: f"f{j}")[0].reasons[0].feature.startswith("f")
    assert REPEN(**QUICK).fit(X).explain(X[:1])[0].reasons[0].feature.startswith("feature ")


def scattered(X, n_features=10**12):
    """The same rows over so many columns that nothing can have a number for each."""
    wide = sp.csr_array((X.shape[0], n_features), dtype=X.dtype)
    wide.data, wide.indptr = X.data, X.indptr.astype(np.int64)
    wide.indices = X.indices.astype(np.int64) * (n_features // X.shape[1])
    return wide


@pytest.mark.parametrize("Detector", [Consensus, REPEN])
def test_memory_does_not_grow_with_the_columns(data, Detector):
    X = scattered(data[0])
    detector = Detector(random_state=0).fit(X)
    found = detector.explain(X[:5], top=3)
    np.testing.assert_allclose(found.to_frame().groupby("row")["contribution"].sum(), detector.outlier_scores_[:5])
    assert found.groups() is not None


def test_columns_without_a_value_change_no_bit(data):
    term = Sp(random_state=0).fit(data[0]).model_.terms[0]
    wide = Sp(random_state=0).fit(scattered(data[0])).model_.terms[0]
    (narrow_part,), (wide_part,) = term.parts(1.0, None), wide.parts(1.0, None)
    one = narrow_part.view(open_rows(data[0]).in_memory())
    other = wide_part.view(open_rows(scattered(data[0])).in_memory())
    assert all((vars(one)[name] == vars(other)[name]).all() for name in vars(one))


@pytest.mark.parametrize("Detector", [Consensus, REPEN])
def test_a_frame_sums_to_the_scores(data, Detector):
    found = Detector(random_state=0).fit(data[0]).explain(data[0][:5], top=2)
    frame = found.to_frame()
    sums = frame.groupby("row")["contribution"].sum()
    np.testing.assert_allclose(sums, [row.score for row in found], rtol=1e-12)
    assert any(row.lacks.contribution for row in found)
    lines = frame[frame["row"] == found[0].row]
    assert lines["feature"].tolist()[-2:] == [found[0].lacks.in_words(), "all other features"]
    assert lines["column"].isna().tolist() == [False, False, True, True]


def test_a_row_is_not_nearest_to_itself(data):
    X = data[0]
    detector = REPEN(**QUICK).fit(X)
    Z = detector.transform(X)
    for row in detector.explain(X):
        others = [i for i in row.nearest if np.any(Z[i] != Z[row.row])]
        assert row.row not in others
        assert len(others) in (0, len(row.nearest))


def test_no_row_is_above_all_others_unless_it_is(data):
    detector = REPEN(**QUICK).fit(data[0])
    row = replace(detector.explain(data[0][:1])[0], percentile=99.98)
    assert "above 99.98 % of" in str(row)
    assert "above 99.99 % of" in str(replace(row, percentile=99.9999))
    assert "above 100 % of" in str(replace(row, percentile=100.0))


def test_nearest_are_training_rows_at_no_greater_distance_than_others(data):
    X = data[0]
    detector = REPEN(**QUICK).fit(X)
    nearest = detector.explain(X[[7]])[0].nearest
    Z = detector.transform(X)
    distances = [np.linalg.norm(Z[7] - Z[i]) for i in nearest]
    assert distances == sorted(distances)
    assert set(nearest) <= set(range(X.shape[0]))


@either
def test_what_is_typical_is_in_the_units_of_the_data(kind):
    """Also where rows are normalised."""
    X = kind(with_outliers()[0])
    detector = REPEN(normalize="l2", **QUICK).fit(X)
    dense = X if isinstance(X, np.ndarray) else X.toarray()
    references = dense[detector.model_.learned[0].origin.numbers]
    for reason in detector.explain(X[:1], top=X.shape[1])[0].reasons:
        values = references[:, reason.column]
        assert reason.value == dense[0, reason.column]
        assert reason.share == pytest.approx((values != 0).mean())
        assert reason.mean == pytest.approx(values[values != 0].mean() if values.any() else 0.0)


def test_a_loaded_model_explains_the_same(tmp_path, data):
    for X in (data[0], data[0].toarray()):
        detector = REPEN(normalize="l2", **QUICK).fit(X)
        again = load(detector.save(tmp_path / "m.ramodo"))
        assert again.explain(X[:4]).to_dict() == detector.explain(X[:4]).to_dict()


def test_what_cannot_be_explained_says_so(data):
    from sklearn.ensemble import IsolationForest

    X = data[0]
    with pytest.raises(OptionError, match="cannot be explained"):
        RAMODO(IsolationForest(n_estimators=5), **QUICK).fit(X).explain(X)
    with pytest.raises(OptionError, match=r"top must be .*, got 0"):
        REPEN(**QUICK).fit(X).explain(X, top=0)
    with pytest.raises(OptionError, match="names must be one for each of 40 features, got 2"):
        REPEN(**QUICK).fit(X).explain(X, names=["a", "b"])


# ---- views -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("normalize", [None, "max"])
def test_views_sum_to_the_score_strongest_first(normalize):
    X, _ = with_outliers()
    detector = Consensus(random_state=0, normalize=normalize).fit(X)
    added = detector.model_.breakdown(open_rows(X).in_memory(), 1)
    for row in detector.explain(X):
        assert {seen.view: seen.contribution for seen in row.views} == {k: v[row.row] for k, v in added.items()}
        amounts = [seen.contribution for seen in row.views]
        assert amounts == sorted(amounts, reverse=True)
        assert sum(amounts) == pytest.approx(row.score)


def test_labels_are_named_beside_the_distance():
    X, truth = with_outliers()
    row = REPEN(**QUICK).fit(X, labels=truth).explain(X[-1:])[0]
    assert {seen.view for seen in row.views} == {"learned distance", "label direction"}
    assert sum(seen.contribution for seen in row.views) == pytest.approx(row.score)


def seen_by(n):
    return RowExplanation(
        row=0,
        score=9.0,
        percentile=99.0,
        reasons=(),
        rest=9.0,
        nearest=(),
        views=tuple(Seen(f"view <{i}>", 6.25 - i) for i in range(n)),
    )


def test_a_line_names_the_strongest_views():
    assert seen_by(1).by() == seen_by(0).by() == ""
    assert seen_by(2).by() == "view <0> 6.25, view <1> 5.25"
    assert seen_by(5).by().endswith("view <3> 3.25, 1 other view 2.25")
    assert seen_by(6).by().endswith("view <3> 3.25, 2 other views 3.5")
    assert "\n  by: view <0> 6.25, view <1> 5.25\n" in str(seen_by(2))
    assert "by:" not in str(seen_by(1))
    page = Explanation([seen_by(2)], [], [Strongest(*[np.empty(0)] * 3)], str)._repr_html_()
    assert "by: view &lt;0&gt; 6.25" in page


def test_a_plain_detector_can_be_taken_apart():
    X, _ = with_outliers()
    detector = Sp(random_state=0).fit(X)
    rows = open_rows(X).in_memory()
    np.testing.assert_allclose(detector.model_.score(rows, 1), detector.outlier_scores_)
