"""With several models each has stages of its own: what a stage keeps in itself is not another thread's."""

import sys
import threading

import numpy as np
import pytest

from ramodo import RAMODO, REPEN, Candidates, Ensemble, KthNN, Layers, Sp, TopFraction
from ramodo.options import OptionError

QUICK = {"n_epochs": 3, "n_estimators": 4, "random_state": 0, "samples_per_epoch": 64, "batch_size": 8}


class Tanh:
    """The example of docs/stages.md: it keeps its last rows for the way back."""

    first_width = 20

    def head(self, rng):
        return self

    def forward(self, hidden):
        self.rows = 30 * np.tanh(hidden / 30)
        return self.rows

    def backward(self, gradient):
        return gradient * (1 - (self.rows / 30) ** 2)


class Remembering:
    """A thresholder that takes one more row each time."""

    def __init__(self):
        self.seen = []

    def split(self, scores, labels):
        self.seen.append(int(scores.argmax()))
        chosen = np.zeros(len(scores), dtype=bool)
        chosen[np.argsort(-scores)[: 4 + len(self.seen)]] = True
        return Candidates.of(chosen, labels)


class Counting:
    """A loss that is weaker each time."""

    def __init__(self):
        self.calls = 0

    def __call__(self, rows, triplets):
        self.calls += 1
        gradient = np.zeros_like(rows)
        np.add.at(gradient, triplets[:, -1], -rows[triplets[:, -1]] / len(rows) / self.calls)
        return 1.0 / self.calls, gradient


STAGES = {
    "representation": lambda: {"representation": Tanh()},
    "thresholder": lambda: {"thresholder": Remembering()},
    "loss": lambda: {"loss": Counting()},
    "method": lambda: {"loss": Counting().__call__},
}


@pytest.fixture
def hasty():
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("make", STAGES.values(), ids=STAGES.keys())
def test_scores_do_not_depend_on_threads(data, hasty, make):
    """A bounded loop: with stages that threads shared, other scores came within the first few rounds."""
    expected = RAMODO(**make(), **QUICK, n_jobs=1).fit(data[0]).outlier_scores_
    for _ in range(8):
        found = RAMODO(**make(), **QUICK, n_jobs=4).fit(data[0])
        assert np.array_equal(found.outlier_scores_, expected)
        assert np.array_equal(found.outlier_score(data[0]), expected)


@pytest.mark.parametrize("make", STAGES.values(), ids=STAGES.keys())
def test_the_first_of_several_is_the_one_alone(data, make):
    """A model begins with the stage as it was given, not as another model left it."""
    one, four = (RAMODO(**make(), **{**QUICK, "n_estimators": n}, n_jobs=1).fit(data[0]) for n in (1, 4))
    assert np.array_equal(one.transform(data[0]), four.transform(data[0])[:, : one.transform(data[0]).shape[1]])


def test_the_stage_that_was_given_stays_as_it_was(data):
    given = Remembering()
    RAMODO(thresholder=given, **QUICK).fit(data[0])
    assert given.seen == []


def test_one_stage_in_two_places_stays_one(data):
    """A scorer that also ranks is copied once for each model, as are its parts."""

    class Same(Sp):
        def ranking(self, *given):
            seen.append(self)
            return super().ranking(*given)

    seen = []
    RAMODO(Same(), **QUICK, n_jobs=1).fit(data[0])
    assert len(seen) == len(set(map(id, seen))) == QUICK["n_estimators"]


def test_what_cannot_be_copied_is_refused_by_name(data):
    class Locked(Counting):
        def __init__(self):
            super().__init__()
            self.lock = threading.Lock()

    with pytest.raises(OptionError, match=r"the loss Locked cannot be copied .*n_estimators=4 .*__deepcopy__"):
        RAMODO(loss=Locked(), **QUICK).fit(data[0])
    RAMODO(loss=Locked(), **{**QUICK, "n_estimators": 1}).fit(data[0])


def test_a_stage_may_share_what_it_only_reads(data):
    class Holding(Remembering):
        """Holds data that all copies may share."""

        def __init__(self, table):
            super().__init__()
            self.table = table

        def __deepcopy__(self, memo):
            copies.append(Holding(self.table))
            return copies[-1]

    copies, table = [], np.arange(1000)
    RAMODO(thresholder=Holding(table), **QUICK).fit(data[0])
    assert len(copies) == QUICK["n_estimators"]
    assert all(copy.table is table and len(copy.seen) == 1 for copy in copies)


OWN = {
    "REPEN": lambda **options: REPEN(**options),
    "deep": lambda **options: RAMODO(KthNN(2), representation=Layers((6, 5)), cutoff=TopFraction(), **options),
    "ensemble": lambda **options: RAMODO(ranker=Ensemble([Sp(5), KthNN(2)]), **options),
}


@pytest.mark.parametrize("make", OWN.values(), ids=OWN.keys())
def test_ramodo_s_own_stages_give_the_same_bits(data, hasty, make):
    one, four = (make(**QUICK, n_jobs=n).fit(data[0]) for n in (1, 4))
    assert np.array_equal(one.outlier_scores_, four.outlier_scores_)
