"""Detectors among scikit-learn's own: before classifiers, in cross-validation with any `y`, beside other columns."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from ramodo import RAMODO, REPEN, AverageNeighborREPEN, Consensus, KthNeighborREPEN, Sp

QUICK = {"n_epochs": 2, "random_state": 0}
LEARNING = [
    REPEN(**QUICK),
    Consensus(random_state=0),
    RAMODO(**QUICK),
    KthNeighborREPEN(**QUICK),
    AverageNeighborREPEN(**QUICK),
]
CLASSIFIERS = [
    LogisticRegression(max_iter=1000),
    RandomForestClassifier(10, random_state=0),
    KNeighborsClassifier(3),
    GaussianNB(),
    DecisionTreeClassifier(random_state=0),
]
OTHER_Y = {
    "integers": lambda n: np.arange(n) % 3,
    "text": lambda n: np.where(np.arange(n) % 2, "spam", "ham"),
    "truth values": lambda n: np.arange(n) % 2 == 0,
    "numbers": lambda n: np.linspace(-1, 1, n),
    "nothing": lambda n: None,
}


def name_of(value):
    return value if isinstance(value, str) else type(value).__name__


@pytest.mark.parametrize("detector", LEARNING, ids=name_of)
def test_as_a_transformer_before_a_classifier(detector, data):
    X, truth = data
    scaler = StandardScaler()  # columns of a briefly trained representation are small
    pipeline = make_pipeline(clone(detector), scaler, LogisticRegression(max_iter=1000)).fit(X, truth)
    assert pipeline[0].transform(X).shape == (len(truth), len(pipeline[0].get_feature_names_out()))
    assert roc_auc_score(truth, pipeline.decision_function(X)) > 0.95


@pytest.fixture(scope="module")
def topics():
    """Sparse rows of two topics, each with words of its own."""
    rng = np.random.default_rng(0)
    topic = np.arange(120) % 2
    words = np.where(np.arange(40) < 20, 0, 1)
    counts = rng.poisson(np.where(words == topic[:, None], 1.0, 0.1)).astype(float)
    return sp.csr_array(counts), np.where(topic, "sport", "politics")


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=name_of)
def test_before_any_classifier(classifier, topics):
    X, topic = topics
    pipeline = make_pipeline(REPEN(n_epochs=2, random_state=0), StandardScaler(), clone(classifier))
    assert cross_val_score(pipeline, X, topic, cv=StratifiedKFold(3), error_score="raise").mean() > 0.8


@pytest.mark.parametrize("kind", OTHER_Y)
@pytest.mark.parametrize("detector", [LEARNING[0], LEARNING[1], Sp(random_state=0)], ids=name_of)
def test_cross_validation_does_not_mind_y(detector, kind, data):
    """The folds are those of plain KFold, so that `y` could change nothing but what a detector learned from it."""
    X, _ = data

    def flagged(estimator, X, y=None):
        return float(np.mean(estimator.predict(X) == -1))

    def scores(y):
        return cross_val_score(clone(detector), X, y, cv=KFold(3), scoring=flagged, error_score="raise")

    assert np.array_equal(scores(OTHER_Y[kind](X.shape[0])), scores(None))


def test_ranking_is_cross_validated_against_the_truth(data):
    X, truth = data
    y = np.where(truth == 1, -1, 1)
    detector, folds = Consensus(random_state=0), StratifiedKFold(3)
    assert cross_val_score(detector, X, y, cv=folds, scoring="roc_auc", error_score="raise").mean() > 0.9
    decisions = cross_val_predict(detector, X, cv=KFold(3), method="decision_function")
    assert decisions.shape == (X.shape[0],)
    search = GridSearchCV(detector, {"cutoff": [0.05, 0.1]}, scoring="roc_auc", cv=folds).fit(X, y)
    assert search.best_score_ > 0.9


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    counts = pd.DataFrame(rng.poisson(1.0, (90, 12)).astype(float), columns=[f"n{i}" for i in range(12)])
    counts.loc[80:, "n3"] += 20
    counts["country"] = rng.choice(["NZ", "FR", "DE"], 90)
    return counts, (np.arange(90) >= 80).astype(int)


@pytest.mark.parametrize("detector", LEARNING, ids=name_of)
def test_beside_other_columns(detector, table):
    X, truth = table
    numbers = make_column_selector(dtype_include=float)
    columns = ColumnTransformer([("odd", clone(detector), numbers), ("country", OneHotEncoder(), ["country"])])
    made = columns.fit_transform(X)
    names = columns.get_feature_names_out()
    assert made.shape == (90, len(names))
    own = [name for name in names if name.startswith("odd__")]
    assert own == [f"odd__{type(detector).__name__.lower()}{i}" for i in range(len(own))]
    pipeline = make_pipeline(columns, LogisticRegression(max_iter=1000)).fit(X, truth)
    assert pipeline.score(X, truth) > 0.9


def test_set_output_names_the_columns(table):
    X, _ = table
    detector = REPEN(n_components=4, n_epochs=2, random_state=0).set_output(transform="pandas")
    made = detector.fit_transform(X[[f"n{i}" for i in range(12)]])
    assert list(made.columns) == ["repen0", "repen1", "repen2", "repen3"]
    assert made.index.equals(X.index)


def test_a_score_as_one_more_column(data):
    X, truth = data
    score = FunctionTransformer(lambda X: Sp(random_state=0).fit(X).outlier_score(X)[:, None], accept_sparse=True)
    union = FeatureUnion([("representation", REPEN(n_components=4, n_epochs=2, random_state=0)), ("score", score)])
    assert union.fit_transform(X).shape == (len(truth), 5)
