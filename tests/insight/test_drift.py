"""New rows are compared with the profile of the training rows: what moved is named, ordinary rows give no warning."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from ramodo import REPEN, Consensus, load
from ramodo.data.validation import open_rows
from ramodo.insight.two_samples import bound, chance
from ramodo.model import profile as profiles
from ramodo.model.profile import Profile

QUICK = {"n_epochs": 1, "n_subsamples": 5, "random_state": 0}


def visits(seed, n=2000):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "duration": rng.lognormal(3, 1, n),
            "size": rng.normal(50, 10, n),
            "pages": rng.poisson(3, n).astype(float),
            "country": rng.choice(["NZ", "FR", "DE", "US"], n, p=[0.4, 0.3, 0.2, 0.1]),
            "protocol": rng.choice(["tcp", "udp"], n),
            "name": [f"user {i}" for i in rng.zipf(1.5, n) % 3000],
        }
    )


@pytest.fixture(scope="module")
def detector():
    return Consensus(random_state=0).fit(visits(0))


def _milliseconds(frame):
    frame["duration"] *= 1000


def _shifted(frame):
    frame["size"] += 15


def _unseen(frame):
    frame.loc[np.random.default_rng(5).random(len(frame)) < 0.4, "country"] = "XX"


def _stuck(frame):
    frame["pages"] = 0.0


def _recoded(frame):
    frame["protocol"] = frame["protocol"].replace({"tcp": "TCP"})


@pytest.mark.parametrize(
    ("plant", "column", "kind", "words"),
    [
        (_milliseconds, "duration", "rescaled", "'duration' is about 1,000 times larger than in training"),
        (_shifted, "size", "shifted", "'size' is higher than in training: half of the values are between"),
        (_unseen, "country", "unseen", "of the rows have a value of 'country' that training rows lack, or none"),
        (_stuck, "pages", "stuck", "'pages' is 0 in all rows; in training, most values were between 1 and 5"),
        (_recoded, "protocol", "unseen", "of the rows have a value of 'protocol' that training rows lack"),
    ],
)
def test_what_moved_is_named_first(detector, plant, column, kind, words):
    rows = visits(1)
    plant(rows)
    found = detector.drift(rows)
    first = found.moved[0]
    assert (first.name, first.kind) == (column, kind)
    assert words in first.words
    assert [each.name for each in found.moved if each.what == "column"] == [column]
    assert words in found.in_words()


def test_ordinary_rows_give_no_warning(detector):
    """Names that no training row has are ordinary here: a training row's name is often its own."""
    assert [seed for seed in range(1, 101) if detector.drift(visits(seed, 500))] == []


@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_ordinary_rows_of_many_features_give_no_warning(kind):
    def made(seed, n=500):
        rng = np.random.default_rng(seed)
        if kind == "dense":
            return rng.standard_t(3, (n, 1500))
        columns = rng.zipf(1.3, n * 30) % 50_000
        return sp.csr_array((np.ones(n * 30), (np.repeat(np.arange(n), 30), columns)), shape=(n, 50_000))

    detector = REPEN(4, **QUICK).fit(made(0))
    assert sum(bool(detector.drift(made(seed))) for seed in range(1, 21)) == 0


def test_features_that_training_rows_lack_are_noticed():
    rng = np.random.default_rng(0)
    X = sp.random_array((800, 5000), density=0.01, random_state=rng, format="csr")
    known = sp.csr_array(sp.hstack([X[:, :2500], sp.csr_array((800, 2500))]))
    new = sp.csr_array(sp.hstack([sp.csr_array((400, 2500)), X[:400, 2500:]]))
    found = REPEN(4, **QUICK).fit(known).drift(new)
    kinds = {each.kind: each.words for each in found.moved}
    assert kinds["new"].startswith("100 % of what a row has")
    assert kinds["unknown"].startswith("100 % of the rows have nothing that any training row has")


def test_a_feature_too_rare_to_be_described_is_noticed(monkeypatch):
    monkeypatch.setattr(profiles, "_OF_ALL", 60)  # twenty features
    rng = np.random.default_rng(0)

    def rows(n, frequent):
        X = sp.lil_array((n, 200))
        for i in range(n):
            X[i, rng.choice(20, 8)] = 1
            X[i, rng.integers(20, 200)] = 1
        if frequent:
            X[: n // 2, 150] = 1
        return sp.csr_array(X)

    detector = REPEN(4, **QUICK).fit(rows(1000, False))
    first = detector.drift(rows(500, True)).moved[0]
    assert (first.feature, first.kind) == (150, "more often")
    assert first.words.startswith("feature 150 is in 50 % of the rows, in training in")


def test_few_rows_are_not_compared(detector):
    assert detector.drift(visits(1, 9)) is None


# ---- the profile -----------------------------------------------------------------------------------------------------


def _same(one, other):
    assert one.facts() == other.facts()
    for name, array in one.tensors().items():
        np.testing.assert_array_equal(array, other.tensors()[name])


def test_it_does_not_depend_on_threads_containers_or_blocks(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 400), density=0.1, random_state=rng, format="csr", data_sampler=rng.normal)
    one = REPEN(4, **QUICK).fit(X).profile_
    _same(one, REPEN(4, n_jobs=2, **QUICK).fit(X).profile_)
    _same(one, REPEN(4, **QUICK).fit(X.toarray()).profile_)
    monkeypatch.setattr("ramodo.data.blocks._BLOCK_ENTRIES", 1000)
    _same(one, REPEN(4, **QUICK).fit(X).profile_)


def test_it_is_in_the_model_file(tmp_path, detector):
    again = load(detector.save(tmp_path / "model.ramodo"))
    _same(again.profile_, detector.profile_)
    rows = visits(1)
    _milliseconds(rows)
    assert again.drift(rows) == detector.drift(rows)


@pytest.mark.parametrize("shape", [(50, 30_000), (5000, 50), (300, 2000)])
def test_its_size_is_bounded(shape):
    X = np.random.default_rng(0).normal(size=shape)
    found = Profile.of(open_rows(X), 0, None, 1)
    assert sum(array.nbytes for array in found.tensors().values()) < 600_000


# ---- the tests -------------------------------------------------------------------------------------------------------


def test_a_column_alarms_by_chance_no_more_often_than_said():
    rng = np.random.default_rng(0)
    known, now = rng.binomial(1000, 0.3, 4000), rng.binomial(400, 0.3, 4000)
    p = chance(now, 400, known, 1000)
    apart = np.abs(np.sort(rng.random((2000, 100))) - np.arange(1, 101) / 100).max(axis=1)  # of one known law
    for level in (0.2, 0.05, 0.01):
        assert (p <= level).mean() <= level
        assert (bound(apart, 100, 10**9) <= level).mean() <= level


def test_a_changed_share_has_a_small_p_value():
    assert chance(np.array([40]), 400, np.array([10]), 1000)[0] < 1e-8
    assert chance(np.array([400]), 400, np.array([900]), 1000)[0] < 1e-6
    assert chance(np.array([0, 400]), 400, np.array([0, 1000]), 1000).tolist() == [1.0, 1.0]
