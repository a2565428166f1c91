"""Workers and their limits; what is kept, and what is tried again."""

import os
import signal

import pytest

from ramodo.paper.experiments.cells import FAILED, OUT_OF_TIME, Cell, Limits, Outcome, Results, in_turn, repen
from ramodo.paper.experiments.paper import CONSTRAINT, OUT_OF_MEMORY
from ramodo.paper.experiments.scheduling import Scheduler
from ramodo.paper.experiments.store import Store
from ramodo.paper.experiments.worker import Worker
from ramodo.terminal.progress import Bar

LIMITS = Limits(60, 1e9)


def scaled(method, n_rows, n_features=1000):
    return Cell("scalability", "", method, (("n_rows", n_rows), ("n_features", n_features)))


@pytest.fixture
def run(tmp_path):
    """Runs cells with a store of their own."""

    def go(cells, limits=LIMITS):
        with Store(tmp_path / "results.sqlite", {}) as store:
            return Scheduler(store, 1, limits, Bar("", False)).run(cells)

    return go


def test_marks_instead_of_numbers(run):
    fine, unknown, broken = scaled("SRP", 100), Cell("nonsense", "", ""), scaled("HLLE", 100)
    results = run([fine, unknown, broken])
    assert results[fine].values["time"] > 0
    assert (results[unknown].mark, results[broken].mark) == (FAILED, CONSTRAINT)
    assert "KeyError" in results[unknown].reason


def test_beyond_the_memory_limit(run):
    cell = scaled("AE", 100, 20_000)
    assert run([cell], Limits(60, 1e6))[cell].mark == OUT_OF_MEMORY
    assert run([cell])[cell].mark == ""  # a mark of a limit falls with a higher one


def test_beyond_the_time_limit(run):
    """The larger one is not tried, and the worker goes on with another cell."""
    slow = in_turn([scaled("REPEN", 150_000), scaled("REPEN", 300_000)])
    results = run([*slow, scaled("SRP", 10)], Limits(0.2, 1e9))
    assert [results[cell].mark for cell in slow] == [OUT_OF_TIME, OUT_OF_TIME]
    assert results[slow[0]].reason == "not done after 0.2 s"
    assert results[slow[1]].reason.startswith("not tried")
    assert results[scaled("SRP", 10)].mark in ("", OUT_OF_TIME)


def test_a_worker_that_dies_is_replaced():
    worker = Worker(1, LIMITS)
    try:
        worker.give(scaled("REPEN", 200_000))
        os.kill(worker._process.pid, signal.SIGKILL)
        outcome = worker.take()
        assert outcome.mark == FAILED
        assert "code -9" in outcome.reason
        worker.give(scaled("SRP", 50))
        assert worker.take().mark == ""
    finally:
        worker.end()


def test_what_is_kept_comes_back(tmp_path):
    cell = repen("R8", 3)
    outcome = Outcome({"auc": [0.5, 1.0]}, "", "", 1.5, Limits(10, 1e9))
    with Store(tmp_path / "results.sqlite", {"R8": "a"}) as store:
        assert store.get(cell) is None
        store.put(cell, outcome)
        assert store.get(repen("R8", 3)) == outcome
        assert store.get(repen("R8", 4)) is None
        assert store.get(repen("R8", 3, n_components=10)) is None
    with (
        Store(tmp_path / "results.sqlite", {"R8": "a"}) as again,
        Store(tmp_path / "results.sqlite", {"R8": "b"}) as other,
    ):
        assert again.get(cell) == outcome
        assert other.get(cell) is None


@pytest.mark.parametrize(
    ("mark", "higher", "stands"),
    [
        ("", True, True),
        (CONSTRAINT, True, True),
        (OUT_OF_TIME, True, False),
        (OUT_OF_TIME, False, True),
        (OUT_OF_MEMORY, True, False),
        (OUT_OF_MEMORY, False, True),
        (FAILED, False, False),
    ],
)
def test_which_outcomes_stand(mark, higher, stands):
    limits = Limits(20, 2e9) if higher else Limits(10, 1e9)
    assert Outcome(mark=mark, limits=Limits(10, 1e9)).stands(limits) is stands


def test_collected_numbers_or_the_mark():
    cells = [repen("R8", seed) for seed in range(3)]
    some = Results(
        {cells[0]: Outcome({"auc": 0.5}), cells[1]: Outcome({"auc": [0.6, 0.7]}), cells[2]: Outcome(mark="×")}
    )
    assert some.collected(cells, "auc") == ([0.5, 0.6, 0.7], "")
    assert some.collected(cells[2:], "auc") == ([], "×")
